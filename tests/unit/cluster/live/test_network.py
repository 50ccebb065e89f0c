"""What is measured between hosts, and what is called slow."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.cluster.live.network import MOST_PAIRED, Ways, measure_ways, rounds
from howdah.errors import HostProblem
from howdah.host import Host


@given(st.integers(0, 3 * MOST_PAIRED))
def test_in_a_round_a_host_sends_once_and_takes_once(count: int) -> None:
    names = [f"h{number}" for number in range(count)]
    seen: Counter[tuple[str, str]] = Counter()
    for ways in rounds(names):
        assert len({source for source, _ in ways}) == len({target for _, target in ways}) == len(ways) == count
        seen.update(ways)
    assert set(seen.values()) <= {1}
    assert all(source != target for source, target in seen)
    if 1 < count <= MOST_PAIRED:
        assert len(seen) == count * (count - 1), "every way of a few"
    elif count:
        assert len(seen) == (2 * count if count > 1 else 0), "a ring of many, both ways"


class Wired:
    """A host whose card brings `rate` bytes a second, and which takes at one of `free` ports."""

    def __init__(self, name: str, rate: float, free: tuple[int, ...] = (5, 6)) -> None:
        self.name, self._rate, self._free = name, rate, free
        self.listens: list[int] = []
        self.asked: list[tuple[str, int]] = []

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "network.free_ports":
            return [port for port in arguments["ports"] if port in self._free]
        if operation == "network.swallow":
            self.listens.append(arguments["port"])
            return None
        assert operation == "network.payload_rate"
        self.asked.append((arguments["address"], arguments["port"]))
        return 8 * self._rate


def wired(**hosts: Wired) -> dict[str, Host]:
    return {name: cast(Host, host) for name, host in hosts.items()}


def test_every_way_is_measured_at_a_port_that_is_free() -> None:
    a, b, c = Wired("a", 100.0), Wired("b", 100.0, (6,)), Wired("c", 10.0)
    found = measure_ways(
        wired(a=a, b=b, c=c), {"a": "10.1", "b": "10.2", "c": "10.3"}, dict.fromkeys("abc", range(4, 8))
    )
    assert len(found.rates) == 6
    assert found.rates["a", "b"] == 100.0
    assert sorted(a.asked) == [("10.2", 6), ("10.3", 5)]
    assert b.listens == [6, 6]


@pytest.mark.promise("A way between hosts that is slower than others is named", "tutorial/many-hosts")
def test_a_slow_way_is_told() -> None:
    ways = Ways({("a", "b"): 100.0, ("b", "a"): 90.0, ("a", "c"): 110.0, ("c", "a"): 11.0, ("b", "c"): 12.0})
    assert list(ways.slow()) == [("c", "a"), ("b", "c")]
    assert ways.of("c") == 110.0
    assert ways.of("d") is None
    assert ways.slow_hosts() == {}
    assert not Ways({}).slow()
    assert not Ways({}).slow_hosts()


@pytest.mark.promise("A way between hosts that is slower than others is named", "tutorial/many-hosts")
@pytest.mark.parametrize(("hosts", "rate"), [("abc", 100.0), ("abcd", 400.0), ("abcdefgh", 400.0)])
def test_one_slow_host_is_told_by_all_of_its_ways(hosts: str, rate: float) -> None:
    pairs = [(one, other) for one in hosts for other in hosts if one != other]
    ways = Ways({way: rate if "c" in way else 1000.0 for way in pairs})
    assert ways.slow_hosts() == {"c": rate}
    assert set(ways.slow()) == {way for way in pairs if "c" in way}


def test_no_free_port_is_said() -> None:
    with pytest.raises(HostProblem, match="no port is free between 4 and 4"):
        measure_ways(wired(a=Wired("a", 1.0), b=Wired("b", 1.0)), {"a": "x", "b": "y"}, dict.fromkeys("ab", (4,)))
