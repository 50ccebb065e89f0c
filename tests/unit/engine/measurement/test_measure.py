"""Which of several workloads can be run on a cluster, and how many tasks each has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.request import ClusterRequest
from howdah.engine.measurement.measure import _resolved
from howdah.engine.measurement.request import Measurement
from howdah.engine.observer import Silent
from howdah.engine.run.execution import RunOptions
from howdah.errors import HowdahError, UsageError
from howdah.hadoop.configuration.sizing import Sizing
from howdah.workload import Asked
from howdah.workload.registry import find_workload
from tests.unit.engine.run.clusters import FakeCluster, FakeHost

OPTIONS = RunOptions(Path("/none"), ())
POSIX = {"fs.defaultFS": "posixfs:///", "fs.posixfs.impl": "org.howdah.filesystem.PosixFileSystem"}


@dataclass
class Masters(FakeCluster):
    """Its storages are opened, but not asked."""

    namenode: Any = None
    webhdfs: Any = None


@dataclass
class Room:
    name: str
    free: int = 1 << 50

    def free_bytes(self) -> int:
        return self.free


class Listener(Silent):
    def __init__(self) -> None:
        self.heard: dict[str, str] = {}

    def left_out(self, name: str, why: HowdahError) -> None:
        self.heard[name] = why.message


def resolved(
    names: tuple[str, ...], settings: dict[str, str], storage: Any, *, leave_out: bool
) -> tuple[list[str], dict[str, str]]:
    """Which are run, and which are left out, and why."""
    workloads = [(one, Asked(one.sizes["smoke"])) for one in map(find_workload, names)]
    measurement = Measurement(workloads, {}, ClusterRequest("x"), OPTIONS, leave_out=leave_out)
    listener = Listener()
    cluster = Masters(FakeHost({}), settings=settings)
    found = _resolved(measurement, cluster.live(), storage, listener)
    return [workload.name for workload, _ in found], listener.heard


SMALL = {"fs.defaultFS": "hdfs://here", "mapreduce.map.memory.mb": "512"}


def test_a_workload_that_the_cluster_cannot_run_is_left_out_of_several() -> None:
    names = ("namenode", "pi", "spark-terasort")
    found, left_out = resolved(names, {**POSIX, "mapreduce.map.memory.mb": "512"}, Room("posix"), leave_out=True)
    assert found == ["pi"]
    assert left_out == {
        "namenode": "NNThroughputBenchmark calls a NameNode, and the run's storage has none",
        "spark-terasort": "Spark needs containers of at least 834 MiB; here is one of 512",
    }
    found, left_out = resolved(names, {"fs.defaultFS": "hdfs://here"}, Room("hdfs"), leave_out=True)
    assert (found, left_out) == (["namenode", "pi", "spark-terasort"], {})


def test_so_is_one_whose_data_does_not_fit() -> None:
    found, left_out = resolved(("terasort", "pi"), SMALL, Room("hdfs", 1000), leave_out=True)
    assert found == ["pi"]
    assert left_out["terasort"].startswith("terasort needs")


def test_where_it_was_asked_for_alone_it_is_refused() -> None:
    with pytest.raises(UsageError, match="Spark needs containers of at least 834 MiB"):
        resolved(("pi", "spark-terasort"), SMALL, Room("hdfs"), leave_out=False)
    with pytest.raises(UsageError, match="none of the workloads can be run here"):
        resolved(("spark-terasort",), SMALL, Room("hdfs"), leave_out=True)


SIX_SLOTS = asdict(Sizing(3, 2, 512, 1024, 2048, 128))
WITH_REDUCES = ("terasort", "hs", "sort", "secondarysort", "wordcount", "grep", "join", "shuffle")


def settings_of(name: str, described: Mapping[str, Any], asked: Asked, **held: str) -> Mapping[str, Any]:
    """The settings of a workload on a cluster with this description, whose configuration has the keys `held`."""
    settings = {"fs.defaultFS": "hdfs://here", **held}
    cluster = Masters(FakeHost({}), settings=settings, description=described)
    measurement = Measurement([(find_workload(name), asked)], {}, ClusterRequest("x"), OPTIONS)
    [(_, found)] = _resolved(measurement, cluster.live(), Room("hdfs"), Silent())  # type: ignore[arg-type]
    return found


def managed(kind: str = "tuned", *without: str) -> Mapping[str, Any]:
    return {"sizing": SIX_SLOTS, "defaults": {"kind": kind, "without": list(without), "settings": {}}}


@pytest.mark.parametrize("name", WITH_REDUCES)
def test_workloads_have_a_map_and_a_reduce_per_slot(name: str) -> None:
    size = find_workload(name).sizes["smoke"]
    asked, reduces = Asked(size), "mapreduce.job.reduces"
    found = settings_of(name, managed(), asked)
    assert (found["maps"], found["reduces"], found["conf"]) == (6, 6, {})
    for described in (managed("stock"), managed("tuned", "task-counts"), {"kind": "conf"}):
        found = settings_of(name, described, asked)
        assert (found["maps"], found["reduces"]) == (2, 1), "Hadoop's defaults"
    assert settings_of(name, managed(), Asked(size, conf={reduces: "4"}))["reduces"] == 4
    assert settings_of(name, managed(), Asked(size, reduces=5, conf={reduces: "4"}))["reduces"] == 5
    own = {"sizing": SIX_SLOTS, "defaults": {"kind": "tuned", "without": [], "settings": {reduces: "3"}}}
    assert settings_of(name, own, asked, **{reduces: "3"})["reduces"] == 3, "what the cluster was started with"


@pytest.mark.parametrize(("name", "count"), [("pi", "maps"), ("dfsio", "files"), ("distcp", "maps")])
def test_workloads_of_maps_have_one_per_slot(name: str, count: str) -> None:
    asked = Asked(find_workload(name).sizes["smoke"])
    assert settings_of(name, managed(), asked)[count] == 6
    assert settings_of(name, managed("stock"), asked)[count] == 2


def test_a_command_of_the_users_has_no_count() -> None:
    found = settings_of("command", managed(), Asked(own={"run": "hadoop jar own.jar"}))
    assert found["conf"] == {}
    assert not {"maps", "reduces"} & found.keys()
