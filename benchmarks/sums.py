"""What the simulated hosts did together, against the machine's own counters in the same interval. Needs root.

Processors: the time of all hosts, with what the run has on the machine itself (its client and probes), against the busy
time of the machine; the rest is the kernel's work for nobody in particular, and other people's. Disks: what the loop
disks wrote, against the disk below them. Network: what the cards took in, against what they sent.

One process probes all of these hosts: its share of their time together is its share of each host's.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.pairs import cluster, manifest_of, output_of
from howdah.host.agent.machine import disks_below
from howdah.report.phases.series import BUSY, HostSeries, cpu_by_role, read_series
from howdah.store import read_run

ROUNDS = int(os.environ.get("ROUNDS", "3"))
HOSTS = int(os.environ.get("HOSTS", "3"))
SIZE = os.environ.get("SIZE", "1G")
_NAME = "bench-sums"


def measure() -> list[str]:
    """A line for each resource: the ratio of both sums over a whole run, the median of the rounds with the extremes."""
    found: dict[str, list[float]] = {}
    with cluster(_NAME, HOSTS, "--on", f"sim:{HOSTS},disks=1", "--insecure"):
        manifest = manifest_of(_NAME)
        loops = list(manifest["allocation"]["devices"])
        below = disks_below(manifest["plan"]["masters"]["directory"]) or ()
        for number in range(ROUNDS):
            before = _written(loops), _written(below)
            command = (sys.executable, "-m", "howdah", "run", "terasort", "--size", SIZE, "--cluster", _NAME)
            answer = json.loads(output_of((*command, "--no-report", "--json")))
            os.sync()
            loop, disk = (now - then for now, then in zip((_written(loops), _written(below)), before, strict=True))
            shares = {**dict(_ratios(Path(answer["runs"][0]["path"]))), "bytes that loop disks wrote": loop / disk}
            for name, ratio in shares.items():
                found.setdefault(name, []).append(ratio)
            print(f"round {number}: {shares}", file=sys.stderr, flush=True)
    return [
        f"- {name}: {statistics.median(all_of):.4f} ({min(all_of):.4f}–{max(all_of):.4f})"
        for name, all_of in found.items()
    ]


def _written(disks: Iterable[str]) -> int:
    """Sectors that whole disks have written."""
    return sum(int(Path(f"/sys/block/{disk}/stat").read_text().split()[6]) for disk in disks)


def _ratios(path: Path) -> Iterator[tuple[str, float]]:
    run = read_run(path)
    (series,) = read_series(run)
    ends = [phase.end.utc for phase in run.run.phases if phase.end is not None]
    start, end = run.run.phases[0].start.utc, max(ends)
    hosts = [f"sim{number}" for number in range(1, HOSTS + 1)]
    machine = series.cpu(BUSY).growth(start, end)
    if not machine:
        raise SystemExit("the series do not cover the run")
    probes = cpu_by_role((series,), start, end).get("probe", 0.0)
    yield "processor time of the probes, of the hosts' time", probes / ((os.cpu_count() or 1) * (end - start))
    inside = sum(series.cpu_of(host).growth(start, end) or 0.0 for host in hosts)
    yield "processor time of hosts, client and probes", (inside + _outside(series, start, end)) / machine
    taken, sent = (_card_bytes(series, hosts, column, start, end) for column in ("receive_bytes", "send_bytes"))
    yield "bytes that cards took in, of those sent", taken / sent


def _card_bytes(series: HostSeries, hosts: Iterable[str], column: str, start: float, end: float) -> float:
    return sum(series.card(column, {f"{host}/eth0"}).growth(start, end) or 0.0 for host in hosts)


def _outside(series: HostSeries, start: float, end: float) -> float:
    """Processor seconds of what the run has on the machine itself."""
    return sum(seconds for role, seconds in cpu_by_role((series,), start, end).items() if role in ("client", "probe"))
