"""Which run comes next, when there are enough, and what they show."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType

import pytest

from howdah.cluster.request import ClusterRequest
from howdah.engine.confirmation import confirming
from howdah.engine.experiment import Earlier, ExperimentPlan, plan_experiment
from howdah.engine.factors import FACTORS, conditions
from howdah.engine.findings import find
from howdah.engine.trials import Done, Status, _check_outcomes, block_slots, finished, next_slot, observations, terms
from howdah.errors import Untrusted, UsageError, WorkloadFailed
from howdah.hadoop.distribution import Distribution
from howdah.model.environment import Environment
from howdah.model.experiment import Experiment, Factor, Findings, Rate, StopRule
from howdah.model.run import Outcome, Phase, Run, Trial
from howdah.model.sample import Moment, Sample
from howdah.report import Source, build_experiment, render_text
from howdah.spec.experiment import read_experiment, write_experiment
from howdah.stats.blocks import effects
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
    _check_outcomes(made, [*wrong, done(slots[2])])
    with pytest.raises(WorkloadFailed, match="3 runs in a row went wrong, the last: why"):
        _check_outcomes(made, [done(slots[3]), *wrong, done(slots[4], kind="invalid")])


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


def keep(
    directory: ExperimentDirectory,
    ended: Done,
    kind: str = "valid",
    *,
    thp: str = "never",
    held: Mapping[str, Sequence[str]] = MappingProxyType({}),
    accelerator: str = "none",
) -> None:
    record = replace(run(ended.slot, "running"), trial=ended.run.trial, labels=ended.run.labels)
    if accelerator != "none":
        trial = Trial("terasort", {**ended.run.trial.settings, "accelerator": accelerator})
        phase = Phase("sort", "run", record.start, record.end, jobs=("job_1",))
        record = replace(record, trial=trial, phases=(phase,), primary="sort/job_seconds")
    writer = RunWriter(directory.runs, record)
    if accelerator != "none":
        served = job({"Sort": {"RECORDS": 10}, "Shuffle": {"RECORDS": 10}})
        writer.keep_json("jobs/job_1.json", encode_job(served, phase="sort", application=None))
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


def settings_of(plan: ExperimentPlan, slot: Slot) -> dict[str, list[str]]:
    return {f"sort/{name}": [level] for name, level in plan.arms[slot.arm].items()}


def test_only_what_was_varied_may_differ(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    for one in simulated(made, 0.001):
        computed = ("mapreduce.job.maps", "mapreduce.input.fileinputformat.numinputfiles")
        held = {**settings_of(made, one.slot), **{f"sort/{key}": [str(one.slot.arm)] for key in computed}}
        keep(directory, one, held={**held, "daemons/dfs.namenode.handler.count": ["20" if one.slot.arm == 3 else "10"]})
    found = {(one.factor, one.level): one for one in find(made, directory).findings}
    wrong = found.pop(("mapreduce.task.io.sort.mb", "128"))
    assert wrong.verdict == "not comparable"
    [difference] = wrong.unlike
    assert (difference.path, difference.left, difference.right) == ("daemons/dfs.namenode.handler.count", "10", "20")
    assert wrong.effect is not None, "the numbers stay"
    assert {one.verdict for one in found.values()} == {"faster", "no difference shown"}


def test_a_machine_that_differs_between_arms_makes_them_not_comparable(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    for one in simulated(made, 0.001):
        keep(directory, one, thp="always" if one.slot.arm == 1 else "never", held=settings_of(made, one.slot))
    found = find(made, directory)
    verdicts = {(one.factor, one.level): one.verdict for one in found.findings}
    assert verdicts["mapreduce.job.reduces", "2"] == "not comparable"
    assert found.changed == ()


def test_a_machine_that_changes_in_the_middle_is_said(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    for place, one in enumerate(simulated(made, 0.001)):
        keep(directory, one, thp="always" if place > 7 else "never", held=settings_of(made, one.slot))
    found = find(made, directory)
    assert found.changed == ("hosts.vm.thp",)
    assert "not comparable" not in {one.verdict for one in found.findings}


def test_an_accelerator_that_did_not_serve_a_run_has_no_verdict(tmp_path: Path) -> None:
    factors = (Factor("accelerator", ("none", "sort")), Factor("mapreduce.job.reduces", ("1", "2")))
    made, directory = plan(tmp_path, factors=factors), begun(tmp_path)
    for one in simulated(made, 0.001, truth={0: 0.0, 1: -0.1, 2: -0.1}):
        level = made.arms[one.slot.arm]["accelerator"]
        held = {f"sort/{key}": [value] for key, value in conditions({"accelerator": level}, MADE).conf.items()}
        reduces = made.arms[one.slot.arm]["mapreduce.job.reduces"]
        keep(directory, one, held={**held, "sort/mapreduce.job.reduces": [reduces]}, accelerator=level)
    found = find(made, directory)
    assert (found.unserved, {one.verdict for one in found.findings}) == ((), {"faster"})
    *_, file = sorted(directory.runs.glob("*/jobs/*.json"))
    idle = file.parent.parent.name
    record = json.loads(file.read_text(encoding="utf-8"))
    del record["counters"]["Howdah Sort"]
    file.write_text(json.dumps(record), encoding="utf-8")
    found = find(made, directory)
    assert found.unserved == (idle,)
    assert {one.factor: one.verdict for one in found.findings} == {
        "accelerator": "not comparable",
        "mapreduce.job.reduces": "faster",
    }
    assert found.candidate["accelerator"] == "none"
    said = render_text(build_experiment(found, Source("", "", "")))
    assert f"did not serve all of sort in 1 run, so what it does is not told by them: {idle}." in " ".join(said.split())


def test_a_cluster_of_another_size_has_other_settings(tmp_path: Path) -> None:
    made, directory = plan(tmp_path, factors=(Factor("nodes", ("1", "3")),)), begun(tmp_path)
    for one in simulated(made, 0.001):
        keep(directory, one, held={"daemons/dfs.replication": [made.arms[one.slot.arm]["nodes"]]})
    [found] = find(made, directory).findings
    assert found.verdict == "faster"


def test_a_factorial_design_sees_interactions(tmp_path: Path) -> None:
    made, directory = plan(tmp_path, design="full", stop=StopRule(least=4, most=4)), begun(tmp_path)
    for one in simulated(made, 0.001, truth={5: 0.5}):
        keep(directory, one, held=settings_of(made, one.slot))
    found = find(made, directory)
    assert len(found.interactions) == 2
    assert found.interactions[0].names == (("mapreduce.job.reduces", "2"), ("mapreduce.task.io.sort.mb", "128"))
    assert [one.verdict for one in found.interactions] == ["different", "no difference shown"]


TWO = (Factor("mapreduce.job.reduces", ("1", "2")), Factor("mapreduce.task.io.sort.mb", ("32", "64")))


def crossed(
    tmp_path: Path, truth: Mapping[int, float], spread: float, seed: int = 1, *, wrong: bool = False
) -> Findings:
    """Of every combination of two factors: arm 1 has the second one's level, arm 2 the first one's, arm 3 both. What
    has the first one's level differs in something else, too, if `wrong` says so."""
    made = plan(tmp_path, factors=TWO, design="full", stop=StopRule(least=8, most=8))
    (tmp_path / str(seed)).mkdir()
    directory = begun(tmp_path / str(seed))
    for one in simulated(made, spread, seed, truth=truth):
        other = made.arms[one.slot.arm][TWO[0].name] if wrong else "same"
        keep(directory, one, held={**settings_of(made, one.slot), "daemons/x": [other]})
    return find(made, directory)


