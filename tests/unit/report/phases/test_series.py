"""Counters to rates, and processor seconds to roles."""

from __future__ import annotations

from typing import Any

import pytest

from howdah.report.phases.series import Counter, HostSeries, _whole_disks, cpu_by_role


def machine(*points: dict[str, Any]) -> HostSeries:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for point in points:
        kinds.setdefault(point["kind"], []).append(point)
    return HostSeries("vm", 1.0, kinds)


def process(utc: float, role: str, pid: int, cpu: float, children: float | None = None) -> dict[str, Any]:
    point = {"kind": "process", "utc": utc, "role": role, "pid": pid, "cpu": cpu}
    return point if children is None else {**point, "cpu_children": children}


def test_growth_is_interpolated() -> None:
    counter = Counter((0.0, 1.0, 2.0, 3.0), (0.0, 10.0, 30.0, 30.0), 1.0)
    assert counter.growth(0.5, 2.0) == pytest.approx(25)
    assert counter.rate(0.0, 3.0) == pytest.approx(10)


@pytest.mark.promise("A number that could not be measured is absent, never 0", "README")
def test_what_is_not_covered_is_missing_not_zero() -> None:
    counter = Counter((10.0, 11.0, 12.0), (0.0, 1.0, 2.0), 1.0)
    assert counter.growth(5.0, 12.0) is None
    assert counter.growth(10.0, 20.0) is None
    assert Counter((), (), 1.0).rate(0, 1) is None
    assert Counter((0.0, 1.0), (5.0, 1.0), 1.0).growth(0, 1) is None


def test_steps_leave_out_gaps_and_resets() -> None:
    counter = Counter((0.0, 1.0, 2.0, 9.0, 10.0, 11.0), (0.0, 2.0, 4.0, 50.0, 3.0, 4.0), 1.0)
    steps = counter.steps(0.5, 10.5)
    assert [(step.start, step.end, step.value) for step in steps] == [
        (0.0, 0.5, 2.0),
        (0.5, 1.5, 2.0),
        (9.5, 10.0, 1.0),
    ]


def test_partitions_and_stacked_devices_are_not_counted_twice() -> None:
    points = [
        {"kind": "disk", "utc": utc, "device": device, "write_bytes": 100 * utc}
        for utc in (0.0, 1.0, 2.0)
        for device in ("vda", "vda1", "dm-0", "loop3", "vdb")
    ]
    assert machine(*points).disk("write_bytes").rate(0, 2) == pytest.approx(200)


def test_disks_of_long_names_are_disks() -> None:
    names = {"sda", "sda1", "sdaa", "nvme0n1", "nvme0n10", "nvme0n1p1"}
    assert _whole_disks(names) == {"sda", "sdaa", "nvme0n1", "nvme0n10"}


def test_a_late_round_is_not_the_next_one() -> None:
    points = [{"kind": "disk", "utc": utc, "device": "sda", "read_bytes": 100 * utc} for utc in (0, 1, 2.55, 3, 4)]
    steps = machine(*points).disk("read_bytes").steps(0, 4)
    assert [step.value for step in steps] == pytest.approx([100.0] * 4)


def test_a_round_that_lacks_a_disk_is_left_out() -> None:
    points = [
        {"kind": "disk", "utc": utc + late, "device": device, "read_bytes": 10 * utc}
        for utc in (0.0, 1.0, 2.0, 3.0)
        for device, late in (("sda", 0.0), ("sdb", 0.02))
        if (utc, device) != (2.0, "sdb")
    ]
    counter = machine(*points).disk("read_bytes")
    assert (counter.times, counter.totals) == ((0.0, 1.0, 3.0), (0.0, 20.0, 60.0))


def test_containers_are_what_the_nodemanager_reaped_and_what_still_runs() -> None:
    points = []
    for utc in range(11):
        points.append(process(utc, "nodemanager", 1, 0.01 * utc, 4.0 if utc >= 6 else 0.0))
        if utc < 6:
            points.append(process(utc, "container", 2, 0.5 * utc))  # ends with 4.0 s, of which 2.5 were seen
        if utc >= 7:
            points.append(process(utc, "container", 3, 0.2 * (utc - 7)))
    roles = cpu_by_role([machine(*points)], 2.0, 10.0)
    # 4.0 reaped, less the 1.0 used before the window, plus the 0.6 of the one that still runs.
    assert roles["container"] == pytest.approx(3.6)
    assert roles["nodemanager"] == pytest.approx(0.08)


def test_a_process_that_began_in_the_window_counts_whole() -> None:
    points = [process(float(utc), "namenode", 1, 5.0 + 0.1 * utc) for utc in range(9)]
    points += [process(float(utc), "client", 2, 0.7 + 0.1 * utc) for utc in range(4, 9)]
    roles = cpu_by_role([machine(*points)], 2.0, 8.0)
    assert roles == {"namenode": pytest.approx(0.6), "client": pytest.approx(1.5)}


def test_nothing_seen_is_nothing_said() -> None:
    assert cpu_by_role([], 0, 1) == {}
    assert cpu_by_role([machine(process(5.0, "client", 1, 3.0))], 0.0, 10.0) == {}
    assert cpu_by_role([machine(process(50.0, "client", 1, 3.0), process(51.0, "client", 1, 3.1))], 0.0, 10.0) == {}
