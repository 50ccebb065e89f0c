"""Runs and experiments on a synthetic cluster, without Hadoop."""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.engine.experiment.findings import find
from howdah.engine.experiment.plan import ExperimentPlan, SyntheticCluster, plan_experiment
from howdah.engine.experiment.results import finished
from howdah.engine.experiment.trials import run_experiment
from howdah.engine.observer import Silent
from howdah.errors import UsageError, WorkloadFailed
from howdah.hadoop.distribution.distribution import Distribution
from howdah.model.experiment import Experiment, Factor, StopRule
from howdah.model.run import Run
from howdah.report import build_comparison, build_report, render_html, render_text
from howdah.report.page.describe import describe_run
from howdah.spec.experiment import write_experiment
from howdah.spec.truth import read_truth
from howdah.store import ExperimentDirectory, find_run, list_runs, read_run
from tests.unit.engine.experiment.test_by_hand import Nobody

TRUTH = """\
value: 60
effects:
  mapreduce.job.reduces: { 1: 1, 2: 0.8 }
  nodes: { 1: 1, 3: 1 }
noise: { cv: 2% }
"""
EXPERIMENT = Experiment(
    "Which?",
    "terasort",
    {"size": "1G"},
    {},
    {},
    (Factor("mapreduce.job.reduces", ("1", "2")), Factor("nodes", ("1", "3"))),
    "one-at-a-time",
    None,
    StopRule(least=4, most=6),
    1,
)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "home"))


def begun(tmp_path: Path, name: str, truth: str = TRUTH) -> tuple[ExperimentPlan, ExperimentDirectory]:
    file, synthetic = tmp_path / "e.yaml", tmp_path / "truth.yaml"
    file.write_text(write_experiment(EXPERIMENT), encoding="utf-8")
    synthetic.write_text(truth, encoding="utf-8")
    directory = ExperimentDirectory.begin(file, tmp_path / name, synthetic)
    return plan_experiment(EXPERIMENT, SyntheticCluster(synthetic, read_truth(synthetic)), tmp_path), directory


def ran(plan: ExperimentPlan, directory: ExperimentDirectory) -> Iterator[object]:
    return run_experiment(plan, directory, ("howdah", "experiment"), Silent(), Nobody("vm").by_hand())


def values(plan: ExperimentPlan, directory: ExperimentDirectory) -> list[float | None]:
    return [one.value for one in finished(plan, directory)]


@pytest.mark.promise(
    "An experiment on a synthetic cluster finds the effects of its file", "reference/synthetic-cluster"
)
def test_an_experiment_finds_what_the_file_says(tmp_path: Path) -> None:
    plan, directory = begun(tmp_path, "one")
    assert len(list(ran(plan, directory))) == 12
    found = find(plan, directory)
    assert found.simulated
    verdicts = {(one.factor, one.level): one.verdict for one in found.findings}
    assert verdicts == {("mapreduce.job.reduces", "2"): "faster", ("nodes", "3"): "no difference shown"}
    run = read_run(directory.runs / found.results[0].run)
    assert {sample.quality for sample in run.samples} == {"simulated"}
    assert run.run.simulated
    page = render_html(build_report([run])).replace("\u00a0", " ")
    assert "Simulated, nothing was run: TeraSort took" in page
    assert "validated" not in page
    assert "verified" not in page
    shown = render_text(describe_run(run))
    assert "valid, simulated" in shown
    assert "replicas" not in shown


@pytest.mark.promise("Simulated runs start when they are made", "reference/synthetic-cluster")
def test_runs_start_when_they_are_made(tmp_path: Path) -> None:
    before = time.time()
    plan, directory = begun(tmp_path, "one")
    list(ran(plan, directory))
    made = [run for _, run in list_runs(directory.runs) if isinstance(run, Run)]
    starts = [run.start.utc for run in made]
    assert before <= starts[0]
    assert starts[-1] <= time.time(), "however long all of them took"
    assert starts == sorted(starts), "ids sort them, though many begin in one second"
    assert find_run("latest", directory.runs).name == made[-1].id