def test_what_is_best_only_together_is_found(tmp_path: Path) -> None:
    """Each of two levels alone costs a little; both together gain a lot."""
    found = crossed(tmp_path, {1: 0.1, 2: 0.1, 3: -0.1}, 0.01)
    assert found.candidate == {"mapreduce.job.reduces": "2", "mapreduce.task.io.sort.mb": "64"}
    again = confirming(found)
    assert again is not None
    assert [one.levels[1] for one in again.factors] == ["2", "64"]


def test_what_only_together_does_something_is_said(tmp_path: Path) -> None:
    found = crossed(tmp_path, {1: 0.1, 2: 0.1, 3: 0.0}, 0.001)
    assert {one.verdict for one in found.findings} == {"no difference shown"}
    page = build_experiment(found, Source("", "", ""))
    assert "No level by itself is shown to change sort/job_seconds of TeraSort; together, map" in page.headline


def test_what_is_good_alone_and_bad_together_is_not_put_together(tmp_path: Path) -> None:
    found = crossed(tmp_path, {1: -0.2, 2: -0.3, 3: -0.25}, 0.001)
    assert found.candidate == {"mapreduce.job.reduces": "2", "mapreduce.task.io.sort.mb": "32"}


def test_noise_recommends_nothing_where_a_pair_was_shown_to_be_worse(tmp_path: Path) -> None:
    """All combinations but one are equal: one of them always looks best, and is not recommended for it."""
    for seed in range(8):
        found = crossed(tmp_path, {1: 0.0, 2: 0.0, 3: 0.1}, 0.02, seed)
        assert [one.verdict for one in found.interactions] == ["different"]
        assert found.candidate == found.arms[0]


