"""Benchmarks of the file system: the same jobs on HDFS with one copy and on a directory of the same disk.

Both storages are those of one cluster of one node, so that daemons, containers and disk are the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.arms import BLOCKS
from benchmarks.pairs import (
    Arm,
    cluster,
    describe,
    need_disk,
    posix_directory,
    ratio_words,
    ratios,
    ratios_of_sums,
    run_blocks,
)
from howdah.model.quantity import parse_bytes
from howdah.workload.dfsio import TASK


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: a workload with its options, its size, the phases and the metrics that are compared; the sort
    also `copied`: with the time that DistCp takes to bring its input into HDFS."""

    workload: Sequence[str]
    size: str
    phases: Sequence[str]
    metrics: Sequence[str] = ("job_seconds", "cpu_seconds")
    copied: bool = False


_TERASORT = ("terasort", "--reduces", "2")

ROWS = {
    "posix-sort": Row(_TERASORT, "2G", ("gen", "sort", "validate"), copied=True),
    "posix-dfsio": Row(("dfsio",), "4G", ("write", "read"), ("job_seconds", "cpu_seconds", TASK.name)),
}


def measure(name: str) -> list[str]:
    """Runs the pairs of one row that are missing (`BLOCKS`, 8 unless told; `SIZE` instead of the row's)."""
    row = ROWS[name]
    size = os.environ.get("SIZE", row.size)
    need_disk(6 * parse_bytes(size))
    with posix_directory() as posix, cluster(name, 1, "--storage", f"hdfs,{posix}") as there:
        common = ("--cluster", there, "--no-calibration", "--no-report", "--data", "reuse")
        ours = (*common, "--storage", posix)
        # Two files, as two maps of TeraGen write them.
        copy = Arm("copy", (*ours, "--to", "hdfs"), ("distcp", "--size", size, "--maps", "2", "--files", "2"))
        arms = (Arm("hdfs", common), Arm("posix", ours), *((copy,) if row.copied else ()))
        run_blocks(f"{name}-{size}", arms, BLOCKS, (*row.workload, "--size", size))
    lines = [f"{row.workload[0]} {size}, one node", "", "| figure | hdfs | posix | hdfs ÷ posix |", "|---|---|---|---|"]
    for phase in row.phases:
        for metric in row.metrics:
            found = ratios(f"{name}-{size}", metric, phase, "hdfs", "posix")
            sides = (describe(f"{name}-{size}", metric, phase, arm) for arm in ("hdfs", "posix"))
            lines.append(f"| {phase}: {metric} | {' | '.join(sides)} | {ratio_words(found)} |")
    if row.copied:
        for metric in row.metrics:
            found = ratios_of_sums(f"{name}-{size}", metric, [("copy", "copy"), ("hdfs", "sort")], [("posix", "sort")])
            alone = describe(f"{name}-{size}", metric, "copy", "copy")
            lines.append(f"| sort, copied into HDFS before ({alone}): {metric} | | | {ratio_words(found)} |")
    return lines
