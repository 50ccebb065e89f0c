"""What every Allocation must do, wherever its hosts come from."""

from __future__ import annotations

import json
import os
import platform
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from howdah.cluster.allocation import ALLOCATIONS, Allocation, close_hosts, find_allocation, open_hosts
from howdah.cluster.allocation.ports import Reservation
from howdah.cluster.control import ControlServer, Served
from howdah.cluster.state import cluster_directory
from howdah.errors import UsageError
from howdah.hadoop.configuration.plan import Quarters, spread
from howdah.host import operations
from tests.contract.test_host import wait_for
from tests.slurm import Slurm, slurm
from tests.sshd import Server, ssh_server

Make = Callable[[], Allocation]
WRITTEN = {
    "local": "local",
    "channels": "channels:2",
    "hosts": "hosts:{file}",
    "sim": "sim:2",
    "slurm": "slurm:nodes=2,time=5m,scratch={scratch}",
    "pbs": "pbs:nodes=2,time=5m,scratch={scratch}",
}
"""Every kind as one writes it."""


def home(directory: Path) -> Quarters:
    """What a cluster has on this machine."""
    return Quarters(
        platform.node(), f"{directory}/work", f"{directory}/conf", f"{directory}/logs", f"{directory}/store"
    )


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with ssh_server(tmp_path_factory.mktemp("sshd")) as server:
        yield server


@pytest.fixture(scope="module")
def batch_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    with slurm(tmp_path_factory.mktemp("slurm"), ("n1", "n2", "n3")) as system:
        yield system


_KINDS = [
    pytest.param(kind, marks=pytest.mark.daemons) if kind in ("slurm", "pbs") else kind for kind in sorted(ALLOCATIONS)
]
"""Those of batch systems need these, and belong to `make test`."""


