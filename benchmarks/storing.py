"""Benchmarks of the file system: the same jobs on HDFS with one copy and on a directory of the same disk.

Both storages are those of one cluster of one node, so that daemons, containers and disk are the same.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.arms import BLOCKS
from benchmarks.pairs import Arm, cluster, describe, ratio_words, ratios, run_blocks
from howdah.model.quantity import parse_bytes


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: a workload with its options, its size, and the phases that are compared; `ours` is what the side
    on the directory has beside."""

    workload: Sequence[str]
    size: str
    phases: Sequence[str]
    ours: Sequence[str] = ()


_TERASORT = ("terasort", "--reduces", "2")

ROWS = {
    "posix-sort": Row(_TERASORT, "2G", ("gen", "sort", "validate")),
    "posix-dfsio": Row(("dfsio",), "4G", ("write", "read")),
    "stack": Row(_TERASORT, "10G", ("sort",), ours=("--accelerator", "sort")),
}


def measure(name: str) -> list[str]:
    """Runs the pairs of one row that are missing (`BLOCKS`, 8 unless told; `SIZE` instead of the row's)."""
    row = ROWS[name]
    size = os.environ.get("SIZE", row.size)
    root = Path(os.environ.get("HOWDAH_HOME") or Path.home() / ".howdah") / "bench-posix"
    if shutil.disk_usage(root.parent).free < 6 * parse_bytes(size):
        raise SystemExit(f"not enough disk for {size}")
    root.mkdir(exist_ok=True)
    posix = f"posix:{root}"
    try:
        with cluster(name, 1, "--storage", f"hdfs,{posix}") as there:
            common = ("--cluster", there, "--no-calibration", "--data", "reuse")
            arms = (Arm("hdfs", common), Arm("posix", (*common, "--storage", posix, *row.ours)))
            run_blocks(f"{name}-{size}", arms, BLOCKS, (*row.workload, "--size", size))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    lines = [f"{row.workload[0]} {size}, one node", "", "| figure | hdfs | posix | hdfs ÷ posix |", "|---|---|---|---|"]
    for phase in row.phases:
        for metric in ("job_seconds", "cpu_seconds"):
            found = ratios(f"{name}-{size}", metric, phase, "hdfs", "posix")
            sides = (describe(f"{name}-{size}", metric, phase, arm) for arm in ("hdfs", "posix"))
            lines.append(f"| {phase}: {metric} | {' | '.join(sides)} | {ratio_words(found)} |")
    return lines
