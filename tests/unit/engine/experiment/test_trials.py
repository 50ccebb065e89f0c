"""Which run comes next, and when there are enough."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.request import ClusterRequest
from howdah.engine.experiment.confirmation import confirming
from howdah.engine.experiment.findings import find
from howdah.engine.experiment.plan import Earlier, asked
from howdah.engine.experiment.results import Done, finished, observations, terms
from howdah.engine.experiment.trials import (
    Status,
    _attempted,
    _check_outcomes,
    _limit,
    _sized,
    block_slots,
    next_slot,
    run_experiment,
    without_cut_block,
)
from howdah.engine.measurement.request import Measurement
from howdah.engine.observer import Silent
from howdah.engine.run.execution import RunOptions
from howdah.errors import HostsTaken, Untrusted, UsageError, WorkloadFailed
from howdah.hadoop.configuration.sizing import Sizing
from howdah.model.environment import Environment
from howdah.model.experiment import StopRule
from howdah.report import Source, build_experiment, render_text
from howdah.stats.blocks import effects
from howdah.stats.design import Slot
from howdah.store import ExperimentDirectory, RunWriter
from howdah.workload.registry import find_workload
from tests.unit.engine.experiment.experiments import MADE, begun, done, keep, plan, run, settings_of, simulated


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


@pytest.mark.promise(
    "`howdah experiment resume` goes on after `kill -9`: no finished run is lost or repeated", "README"
)
@pytest.mark.parametrize("kept", [0, 1, 3, 4, 9, 15, 16])
def test_after_an_interruption_it_goes_on_where_it_was(tmp_path: Path, kept: int) -> None:
    made = plan(tmp_path)
    whole = simulated(made, 0.001)
    expected = whole[kept].slot if kept < len(whole) else None
    assert next_slot(made, whole[:kept]) == expected


def in_job(one: Done, job: int, *, submitted: bool = False) -> Done:
    """The same run as it was made in a batch job; those of later jobs are later."""
    cluster = {"allocation": {"kind": "slurm", "key": f"slurm:here:{job}", "submitted": submitted}}
    start = replace(one.run.start, utc=1000.0 + job)
    return replace(one, run=replace(one.run, id=f"{one.run.id}-{job}", cluster=cluster, start=start))


@pytest.mark.promise("In the next job, an experiment goes on with a whole block", "how-to/batch")
def test_a_block_that_the_end_of_a_job_has_cut_is_begun_anew(tmp_path: Path) -> None:
    made = plan(tmp_path)
    whole = [in_job(one, 1) for one in simulated(made, 0.001)]
    kept = without_cut_block(made, whole[:6], lambda job: job == "slurm:here:1")
    assert list(kept) == whole[:4]
    assert next_slot(made, kept) == whole[4].slot
    assert without_cut_block(made, whole[:6], lambda _: False) == whole[:6], "in the same job it goes on"
    assert without_cut_block(made, whole[:8], lambda _: True) == whole[:8], "a whole block stays"
    apart = [in_job(one, number, submitted=True) for number, one in enumerate(whole[:6])]
    assert without_cut_block(made, apart, lambda _: True) == apart, "each run had a job of its own"


def test_of_a_block_that_was_begun_anew_the_runs_of_the_last_job_count(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    whole = simulated(made, 0.001)
    ended = [in_job(one, 1) for one in whole[:6]] + [in_job(one, 2) for one in whole[4:7]]
    for one in ended:
        writer = RunWriter(directory.runs, one.run)
        writer.environment({"before": Environment({}, {})})
        writer.close()
    assert [one.run.id for one in finished(made, directory)] == [one.run.id for one in (*ended[:4], *ended[6:])]


def test_a_run_that_is_missing_in_the_middle_comes_first(tmp_path: Path) -> None:
    made = plan(tmp_path)
    whole = simulated(made, 0.001)
    assert next_slot(made, [*whole[:5], *whole[6:]]) == whole[5].slot


def test_runs_that_went_wrong_are_not_repeated_and_end_it_when_they_are_many(tmp_path: Path) -> None:
    made = plan(tmp_path)
    slots = [one.slot for one in simulated(made, 0.001)]
    wrong = [done(slot, kind="failed") for slot in slots[:2]]
    assert next_slot(made, wrong) == slots[2]
    _check_outcomes(made, [*wrong, done(slots[2])], tmp_path)
    with pytest.raises(WorkloadFailed, match="3 runs in a row went wrong, the last: why"):
        _check_outcomes(made, [done(slots[3]), *wrong, done(slots[4], kind="invalid")], tmp_path)


def test_where_no_cluster_can_be_made_the_run_has_failed_and_the_next_has_its_turn(tmp_path: Path) -> None:
    made, directory = plan(tmp_path, options={"size": "10000T"}), begun(tmp_path)
    ended = run_experiment(made, directory, ("howdah",), Silent(), None)
    with pytest.raises(WorkloadFailed, match="3 runs in a row went wrong, the last: terasort needs 40"):
        list(ended)
    found = finished(made, directory)
    assert [one.slot for one in found] == list(made.slots[:3])
    assert [one.run.outcome.kind for one in found] == ["failed"] * 3
    reason = found[0].run.outcome.reason
    assert reason is not None
    assert "Choose a smaller --size" in reason, "what to do stands with it"
    assert found[0].run.end is not None


@pytest.mark.promise("An experiment stops with its batch job, and no run has failed by that", "how-to/batch")
def test_where_the_batch_job_ends_no_run_has_failed(tmp_path: Path) -> None:
    workload = find_workload("terasort")
    too_large = asked(workload, {"size": "10000T"}, {})
    measurement = Measurement([(workload, too_large)], {}, MADE, RunOptions(tmp_path / "runs", ("howdah",)))
    with pytest.raises(HostsTaken, match="the batch job ends: terasort needs 40"):
        _attempted(measurement, Silent(), lambda _: True)
    assert not (tmp_path / "runs").exists()
    assert _attempted(measurement, Silent(), lambda _: False).run.outcome.kind == "failed"


def test_containers_keep_the_size_that_they_had_in_the_first_run_like_it(tmp_path: Path) -> None:
    sizing: dict[str, Any] = {"nodes": 1, "slots": 2, "task_mib": 2048, "am_mib": 1024, "node_mib": 5120}
    sizing["block_mib"] = 512
    small, large = "sim:2,memory=4G,network=1gbit", "sim:2,memory=8G"
    runs: list[tuple[ClusterRequest, dict[str, Any]]] = [
        (MADE, {"kind": "local", "nodes": 1}),
        (replace(MADE, nodes=3), {"sizing": {**sizing, "nodes": 3}}),
        (replace(MADE, processors=1), {"sizing": {**sizing, "slots": 1}}),
        (replace(MADE, allocation=small), {"sizing": {**sizing, "slots": 3}}),
        (replace(MADE, allocation=large), {"sizing": {**sizing, "slots": 4}}),
        (MADE, {"sizing": sizing}),
        (MADE, {"sizing": {**sizing, "task_mib": 1024}}),
    ]
    whole = simulated(plan(tmp_path), 0.001)
    ended = [(made, replace(one.run, cluster=cluster)) for one, (made, cluster) in zip(whole, runs, strict=False)]
    assert len(ended) == len(runs)
    assert _sized(MADE, ended).sizing == Sizing(**sizing)
    assert _sized(replace(MADE, nodes=3), ended).sizing == Sizing(**{**sizing, "nodes": 3})
    assert _sized(replace(MADE, processors=1), ended).sizing == Sizing(**{**sizing, "slots": 1})
    assert _sized(replace(MADE, nodes=2), ended).sizing is None
    # The card changes no container; the memory does.
    slower = replace(MADE, allocation="sim:2,network=100mbit,memory=4G")
    assert _sized(slower, ended).sizing == Sizing(**{**sizing, "slots": 3})
    assert _sized(replace(MADE, allocation=large), ended).sizing == Sizing(**{**sizing, "slots": 4})
    assert _sized(replace(MADE, allocation="sim:2,memory=4G,cpus=0.5"), ended).sizing is None


def test_runs_without_the_primary_metric_end_it(tmp_path: Path) -> None:
    made = plan(tmp_path, primary="srot/job_seconds")
    without = [replace(done(slot), value=None) for slot in made.slots[:3]]
    _check_outcomes(made, without[:2], tmp_path)
    with pytest.raises(WorkloadFailed, match="the last: it has no srot/job_seconds, or more than one"):
        _check_outcomes(made, without, tmp_path)


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


def test_how_far_it_is(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    assert not directory.is_held()
    with directory.held():
        assert directory.is_held()
    status = Status.of(made, directory)
    assert (status.least, status.most, status.next) == (16, 36, made.slots[0])
    assert status.remaining_seconds is None
    whole = simulated(made, 0.001)
    for one in whole[:6]:
        keep(directory, one)
    status = Status.of(made, directory)
    assert (len(status.done), status.least, status.next, status.outcomes) == (6, 16, whole[6].slot, {"valid": 6})
    for one in whole[6:]:
        keep(directory, one)
    assert Status.of(made, directory).facts()["finished"] is True


def test_a_run_has_a_limit(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert made.limit_seconds == 3600
    assert replace(made, earlier=Earlier(4, 20.0, 30.0, None)).limit_seconds == 600
    assert replace(made, earlier=Earlier(4, 200.0, 300.0, None)).limit_seconds == 1500
    assert plan(tmp_path, stop=StopRule(limit_seconds=7.0)).limit_seconds == 7


@pytest.mark.promise("A run that takes more than 2.5 times as long as the shortest is stopped", "how-to/tune")
def test_a_search_stops_a_run_that_is_far_from_the_best(tmp_path: Path) -> None:
    made, single = plan(tmp_path, design="search"), plan(tmp_path)
    ended = [Done(Slot(0, place, 0), run(Slot(0, place, 0), seconds=40.0 + place), 3.0) for place in range(5)]
    assert _limit(made, ended) == 2.5 * 40
    assert _limit(made, ended[:4]) == made.limit_seconds, "four runs tell too little"
    assert _limit(single, ended) == single.limit_seconds


@pytest.mark.promise("A file that was changed since is refused with the difference", "reference/experiment")
def test_the_file_of_an_experiment_must_stay_as_it_was(tmp_path: Path) -> None:
    directory = begun(tmp_path)
    directory.check_unchanged()
    (tmp_path / "mine.yaml").write_text("question: What?\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"-question: Which\?\n\+question: What\?"):
        directory.check_unchanged()
    (tmp_path / "mine.yaml").unlink()
    directory.check_unchanged()
    directory.file.write_text("question: What?\n", encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"experiment\.yaml was changed since[^?]*-question: Which\?\n\+question: What"
    ):
        directory.check_unchanged()
    directory.file.write_text("question: Which?\n", encoding="utf-8")
    inner = directory.begin_confirmation("question: Really?\n")
    directory.check_unchanged()
    inner.file.write_text("question: Is it?\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"confirmation/experiment\.yaml was changed"):
        directory.check_unchanged()
    with pytest.raises(UsageError, match="is there already"):
        ExperimentDirectory.begin(directory.file, directory.path)
    with pytest.raises(UsageError, match="no directory of an experiment"):
        ExperimentDirectory(tmp_path)


@pytest.mark.promise("Two experiments on one machine at once are refused", "reference/experiment")
def test_two_at_once_are_refused_with_the_name_of_the_other(tmp_path: Path) -> None:
    directory = begun(tmp_path)
    other = f"another experiment runs on this machine: {directory.path}"
    with directory.held(), pytest.raises(UsageError, match=other), directory.held():
        pass
    with directory.held():
        pass


def test_a_directory_with_the_runs_of_another_test_is_refused(tmp_path: Path) -> None:
    """As in the Cloudera-Intel-Cisco data, where test1/ holds files of test 11."""
    made, directory = plan(tmp_path), begun(tmp_path)
    whole = simulated(made, 0.001)
    for one in whole[:4]:
        keep(directory, one)
    stranger = next(one for one in whole[4:] if one.slot.arm == 3)
    other = replace(stranger.run, trial=whole[0].run.trial)
    keep(directory, replace(stranger, run=other))
    with pytest.raises(Untrusted, match=r"is no run of this experiment: mapreduce\.\S+ was \d+, its arm has \d+"):
        finished(made, directory)


def test_a_run_without_a_place_is_refused(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    RunWriter(directory.runs, replace(run(Slot(0, 0, 0)), labels={"arm": "99"})).close()
    with pytest.raises(Untrusted, match="its labels name no arm of it"):
        finished(made, directory)


def test_a_run_of_another_workload_is_refused(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    one = done(block_slots(made, 0)[0], arm=made.arms[0])
    keep(directory, replace(one, run=replace(one.run, trial=replace(one.run.trial, workload="wordcount"))))
    with pytest.raises(Untrusted, match="it ran wordcount"):
        finished(made, directory)


def test_a_damaged_run_is_not_run_again_in_silence(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    for one in simulated(made, 0.001)[:3]:
        keep(directory, one)
    first, second, _ = sorted(directory.runs.iterdir())
    (first / "run.json").unlink()  # Killed before anything was measured.
    assert len(finished(made, directory)) == 2
    (second / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(Untrusted, match=f"{second.name} cannot be read") as caught:
        finished(made, directory)
    assert "move it away" in (caught.value.hint or "")


def test_the_policy_of_three_runs_in_a_row(tmp_path: Path) -> None:
    made, directory = plan(tmp_path, design="cic-2014"), begun(tmp_path)
    whole = simulated(made, 0.01)
    assert [(one.slot.block, one.slot.arm) for one in whole] == [(0, arm) for arm in range(4) for _ in range(3)]
    assert list(made.slots) == [one.slot for one in whole]
    for one in whole:
        keep(directory, one, held=settings_of(made, one.slot))
    found = find(made, directory)
    assert {one.verdict for one in found.findings} == {"not enough data"}
    assert {round(one.effect.ratio, 1) for one in found.findings if one.effect is not None} == {0.9, 1.0, 1.2}
    page = build_experiment(found, Source("file", "directory", "resume"))
    assert page.headline.startswith("By the policy cic-2014, the time of TeraSort is, of the baseline's, 1")
    assert "cannot tell an effect from what changed in time" in " ".join(render_text(page).split())
    assert confirming(found) is None


def test_the_policy_tests_everything_anew_when_an_arm_spreads_and_gives_up(tmp_path: Path) -> None:
    made, directory = plan(tmp_path, design="cic-2014"), begun(tmp_path)
    far = simulated(made, 0.6)
    assert {one.slot.block for one in far} == {0, 1, 2, 3}
    quiet = [done(slot, 0.001 * slot.place, arm=made.arms[slot.arm]) for slot in block_slots(made, 1)]
    ended = [*far[:12], *quiet]
    assert next_slot(made, ended) is None
    for one in ended:
        keep(directory, one, held=settings_of(made, one.slot))
    found = find(made, directory)
    assert len(found.results) == 24
    assert [one.effect.ratio for one in found.findings if one.effect is not None][-1] == pytest.approx(1.0, abs=0.01)
    page = build_experiment(found, Source("file", "directory", "resume"))
    assert "Everything was tested 2 times" in " ".join(render_text(page).split())