@pytest.fixture(params=_KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Makes allocations that are released at the end. The list has one host, this machine behind a real server."""
    file = tmp_path / "hosts.yaml"
    file.write_text(f"scratch: {tmp_path}/scratch\nhosts: [{{host: far, address: 127.0.0.1}}]\n")
    if request.param in ("sim", "slurm", "pbs") and os.geteuid() != 0:
        pytest.skip("simulated hosts are made by root")
    if request.param in ("slurm", "pbs"):
        system: Slurm = request.getfixturevalue("batch_system")
        for name, value in system.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "home"))
        for name in ("c", "one", "two"):
            (tmp_path / "home" / "clusters" / name).mkdir(parents=True)
        (tmp_path / "typed").mkdir()
        monkeypatch.chdir(tmp_path / "typed")
    if request.param == "hosts":
        server: Server = request.getfixturevalue("sshd")
        monkeypatch.setenv("PATH", server.path("far"), prepend=os.pathsep)
    with ExitStack() as made:

        def one() -> Allocation:
            allocation = find_allocation(WRITTEN[request.param].format(file=file, scratch=tmp_path))
            made.callback(allocation.release)
            return allocation

        yield one
    if request.param in ("slurm", "pbs"):
        assert not list((tmp_path / "typed").iterdir()), "a job leaves nothing where the user types"


def runs(argument: str) -> bool:
    """Whether a process of this machine has this argument."""
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if argument.encode() in line.read_bytes().split(b"\0"):
                return True
    return False


def test_every_place_is_on_a_host_that_answers(make: Make, tmp_path: Path) -> None:
    allocation = make()
    plan = allocation.acquire("c", 3, home(tmp_path))
    assert len(plan.nodes) == 3
    for place in plan.places:
        assert allocation.hosts[place.host].call("files.resolve", path="/") == "/"
        assert place.directory.startswith(f"{plan.quarters[place.host].root}/")
    assert len({place.directory for place in plan.places}) == 4


def test_every_port_can_be_bound_and_none_is_given_twice(make: Make, tmp_path: Path) -> None:
    allocation = make()
    plan = allocation.acquire("c", 3, home(tmp_path))
    given = [(place.host, port) for place in plan.places for port in place.ports.values()]
    assert len(set(given)) == len(given)
    for place in plan.places:
        ports = sorted(place.ports.values())
        free = allocation.hosts[place.host].call("network.free_ports", address=place.address, ports=ports)
        assert list(free) == ports


@pytest.mark.promise("Two clusters at once share no address and no port", "reference/ports")
def test_clusters_side_by_side_share_no_address_and_no_port(make: Make, tmp_path: Path) -> None:
    one, two = (make().acquire(name, 2, home(tmp_path / name)) for name in ("one", "two"))
    if any(place.address.startswith("127.77.") for place in one.places):  # Other hosts have the addresses they have.
        assert not {place.address for place in one.places} & {place.address for place in two.places}
    assert not {(place.address, port) for place in one.places for port in place.ports.values()} & {
        (place.address, port) for place in two.places for port in place.ports.values()
    }


def test_what_was_released_can_be_had_again(make: Make, tmp_path: Path) -> None:
    first = make()
    plan = first.acquire("c", 1, home(tmp_path))
    first.release()
    if first.describe()["kind"] == "sim":
        return  # Its hosts had all ports of networks of their own.

    def again() -> bool:
        reservation = Reservation()
        taken = reservation.take(min(plan.masters.ports.values()))
        reservation.release()
        return taken

    wait_for(again)  # Another test may have the ports for a moment.


def test_release_ends_what_was_started_and_may_be_called_at_any_time(make: Make, tmp_path: Path) -> None:
    allocation = make()
    allocation.release()
    plan = allocation.acquire("c", 1, home(tmp_path))
    host = allocation.hosts[plan.masters.host]
    # Found by its arguments: on a simulated host it has another number.
    alone = f"600.{secrets.randbelow(10**9)}"
    host.start(["sleep", alone], output=str(tmp_path / "out"))
    wait_for(lambda: runs(alone))
    allocation.release()
    wait_for(lambda: not runs(alone))
    assert not allocation.hosts
    allocation.release()


def test_more_nodes_than_there_can_be_is_a_problem_and_leaves_nothing_open(make: Make, tmp_path: Path) -> None:
    allocation = make()
    with pytest.raises(UsageError, match="10000 nodes"):
        allocation.acquire("c", 10_000, home(tmp_path))
    allocation.release()
    assert not allocation.hosts


def test_it_says_what_it_is_and_its_hosts_can_be_opened_by_that(make: Make, tmp_path: Path) -> None:
    allocation = make()
    described = allocation.describe()
    assert described["kind"] in ALLOCATIONS
    plan = allocation.acquire("c", allocation.usual_nodes, home(tmp_path))
    with ExitStack() as serving:
        if described["kind"] == "slurm":  # Agents are asked through the supervisor.
            serving.enter_context(control(allocation))
        opened = open_hosts(json.loads(json.dumps(described)), plan.quarters)
        serving.callback(close_hosts, opened)
        assert {name: host.name for name, host in opened.items()} == {name: name for name in plan.quarters}
        assert {host.call("files.resolve", path="/") for host in opened.values()} == {"/"}


def control(allocation: Allocation) -> ControlServer:
    """What a supervisor serves to others, as far as hosts go."""

    def call_in(host: str, program: str, invitation: str) -> None:
        operations.call_in(allocation.hosts[host], program, invitation)

    def nothing(*_: object) -> None:
        raise AssertionError

    served = Served(nothing, nothing, nothing, nothing, nothing, nothing, call_in, nothing, nothing, nothing)  # type: ignore[arg-type]
    return ControlServer(cluster_directory("c"), served)


def test_no_two_hosts_have_a_directory_in_common(make: Make, tmp_path: Path) -> None:
    allocation = make()
    plan = allocation.acquire("c", 3, home(tmp_path))
    assert set(plan.quarters) == {place.host for place in plan.places} == set(allocation.hosts)
    places = [Path(one) for own in plan.quarters.values() for one in (own.root, own.conf, own.logs)]
    assert len(set(places)) == len(places)
    roots = [Path(own.root) for own in plan.quarters.values()]
    assert not any(one in other.parents for one in roots for other in roots)


def test_nodes_are_spread_over_the_hosts_in_turn() -> None:
    assert list(spread("abc", 3)) == ["a", "a", "b", "c"]
    assert list(spread("abc", 4)) == ["a", "a", "b", "c", "a"]
    assert list(spread("abc", 2)) == ["a", "b", "c"], "the masters alone on the first"
    assert list(spread("abc", 1)) == ["a", "b"], "the last is left over"
    assert list(spread("a", 2)) == ["a", "a", "a"]


@pytest.mark.parametrize("wrong", ["channels", "channels:", "channels:0", "channels:x", "channels:65", "channels:-1"])
def test_channels_take_a_number(wrong: str) -> None:
    with pytest.raises(UsageError, match="a number of hosts from 1 to 64"):
        find_allocation(wrong)


def test_an_unknown_kind_is_refused_with_what_may_have_been_meant() -> None:
    with pytest.raises(UsageError, match=r"(?s)no kind of allocation called 'chanels'.*Did you mean channels"):
        find_allocation("chanels:3")
    with pytest.raises(UsageError, match="takes no argument"):
        find_allocation("local:3")
