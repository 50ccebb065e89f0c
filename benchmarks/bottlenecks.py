"""Whether a report names the true bottleneck: twelve cells on simulated hosts, each with one resource that is scarce by
construction. Needs root.

A cell is right if the largest share of a bound in the measured phase is that of its resource, and the page names it:
at `report.phases.limits.NEAR` or more.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pairs import cluster, output_of
from howdah.report.phases.jobs import read_jobs
from howdah.report.phases.limits import NEAR, find_limits
from howdah.report.phases.series import read_series
from howdah.store import read_run

_NAME = "bench-bottlenecks"
_ON_DISK = ("--conf", "dfs.datanode.synconclose=true", "--conf", "dfs.blocksize=64M")


@dataclass(frozen=True, slots=True)
class _Cell:
    """Hosts of which one resource is scarce, and the phase of a workload that uses it up."""

    resource: str
    on: str
    workload: tuple[str, ...]
    phase: str


_CELLS = (
    _Cell("network", "sim:3,network=50mbit", ("terasort", "--size", "500M"), "gen"),
    _Cell("network", "sim:3,network=100mbit", ("terasort", "--size", "1G"), "gen"),
    _Cell("network", "sim:2,network=50mbit", ("dfsio", "--size", "500M"), "write"),
    _Cell("network", "sim:3,network=100mbit", ("dfsio", "--size", "1G"), "write"),
    _Cell("disk write", "sim:2,disks=1,disk_rate=15MB", ("terasort", "--size", "500M"), "gen"),
    _Cell("disk write", "sim:2,disks=1,disk_rate=30MB", ("terasort", "--size", "1G"), "gen"),
    _Cell("disk write", "sim:2,disks=1,disk_rate=15MB", ("dfsio", "--size", "500M"), "write"),
    _Cell("disk read", "sim:2,disks=1,disk_rate=15MB", ("dfsio", "--size", "1G"), "read"),
    _Cell("CPU", "sim:3,cpus=0.3", ("terasort", "--size", "200M"), "sort"),
    _Cell("CPU", "sim:2,cpus=0.4", ("wordcount", "--size", "200M"), "count"),
    _Cell("CPU", "sim:2,cpus=0.5", ("terasort", "--size", "500M"), "gen"),
    _Cell("CPU", "sim:3,cpus=0.4", ("pi",), "pi"),
)


def measure() -> list[str]:
    """Return a row for each cell: what was scarce, and what the report names."""
    only = os.environ.get("CELLS", "")
    chosen = [_CELLS[int(number)] for number in only.split(",")] if only else list(_CELLS)
    rows = list(_rows(chosen))
    right = sum(row.endswith("| yes |") for row in rows)
    heads = ["| scarce | hosts | phase | the report's words | right |", "|---|---|---|---|---|"]
    return [*heads, *rows, "", f"{right} of {len(rows)} right."]


def _rows(cells: Sequence[_Cell]) -> Iterator[str]:
    for cell in cells:
        hosts = int(cell.on.partition(":")[2].partition(",")[0])
        # DataNodes read their settings when they start.
        with cluster(_NAME, hosts, "--on", cell.on, "--insecure", *(_ON_DISK if "disk" in cell.resource else ())):
            cold = ("--factor", "cache=dropped") if cell.resource == "disk read" else ()
            command = (sys.executable, "-m", "howdah", "run", *cell.workload, "--cluster", _NAME, *cold)
            said = json.loads(output_of((*command, "--no-report", "--json")))
        words, right = _named(Path(said["runs"][0]["path"]), cell)
        what, answer = f"{cell.workload[0]} {cell.phase}", "yes" if right else "no"
        row = f"| {cell.resource} | `{cell.on}` | {what} | {words} | {answer} |"
        print(row, file=sys.stderr, flush=True)
        yield row


def _named(path: Path, cell: _Cell) -> tuple[str, bool]:
    """Return what the report says of a cell's phase, and whether it is right."""
    run = read_run(path)
    [limit] = [one for one in find_limits(run, read_series(run), read_jobs(run)[0]) if one.phase == cell.phase]
    share, top = max((load.share or 0.0, load.resource) for load in limit.loads)
    return limit.verdict, top == cell.resource and share >= NEAR
