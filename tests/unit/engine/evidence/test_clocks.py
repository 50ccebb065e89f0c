"""Clocks that are set during a run, or apart, make the run's numbers wrong, and that is seen."""

from __future__ import annotations

import time
from typing import cast

import pytest

from howdah.engine.evidence.clocks import Clocks
from howdah.errors import HostProblem
from howdah.host import Host
from howdah.host.agent import machine


class Clocked:
    """A host whose time of day is `ahead` of ours; lost where that is None."""

    def __init__(self, ahead: float | None = 0.0) -> None:
        self.ahead = ahead

    def call(self, operation: str) -> dict[str, float]:
        assert operation == "machine.moment"
        if self.ahead is None:
            raise HostProblem("lost", host="b")
        return {"utc": time.time() + self.ahead, "monotonic": time.monotonic()}


def clocks(**hosts: Clocked) -> Clocks:
    return Clocks({name: cast(Host, host) for name, host in hosts.items()})


@pytest.mark.parametrize("step", [0.0, 0.2, -0.2])
def test_a_clock_that_goes_on_evenly(step: float) -> None:
    a = Clocked()
    seen = clocks(a=a)
    a.ahead = step
    found = seen.check()
    assert found is not None
    assert (found.passed, found.detail) == (True, "not adjusted during the run: a")


@pytest.mark.promise("A clock that was set during a run makes it invalid", "issue 4")
@pytest.mark.parametrize("step", [0.3, -3600.0])
def test_a_clock_that_was_set(step: float) -> None:
    a, b = Clocked(), Clocked()
    seen = clocks(a=a, b=b)
    b.ahead = step
    found = seen.check()
    assert found is not None
    assert not found.passed
    assert f"{step:+.2f} s on b" in found.detail
    assert "on a" not in found.detail


@pytest.mark.promise("Clocks of hosts that are more than a second apart end a run", "reference/metrics")
def test_clocks_that_are_apart() -> None:
    with pytest.raises(HostProblem, match=r"the clock of b is 1\.50 s ahead of that of a") as raised:
        clocks(a=Clocked(-0.2), b=Clocked(1.3)).compare()
    assert "chronyc" in (raised.value.hint or "")
    clocks(a=Clocked(-3.2), b=Clocked(-3.0)).compare()


def test_clocks_that_slew_apart_in_a_run() -> None:
    a, b = Clocked(0.0), Clocked(0.9)
    seen = clocks(a=a, b=b)
    seen.compare()
    a.ahead, b.ahead = -0.1, 1.1
    found = seen.check()
    assert found is not None
    assert not found.passed
    assert "the clock of b is 1.20 s ahead of that of a" in found.detail


def test_what_can_be_told_is_known() -> None:
    ahead = clocks(a=Clocked(0.0), b=Clocked(0.4)).ahead
    assert list(ahead) == ["b"]
    assert ahead["b"] == pytest.approx(0.4, abs=0.05)


def test_a_host_that_is_lost_is_not_asked() -> None:
    a, b = Clocked(), Clocked()
    seen = clocks(a=a, b=b)
    b.ahead = None
    found = seen.check()
    assert found is not None
    assert found.detail.endswith(": a")
    assert clocks(a=b).check() is None, "nothing is known"


def test_both_clocks_are_read_at_once() -> None:
    one, other = machine.moment(), machine.moment()
    assert abs((other["utc"] - one["utc"]) - (other["monotonic"] - one["monotonic"])) < 0.1
