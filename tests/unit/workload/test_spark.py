"""Spark beside MapReduce: what it is given, and what it is asked to do."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from howdah.errors import HostProblem, UsageError
from howdah.hadoop.distribution.jars import place_of
from howdah.hadoop.distribution.spark import Spark, find_spark, heap_mib, sending, submit_command, with_jars
from howdah.workload import Asked, Workload
from howdah.workload.registry import check_installed, find_workload, own_jars
from howdah.workload.spark import spark_properties
from howdah.workload.sparkterasort import SparkTeraSort
from howdah.workload.wordcount import WordCount
from tests.unit.workload.sessions import FakeFiles, FakeSession

# Three nodes of two slots each, as `howdah up` sizes them.
CLUSTER = {
    "yarn.nodemanager.resource.cpu-vcores": "3",
    "mapreduce.map.memory.mb": "2048",
    "mapreduce.job.reduces": "6",
    "yarn.app.mapreduce.am.resource.mb": "1024",
}
installed = pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="an optional extra: make spark")


def test_one_executor_per_node_in_what_its_tasks_would_have_had() -> None:
    found = spark_properties(CLUSTER, 6, {"spark.shuffle.compress": "false"})
    assert (found["spark.executor.instances"], found["spark.executor.cores"]) == ("3", "2")
    executor, driver = (int(found[f"spark.{who}.memory"].removesuffix("m")) for who in ("executor", "driver"))
    assert executor + max(384, 0.1 * executor) <= 2 * 2048
    assert driver + 384 <= 1024
    assert found["spark.shuffle.compress"] == "false"


def test_fewer_tasks_than_a_node_has_slots_take_one_small_executor() -> None:
    found = spark_properties(CLUSTER, 1, {})
    assert (found["spark.executor.instances"], found["spark.executor.cores"]) == ("1", "1")


def test_the_users_own_keys_win() -> None:
    own = {"spark.executor.cores": "1", "spark.shuffle.compress": "true", "mapreduce.job.maps": "3"}
    found = spark_properties({**CLUSTER, **own}, 6, {"spark.shuffle.compress": "false"})
    assert (found["spark.executor.cores"], found["spark.shuffle.compress"]) == ("1", "true")
    assert all(key.startswith("spark.") for key in found)


@pytest.mark.parametrize("container", [0, 384, 833])
def test_a_container_too_small_for_spark_is_refused_with_its_size(container: int) -> None:
    with pytest.raises(UsageError, match=f"at least 834 MiB; here is one of {container}"):
        heap_mib(container)


@pytest.mark.parametrize("container", [834, 1024, 4096, 100_000])
def test_heap_and_overhead_fit_the_container(container: int) -> None:
    heap = heap_mib(container)
    assert heap + max(384, int(0.1 * heap)) <= container < heap + max(384, 0.1 * heap) + 3


JARS = (Path("/jars/a.jar"), Path("/jars/b.jar"))


def test_jars_are_behind_what_the_environment_names() -> None:
    assert with_jars({"A": "1"}, JARS) == {"A": "1", "SPARK_DIST_CLASSPATH": "/jars/a.jar:/jars/b.jar"}
    before = {"SPARK_DIST_CLASSPATH": "/own/*"}
    assert with_jars(before, JARS) == {"SPARK_DIST_CLASSPATH": "/own/*:/jars/a.jar:/jars/b.jar"}
    assert with_jars(before, ()) == before


def test_jars_that_are_sent_are_found_where_yarn_puts_them() -> None:
    found = with_jars({}, JARS, sent=True)["SPARK_DIST_CLASSPATH"].split(":")
    assert found == ["/jars/a.jar", "/jars/b.jar", "a.jar", "b.jar"]
    assert sending({"spark.a": "1"}, JARS) == {
        "spark.a": "1",
        "spark.yarn.dist.files": "file:///jars/a.jar,file:///jars/b.jar",
    }
    assert sending({"spark.yarn.dist.files": "x"}, JARS[:1]) == {"spark.yarn.dist.files": "x,file:///jars/a.jar"}


def test_the_command() -> None:
    spark = Spark(Path("/spark"), "4.2.0")
    assert submit_command(spark, {"spark.b": "2 3", "spark.a": "1"}, ("x.jar", "y")) == [
        *("/spark/bin/spark-submit", "--master", "yarn", "--deploy-mode", "cluster"),
        *("--conf", "spark.a=1", "--conf", "spark.b=2 3", "x.jar", "y"),
    ]


@pytest.mark.parametrize(
    ("workload", "own"),
    [(SparkTeraSort(), {}), (WordCount(), {"engine": "spark"})],
    ids=["spark-terasort", "wordcount"],
)
def test_without_spark_the_extra_is_named(
    workload: Workload, own: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)

    def prepare() -> None:
        if isinstance(workload, SparkTeraSort):
            check_installed(workload)
        workload.resolve(Asked(size=1000, own=own), CLUSTER)

    with pytest.raises(UsageError, match="Spark is not installed") as raised:
        prepare()
    assert "howdah[spark]" in str(raised.value.hint)


def test_what_needs_nothing_optional_is_always_there() -> None:
    check_installed(find_workload("terasort"))
    assert own_jars(find_workload("terasort")) == ()


@pytest.mark.parametrize(("name", "jar"), [("spark-terasort", "howdah-spark"), ("grep", "howdah-workloads")])
def test_the_jar_of_a_workload_is_named_or_missed(name: str, jar: str) -> None:
    if place_of(jar).is_file():
        assert own_jars(find_workload(name)) == (place_of(jar),)
        return
    with pytest.raises(HostProblem, match=rf"{jar}\.jar has not been built"):
        own_jars(find_workload(name))


@installed
def test_spark_is_found_where_pip_puts_it() -> None:
    assert (find_spark().home / "bin" / "spark-submit").is_file()


@installed
def test_wordcount_gives_spark_the_same_places_and_as_many_partitions() -> None:
    session, workload = (
        FakeSession(FakeFiles(), output={"gen": "generated BYTES 100\ngenerated WORDS 12\n"}),
        WordCount(),
    )
    settings = workload.resolve(Asked(size=100, reduces=3, own={"engine": "spark"}), CLUSTER)
    workload.prepare(session, settings)
    workload.run(session, settings)
    phase, kind, program = session.ran[-1]
    assert (phase, kind) == ("count", "run")
    assert program[:3] == ("spark_words.py", "hdfs://here/run/input", "hdfs://here/run/output")
    assert "spark.sql.shuffle.partitions=3" in program
