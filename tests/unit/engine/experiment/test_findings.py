"""What runs show, and what is confirmed."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from howdah.engine.experiment.confirmation import confirming
from howdah.engine.experiment.factors import conditions
from howdah.engine.experiment.findings import find
from howdah.engine.experiment.likeness import Likeness
from howdah.engine.experiment.plan import plan_experiment
from howdah.engine.experiment.results import terms
from howdah.engine.experiment.trials import block_slots, next_slot
from howdah.hadoop.distribution.distribution import Distribution
from howdah.model.comparison import Verdict
from howdah.model.experiment import Factor, Findings, Rate, StopRule
from howdah.report import Source, build_experiment, render_markdown, render_text
from howdah.report.experiment.answer import is_confirmed
from howdah.spec.experiment import read_experiment, write_experiment
from howdah.store import ExperimentDirectory
from tests.unit.engine.experiment.experiments import EXPERIMENT, MADE, begun, done, keep, plan, settings_of, simulated


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


@pytest.mark.parametrize(("valid", "verdict"), [(1, "not enough data"), (3, "slower")])
def test_a_level_that_ran_once_has_no_verdict(tmp_path: Path, valid: int, verdict: str) -> None:
    """However large the effect, and however well the others tell the noise."""
    made, directory = plan(tmp_path, stop=StopRule(least=8, most=8)), begun(tmp_path)
    kept = 0
    for one in simulated(made, 0.001):
        fails = one.slot.arm == 3 and kept == valid
        kept += one.slot.arm == 3 and not fails
        keep(directory, replace(one, value=None) if fails else one, "failed" if fails else "valid")
    found = find(made, directory)
    assert found.blocks == 8
    [rare] = [one for one in found.findings if one.level == "128"]
    assert (rare.verdict, rare.outcomes) == (verdict, {"valid": valid, "failed": 8 - valid})
    assert {one.verdict for one in found.findings if one is not rare} == {"faster", "no difference shown"}
    said = " ".join(render_text(build_experiment(found, Source("", "", ""))).split())
    assert f"{valid} valid, {8 - valid} failed" in said


@pytest.mark.promise("Three against three runs of an experiment have no verdict", "reference/experiment")
@pytest.mark.parametrize(("blocks", "verdict"), [(2, "not enough data"), (3, "not enough data"), (4, "slower")])
def test_three_against_three_show_nothing(tmp_path: Path, blocks: int, verdict: str) -> None:
    factors = (Factor("mapreduce.job.reduces", ("1", "2")),)
    made, directory = plan(tmp_path, factors=factors, stop=StopRule(least=2, most=blocks)), begun(tmp_path)
    for block in range(blocks):
        for slot in block_slots(made, block):
            keep(directory, done(slot, 0.001 * block, truth={1: 0.3}, arm=made.arms[slot.arm]))
    assert [one.verdict for one in find(made, directory).findings] == [verdict]


@pytest.mark.promise(
    "Arms that differ in more than the factor are `not comparable`, with the difference", "reference/experiment"
)
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


@pytest.mark.promise(
    "Arms that differ in more than the factor are `not comparable`, with the difference", "reference/experiment"
)
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


@pytest.mark.parametrize("levels", [("none", "sort"), ("sort", "none")])
def test_an_accelerator_that_did_not_serve_a_run_has_no_verdict(tmp_path: Path, levels: tuple[str, str]) -> None:
    factors = (Factor("accelerator", levels), Factor("mapreduce.job.reduces", ("1", "2")))
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
    assert found.candidate["accelerator"] == levels[0]
    said = render_text(build_experiment(found, Source("", "", "")))
    assert f"did not serve all of sort in 1 run, so what it does is not told by them: {idle}." in " ".join(said.split())


@pytest.mark.parametrize(("strays", "unlike"), [(1, True), (3, False)])
def test_a_machine_that_differs_between_arms_but_for_a_run_or_two(tmp_path: Path, strays: int, unlike: bool) -> None:
    """Seven of eight runs with another setting are no chance; five of eight may be."""
    facts = {
        arm: [{"hosts.vm.thp": "always" if arm == 1 and run >= strays else "never"} for run in range(8)]
        for arm in range(4)
    }
    found = Likeness(plan(tmp_path), facts).unlike(0)
    assert [one.path for one in found] == (["hosts.vm.thp"] if unlike else [])
    if found:
        assert (found[0].left, found[0].right) == ("never", "always (7 of 8 runs) or never (1 of 8 runs)")


def test_fewer_processors_show_where_the_host_is_looked_at(tmp_path: Path) -> None:
    made = plan(tmp_path, factors=(Factor("cpus", ("2", "1")),))
    facts = {arm: [{"hosts.vm.cpu.allowed": str(2 - arm), "hosts.vm.cpu.model": "x"}] * 8 for arm in range(2)}
    assert Likeness(made, facts).unlike(0) == ()
    other = {**facts, 1: [{"hosts.vm.cpu.allowed": "1", "hosts.vm.cpu.model": "y"}] * 8}
    assert [one.path for one in Likeness(made, other).unlike(0)] == ["hosts.vm.cpu.model"]


def test_a_rate_of_simulated_hosts_is_a_level(tmp_path: Path) -> None:
    factors = (Factor("network", ("1gbit", "100mbit")),)
    made = plan(tmp_path, factors=factors, cluster={"on": "sim:3"})
    facts = {arm: [{"hosts.vm.cpu.model": "x"}] * 8 for arm in range(2)}
    assert Likeness(made, facts).unlike(0) == ()


def test_a_search_names_what_was_not_the_same_and_follows_from_nothing_that_was_varied(tmp_path: Path) -> None:
    made = plan(tmp_path)
    varied = {"sort/mapreduce.job.reduces": "1", "sort/mapreduce.job.maps": "4", "hosts.vm.thp": "never"}
    other = {"sort/mapreduce.job.reduces": "2", "sort/mapreduce.job.maps": "2", "hosts.vm.thp": "never"}
    facts = {0: [{**varied, "daemons/a": "1"}], 1: [{**other, "daemons/a": "1"}]}
    assert Likeness(made, facts).unexplained == ()
    facts[1][0] |= {"daemons/a": "2", "hosts.vm.thp": "always"}
    assert Likeness(made, facts).unexplained == ("daemons/a", "hosts.vm.thp")


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


def test_a_pair_that_ran_once_together_has_no_verdict(tmp_path: Path) -> None:
    made = plan(tmp_path, factors=TWO, design="full", stop=StopRule(least=8, most=8))
    directory, kept = begun(tmp_path), 0
    for one in simulated(made, 0.001, truth={3: 0.4}):
        fails = one.slot.arm == 3 and kept > 0
        kept += one.slot.arm == 3
        keep(directory, replace(one, value=None) if fails else one, "failed" if fails else "valid")
    [pair] = find(made, directory).interactions
    assert pair.verdict == "not enough data"


def test_it_has_ended_when_no_run_is_missing(tmp_path: Path) -> None:
    made, directory = plan(tmp_path), begun(tmp_path)
    whole = simulated(made, 0.001)
    for one in whole[:-1]:
        keep(directory, one)
    assert not find(made, directory).ended
    keep(directory, whole[-1])
    assert find(made, directory).ended


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
    assert page.headline.count("The effect of mapreduce.") == 1, "the other level's would say the same"
    assert re.search(
        r" on the time of TeraSort depends on (\S+): \d+ % more time with .* and .* % less time with .*\.$",
        page.headline,
    )


def test_what_is_good_alone_and_bad_together_is_not_put_together(tmp_path: Path) -> None:
    found = crossed(tmp_path, {1: -0.2, 2: -0.3, 3: -0.25}, 0.001)
    assert found.candidate == {"mapreduce.job.reduces": "2", "mapreduce.task.io.sort.mb": "32"}


@pytest.mark.promise("The fewest changes whose removal is shown to be worse are recommended", "reference/experiment")
@pytest.mark.parametrize("seed", range(6))
def test_a_change_that_helps_only_without_another_is_left_out(tmp_path: Path, seed: int) -> None:
    """Each is faster on average, and the second one costs a little where the first one is: arms 1, 2 and 3."""
    found = crossed(tmp_path, {1: -0.20, 2: -0.39, 3: -0.36}, 0.02, seed)
    assert all(one.effect is not None and one.effect.ratio < 0.95 for one in found.findings)
    assert found.candidate == {"mapreduce.job.reduces": "2", "mapreduce.task.io.sort.mb": "32"}
    assert found.runner_up == {"mapreduce.job.reduces": "2", "mapreduce.task.io.sort.mb": "64"}


@pytest.mark.promise("If two levels depend on each other, the headline gives no average", "reference/experiment")
def test_a_level_that_helps_in_one_place_alone_is_said_as_that(tmp_path: Path) -> None:
    found = crossed(tmp_path, {1: -0.10, 2: -0.39, 3: -0.36}, 0.01)
    [pair] = found.interactions
    assert [(one.level[1], one.given[1], one.verdict) for one in pair.simple] == [
        ("2", "32", "faster"), ("2", "64", "faster"), ("64", "1", "faster"), ("64", "2", "slower"),
    ]  # fmt: skip
    told = {(one.level[1], one.given[1]): one.ratio for one in pair.simple}
    assert told["64", "1"] == pytest.approx(math.exp(-0.10), rel=0.02)
    assert told["64", "2"] == pytest.approx(math.exp(0.03), rel=0.02)
    assert all(one.interval.low < one.ratio < one.interval.high for one in pair.simple)
    page = build_experiment(found, Source("", "", ""))
    alone, both = (re.escape(words) for words in ("% less time with mapreduce.job.reduces 1", "2."))
    assert re.search(
        rf"sort.mb 64 .* depends on mapreduce.job.reduces: .* {alone} and .* % more time .* {both}", page.headline
    )
    assert re.search(r"takes \d+ % to \d+ % less time with mapreduce.job.reduces 2\.", page.headline)
    assert "What each level does with and without the other" in render_markdown(page)


def test_noise_recommends_nothing_where_a_pair_was_shown_to_be_worse(tmp_path: Path) -> None:
    """All combinations but one are equal: one of them always looks best, and is not recommended for it."""
    for seed in range(8):
        found = crossed(tmp_path, {1: 0.0, 2: 0.0, 3: 0.1}, 0.02, seed)
        assert [one.verdict for one in found.interactions] == ["different"]
        assert found.candidate == found.arms[0]


def test_a_level_that_is_not_comparable_has_no_pair_either(tmp_path: Path) -> None:
    found = crossed(tmp_path, {1: 0.1, 2: 0.1, 3: -0.1}, 0.001, wrong=True)
    assert "not comparable" in {one.verdict for one in found.findings}
    assert [one.verdict for one in found.interactions] == ["not comparable"]
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


@pytest.mark.promise(
    "The best level of each factor is compared with the baseline in fresh runs", "reference/experiment"
)
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


@pytest.mark.promise("Fresh runs compare the best settings with the runner-up, too", "reference/experiment")
def test_the_best_settings_are_run_anew_against_the_runner_up(tmp_path: Path) -> None:
    """The second change does nothing in truth: its first runs were lucky."""
    found = crossed(tmp_path, {1: -0.1, 2: -0.4, 3: -0.5}, 0.002)
    assert found.candidate == {"mapreduce.job.reduces": "2", "mapreduce.task.io.sort.mb": "64"}
    assert found.runner_up == {"mapreduce.job.reduces": "2", "mapreduce.task.io.sort.mb": "32"}
    again = confirming(found)
    assert again is not None
    assert (again.factors, again.design) == (
        (Factor("configuration", ("found", "baseline", "runner-up")),), "one-at-a-time",
    )  # fmt: skip
    assert again.configurations["runner-up"] == found.runner_up
    file = tmp_path / "again.yaml"
    file.write_text(write_experiment(again), encoding="utf-8")
    inner = plan_experiment(read_experiment(file), Distribution("3.4.2", tmp_path, "managed", (), (), ()), tmp_path)
    place = ExperimentDirectory.begin(file, tmp_path / "fresh")
    for one in simulated(inner, 0.02, truth={0: 0.0, 1: 0.4, 2: 0.0}):
        arm = inner.experiment.configurations[inner.arms[one.slot.arm]["configuration"]]
        labels = {**one.run.labels, "configuration": inner.arms[one.slot.arm]["configuration"]}
        held = {f"sort/{name}": [level] for name, level in arm.items()}
        keep(place, replace(one, run=replace(one.run, labels=labels)), held=held)
    fresh = find(inner, place)
    assert {one.level: one.verdict for one in fresh.findings} == {
        "baseline": "slower", "runner-up": "no difference shown",
    }  # fmt: skip
    page = build_experiment(found, Source("", "", ""), fresh)
    assert "× as fast as the baseline (95 % interval 1." in page.headline
    assert "and not shown to differ from the runner-up, in fresh runs." in page.headline
    said = " ".join(render_text(page).split())
    assert "The runner-up, the best next to these settings: mapreduce.job.reduces 2." in said
    assert "howdah run terasort" in said
    assert confirming(fresh) is None
    wrong: tuple[dict[str, Verdict], ...] = (
        {"baseline": "no difference shown", "runner-up": "slower"}, {"baseline": "slower", "runner-up": "faster"},
    )  # fmt: skip
    for verdicts in wrong:
        other = tuple(replace(fresh.findings[0], level=level, verdict=verdict) for level, verdict in verdicts.items())
        assert not is_confirmed(replace(fresh, findings=other))


def test_what_a_person_turns_has_no_runner_up_in_the_confirmation(tmp_path: Path) -> None:
    smt = Factor("smt", ("on", "off"), True, "Turn it in the firmware", "cat control")
    made, directory = plan(tmp_path, factors=(smt, EXPERIMENT.factors[0])), begun(tmp_path)
    for one in simulated(made, 0.001, truth={1: -0.1, 2: -0.2}):
        arm = made.arms[one.slot.arm]
        labels = {**one.run.labels, "smt": arm["smt"]}
        reduces = {"sort/mapreduce.job.reduces": [arm["mapreduce.job.reduces"]]}
        keep(directory, replace(one, run=replace(one.run, labels=labels)), held=reduces)
    found = find(made, directory)
    assert found.runner_up is not None
    again = confirming(found)
    assert again is not None
    assert (again.design, again.factors) == ("together", (smt, EXPERIMENT.factors[0]))


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
