from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from howdah.errors import HostProblem, UsageError
from howdah.hadoop.configuration.roles import JVM_OVERHEAD_MIB, MASTERS, WORKERS
from howdah.hadoop.configuration.sizing import STEP_MIB, Sizing, check_schedulable, combine, size_cluster

MIB, GIB = 1 << 20, 1 << 30
SIZES: dict[str, Any] = {"nodes_mib": [4096, 2048], "node_vcores": 3, "most_mib": 4096}


@given(st.integers(1, 20), st.integers(1, 256), st.integers(1, 1024), st.integers(1, 1024))
def test_all_of_it_fits_the_memory(nodes: int, processors: int, memory: int, available: int) -> None:
    assume(available <= memory)
    try:
        sizing = size_cluster(nodes, processors, memory * GIB, available * GIB, GIB)
    except HostProblem:
        return
    daemons = [*MASTERS, *WORKERS * nodes]
    whole = sum(role.heap_mib + JVM_OVERHEAD_MIB for role in daemons) + nodes * sizing.node_mib
    assert whole <= 0.8 * memory * GIB / MIB
    assert whole <= 0.9 * available * GIB / MIB
    assert sizing.node_mib == sizing.slots * sizing.task_mib + sizing.am_mib
    assert (sizing.task_mib % STEP_MIB, sizing.task_mib >= 512) == (0, True)
    assert processors <= sizing.total_slots < processors + nodes
    assert sizing.task_heap_mib < sizing.task_mib


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 64), st.integers(16, 512)), min_size=1, max_size=6))
def test_on_several_machines_every_node_fits_its_own(machines: list[tuple[int, int, int]]) -> None:
    parts = []
    for number, (nodes, processors, memory) in enumerate(machines):
        try:
            sizing = size_cluster(nodes, processors, memory * GIB, memory * GIB, 100 * GIB)
        except HostProblem:
            assume(False)
        parts.append((sizing, [f"m{number}n{node}" for node in range(nodes)]))
    whole = combine(parts)
    for sizing, names in parts:
        for name in names:
            slots = whole.larger.get(name, whole.slots)
            assert slots == sizing.slots
            assert whole.mib_of(slots) <= sizing.node_mib
            assert slots <= whole.most_slots
    assert whole.total_slots == sum(sizing.total_slots for sizing, _ in parts)
    assert whole.task_mib == min(sizing.task_mib for sizing, _ in parts)
    assert whole.node_mib == whole.mib_of(whole.slots)
    assert Sizing(**whole.as_record()) == whole


def test_equal_nodes_are_written_as_they_always_were() -> None:
    record = size_cluster(3, 2, 24 * GIB, 22 * GIB, 80 * GIB).as_record()
    assert list(record) == ["nodes", "slots", "task_mib", "am_mib", "node_mib", "block_mib"]


def test_too_little_memory_is_said_with_its_arithmetic() -> None:
    with pytest.raises(HostProblem, match=r"not enough memory for 3 nodes: 3276 MiB usable of 4096") as raised:
        size_cluster(3, 2, 4 * GIB, 4 * GIB, GIB)
    assert str(raised.value.hint) == "Free memory: not one node fits now."


@pytest.mark.promise("`howdah up --nodes N` that does not fit says how many nodes do", "CHANGELOG")
@pytest.mark.parametrize("nodes", [8, 15, 20])
def test_how_many_nodes_fit_is_said(nodes: int) -> None:
    with pytest.raises(HostProblem, match=f"not enough memory for {nodes} nodes") as raised:
        size_cluster(nodes, 2, 12 * GIB, 12 * GIB, GIB)
    found = re.match(r"--nodes (\d+) fits now", str(raised.value.hint))
    assert found is not None
    fit = int(found[1])
    assert size_cluster(fit, 2, 12 * GIB, 12 * GIB, GIB).nodes == fit < nodes
    with pytest.raises(HostProblem):
        size_cluster(fit + 1, 2, 12 * GIB, 12 * GIB, GIB)


@pytest.mark.parametrize(
    ("disk", "block"), [(0, 128), (3 * GIB, 128), (4 * GIB, 256), (12 * GIB, 512), (16 * GIB, 1024), (900 * GIB, 1024)]
)
def test_every_task_can_write_a_block_on_a_quarter_of_the_disk(disk: int, block: int) -> None:
    assert size_cluster(2, 4, 24 * GIB, 24 * GIB, disk).block_mib == block


@pytest.mark.parametrize(
    "settings",
    [{}, {"mapreduce.map.memory.mb": "-1"}, {"mapreduce.map.memory.mb": "4096", "mapreduce.map.cpu.vcores": "3"}],
)
def test_what_fits_is_let_through(settings: dict[str, str]) -> None:
    check_schedulable(settings, **SIZES)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"mapreduce.map.memory.mb": "4097"}, "mapreduce.map.memory.mb is 4097 MiB"),
        ({"mapreduce.reduce.memory.mb": "9000"}, "mapreduce.reduce.memory.mb is 9000 MiB"),
        ({"yarn.app.mapreduce.am.resource.mb": "5000"}, "yarn.app.mapreduce.am.resource.mb is 5000 MiB"),
        ({"mapreduce.reduce.cpu.vcores": "4"}, "mapreduce.reduce.cpu.vcores is 4, but the largest node has 3"),
        ({"mapreduce.map.memory.mb": "1g"}, "'1g', which is not a whole number"),
    ],
)
def test_what_no_node_could_ever_hold_is_refused(settings: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_schedulable(settings, **SIZES)


def test_the_defaults_of_hadoop_count_when_nothing_is_set() -> None:
    with pytest.raises(UsageError, match=r"am\.resource\.mb is 1536 MiB, but the largest container .* has 1024"):
        check_schedulable({}, nodes_mib=[8192], node_vcores=8, most_mib=1024)


@pytest.mark.parametrize(
    ("nodes", "master", "task", "fits"),
    [
        ([9216], 1024, 8192, True),
        ([9216], 1024, 8193, False),
        ([9216, 9216], 1024, 9216, True),
        ([9216, 1024], 1024, 9216, True),
        ([9216, 1023], 1024, 9216, False),
        ([4096, 4096, 8192], 8192, 4096, True),
        ([4096, 4096], 4096, 4096, True),
    ],
)
def test_a_task_must_have_room_beside_the_application_master(
    nodes: list[int], master: int, task: int, fits: bool
) -> None:
    settings = {
        "yarn.app.mapreduce.am.resource.mb": str(master),
        "mapreduce.map.memory.mb": str(task),
        "mapreduce.reduce.memory.mb": "512",
    }
    if fits:
        check_schedulable(settings, nodes_mib=nodes, node_vcores=8, most_mib=65536)
    else:
        with pytest.raises(UsageError, match="no task can run while the application master does"):
            check_schedulable(settings, nodes_mib=nodes, node_vcores=8, most_mib=65536)


def test_a_host_without_masters_has_their_memory_for_tasks() -> None:
    both, nodes = (size_cluster(1, 4, 16 * GIB, 16 * GIB, 100 * GIB, masters=masters) for masters in (True, False))
    of_masters = sum(role.heap_mib + JVM_OVERHEAD_MIB for role in MASTERS)
    assert 0 < nodes.node_mib - both.node_mib <= of_masters
