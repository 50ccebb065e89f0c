from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from howdah.cluster.state import Daemon
from howdah.engine.evidence.accounting import Accounting, total
from howdah.errors import HostProblem
from howdah.host.operations import CpuReading
from tests.unit.engine.run.clusters import IDLE, FakeCluster, FakeHost

DAEMONS = (
    Daemon("namenode", "master", "here", 1),
    Daemon("nodemanager", "node1", "here", 2),
    Daemon("nodemanager", "node2", "here", 3),
)
NONE: frozenset[str] = frozenset()
BEFORE = CpuReading({1: 1.0, 2: 2.0, 3: 3.0}, 7.0, {}, NONE, True)
AFTER = CpuReading({1: 1.5, 2: 12.0, 3: 23.0}, 11.0, {}, NONE, True)


def by_role(one: Accounting, *readings: CpuReading) -> dict[str, float] | None:
    """Of readings of one host."""
    before, after, last = ({"here": reading} for reading in readings)
    return one.by_role(before, after, last)


def accounting(daemons: tuple[Daemon, ...] = DAEMONS, cpu: Any = None) -> Accounting:
    return Accounting(FakeCluster(FakeHost({"accounting.cpu": cpu}), daemons=daemons).live())


def test_seconds_are_summed_by_role_and_killed_containers_count_with_their_kind() -> None:
    assert by_role(accounting(), BEFORE, AFTER, AFTER) == {"namenode": 0.5, "nodemanager": 34.0}


def test_the_last_of_a_container_counts_with_the_phase_that_it_began_in() -> None:
    first = replace(AFTER, containers={"master": 3.0}, running=frozenset({"master"}))
    # Another 2.5 s until the next phase has ended, of which 1.5 s until that begins.
    begun = replace(first, containers={"master": 4.5}, seconds={1: 1.5, 2: 13.5, 3: 23.0})
    ended = CpuReading({1: 1.5, 2: 18.5, 3: 23.0}, 11.0, {"master": 5.5, "next": 2.0}, frozenset({"next"}), True)
    last = replace(ended, containers={"master": 5.5, "next": 2.25})
    one = accounting()
    assert by_role(one, BEFORE, first, last) == {"namenode": 0.5, "nodemanager": 34.0 + 2.5}
    assert by_role(one, begun, ended, last) == {"namenode": 0.0, "nodemanager": 5.0 - 1.0 + 0.25}


def test_a_reading_names_the_daemons_and_those_that_have_containers() -> None:
    asked: dict[str, Any] = {}

    def cpu(**arguments: Any) -> Any:
        asked.update(arguments)
        return {"seconds": {1: 1.0}, "adopted": 0.5, "containers": {"m": 2.0}, "running": ["m"], "steady": True}

    assert accounting(cpu=cpu).read() == {"here": CpuReading({1: 1.0}, 0.5, {"m": 2.0}, frozenset({"m"}), True)}
    assert asked == {"pids": [1, 2, 3], "managers": [2, 3]}


@pytest.mark.promise("A number that could not be measured is absent, never 0", "README")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (replace(BEFORE, seconds={1: 1.0, 2: 2.0}), AFTER),
        (BEFORE, replace(AFTER, seconds={1: 1.5, 3: 23.0})),
        (replace(BEFORE, steady=False), AFTER),
        (BEFORE, replace(AFTER, steady=False)),
    ],
)
def test_half_of_the_truth_is_no_number(before: CpuReading, after: CpuReading) -> None:
    assert by_role(accounting(), before, after, after) is None


@pytest.mark.promise("A run survives the loss of a host whose blocks have replicas", "reference/allocations")
def test_a_host_that_is_lost_has_no_reading_and_the_phase_no_number() -> None:
    def gone(**_: Any) -> Any:
        raise HostProblem("accounting.cpu: the host was lost", host="there")

    daemons = (*DAEMONS, Daemon("datanode", "node3", "there", 4))
    here = FakeHost({"accounting.cpu": lambda **_: IDLE})
    there = FakeHost({"accounting.cpu": gone}, name="there")
    one = Accounting(FakeCluster(here, daemons=daemons, others=(there,)).live())
    with pytest.raises(HostProblem):
        one.read()
    there.lost = "the host was lost"
    read = one.read()
    assert list(read) == ["here"]
    whole = {"here": BEFORE, "there": CpuReading({4: 1.0}, 0.0, {}, NONE, True)}
    assert one.by_role(whole, whole, whole) is not None
    assert one.by_role(whole, read, read) is None
    assert one.by_role(whole, whole, read) is None


def test_daemons_elsewhere_or_unknown_are_no_number() -> None:
    assert by_role(accounting(()), BEFORE, AFTER, AFTER) is None
    elsewhere = (*DAEMONS, Daemon("datanode", "node3", "there", 4))
    assert by_role(accounting(elsewhere), BEFORE, AFTER, AFTER) is None


def test_hosts_are_added_up_though_their_processes_have_the_same_numbers() -> None:
    daemons = (Daemon("nodemanager", "node1", "here", 1), Daemon("nodemanager", "node2", "there", 1))
    cluster = FakeCluster(FakeHost({}), daemons=daemons, others=(FakeHost({}, name="there"),))
    before = {name: CpuReading({1: 1.0}, 0.0, {"c": 1.0}, NONE, True) for name in ("here", "there")}
    after = {
        "here": CpuReading({1: 3.0}, 0.0, {"c": 1.0}, NONE, True),
        "there": CpuReading({1: 6.0}, 0.5, {"c": 2.0}, frozenset({"c"}), True),
    }
    last = {**after, "there": CpuReading({1: 9.0}, 0.5, {"c": 2.25}, NONE, True)}
    assert Accounting(cluster.live()).by_role(before, after, last) == {"nodemanager": 2.0 + 5.0 + 0.5 + 0.25}
    unsteady = {**after, "there": replace(after["there"], steady=False)}
    assert Accounting(cluster.live()).by_role(before, unsteady, last) is None


def test_a_sum_has_the_kernels_hundredths() -> None:
    assert total((0.1, 0.2)) == 0.3
