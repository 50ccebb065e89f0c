"""Which run comes next, when there are enough, and what they show."""

from __future__ import annotations

import json
import math
import random
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from howdah.engine.experiment import ExperimentPlan, plan_experiment
from howdah.engine.findings import find
from howdah.engine.trials import Done, _check_outcomes, block_slots, finished, next_slot, observations, terms
from howdah.errors import UsageError, WorkloadFailed
from howdah.hadoop.distribution import Distribution
from howdah.model.experiment import Experiment, Factor, StopRule
from howdah.model.run import Outcome, Run, Trial
from howdah.model.sample import Moment, Sample
from howdah.stats.blocks import effects
from howdah.stats.design import Slot
from howdah.store import ExperimentDirectory, RunWriter

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
TRUTH = {0: 0.0, 1: -0.1, 2: 0.0, 3: 0.2}


def plan(tmp_path: Path, **changes: object) -> ExperimentPlan:
    experiment = replace(EXPERIMENT, **changes)  # type: ignore[arg-type]
    return plan_experiment(experiment, Distribution("3.4.2", tmp_path, "managed", (), (), ()), tmp_path / "runs")


def run(slot: Slot, kind: str = "valid", seconds: float = 60.0) -> Run:
    labels = {"block": str(slot.block), "place": str(slot.place), "arm": str(slot.arm)}
    outcome = Outcome(kind, None if kind in ("valid", "running") else "why")  # type: ignore[arg-type]
    start, end = Moment(1000.0, 0.0), Moment(1000.0 + seconds, seconds)
    trial = Trial("terasort", {"workload": {"size_bytes": 10**9}})
    name = f"{slot.block:03}-{slot.place:03}-{kind}"
    return Run(name, "TeraSort", trial, outcome, start, end, "0", (), {}, labels=labels)


def done(slot: Slot, noise: float = 0.0, kind: str = "valid") -> Done:
    value = math.exp(3 + TRUTH[slot.arm] + noise) if kind == "valid" else None
    return Done(slot, run(slot, kind), value)


def simulated(plan: ExperimentPlan, spread: float, seed: int = 1) -> list[Done]:
    noise = random.Random(seed)
    ended: list[Done] = []
    while (slot := next_slot(plan, ended)) is not None:
        ended.append(done(slot, noise.gauss(0, spread)))
    return ended


def test_quiet_runs_end_after_the_least_blocks_and_noisy_ones_after_the_most(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert len(simulated(made, 0.001)) == 4 * 4
    assert len(simulated(made, 0.5)) == 9 * 4
    between = len(simulated(made, 0.04)) // 4
    assert 4 < between < 9


def test_runs_come_in_the_order_of_the_plan(tmp_path: Path) -> None:
    made = plan(tmp_path)
    order = [one.slot for one in simulated(made, 0.001)]
    assert order == [slot for block in range(4) for slot in block_slots(made, block)] == list(made.slots)


@pytest.mark.parametrize("kept", [0, 1, 3, 4, 9, 15, 16])
def test_after_an_interruption_it_goes_on_where_it_was(tmp_path: Path, kept: int) -> None:
    made = plan(tmp_path)
    whole = simulated(made, 0.001)
    expected = whole[kept].slot if kept < len(whole) else None
    assert next_slot(made, whole[:kept]) == expected


def test_a_run_that_is_missing_in_the_middle_comes_first(tmp_path: Path) -> None:
    made = plan(tmp_path)
    whole = simulated(made, 0.001)
    assert next_slot(made, [*whole[:5], *whole[6:]]) == whole[5].slot


def test_runs_that_went_wrong_are_not_repeated_and_end_it_when_they_are_many(tmp_path: Path) -> None:
    made = plan(tmp_path)
    slots = [one.slot for one in simulated(made, 0.001)]
    wrong = [done(slot, kind="failed") for slot in slots[:2]]
    assert next_slot(made, wrong) == slots[2]
    _check_outcomes([*wrong, done(slots[2])])
    with pytest.raises(WorkloadFailed, match="3 runs in a row went wrong, the last: why"):
        _check_outcomes([done(slots[3]), *wrong, done(slots[4], kind="invalid")])


def test_the_budget_ends_it_between_blocks(tmp_path: Path) -> None:
    made = plan(tmp_path, stop=StopRule(least=4, most=9, budget_seconds=5 * 60.0))
    assert len(simulated(made, 0.5)) == 8


def test_effects_have_the_names_of_their_levels(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert terms(made) == (
        ("mapreduce.job.reduces", "2"),
        ("mapreduce.task.io.sort.mb", "64"),
        ("mapreduce.task.io.sort.mb", "128"),
    )
    found = effects(observations(made, simulated(made, 0.0001)), 4)
    assert [math.log(one.ratio) for one in found] == pytest.approx([-0.1, 0.0, 0.2], abs=0.001)


def keep(directory: ExperimentDirectory, ended: Done, kind: str = "valid") -> None:
    record = run(ended.slot, "running")
    writer = RunWriter(directory.runs, record)
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


def test_what_has_ended_stands_in_the_run_directories(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    assert finished(made, directory) == ()
    whole = simulated(made, 0.001)
    for one in whole[:6]:
        keep(directory, one)
    keep(directory, whole[6], "aborted")
    keep(directory, whole[7], "failed")
    found = finished(made, directory)
    assert [one.slot for one in found] == [one.slot for one in (*whole[:6], whole[7])]
    assert [one.value for one in found] == [*(one.value for one in whole[:6]), None]
    assert next_slot(made, found) == whole[6].slot


def test_findings_are_verdicts_once_there_are_enough_blocks(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    whole = simulated(made, 0.001)
    for one in whole[:-1]:
        keep(directory, one)
    early = find(made, directory)
    assert (early.blocks, {one.verdict for one in early.findings}) == (3, {"not enough data"})
    keep(directory, whole[-1])
    found = find(made, directory)
    assert found.blocks == 4
    assert {one.outcome.kind for one in found.results} == {"valid"}
    assert len(json.loads(json.dumps(asdict(found)))["results"]) == 16
    assert found.candidate == {"mapreduce.job.reduces": "2", "mapreduce.task.io.sort.mb": "32"}
    assert [(one.level, one.verdict) for one in found.findings] == [
        ("128", "slower"),
        ("2", "faster"),
        ("64", "no difference shown"),
    ]


def test_the_file_of_an_experiment_must_stay_as_it_was(tmp_path: Path) -> None:
    directory = begun(tmp_path)
    directory.check_unchanged()
    (tmp_path / "mine.yaml").write_text("question: What?\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"-question: Which\?\n\+question: What\?"):
        directory.check_unchanged()
    (tmp_path / "mine.yaml").unlink()
    directory.check_unchanged()
    with pytest.raises(UsageError, match="is there already"):
        ExperimentDirectory.begin(directory.file, directory.path)
    with pytest.raises(UsageError, match="no directory of an experiment"):
        ExperimentDirectory(tmp_path)


def test_two_at_once_are_refused_with_the_name_of_the_other(tmp_path: Path) -> None:
    directory = begun(tmp_path)
    other = f"another experiment runs on this machine: {directory.path}"
    with directory.held(), pytest.raises(UsageError, match=other), directory.held():
        pass
    with directory.held():
        pass
