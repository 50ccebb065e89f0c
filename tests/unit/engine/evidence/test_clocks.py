"""A clock that is set during a run makes the run's numbers wrong, and that is seen."""

from __future__ import annotations

from typing import cast

import pytest

from howdah.engine.evidence.clocks import Clocks
from howdah.errors import HostProblem
from howdah.host import Host
from howdah.host.agent import machine


class Clocked:
    """A host whose answers are given: the time of day and the other clock, or None where it is lost."""

    def __init__(self, *moments: tuple[float, float] | None) -> None:
        self.moments = list(moments)

    def call(self, operation: str) -> dict[str, float]:
        assert operation == "machine.moment"
        found = self.moments.pop(0)
        if found is None:
            raise HostProblem("lost", host="b")
        return {"utc": found[0], "monotonic": found[1]}


def clocks(**hosts: Clocked) -> Clocks:
    return Clocks({name: cast(Host, host) for name, host in hosts.items()})


@pytest.mark.parametrize("step", [0.0, 0.2, -0.2])
def test_a_clock_that_goes_on_evenly(step: float) -> None:
    found = clocks(a=Clocked((1000.0, 5.0), (1060.0 + step, 65.0))).check()
    assert found is not None
    assert (found.passed, found.detail) == (True, "the time of day went on evenly on a")


@pytest.mark.promise("A clock that was set during a run makes it invalid", "issue 4")
@pytest.mark.parametrize("step", [0.3, -3600.0])
def test_a_clock_that_was_set(step: float) -> None:
    found = clocks(a=Clocked((1000.0, 5.0), (1060.0, 65.0)), b=Clocked((7.0, 5.0), (67.0 + step, 65.0))).check()
    assert found is not None
    assert not found.passed
    assert f"{step:+.2f} s on b" in found.detail
    assert "on a" not in found.detail


def test_a_host_that_is_lost_is_not_asked() -> None:
    found = clocks(a=Clocked((1000.0, 5.0), (1060.0, 65.0)), b=Clocked((7.0, 5.0), None)).check()
    assert found is not None
    assert found.detail.endswith("on a")
    assert clocks(a=Clocked(None, (7.0, 5.0))).check() is None, "nothing is known"


def test_both_clocks_are_read_at_once() -> None:
    one, other = machine.moment(), machine.moment()
    assert abs((other["utc"] - one["utc"]) - (other["monotonic"] - one["monotonic"])) < 0.1