def test_a_level_that_is_not_comparable_has_no_pair_either(tmp_path: Path) -> None:
    found = crossed(tmp_path, {1: 0.1, 2: 0.1, 3: -0.1}, 0.001, wrong=True)
    assert "not comparable" in {one.verdict for one in found.findings}
    assert found.candidate == found.arms[0]


def test_what_may_be_the_doing_of_another_pair_is_not_put_together(tmp_path: Path) -> None:
    """In a fraction of the combinations, the effect of one pair is that of another, too: here it is the last two's."""
    factors = tuple(Factor(f"mapreduce.{name}", ("0", "1")) for name in ("map.cpu.vcores", "reduce.cpu.vcores"))
    factors += (Factor("mapreduce.map.maxattempts", ("0", "1")), Factor("mapreduce.reduce.maxattempts", ("0", "1")))
    made = plan(tmp_path, factors=factors, design="fractional", stop=StopRule(least=8, most=8))
    directory = begun(tmp_path)
    last = [one.name for one in factors[2:]]
    truth = {at: -0.2 for at, arm in enumerate(made.arms) if [arm[name] for name in last] == ["1", "1"]}
    for one in simulated(made, 0.002, truth=truth):
        keep(directory, one, held=settings_of(made, one.slot))
    found = find(made, directory)
    assert found.interactions[0].verdict == "different"
    assert {name for name, level in found.candidate.items() if level == "1"} == set(last)


def test_the_best_settings_are_run_anew_against_the_baseline(tmp_path: Path) -> None:
    rate = Rate("mapreduce.task.io.sort.mb", {"32": 100.0, "128": 90.0})
    made, directory = plan(tmp_path, watts=rate), begun(tmp_path)
    for one in simulated(made, 0.001):
        keep(directory, one, held=settings_of(made, one.slot))
    again = confirming(find(made, directory))
    assert again is not None
    assert again.watts is None, "its factor is not varied any more"
    assert again.factors == (Factor("mapreduce.job.reduces", ("1", "2")),)
    assert again.baseline["mapreduce.task.io.sort.mb"] == "32"
    inner = plan_experiment(again, Distribution("3.4.2", tmp_path, "managed", (), (), ()), tmp_path / "runs")
    assert (len(inner.arms), again.design, again.seed) == (2, "together", 2)
    place = directory.begin_confirmation("question: Which?\n")
    assert directory.confirmation is not None
    place.check_unchanged()
    for one in simulated(inner, 0.001):
        keep(place, one, held=settings_of(inner, one.slot))
    confirmed = find(inner, place)
    [only] = confirmed.findings
    assert (only.verdict, only.level, only.baseline) == ("faster", "2", "1")
    assert confirming(confirmed) is None


def test_factors_that_change_together_are_one_effect(tmp_path: Path) -> None:
    factors = (Factor("mapreduce.job.reduces", ("1", "2")), Factor("mapreduce.task.io.sort.mb", ("32", "64")))
    made, directory = plan(tmp_path, factors=factors, design="together"), begun(tmp_path)
    for one in simulated(made, 0.001):
        keep(directory, one, held=settings_of(made, one.slot))
    [found] = find(made, directory).findings
    assert (found.factor, found.level) == ("mapreduce.job.reduces + mapreduce.task.io.sort.mb", "2 + 64")
    assert (found.baseline, found.verdict) == ("1 + 32", "faster")


