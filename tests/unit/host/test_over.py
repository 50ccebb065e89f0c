from __future__ import annotations

import threading

import pytest

from howdah.errors import HostProblem
from howdah.host.over import over


def test_what_is_returned_is_in_the_order_of_the_hosts() -> None:
    assert list(over({"b": 1, "a": 2}, lambda value: 10 * value).items()) == [("b", 10), ("a", 20)]
    assert over({}, lambda value: value) == {}


def test_hosts_work_at_once() -> None:
    together = threading.Barrier(8, timeout=30)
    assert len(over(dict.fromkeys("abcdefgh", 0), lambda _: together.wait())) == 8


@pytest.mark.promise("Every host has its turn, and one error names each host with a problem", "reference/allocations")
def test_every_host_has_its_turn_and_every_problem_is_told() -> None:
    done = []

    def work(name: str) -> None:
        if name in "bc":
            raise HostProblem("no space", host=name, hint="Free some.")
        done.append(name)

    with pytest.raises(HostProblem) as caught:
        over({name: name for name in "abcd"}, work)
    assert sorted(done) == ["a", "d"]
    assert caught.value.message == "2 hosts have a problem:\n[b] no space\n[c] no space"
    assert caught.value.hint == "Free some."


def test_one_problem_is_told_as_it_is() -> None:
    def work(name: str) -> None:
        if name == "b":
            raise HostProblem("no space", host=name)

    with pytest.raises(HostProblem) as caught:
        over({name: name for name in "abc"}, work)
    assert caught.value.message == "[b] no space"


def test_a_fault_of_ours_is_raised_as_it_is() -> None:
    def work(name: str) -> None:
        raise KeyError(name)

    with pytest.raises(KeyError, match="a"):
        over({name: name for name in "ab"}, work)