@pytest.mark.promise("A comparison counts every setting once", "CHANGELOG")
def test_a_setting_that_differs_is_one_setting(tmp_path: Path) -> None:
    plan, directory = begun(tmp_path, "one")
    list(ran(plan, directory))
    sides = {
        arm: [read_run(directory.runs / one.run.id) for one in finished(plan, directory) if one.slot.arm == arm]
        for arm in (0, 1)
    }
    compared = build_comparison(sides[0], sides[1])
    paths = [one["path"] for one in compared.facts["settings_differences"]]
    assert paths == ["workload.conf.mapreduce.job.reduces", "workload.reduces"], "the same, by two names"
    assert "settings differ, so" not in render_text(compared)


@pytest.mark.promise("An experiment that was interrupted goes on as if it had not been", "reference/synthetic-cluster")
@pytest.mark.parametrize("stopped", [1, 5])
def test_what_was_interrupted_goes_on_as_if_it_had_not_been(tmp_path: Path, stopped: int) -> None:
    plan, whole = begun(tmp_path, "whole")
    list(ran(plan, whole))
    plan, cut = begun(tmp_path, "cut")
    first = ran(plan, cut)
    list(itertools.islice(first, stopped))
    del first  # The generator ends, and with it its hold on the experiment.
    assert len(finished(plan, cut)) == stopped
    list(ran(plan, cut))
    assert values(plan, cut) == values(plan, whole)


def test_a_run_that_was_killed_does_not_shift_the_noise(tmp_path: Path) -> None:
    plan, whole = begun(tmp_path, "whole")
    list(ran(plan, whole))
    plan, cut = begun(tmp_path, "cut")
    first = ran(plan, cut)
    list(itertools.islice(first, 5))
    del first
    killed = cut.runs / finished(plan, cut)[-1].run.id
    shutil.copytree(killed, left := cut.runs / f"{killed.name}-killed")
    (left / "run.json").write_text((left / "run.json").read_text().replace('"valid"', '"running"'))
    (left / ".lock").touch()
    list(ran(plan, cut))
    assert values(plan, cut) == values(plan, whole)


def test_a_confirmation_has_noise_of_its_own(tmp_path: Path) -> None:
    plan, directory = begun(tmp_path, "one")
    list(ran(plan, directory))
    inner = directory.begin_confirmation(write_experiment(EXPERIMENT))
    assert (directory.earlier, inner.earlier) == (0, 12)
    list(ran(plan, inner))
    assert not set(values(plan, inner)) & set(values(plan, directory))


@pytest.mark.promise("Plans for real clusters do not learn from simulated runs", "reference/synthetic-cluster")
def test_plans_for_real_clusters_do_not_learn_from_them(tmp_path: Path) -> None:
    plan, directory = begun(tmp_path, "one")
    list(itertools.islice(ran(plan, directory), 4))
    real = replace(EXPERIMENT, factors=EXPERIMENT.factors[1:])
    hadoop = Distribution("3.4.2", tmp_path, "managed", (), (), ())
    assert plan_experiment(real, hadoop, directory.runs).earlier is None
    for file in directory.runs.glob("*/run.json"):
        file.write_text(file.read_text().replace('"kind": "synthetic"', '"kind": "local"'))
    assert plan_experiment(real, hadoop, directory.runs).earlier is not None


def test_runs_fail_as_often_as_the_file_says(tmp_path: Path) -> None:
    plan, directory = begun(tmp_path, "one", f"{TRUTH}failing: 90%\n")
    with pytest.raises(WorkloadFailed, match="3 runs in a row went wrong"):
        list(ran(plan, directory))
    assert {one.run.outcome.kind for one in finished(plan, directory)} == {"failed"}


@pytest.mark.promise("A setting or level that the file does not know is refused", "reference/synthetic-cluster")
@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (TRUTH.replace("2: 0.8", "4: 0.8"), "says nothing of mapreduce.job.reduces 2"),
        (TRUTH.replace("mapreduce.job.reduces", "mapreduce.job.reducers"), "says nothing of mapreduce.job.reduces"),
    ],
)
def test_a_file_that_does_not_know_a_level_is_refused(tmp_path: Path, truth: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        begun(tmp_path, "one", truth)