def test_nothing_better_is_nothing_to_confirm(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    for one in simulated(made, 0.001)[:8]:
        keep(directory, one)
    assert confirming(find(made, directory)) is None


def test_how_far_it_is(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    assert not directory.is_held()
    with directory.held():
        assert directory.is_held()
    status = Status.of(made, directory)
    assert (status.least, status.next, status.remaining_seconds) == (16, made.slots[0], None)
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
    assert replace(made, earlier=Earlier(4, 30.0, None)).limit_seconds == 600
    assert replace(made, earlier=Earlier(4, 300.0, None)).limit_seconds == 1500
    assert plan(tmp_path, stop=StopRule(limit_seconds=7.0)).limit_seconds == 7


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
    assert page.headline.startswith("By the policy cic-2014, sort/job_seconds of TeraSort is, of the baseline's, 1")
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


def test_what_a_person_changes_is_changed_by_a_person_in_the_confirmation_too(tmp_path: Path) -> None:
    smt = Factor("smt", ("on", "off"), True, "Turn it in the firmware", "cat control")
    made, directory = plan(tmp_path, factors=(smt,)), begun(tmp_path)
    for one in simulated(made, 0.001):
        keep(directory, replace(one, run=replace(one.run, labels={**one.run.labels, **made.arms[one.slot.arm]})))
    again = confirming(find(made, directory))
    assert again is not None
    assert again.factors == (smt,)


def test_what_a_person_turned_and_did_not_help_is_turned_back_before_the_confirmation(tmp_path: Path) -> None:
    smt = Factor("smt", ("on", "off"), True, "Turn it in the firmware", "cat control")
    made, directory = plan(tmp_path, factors=(smt, EXPERIMENT.factors[0])), begun(tmp_path)
    for one in simulated(made, 0.001, truth={1: 0.1, 2: -0.1}):
        arm = made.arms[one.slot.arm]
        labels = {**one.run.labels, "smt": arm["smt"]}
        reduces = {"sort/mapreduce.job.reduces": [arm["mapreduce.job.reduces"]]}
        keep(directory, replace(one, run=replace(one.run, labels=labels)), held=reduces)
    again = confirming(find(made, directory))
    assert again is not None
    assert again.factors == (EXPERIMENT.factors[0], replace(smt, levels=("on",)))
    file = tmp_path / "again.yaml"
    file.write_text(write_experiment(again), encoding="utf-8")
    assert read_experiment(file).factors == again.factors
    inner = plan_experiment(again, Distribution("3.4.2", tmp_path, "managed", (), (), ()), tmp_path / "runs")
    assert [arm["smt"] for arm in inner.arms] == ["on", "on"]
    assert terms(inner) == (("mapreduce.job.reduces", "2"),)


@pytest.mark.parametrize("design", ["full", "blocks", "search"])
def test_every_design_may_have_conditions(tmp_path: Path, design: str) -> None:
    condition = Factor("governor", ("performance",), True, None, "cat governor")
    made = plan(tmp_path, factors=(condition, *EXPERIMENT.factors), design=design)
    assert {arm["governor"] for arm in made.arms} == {"performance"}
    assert made.arms[0] == {"governor": "performance", **{one.name: one.levels[0] for one in EXPERIMENT.factors}}
    assert next_slot(made, []) is not None
    assert {factor for factor, _ in terms(made)} == {one.name for one in EXPERIMENT.factors}


def test_what_a_person_changes_shows_on_the_machine_and_is_no_other_difference(tmp_path: Path) -> None:
    smt = Factor("smt", ("on", "off"), True)
    made, directory = plan(tmp_path, factors=(smt, EXPERIMENT.factors[0])), begun(tmp_path)
    for one in simulated(made, 0.001, truth={1: -0.1, 2: 0.0}):
        arm = made.arms[one.slot.arm]
        labels = {**one.run.labels, "smt": arm["smt"]}
        reduces = {"sort/mapreduce.job.reduces": [arm["mapreduce.job.reduces"]]}
        keep(directory, replace(one, run=replace(one.run, labels=labels)), thp=arm["smt"], held=reduces)
    found = find(made, directory)
    assert {one.factor: one.verdict for one in found.findings}["smt"] == "faster"
    said = render_text(build_experiment(found, Source("", "", "")))
    assert "First, by hand: smt off." in said
    assert "--factor" not in said, "it is no factor that a command could set"
