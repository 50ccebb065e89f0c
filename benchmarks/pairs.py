"""Interleaved blocks of runs: each block runs every arm once in an order drawn anew, until there are enough blocks."""

from __future__ import annotations

import math
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from howdah.model.run import Run
from howdah.stats.summary import summarise
from howdah.store import list_runs, read_run
from howdah.store.reader import StoredRun

ROOT = Path(__file__).parent.parent
KEPT = ROOT / ".build" / "bench"


@dataclass(frozen=True, slots=True)
class Arm:
    """One side: a name, and the arguments of `howdah run` that make it."""

    name: str
    arguments: tuple[str, ...]


def howdah(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a howdah command with this interpreter; what goes wrong is shown."""
    return subprocess.run([sys.executable, "-m", "howdah", *arguments], capture_output=True, text=True, check=False)


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
                *("run", *workload, *arm.arguments, "--out", str(root), "--json"),
                *("--label", f"block={block}", "--label", f"arm={arm.name}", "--label", f"place={place}"),
            )
            print(f"block {block}, {arm.name}: exit {done.returncode}", file=sys.stderr, flush=True)
            if done.returncode != 0:
                raise SystemExit(f"{arm.name} failed:\n{done.stderr[-3000:]}")


def ratios(row: str, metric: str, phase: str | None, first: str, second: str) -> list[float]:
    """`first` ÷ `second` of one metric, block by block, for blocks that have both."""
    values: dict[int, dict[str, float]] = {}
    for run in _valid(KEPT / row):
        found = [s.value for s in run.samples if s.metric == metric and s.phase == phase]
        if len(found) == 1:
            values.setdefault(int(run.run.labels["block"]), {})[run.run.labels["arm"]] = found[0]
    return [value[first] / value[second] for _, value in sorted(values.items()) if first in value and second in value]


def describe(row: str, metric: str, phase: str | None, arm: str) -> str:
    """Geometric mean and range of one arm's values."""
    found = [
        sample.value
        for run in _valid(KEPT / row)
        if run.run.labels["arm"] == arm
        for sample in run.samples
        if sample.metric == metric and sample.phase == phase
    ]
    if not found:
        return "missing"
    return f"{statistics.geometric_mean(found):.1f} ({min(found):.1f}–{max(found):.1f}, n={len(found)})"


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
