"""Where the jar of an accelerator is, and what is said of jobs that it did not serve."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.evidence.acceleration import (
    check_plugins,
    is_accelerated,
    jars_for_spark,
    no_part,
    rebuilt,
    shortfalls,
    with_plugins,
)
from howdah.errors import UsageError
from howdah.hadoop.distribution.distribution import Distribution
from howdah.model.accelerator import MERGING, PLUGINS, SORTING, settings_for
from howdah.store import read_run
from howdah.workload import measured_phases
from howdah.workload.hs import Hs
from tests.unit.engine.experiment.experiments import begun, keep, plan, simulated
from tests.unit.model.test_accelerator import OURS, STOCK, job

HADOOP = Distribution("3.4.2", Path("/hadoop"), "managed", (), (), ())
JAR = Path("/jars/howdah-accelerator.jar")


@dataclass
class Cluster:
    """One that Howdah started, or not; what of it is looked at."""

    runs_distribution: bool = False
    plugins: tuple[Path, ...] = (JAR,)
    description: Mapping[str, Any] = field(default_factory=lambda: {"name": "c"})
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def distribution(self) -> Distribution:
        return replace(HADOOP, plugins=self.plugins)

    def live(self) -> LiveCluster:
        return cast(LiveCluster, self)


def test_a_cluster_that_came_up_without_the_jar_is_refused() -> None:
    check_plugins(Cluster(runs_distribution=True).live(), OURS)
    check_plugins(Cluster(runs_distribution=True, plugins=()).live(), STOCK)
    check_plugins(Cluster(plugins=()).live(), OURS)
    with pytest.raises(UsageError, match=r"the cluster 'c' does not have howdah-accelerator\.jar") as caught:
        check_plugins(Cluster(runs_distribution=True, plugins=()).live(), OURS)
    assert "make jars" in str(caught.value.hint)


def test_only_to_other_peoples_clusters_the_jar_is_sent_and_only_where_it_is_asked_for() -> None:
    others = Cluster().live()
    assert with_plugins(Cluster(runs_distribution=True).live(), OURS) == OURS
    assert with_plugins(others, STOCK) == STOCK
    assert with_plugins(others, OURS) == {**OURS, "tmpjars": "file:///jars/howdah-accelerator.jar"}
    assert with_plugins(others, {**OURS, "tmpjars": "a.jar"})["tmpjars"] == f"a.jar,{JAR.as_uri()}"


def test_spark_gets_the_jars_of_a_cluster_of_howdah_and_elsewhere_what_its_file_systems_need() -> None:
    assert jars_for_spark(Cluster(runs_distribution=True).live(), {}) == (JAR,)
    stock, ours = (settings_for(name) for name in ("none", "sort"))
    assert jars_for_spark(Cluster().live(), stock) == ()
    assert jars_for_spark(Cluster().live(), ours) == (JAR,)
    by_default = Cluster(settings=ours)
    assert jars_for_spark(by_default.live(), {}) == (JAR,)
    assert jars_for_spark(by_default.live(), stock) == ()
    directory = Cluster(settings={"fs.posixfs.impl": "org.howdah.filesystem.PosixFileSystem"})
    assert jars_for_spark(directory.live(), stock) == (JAR,)


def test_a_jar_that_changed_since_the_cluster_came_up_is_said(tmp_path: Path) -> None:
    jar = tmp_path / "plugin.jar"
    jar.write_text("one")
    cluster = Cluster(description={"plugins": {str(jar): hashlib.sha256(b"one").hexdigest()}}).live()
    assert list(rebuilt(cluster)) == []
    jar.write_text("another")
    assert [one.text.partition(" since")[0] for one in rebuilt(cluster)] == ["plugin.jar was rebuilt"]
    jar.unlink()
    assert [one.text.partition(" since")[0] for one in rebuilt(cluster)] == ["plugin.jar is gone"]
    assert list(rebuilt(Cluster(description={"kind": "conf"}).live())) == []


SERVED = {"Sort": {"RECORDS": 10}, "Shuffle": {"RECORDS": 10, "SEGMENTS_DIRECT": 2}}


@pytest.mark.promise("The report says whether the plugins served the run", "explanation/reading-the-report")
@pytest.mark.parametrize(
    ("counted", "held", "said"),
    [
        (SERVED, OURS, []),
        ({}, STOCK, []),
        (
            {},
            OURS,
            [
                "SortingCollector did not serve job_1, stock sort did: no counter of Howdah Sort tells of it",
                "MergingShuffle did not serve job_1, stock shuffle did: no counter of Howdah Shuffle tells of it",
            ],
        ),
        (
            {**SERVED, "Sort": {"FALLBACKS": 2, "FALLBACKS_PROVIDER": 2}},
            OURS,
            ["SortingCollector did not serve job_1, stock sort did: FALLBACKS_PROVIDER 2"],
        ),
        (
            {**SERVED, "Sort": {"RECORDS": 4}},
            OURS,
            ["SortingCollector served 4 of 10 records of job_1, stock sort the others"],
        ),
        (
            {**SERVED, "Shuffle": {"RECORDS": 10, "FALLBACKS": 1}},
            OURS,
            ["MergingShuffle left a part of job_1 to stock shuffle: FALLBACKS 1"],
        ),
        (
            {**SERVED, "Shuffle": {"RECORDS": 9, "FALLBACKS": 1, "FALLBACKS_LOCAL": 1}},
            OURS,
            ["MergingShuffle served 9 of 10 records of job_1, stock shuffle the others: FALLBACKS_LOCAL 1"],
        ),
    ],
)
def test_what_did_not_go_through_the_plugins_is_said(
    counted: dict[str, dict[str, int]], held: dict[str, str], said: list[str]
) -> None:
    assert list(shortfalls(job(counted), (), held)) == said


def test_a_job_that_did_not_hold_the_keys_it_was_asked_for() -> None:
    found = list(shortfalls(job(), PLUGINS, {SORTING.key: "com.example.Collector"}))
    assert found == [
        f"SortingCollector did not serve job_1, stock sort did: {SORTING.key} is com.example.Collector",
        f"MergingShuffle did not serve job_1, stock shuffle did: {MERGING.key} is not set",
    ]


def test_nothing_is_said_of_jobs_without_map_output_but_of_a_run_that_measures_them() -> None:
    assert list(shortfalls(job(reduces=0), PLUGINS, OURS)) == []
    assert list(no_part("none", ["copy"], set())) == []
    assert list(no_part("sort", ["sort"], {"sort"})) == []
    [caveat] = no_part("sort", ["copy"], {"validate"})
    assert caveat.about == "copy"
    assert caveat.text.startswith("accelerator sort has no part in copy: no MapReduce job of copy hands records")


def test_each_measured_phase_with_nothing_to_accelerate_is_named() -> None:
    assert list(no_part("sort", measured_phases(Hs()), {"sort-1", "sort-2", "validate-1"})) == []
    assert [one.about for one in no_part("sort", measured_phases(Hs()), {"sort-1"})] == ["sort-2"]


def test_all_phases_that_are_measured_have_to_be_served(tmp_path: Path) -> None:
    [first, *_] = simulated(plan(tmp_path), 0.001)
    directory = begun(tmp_path)
    keep(directory, first, accelerator="sort", phases=("sort-1", "sort-2"))
    [path] = directory.runs.iterdir()
    assert is_accelerated(read_run(path), measured_phases(Hs()))
    record = (path / "jobs/job_2.json").read_text(encoding="utf-8")
    (path / "jobs/job_2.json").write_text(record.replace("Howdah Sort", "Another"), encoding="utf-8")
    assert not is_accelerated(read_run(path), measured_phases(Hs()))
    assert is_accelerated(read_run(path), ["sort-1"])
