"""How quick large experiments are: a plan of 10,000 runs, and the report of 1,000.

The runs are copies of those of `ROW=experiment`, which must have been run: their probe series, jobs and settings are
those of real clusters, of 1 GB.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.commands import time_words
from benchmarks.interrupted import DIRECTORY, FILE
from benchmarks.pairs import KEPT
from howdah.model.experiment import StopRule
from howdah.spec.experiment import read_experiment, write_experiment
from howdah.stats.design import Slot, arms, schedule

ROUNDS = 5


def measure() -> list[str]:
    """Medians and ranges of wall time."""
    with tempfile.TemporaryDirectory(dir=KEPT) as scratch:
        large = _experiment(Path(scratch) / "plan.yaml", runs=10_000)
        made = Path(scratch) / "experiment"
        _copies(_experiment(Path(scratch) / "report.yaml", runs=1_000), made)
        return [
            f"- plan of 10,000 runs: {time_words('experiment', 'plan', str(large), rounds=ROUNDS)}",
            f"- report of 1,000 runs: {time_words('experiment', 'report', str(made), rounds=ROUNDS)}",
        ]


def _experiment(file: Path, *, runs: int) -> Path:
    """The experiment of `ROW=experiment` with so many runs."""
    described = read_experiment(FILE)
    blocks = runs // len(arms(described.design, described.factors))
    file.write_text(write_experiment(replace(described, stop=StopRule(least=blocks, most=blocks))), encoding="utf-8")
    return file


def _copies(file: Path, made: Path) -> None:
    """An experiment's directory with a run for each of its slots: a copy of a run of the same arm."""
    found = read_experiment(file)
    real: dict[int, list[Path]] = {}
    for record in DIRECTORY.glob("runs/*/run.json"):
        run = json.loads(record.read_text(encoding="utf-8"))
        if run["outcome"]["kind"] == "valid":
            real.setdefault(int(run["labels"]["arm"]), []).append(record.parent)
    count = len(arms(found.design, found.factors))
    if len(real) < count:
        raise SystemExit("there are no runs of each arm to copy: make bench ROW=experiment")
    shutil.copytree(DIRECTORY, made, ignore=lambda _, names: {"runs", "confirmation"} & set(names))
    shutil.copy(file, made / "experiment.yaml")
    (made / "origin").write_text(f"{file}\n", encoding="utf-8")
    for number, slot in enumerate(schedule(found.design, count, found.stop.least, found.seed)):
        _copy(real[slot.arm][number % len(real[slot.arm])], made / "runs", number, slot)


def _copy(run: Path, runs: Path, number: int, slot: Slot) -> None:
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    record["id"] = f"20261120-{number:06d}-terasort-{number:04x}"
    record["labels"] |= {"block": str(slot.block), "place": str(slot.place)}
    place = runs / record["id"]
    shutil.copytree(run, place, copy_function=os.link)
    (place / "run.json").unlink()
    (place / "run.json").write_text(json.dumps(record), encoding="utf-8")
