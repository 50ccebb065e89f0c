"""What every Allocation must do, wherever its hosts come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from howdah.cluster.allocation import ALLOCATIONS, Allocation
from howdah.errors import HostProblem
from howdah.host.supervise import is_alive
from tests.contract.test_host import wait_for

Make = Callable[[], Allocation]


@pytest.fixture(params=sorted(ALLOCATIONS))
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes allocations that are released at the end."""
    with ExitStack() as made:

        def one() -> Allocation:
            allocation = ALLOCATIONS[request.param]()
            made.callback(allocation.release)
            return allocation

        yield one


def test_every_place_is_on_a_host_that_answers(make: Make, tmp_path: Path) -> None:
    allocation = make()
    plan = allocation.acquire("c", 3, str(tmp_path))
    assert len(plan.nodes) == 3
    for place in plan.places:
        assert allocation.hosts[place.host].call("files.resolve", path="/") == "/"
        assert place.directory.startswith(plan.directory)
    assert len({place.directory for place in plan.places}) == 4


def test_every_port_can_be_bound_and_none_is_given_twice(make: Make, tmp_path: Path) -> None:
    allocation = make()
    plan = allocation.acquire("c", 3, str(tmp_path))
    given = [(place.host, port) for place in plan.places for port in place.ports.values()]
    assert len(set(given)) == len(given)
    for place in plan.places:
        ports = sorted(place.ports.values())
        free = allocation.hosts[place.host].call("network.free_ports", address=place.address, ports=ports)
        assert list(free) == ports


@pytest.mark.promise("Two clusters at once share no address and no port", "reference/ports")
def test_clusters_side_by_side_share_no_address_and_no_port(make: Make, tmp_path: Path) -> None:
    one, two = (make().acquire(name, 2, str(tmp_path / name)) for name in ("one", "two"))
    assert not {place.address for place in one.places} & {place.address for place in two.places}
    assert not {(place.host, port) for place in one.places for port in place.ports.values()} & {
        (place.host, port) for place in two.places for port in place.ports.values()
    }


def test_what_was_released_can_be_had_again(make: Make, tmp_path: Path) -> None:
    first = make()
    plan = first.acquire("c", 1, str(tmp_path))
    first.release()
    assert make().acquire("c", 1, str(tmp_path)) == plan


def test_release_ends_what_was_started_and_may_be_called_at_any_time(make: Make, tmp_path: Path) -> None:
    allocation = make()
    allocation.release()
    plan = allocation.acquire("c", 1, str(tmp_path))
    host = allocation.hosts[plan.masters.host]
    process = host.start(["sleep", "600"], output=str(tmp_path / "out"))
    allocation.release()
    wait_for(lambda: not is_alive(process.pid))
    assert not allocation.hosts
    allocation.release()


def test_more_nodes_than_there_can_be_is_a_problem_and_leaves_nothing_open(make: Make, tmp_path: Path) -> None:
    allocation = make()
    with pytest.raises(HostProblem, match="10000 nodes"):
        allocation.acquire("c", 10_000, str(tmp_path))
    allocation.release()
    assert not allocation.hosts


def test_it_says_what_it_is(make: Make) -> None:
    assert make().describe()["kind"] in ALLOCATIONS
