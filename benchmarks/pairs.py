"""Interleaved blocks of runs: each block runs every arm once in an order drawn anew, until there are enough blocks."""

from __future__ import annotations

import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howdah.model.run import Run
from howdah.report.phases.jobs import read_jobs
from howdah.stats.summary import summarise, t_quantile
from howdah.store import list_runs, read_run
from howdah.store.reader import StoredRun

ROOT = Path(__file__).parent.parent
KEPT = ROOT / ".build" / "bench"
_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"


@dataclass(frozen=True, slots=True)
class Arm:
    """One side: a name, the arguments of `howdah run` that make it, and its workload where it has one of its own."""

    name: str
    arguments: tuple[str, ...]
    workload: tuple[str, ...] = ()


def howdah(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a howdah command with this interpreter; what goes wrong is shown."""
    return subprocess.run([sys.executable, "-m", "howdah", *arguments], capture_output=True, text=True, check=False)


def output_of(command: Sequence[str]) -> str:
    """What a command prints; ends the benchmark if it fails."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"{' '.join(command[-8:])} failed:\n{ended.stderr[-3000:]}")
    return ended.stdout


@contextmanager
def cluster(name: str, nodes: int, *options: str) -> Iterator[str]:
    """A cluster of this name, made with these options of `howdah up`, and its end, whatever happens."""
    there = json.loads(howdah("status", "--json").stdout or "[]")
    if name not in {one["name"] for one in there if one.get("state") == "up"}:
        done = howdah("up", "--name", name, "--nodes", str(nodes), *options)
        if done.returncode != 0:
            raise SystemExit(f"no cluster:\n{done.stderr[-3000:]}")
    try:
        yield name
    finally:
        howdah("down", "--name", name)


def manifest_of(name: str) -> Mapping[str, Any]:
    """What `howdah status` says of a cluster that is up."""
    there = json.loads(howdah("status", "--json").stdout)
    found: Mapping[str, Any] = next(one for one in there if one["name"] == name)
    return found


@contextmanager
def posix_directory() -> Iterator[str]:
    """A directory on the disk of the cluster's HDFS, as `--storage` names it, and its end."""
    root = Path(os.environ.get("HOWDAH_HOME") or Path.home() / ".howdah") / "bench-posix"
    root.mkdir(exist_ok=True)
    try:
        yield f"posix:{root}"
    finally:
        shutil.rmtree(root, ignore_errors=True)


def run_blocks(row: str, arms: Sequence[Arm], blocks: int, workload: Sequence[str], *, seed: int = 20261120) -> None:
    """Runs what is still missing of `blocks` blocks. The order within each block comes from `seed` and its number."""
    root = KEPT / row
    for block in range(blocks):
        order = list(arms)
        random.Random(f"{seed}-{block}").shuffle(order)
        for place, arm in enumerate(order):
            if (block, arm.name) in _present(root):
                continue
            done = howdah(
                *("run", *(arm.workload or workload), *arm.arguments, "--out", str(root), "--json"),
                *("--label", f"block={block}", "--label", f"arm={arm.name}", "--label", f"place={place}"),
            )
            print(f"block {block}, {arm.name}: exit {done.returncode}", file=sys.stderr, flush=True)
            if done.returncode != 0:
                raise SystemExit(f"{arm.name} failed:\n{done.stderr[-3000:]}")


def ratios(row: str, metric: str, phase: str | None, first: str, second: str) -> list[float]:
    """`first` ÷ `second` of one metric, block by block, for blocks that have both."""
    blocks = _values(row, metric, phase).values()
    return [block[first] / block[second] for block in blocks if first in block and second in block]


def ratios_of_sums(
    row: str, metric: str, first: Sequence[tuple[str, str]], second: Sequence[tuple[str, str]]
) -> list[float]:
    """One metric summed over arms and phases, `first` ÷ `second`, block by block, for blocks that have all of them."""

    def sums(parts: Sequence[tuple[str, str]]) -> dict[int, float]:
        found = [
            {block: of[arm] for block, of in _values(row, metric, phase).items() if arm in of} for arm, phase in parts
        ]
        return {block: sum(one[block] for one in found) for block in set.intersection(*map(set, found))}

    above, below = sums(first), sums(second)
    return [above[block] / below[block] for block in sorted(above.keys() & below.keys())]


def block_effects(row: str, metric: str, phase: str | None, reference: str) -> dict[str, str]:
    """Every other arm ÷ `reference`, from the blocks that have all arms, in words.

    The analysis of a randomised complete block design on logarithms (Montgomery, Design and Analysis of Experiments,
    chapter 4): all arms share one residual variance with (arms − 1)(blocks − 1) degrees of freedom, so the intervals
    are narrower than those of few pairs alone.
    """
    every = list(_values(row, metric, phase).values())
    arms = sorted({arm for block in every for arm in block})
    logs = [[math.log(block[arm]) for arm in arms] for block in every if len(block) == len(arms)]
    if len(logs) < 2:
        return {}
    means = [statistics.fmean(column) for column in zip(*logs, strict=True)]
    centred = [[value - mean for value, mean in zip(row, means, strict=True)] for row in logs]
    squares = sum((value - statistics.fmean(row)) ** 2 for row in centred for value in row)
    freedom = (len(arms) - 1) * (len(logs) - 1)
    half = t_quantile(0.975, freedom) * math.sqrt(2 * squares / freedom / len(logs))
    base = means[arms.index(reference)]
    return {
        arm: f"{math.exp(mean - base):.2f} (95 % {math.exp(mean - base - half):.2f}–{math.exp(mean - base + half):.2f})"
        for arm, mean in zip(arms, means, strict=True)
        if arm != reference
    }


def _values(row: str, metric: str, phase: str | None) -> dict[int, dict[str, float]]:
    """One metric by block and arm, blocks in order."""
    values: dict[int, dict[str, float]] = {}
    for run in _valid(KEPT / row):
        found = [s.value for s in run.samples if s.metric == metric and s.phase == phase]
        if len(found) == 1:
            values.setdefault(int(run.run.labels["block"]), {})[run.run.labels["arm"]] = found[0]
    return dict(sorted(values.items()))


def in_order(row: str, metric: str, phase: str | None) -> list[float]:
    """One metric of every valid run, in the order in which they ran."""
    return [
        sample.value
        for run in _valid(KEPT / row)
        for sample in run.samples
        if sample.metric == metric and sample.phase == phase
    ]


def need_disk(needed: float) -> None:
    """Exits where the disk of HOWDAH_HOME has not so many bytes."""
    place = Path(os.environ.get("HOWDAH_HOME") or Path.home()).absolute()
    free = shutil.disk_usage(next(one for one in (place, *place.parents) if one.exists())).free
    if free < needed:
        raise SystemExit(f"{needed / 1e9:.0f} GB of disk are needed, {free / 1e9:.0f} GB are free")


def describe(row: str, metric: str, phase: str | None, arm: str) -> str:
    """Geometric mean and range of one arm's values; of rates in MB/s."""
    found = [
        sample.value
        for run in _valid(KEPT / row)
        if run.run.labels["arm"] == arm
        for sample in run.samples
        if sample.metric == metric and sample.phase == phase
    ]
    if not found:
        return "missing"
    found = [value / 1e6 for value in found] if metric.endswith("_throughput") else found
    return f"{statistics.geometric_mean(found):.1f} ({min(found):.1f}–{max(found):.1f}, n={len(found)})"


def largest_counter(row: str, counter: str, phase: str, arm: str) -> int | None:
    """The largest value of a MapReduce counter in any job of a phase, over one arm's runs; None where there is none."""
    runs = [run for run in _valid(KEPT / row) if run.run.labels["arm"] == arm]
    jobs = [entry.job for run in runs for entry in read_jobs(run)[0] if entry.phase == phase]
    found = (job.counter(_COUNTERS, counter) for job in jobs)
    return max((value for value in found if value is not None), default=None)


def ratio_words(found: Sequence[float]) -> str:
    """Geometric mean of paired ratios with the 95 % interval of Student's t on their logarithms."""
    if len(found) < 2:
        return f"{found[0]:.2f} (one pair)" if found else "missing"
    summary = summarise(found)
    assert summary.interval is not None
    centre = math.exp(statistics.fmean(map(math.log, found)))
    return f"{centre:.2f} (95 % {summary.interval.low:.2f}–{summary.interval.high:.2f}, {len(found)} pairs)"


def probe_share(row: str, arm: str) -> list[float]:
    """CPU of the probing process ÷ (processors × time), run by run, from its own points in the series."""
    shares = []
    for run in _valid(KEPT / row):
        if run.run.labels["arm"] != arm:
            continue
        for _, points in run.series():
            own = [point for point in points[1:] if point.get("role") == "probe"]
            machine = [point for point in points[1:] if point["kind"] == "machine"]
            seconds = own[-1]["monotonic"] - own[0]["monotonic"]
            busy_and_idle = sum(machine[-1][name] - machine[0][name] for name in machine[0] if name.startswith("cpu_"))
            shares.append((own[-1]["cpu"] - own[0]["cpu"]) / busy_and_idle if seconds else 0.0)
    return shares


def _valid(root: Path) -> list[StoredRun]:
    found = ((path, run) for path, run in list_runs(root) if isinstance(run, Run))
    return [read_run(path) for path, run in found if run.outcome.kind == "valid"]


def _present(root: Path) -> set[tuple[int, str]]:
    return {(int(run.run.labels["block"]), run.run.labels["arm"]) for run in _valid(root)}
