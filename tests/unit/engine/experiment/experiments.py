"""Experiments whose runs are made up, for the tests of this directory."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from howdah.cluster.request import ClusterRequest
from howdah.engine.experiment.factors import FACTORS
from howdah.engine.experiment.plan import ExperimentPlan, plan_experiment
from howdah.engine.experiment.results import Done
from howdah.engine.experiment.trials import next_slot
from howdah.hadoop.distribution.distribution import Distribution
from howdah.model.environment import Environment
from howdah.model.experiment import Experiment, Factor, StopRule
from howdah.model.run import Outcome, Phase, Run, Trial
from howdah.model.sample import Moment, Sample
from howdah.stats.design import Slot
from howdah.store import ExperimentDirectory, RunWriter
from howdah.store.codec_job import encode_job
from tests.unit.model.test_accelerator import job

EXPERIMENT = Experiment(
    question="Which?",
    workload="terasort",
    options={"size": "1G"},
    cluster={},
    baseline={},
    factors=(Factor("mapreduce.job.reduces", ("1", "2")), Factor("mapreduce.task.io.sort.mb", ("32", "64", "128"))),
    design="one-at-a-time",
    primary=None,
    stop=StopRule(least=4, most=9),
    seed=1,
)
MADE = ClusterRequest("experiment")
TRUTH = {0: 0.0, 1: -0.1, 2: 0.0, 3: 0.2}


def plan(tmp_path: Path, **changes: object) -> ExperimentPlan:
    experiment = replace(EXPERIMENT, **changes)  # type: ignore[arg-type]
    return plan_experiment(experiment, Distribution("3.4.2", tmp_path, "managed", (), (), ()), tmp_path / "runs")


def run(slot: Slot, kind: str = "valid", seconds: float = 60.0, arm: Mapping[str, str] | None = None) -> Run:
    named = {name: level for name, level in (arm or {}).items() if name in FACTORS}
    labels = {**named, "block": str(slot.block), "place": str(slot.place), "arm": str(slot.arm)}
    outcome = Outcome(kind, None if kind in ("valid", "running") else "why")  # type: ignore[arg-type]
    start, end = Moment(1000.0, 0.0), Moment(1000.0 + seconds, seconds)
    conf = {name: level for name, level in (arm or {}).items() if name not in named}
    trial = Trial("terasort", {"workload": {"size_bytes": 10**9, "conf": conf}})
    name = f"{slot.block:03}-{slot.place:03}-{kind}"
    return Run(name, "TeraSort", trial, outcome, start, end, "0", (), {}, labels=labels)


def done(
    slot: Slot,
    noise: float = 0.0,
    kind: str = "valid",
    truth: Mapping[int, float] = TRUTH,
    arm: Mapping[str, str] | None = None,
) -> Done:
    value = math.exp(3 + truth.get(slot.arm, 0.0) + noise) if kind == "valid" else None
    return Done(slot, run(slot, kind, arm=arm), value)


def simulated(plan: ExperimentPlan, spread: float, seed: int = 1, truth: Mapping[int, float] = TRUTH) -> list[Done]:
    noise = random.Random(seed)
    ended: list[Done] = []
    while (slot := next_slot(plan, ended)) is not None:
        ended.append(done(slot, noise.gauss(0, spread), truth=truth, arm=plan.arms[slot.arm]))
    return ended


def keep(
    directory: ExperimentDirectory,
    ended: Done,
    kind: str = "valid",
    *,
    thp: str = "never",
    held: Mapping[str, Sequence[str]] = MappingProxyType({}),
    accelerator: str = "none",
    phases: Sequence[str] = ("sort",),
) -> None:
    record = replace(run(ended.slot, "running"), trial=ended.run.trial, labels=ended.run.labels)
    jobs = {f"job_{number}": phase for number, phase in enumerate(phases, 1)} if accelerator != "none" else {}
    if jobs:
        trial = replace(ended.run.trial, settings={**ended.run.trial.settings, "accelerator": accelerator})
        made = (Phase(phase, "run", record.start, record.end, jobs=(name,)) for name, phase in jobs.items())
        record = replace(record, trial=trial, phases=tuple(made))
    writer = RunWriter(directory.runs, record)
    for name, phase in jobs.items():
        served = job({"Sort": {"RECORDS": 10}, "Shuffle": {"RECORDS": 10}})
        writer.keep_json(f"jobs/{name}.json", encode_job(served, phase=phase, application=None))
    writer.environment({"before": Environment({"vm": {"thp": thp, "load": ended.slot.place}}, {"version": "3.4.2"})})
    writer.readback(held)
    if kind == "valid":
        moment = Moment(1000.0, 0.0)
        assert ended.value is not None
        samples = [Sample("job_seconds", ended.value, "s", "measured", "test", "vm", "job", "sort", moment)]
        writer.samples(samples)
    writer.save(replace(record, outcome=run(ended.slot, kind).outcome))
    writer.close()


def begun(tmp_path: Path) -> ExperimentDirectory:
    file = tmp_path / "mine.yaml"
    file.write_text("question: Which?\n", encoding="utf-8")
    return ExperimentDirectory.begin(file, tmp_path / "experiment")


def settings_of(plan: ExperimentPlan, slot: Slot) -> dict[str, list[str]]:
    return {f"sort/{name}": [level] for name, level in plan.arms[slot.arm].items()}
