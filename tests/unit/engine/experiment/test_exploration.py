"""Searches: what they run, how they go on, and what they are compared with in the end."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.cluster.deployment.sizes import size_of
from howdah.cluster.state import cluster_directory
from howdah.engine.experiment.ab import ab_experiment
from howdah.engine.experiment.confirmation import confirming
from howdah.engine.experiment.exploration import best, propose
from howdah.engine.experiment.findings import find
from howdah.engine.experiment.plan import ExperimentPlan, SyntheticCluster, plan_experiment
from howdah.engine.experiment.results import finished
from howdah.engine.experiment.takeaway import site_files
from howdah.engine.experiment.trials import Status, run_experiment
from howdah.engine.experiment.tunables import simulated_tuning, tunables, tuning_experiment
from howdah.engine.observer import Silent
from howdah.errors import UsageError, WorkloadFailed
from howdah.hadoop.configuration.sizing import Sizing
from howdah.hadoop.distribution.distribution import Distribution
from howdah.host.channel import this_host
from howdah.model.experiment import Experiment, Factor, StopRule
from howdah.model.run import WARM_UP, Outcome, Run, Trial
from howdah.model.sample import Moment
from howdah.report import Source, build_experiment, render_html, render_markdown
from howdah.spec.experiment import read_experiment, write_experiment
from howdah.spec.truth import read_truth
from howdah.store import ExperimentDirectory, list_runs
from tests.unit.engine.experiment.test_by_hand import Nobody

TRUTH = """\
value: 60
effects:
  mapreduce.job.reduces: { 1: 1, 2: 0.8, 4: 0.9, 8: 1.1 }
  mapreduce.task.io.sort.mb: { 32: 1, 100: 0.95, 256: 1.1 }
  mapreduce.map.output.compress: { false: 1, true: 1.05 }
together:
  - { levels: { mapreduce.job.reduces: 4, mapreduce.map.output.compress: true }, ratio: 0.7 }
