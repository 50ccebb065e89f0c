from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.engine.experiment.plan import Earlier, asked, depends_on_host, plan_experiment
from howdah.errors import UsageError
from howdah.hadoop.distribution.distribution import Distribution
from howdah.model.experiment import Experiment, Factor, StopRule
from howdah.spec.experiment import read_experiment
from howdah.stats.summary import pooled_spread
from howdah.workload.registry import find_workload

EXPERIMENT = Experiment(
    question="Which?",
    workload="terasort",
    options={"size": "1G"},
    cluster={"nodes": "3"},
    baseline={"dfs.replication": "1"},
    factors=(Factor("dfs.replication", ("1", "2")), Factor("yarn.nodemanager.vmem-check-enabled", ("false", "true"))),
    design="one-at-a-time",
    primary=None,
    stop=StopRule(least=4),
    seed=1,
)
NONE = Distribution("3.4.2", Path("/none"), "managed", (), (), ())


def plan(tmp_path: Path, **changes: object):
    return plan_experiment(replace(EXPERIMENT, **changes), NONE, tmp_path)  # type: ignore[arg-type]


def test_a_plan_without_earlier_runs(tmp_path: Path) -> None:
    found = plan(tmp_path)
    assert found.primary == "sort/job_seconds"
    assert found.costs == {"dfs.replication": "job", "yarn.nodemanager.vmem-check-enabled": "cluster"}
    assert (len(found.arms), len(found.slots)) == (3, 12)
    assert (found.earlier, found.seconds, found.detectable(8)) == (None, None, None)
    # Input twice, output once, and the map outputs with their merged copy.
    assert found.disk_bytes == 5_040_000_000


@pytest.mark.promise(
    "`howdah experiment plan` shows the runs, their time and the smallest effect that they show", "README"
)
def test_what_earlier_runs_tell(tmp_path: Path) -> None:
    found = replace(plan(tmp_path), earlier=Earlier(6, 100.0, 120.0, 0.05))
    assert found.seconds == 1200
    few, many = found.detectable(8), found.detectable(30)
    assert few is not None
    assert many is not None
    assert 1 < many < few < 1.2
    assert replace(found, earlier=Earlier(1, 100.0, 100.0, None)).detectable(8) is None
    searched = replace(plan(tmp_path, design="search"), earlier=Earlier(6, 100.0, 120.0, 0.05))
    assert searched.detectable(8) is None, "a search judges no level"
    full = replace(plan(tmp_path, design="full"), earlier=Earlier(6, 100.0, 120.0, 0.05))
    assert full.detectable(4) == few, "two of its four arms have a level"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workload": "terrasort"}, "unknown workload"),
        ({"factors": (Factor("acelerator", ("none", "sort")),)}, "there is no factor 'acelerator'"),
        ({"baseline": {"vcore": "2"}}, "there is no factor 'vcore'"),
        ({"configurations": {"theirs": {"jvm": "G1"}}}, "jvm is 'G1', which is not a list of JVM flags"),
        ({"configurations": {"theirs": {"cpus": "all"}}}, "cpus is 'all', which is not a whole number"),
        (
            {
                "factors": (Factor("memory", ("4G", "8G")),),
                "baseline": {"yarn.nodemanager.resource.memory-mb": "12288"},
            },
            "memory 4G sets yarn.nodemanager.resource.memory-mb, which is given as 12288, too",
        ),
        (
            {"design": "fractional", "factors": tuple(Factor(f"dfs.x{at}", ("1", "2")) for at in range(24))},
            "Design too big",
        ),
        ({"options": {"sise": "1G"}}, "terasort has no option 'sise'"),
        ({"options": {"size": "1X"}}, "not a size: '1X'"),
        ({"options": {"maps": "many"}}, "maps is 'many', which is not a number"),
        ({"options": {"maps": "0"}}, "maps is 0, which is too small"),
        ({"workload": "shuffle", "options": {"skew": "nan"}}, "skew is 'nan', which is not a number"),
        ({"workload": "hs", "options": {"watts": "0"}}, "watts is 0, which is too small"),
        ({"workload": "hs", "options": {"price": "inf"}}, "price is 'inf', which is not a number"),
        ({"primary": "job_second"}, "unknown metric: 'job_second'"),
        ({"cluster": {"nodes": "none"}}, "nodes is 'none'"),
        ({"factors": (Factor("mapreduce.job.reduces", ("2", "none")),)}, "mapreduce.job.reduces is 'none'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        plan(tmp_path, **changes)


FILE = """\
question: Which?
workload:
  terasort: { size: 1G }
cluster:
  nodes: 1
baseline:
  dfs.replication: 1
factors:
  mapreduce.job.reduces: [1, 2]
  jvm: [usual, -Xss1m]
design: full
primary: job_seconds
configurations:
  theirs:
    cpus: 1
"""


@pytest.mark.promise("A mistake in an experiment file is an error with its line", "reference/experiment")
@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("terasort:", "terrasort:", 3, "unknown workload"),
        ("size: 1G", "sise: 1G", 3, "terasort has no option 'sise'"),
        ("size: 1G", "size: 1X", 3, "not a size: '1X'"),
        ("nodes: 1", "nodes: none", 5, "nodes is 'none'"),
        ("dfs.replication: 1", "dfs.replication: many", 7, "dfs.replication is 'many'"),
        ("dfs.replication: 1", "dfs.replication: 2", 7, "dfs.replication is 2, and HDFS has 1 DataNode"),
        ("dfs.replication: 1", "replicatoin: 1", 7, "there is no factor 'replicatoin'"),
        ("jvm: [usual", "jmv: [usual", 10, "there is no factor 'jmv'"),
        ("jvm: [usual, -Xss1m]", "jvm: [usual, G1]", 10, "jvm is 'G1'"),
        ("[1, 2]", "[1, none]", 9, "mapreduce.job.reduces is 'none'"),
        ("design: full", "design: fractional", 11, "a fractional design has 4 to 26 factors"),
        ("primary: job_seconds", "primary: job_second", 12, "unknown metric: 'job_second'"),
        ("cpus: 1", "cpus: all", 15, "cpus is 'all'"),
    ],
)
def test_what_a_plan_refuses_has_the_line_where_it_stands(
    tmp_path: Path, old: str, new: str, line: int, message: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        plan_experiment(read_experiment(file), NONE, tmp_path)
    assert raised.value.message.startswith(f"{file}, line {line}: ")
    assert message in raised.value.message


def test_what_is_changed_by_hand_is_not_asked_of_the_host() -> None:
    factors = (Factor("cpus", ("E5-2660", "E5-2680"), external=True), Factor("cache", ("warm", "dropped")))
    assert depends_on_host(replace(EXPERIMENT, factors=factors)) == (("cache", "warm"), ("cache", "dropped"))


def test_options_as_a_file_writes_them() -> None:
    found = asked(find_workload("dfsio"), {"size": "smoke", "maps": "2", "buffer": "1Mi"}, {"a": "b"})
    assert (found.size, found.maps, found.own, found.conf) == (16 << 20, 2, {"buffer": 1 << 20}, {"a": "b"})
    with pytest.raises(UsageError, match="engine is 'flink'"):
        asked(find_workload("wordcount"), {"engine": "flink"}, {})


def test_spread_is_pooled_within_trials() -> None:
    assert pooled_spread([[0.0], [1.0]]) is None
    assert pooled_spread([[0.0, 0.2], [5.0, 5.2, 5.1], [9.0]]) == pytest.approx(math.sqrt((0.02 + 0.02) / 3))
