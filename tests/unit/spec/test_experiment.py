"""The experiment file: what is taken, and how every mistake is told."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.model.experiment import Experiment, Factor, Rate, StopRule
from howdah.spec.experiment import read_experiment, write_experiment

WHOLE = """\
question: Which of these matters?   # a comment
workload: { terasort: { size: 2G } }
cluster: { nodes: 3 }
baseline: { dfs.blocksize: 128M, mapreduce.job.reduces: 2, io.file.buffer.size: 65536 }
factors:
  dfs.blocksize: [64M, 128M, 256M]
  mapreduce.job.reduces: [1, 2]
  mapreduce.map.output.compress: [false, true]
design: blocks
primary: job_seconds
stop: { half_width: 2.5 %, min: 5, max: 12, budget: 1.5h, limit: 20m }
seed: 7
"""
BY_HAND = """\
question: Does it matter?
workload: pi
factors:
  smt: { external: [on, off], change: Turn it in the firmware, check: cat /sys/devices/system/cpu/smt/control }
  governor: { external: [powersave, performance] }
"""
RATES = """\
question: How many nodes are worth it?
workload: pi
factors: { nodes: [1, 3], mapreduce.job.reduces: [1, 2] }
rates: { watts: { nodes: { 1: 80, 3: 240.5 } }, price: 0.4 }
"""
LEAST = "question: Why?\nworkload: pi\nfactors: {mapreduce.job.maps: [1, 2]}\n"


def read(tmp_path: Path, content: str) -> Experiment:
    file = tmp_path / "experiment.yaml"
    file.write_text(content, encoding="utf-8")
    return read_experiment(file)


def test_what_a_person_changes(tmp_path: Path) -> None:
    found = read(tmp_path, BY_HAND)
    assert found.factors == (
        Factor("smt", ("on", "off"), True, "Turn it in the firmware", "cat /sys/devices/system/cpu/smt/control"),
        Factor("governor", ("powersave", "performance"), True),
    )
    assert read(tmp_path, write_experiment(found)).factors == found.factors


def test_a_condition_that_a_person_sees_to(tmp_path: Path) -> None:
    found = read(tmp_path, BY_HAND.replace("[powersave, performance]", "[performance]"))
    assert [one.name for one in found.varied] == ["smt"]
    assert found.factors[1].levels == ("performance",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("change:", "chnge:", "line 4: unknown key 'chnge' in smt"),
        ("external: [powersave, performance]", "check: ls", "line 5: governor needs a list of levels"),
        ("[powersave, performance]", "powersave", "line 5: external must be a list"),
        ("[powersave, performance]", "[]", "line 5: governor needs a level"),
        ("smt: { external: [on, off],", "smt: { external: [off],", "line 4: an experiment needs a factor with two"),
        ("smt:", "arm:", "line 4: a factor that is changed by hand cannot be called arm"),
    ],
)
def test_a_mistake_about_what_a_person_changes(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, BY_HAND.replace(old, new, 1).replace("[powersave, performance]", "[powersave]"))
    assert message in raised.value.message


def test_what_a_cluster_draws_and_costs(tmp_path: Path) -> None:
    found = read(tmp_path, RATES)
    assert found.watts == Rate("nodes", {"1": 80.0, "3": 240.5})
    assert found.price == Rate(None, {"": 0.4})
    assert [found.watts.of({"nodes": "3"}), found.price.of({})] == [240.5, 0.4]
    again = read(tmp_path, write_experiment(found))
    assert (again.watts, again.price) == (found.watts, found.price)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("watts:", "wats:", "line 4: unknown key 'wats' in rates"),
        ("{ nodes: { 1: 80, 3: 240.5 } }", "{ node: {} }", "line 4: unknown key 'node' in watts"),
        (", 3: 240.5", "", "line 4: no rate for nodes 3"),
        ("3: 240.5", "2: 240.5", "line 4: unknown key '2' in nodes"),
        ("price: 0.4", "price: 0", "line 4: '0' is no number above 0"),
        ("price: 0.4", "price: cheap", "line 4: 'cheap' is no number above 0"),
        ("{ nodes: {", "{ mapreduce.job.reduces: { 1: 1, 2: 2 }, nodes: {", "line 4: a rate is one number"),
    ],
)
def test_a_mistake_about_rates(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(tmp_path, RATES.replace(old, new, 1))
    assert message in raised.value.message


def test_everything_that_may_be_said(tmp_path: Path) -> None:
    assert read(tmp_path, WHOLE) == Experiment(
        question="Which of these matters?",
        workload="terasort",
        options={"size": "2G"},
        cluster={"nodes": "3"},
        baseline={"dfs.blocksize": "128M", "mapreduce.job.reduces": "2", "io.file.buffer.size": "65536"},
        factors=(
            Factor("dfs.blocksize", ("128M", "64M", "256M")),
            Factor("mapreduce.job.reduces", ("2", "1")),
            Factor("mapreduce.map.output.compress", ("false", "true")),
        ),
        design="blocks",
        primary="job_seconds",
        stop=StopRule(0.025, 5, 12, 5400.0, 1200.0),
        seed=7,
    )


def test_what_is_not_said(tmp_path: Path) -> None:
    found = read(tmp_path, LEAST)
    assert (found.options, found.cluster, found.baseline, found.primary) == ({}, {}, {}, None)
    assert (found.design, found.stop, found.seed) == ("one-at-a-time", StopRule(), 1)


@pytest.mark.promise("A mistake in an experiment file is an error with its line", "reference/experiment")
@pytest.mark.parametrize(
    ("old", "new", "line", "message", "hint"),
    [
        ("question", "qestion", 1, "unknown key 'qestion' in an experiment", "Did you mean question?"),
        ("half_width", "halfwidth", 11, "unknown key 'halfwidth' in stop", "Did you mean half_width?"),
        ("nodes", "node", 3, "unknown key 'node' in cluster", "Did you mean nodes?"),
        ("design: blocks", "design: block", 9, "unknown design 'block'", "Did you mean blocks?"),
        ("[1, 2]", "[1, 4]", 7, "the baseline of mapreduce.job.reduces is 2, which is none of its levels: 1, 4", None),
        ("[1, 2]", "[2, 2]", 7, "the level 2 of mapreduce.job.reduces is there twice", None),
        ("[1, 2]", "[2]", 7, "mapreduce.job.reduces needs two levels or more", None),
        ("[1, 2]", "2", 7, "mapreduce.job.reduces must be a list", None),
        ("[1, 2]", "[1, [2]]", 7, "mapreduce.job.reduces must be a single value", None),
        ("2.5 %", "0 %", 11, "'0 %' is not a percentage", "Write 5%."),
        ("2.5 %", "0.05", 11, "'0.05' is not a percentage", "Write 5%."),
        ("max: 12", "max: 4", 11, "max is 4, less than min, which is 5", None),
        ("min: 5", "min: 1", 11, "'1' is not a whole number of at least 2", None),
        ("1.5h", "90", 11, "'90' is not a duration", "Write 90s"),
        ("seed: 7", "seed: x", 12, "'x' is not a whole number of at least 0", None),
        ("seed: 7", "design: full", 12, "design is there twice", None),
        ("seed: 7", "confirm: maybe", 12, "confirm is 'maybe': write yes or no", None),
        ("{ terasort: { size: 2G } }", "{ terasort: {}, pi: {} }", 2, "workload must name one workload", None),
        ("cluster: { nodes: 3 }", "cluster:", 3, "cluster must be a mapping", None),
        ("{ nodes: 3 }", "{ nodes: }", 3, "nodes must be a single value", None),
        ("seed: 7", "seed: [", 13, "not YAML", None),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, message: str, hint: str | None
) -> None:
    assert old in WHOLE
    with pytest.raises(UsageError) as raised:
        read(tmp_path, WHOLE.replace(old, new, 1))
    assert raised.value.message.startswith(f"{tmp_path}/experiment.yaml, line {line}: {message}")
    assert (hint or "") in (raised.value.hint or "")


@pytest.mark.parametrize("key", ["question", "workload", "factors"])
def test_what_is_needed(tmp_path: Path, key: str) -> None:
    lines = [line for line in LEAST.splitlines() if not line.startswith(key)]
    with pytest.raises(UsageError, match=f"an experiment needs the key '{key}'"):
        read(tmp_path, "\n".join(lines))


def test_no_file_and_nothing_in_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_experiment(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match=r"experiment.yaml is empty"):
        read(tmp_path, "# nothing\n")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=60), st.integers(0, len(WHOLE)))
def test_whatever_is_written_is_taken_or_refused(tmp_path: Path, inserted: str, at: int) -> None:
    with suppress(UsageError):
        found = read(tmp_path, WHOLE[:at] + inserted + WHOLE[at:])
        assert all(len(set(factor.levels)) == len(factor.levels) > 1 for factor in found.factors)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)
KEYS = st.from_regex(r"[a-z]{1,8}(\.[a-z]{1,8}){1,3}", fullmatch=True)
STOPS = st.builds(
    StopRule,
    half_width=st.integers(1, 99).map(lambda one: one / 100),
    least=st.integers(2, 9),
    most=st.integers(9, 40),
    budget_seconds=st.none() | st.integers(1, 10**8).map(float),
    limit_seconds=st.none() | st.integers(1, 10**8).map(lambda one: one / 8),
)
EXPERIMENTS = st.builds(
    Experiment,
    question=TEXTS,
    workload=st.sampled_from(["terasort", "pi"]),
    options=st.dictionaries(st.sampled_from(["size", "maps"]), TEXTS),
    cluster=st.dictionaries(st.sampled_from(["nodes", "hadoop"]), TEXTS),
    baseline=st.dictionaries(KEYS.map(lambda key: f"held.{key}"), TEXTS, max_size=3),
    factors=st.lists(
        st.builds(Factor, KEYS, st.lists(TEXTS, min_size=2, max_size=4, unique=True).map(tuple)),
        min_size=1,
        max_size=4,
        unique_by=lambda factor: factor.name,
    ).map(tuple),
    design=st.sampled_from(["one-at-a-time", "full", "together"]),
    primary=st.none() | TEXTS,
    stop=STOPS,
    seed=st.integers(0, 99),
    warmup=st.integers(0, 3),
    confirm=st.booleans(),
)


@given(EXPERIMENTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_written_is_read_as_the_same(tmp_path: Path, experiment: Experiment) -> None:
    found = read(tmp_path, write_experiment(experiment))
    levels = {one.name: one.levels[0] for one in experiment.factors}
    assert found == replace(experiment, baseline={**experiment.baseline, **levels})