noise: { cv: 5% }
failing: 5%
"""
BEST = {"mapreduce.job.reduces": "4", "mapreduce.task.io.sort.mb": "100", "mapreduce.map.output.compress": "true"}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "home"))


@pytest.fixture
def synthetic(tmp_path: Path) -> Path:
    file = tmp_path / "truth.yaml"
    file.write_text(TRUTH, encoding="utf-8")
    return file


def search(synthetic: Path, runs: int = 24) -> Experiment:
    return simulated_tuning("terasort", {"size": "1G"}, read_truth(synthetic), StopRule(most=runs), 1)


def begun(experiment: Experiment, synthetic: Path, path: Path) -> tuple[ExperimentPlan, ExperimentDirectory]:
    directory = ExperimentDirectory.begin_with(write_experiment(experiment), path, synthetic)
    described = read_experiment(directory.file)
    assert described == replace(experiment, baseline=described.baseline)
    return plan_experiment(described, SyntheticCluster(synthetic, read_truth(synthetic)), path), directory


def ran(plan: ExperimentPlan, directory: ExperimentDirectory, most: int = 1000) -> None:
    runs = run_experiment(plan, directory, ("howdah", "tune"), Silent(), Nobody("vm").by_hand())
    for _, _ in zip(range(most), runs, strict=False):
        pass
    runs.close()  # type: ignore[attr-defined]


@pytest.mark.promise("A search finds the best settings, and fresh runs confirm them", "how-to/tune")
def test_it_finds_the_best_and_compares_it_anew(tmp_path: Path, synthetic: Path) -> None:
    plan, directory = begun(search(synthetic), synthetic, tmp_path / "search")
    ran(plan, directory)
    assert Status.of(plan, directory).next is None
    found = find(plan, directory)
    assert (len(found.results), found.candidate) == (24, BEST)
    assert any(one.outcome.kind == "failed" for one in found.results), "which ends no search"
    again = confirming(found)
    assert again is not None
    assert again.configurations["found"] == BEST
    inner = directory.begin_confirmation(write_experiment(again))
    fresh = plan_experiment(read_experiment(inner.file), SyntheticCluster(synthetic, read_truth(synthetic)), tmp_path)
    ran(fresh, inner)
    confirmed = find(fresh, inner)
    [one] = confirmed.findings
    assert (one.level, one.verdict) == ("baseline", "slower")
    assert confirming(confirmed) is None
    page = build_experiment(found, Source("file", "directory", "resume"), confirmed)
    assert "mapreduce.job.reduces 4" in page.headline
    assert page.headline.startswith(
        "Simulated: The settings that were found are 1.60× as fast as the baseline (95 % interval 1."
    )
    assert "<figure" in render_html(page)
    assert "| baseline | 1." in render_markdown(page)


@pytest.mark.promise("A search goes on after any interruption as if there had been none", "how-to/tune")
def test_what_was_interrupted_goes_on_as_if_it_had_not_been(tmp_path: Path, synthetic: Path) -> None:
    whole, cut = (begun(search(synthetic, 14), synthetic, tmp_path / name) for name in ("whole", "cut"))
    ran(*whole)
    for _ in range(3):
        ran(*cut, most=4)
    ran(*cut)
    first, second = ([one.arm for one in find(*side).results] for side in (whole, cut))
    assert first == second


def test_nothing_better_needs_no_confirmation(tmp_path: Path, synthetic: Path) -> None:
    synthetic.write_text("value: 60\neffects: { a: { 1: 1, 2: 3 } }\nnoise: { cv: 1% }\n", encoding="utf-8")
    plan, directory = begun(search(synthetic, 8), synthetic, tmp_path / "search")
    ran(plan, directory)
    found = find(plan, directory)
    assert confirming(found) is None
    page = build_experiment(found, Source("file", "directory", "resume"))
    assert "none looks better than the baseline" in page.headline


def test_the_file_says_what_it_is_compared_with_and_where_it_begins(tmp_path: Path, synthetic: Path) -> None:
    experiment = replace(
        search(synthetic, 8),
        starts=({"mapreduce.job.reduces": "4"}, {"mapreduce.job.reduces": "2"}),
        configurations={"theirs": {"mapreduce.task.io.sort.mb": "256"}, "ours": {}},
    )
    plan, directory = begun(experiment, synthetic, tmp_path / "search")
    ran(plan, directory)
    found = find(plan, directory)
    baseline = {name: levels[0] for name, levels in ((one.name, one.levels) for one in experiment.factors)}
    tried = [dict(found.arms[one.arm]) for one in found.results[:3]]
    assert tried == [baseline, *({**baseline, **start} for start in experiment.starts)]
    again = confirming(replace(found, candidate=BEST))
    assert again is not None
    assert again.factors == (Factor("configuration", ("found", "theirs", "ours")),)
    # Where nothing better was found, what differs from the baseline is compared with it none the less.
    again = confirming(replace(found, candidate=baseline))
    assert again is not None
    assert again.factors == (Factor("configuration", ("found", "theirs")),)


def test_what_was_found_is_compared_anew_whatever_the_search_was_over(tmp_path: Path) -> None:
    """Also where configurations are what it varies, one of them has the name of what was found, and a person saw to
    something."""
    experiment = Experiment(
        question="Which?",
        workload="terasort",
        options={"size": "1G"},
        cluster={},
        baseline={},
        factors=(
            Factor("configuration", ("a", "found")),
            Factor("mapreduce.job.reduces", ("1", "2")),
            Factor("smt", ("off",), True, "Turn it off.", "echo off"),
        ),
        design="search",
        primary=None,
        stop=StopRule(most=8),
        seed=1,
        configurations={"a": {}, "found": {"mapreduce.map.output.compress": "true"}},
    )
    where = Distribution("3.4.2", tmp_path, "managed", (), (), ())
    directory = ExperimentDirectory.begin_with(write_experiment(experiment), tmp_path / "search", None)
    plan = plan_experiment(read_experiment(directory.file), where, tmp_path)
    found = replace(find(plan, directory), candidate=dict(plan.arms[-1]))
    again = confirming(found)
    assert again is not None
    assert again.configurations["found-now"] == {"mapreduce.map.output.compress": "true", "mapreduce.job.reduces": "2"}
    inner = directory.begin_confirmation(write_experiment(again))
    fresh = plan_experiment(read_experiment(inner.file), where, tmp_path)
    assert [arm["configuration"] for arm in fresh.arms] == ["found-now", "a", "found"]
    assert {arm["smt"] for arm in fresh.arms} == {"off"}
    sizing = {"nodes": 1, "slots": 2, "task_mib": 4096, "am_mib": 1024, "node_mib": 9216, "block_mib": 1024}
    cluster = {"jdk": {"home": "/jdk", "version": "17.0.15", "vendor": "Debian"}, "sizing": sizing}
    run = Run("r", "TeraSort", Trial("terasort", {}), Outcome("valid"), Moment(0, 0), Moment(0, 0), "0", (), cluster)
    files = site_files(found, run)
    assert "<name>mapreduce.map.output.compress</name>" in files["mapred-site.xml"]
    assert not any("smt" in text for text in files.values())


def test_a_valid_run_without_the_metric_is_not_the_worst(tmp_path: Path, synthetic: Path) -> None:
    plan, directory = begun(search(synthetic, 8), synthetic, tmp_path / "search")
    ran(plan, directory)
    done = [one for one in finished(plan, directory) if one.value is not None]
    found = best(plan, done, "lower")
    [top] = [one for one in done if plan.arms[one.slot.arm] == found]
    without = [replace(one, value=None, slot=replace(top.slot, block=30 + at)) for at, one in enumerate(done[:6])]
    assert best(plan, [*done, *without], "lower") == found
    fails = [replace(one, run=replace(one.run, outcome=Outcome("failed", "why"))) for one in without]
    assert best(plan, [*done, *fails], "lower") != found
    # It is not proposed again and again, though.
    again = propose(plan, [*done[:3], *without[:3]], "lower")
    assert again != propose(plan, done[:3], "lower")


def test_too_many_combinations_are_refused(tmp_path: Path, synthetic: Path) -> None:
    factors = tuple(Factor(f"a.{number}", tuple(map(str, range(10)))) for number in range(6))
    truth = read_truth(synthetic)
    with pytest.raises(UsageError, match="more than 100,000 combinations"):
        plan_experiment(replace(search(synthetic), factors=factors), SyntheticCluster(synthetic, truth), tmp_path)


@pytest.mark.promise("A search begins with the tuned defaults, and every level comes early", "how-to/tune")
def test_what_tune_looks_at_begins_with_the_tuned_defaults() -> None:
    found = {one.name: one.levels for one in tunables(Sizing(1, 2, 4096, 1024, 9216, 1024), accelerators=True)}
    assert found["dfs.blocksize"] == (str(1 << 30), str(512 << 20), str(256 << 20), str(128 << 20))
    assert found["mapreduce.job.reduces"] == ("2", "1", "4", "8")
    assert found["accelerator"] == ("none", "sort")
    assert all(len(set(levels)) == len(levels) > 1 for levels in found.values())
    small = {one.name: one.levels for one in tunables(Sizing(1, 2, 640, 512, 1792, 128), accelerators=False)}
    assert small["mapreduce.task.io.sort.mb"] == ("32", "100", "256"), "its heap has 512 MiB"


@pytest.mark.promise("`tune --on` asks the hosts what they have", "how-to/tune")
def test_levels_are_those_of_the_hosts() -> None:
    with this_host() as host:
        two = size_of(host, 2, 1 << 40)
    found = tuning_experiment("terasort", {}, {"on": "channels:2"}, StopRule(), 1)
    assert found.cluster == {"on": "channels:2", "nodes": "2"}
    [reduces] = [factor.levels for factor in found.factors if factor.name == "mapreduce.job.reduces"]
    assert reduces[0] == str(2 * two.slots)
    assert not cluster_directory("tune").path.exists(), "nothing was started"


@pytest.mark.promise("The files to take away name nothing of this machine", "how-to/tune")
def test_the_files_to_take_away_have_what_was_found_and_nothing_of_this_machine(
    tmp_path: Path, synthetic: Path
) -> None:
    plan, directory = begun(search(synthetic, 8), synthetic, tmp_path / "search")
    found = replace(find(plan, directory), candidate=BEST)
    sizing = {"nodes": 1, "slots": 2, "task_mib": 4096, "am_mib": 1024, "node_mib": 9216, "block_mib": 1024}
    cluster = {"jdk": {"home": "/jdk", "version": "17.0.15", "vendor": "Debian"}, "sizing": sizing}
    moment = Moment(0.0, 0.0)
    run = Run("r", "TeraSort", Trial("terasort", {}), Outcome("valid"), moment, moment, "0", (), cluster)
    files = site_files(found, run)
    assert set(files) == {"hdfs-site.xml", "yarn-site.xml", "mapred-site.xml"}
    assert "<name>mapreduce.task.io.sort.mb</name>" in files["mapred-site.xml"]
    assert "<value>100</value>" in files["mapred-site.xml"]
    assert not any("127." in text or "/jdk" in text or ".jsa" in text for text in files.values())


@pytest.mark.promise("`confirm: no` ends an experiment without runs that confirm it", "reference/experiment")
def test_without_confirmation_nothing_is_run_again(tmp_path: Path, synthetic: Path) -> None:
    plan, directory = begun(replace(search(synthetic), confirm=False), synthetic, tmp_path / "search")
    ran(plan, directory)
    found = find(plan, directory)
    assert found.candidate != found.arms[0]
    assert confirming(found) is None
    assert confirming(replace(found, experiment=replace(found.experiment, confirm=True))) is not None
    page = render_markdown(build_experiment(found, Source("file", "directory", "resume")))
    assert "not confirmed, as the file wants it" in page


@pytest.mark.promise("Warm-up runs of an experiment come before each run, and do not count", "reference/experiment")
@pytest.mark.parametrize("failing", ["0%", "99%"])
def test_warm_up_runs_do_not_count(tmp_path: Path, failing: str) -> None:
    file = tmp_path / "truth.yaml"
    file.write_text(f"value: 60\neffects: {{ mapreduce.job.reduces: {{ 1: 1, 2: 0.8 }} }}\nfailing: {failing}\n")
    sides = ({"mapreduce.job.reduces": "1"}, {"mapreduce.job.reduces": "2"})
    stop = StopRule(least=4, most=4)
    experiment = ab_experiment("terasort", {"size": "1G"}, sides, (None, None), {}, stop, 1, warmup=2)
    plan, directory = begun(experiment, file, tmp_path / "ab")
    if failing == "99%":
        with pytest.raises(WorkloadFailed, match="3 runs in a row went wrong"):
            ran(plan, directory)
        return
    ran(plan, directory)
    made = [run for _, run in list_runs(directory.runs) if isinstance(run, Run)]
    assert len(made) == 24, "two for each of eight"
    counted = finished(plan, directory)
    assert len(counted) == 8
    assert not any(WARM_UP in one.run.labels for one in counted)
    assert sum(WARM_UP in run.labels for run in made) == 16
    assert Status.of(plan, directory).next is None
    shutil.rmtree(directory.runs / counted[-1].run.id)  # As if it had been interrupted after its warm-up.
    assert Status.of(plan, directory).next == counted[-1].slot
