"""Which of several workloads can be run on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.request import ClusterRequest
from howdah.engine.measure import _resolved
from howdah.engine.measurement import Measurement
from howdah.engine.observer import Silent
from howdah.errors import HowdahError, UsageError
from howdah.workload import Asked
from howdah.workload.registry import find_workload
from tests.unit.engine.clusters import FakeCluster, FakeHost

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
    measurement = Measurement(workloads, {}, 1, Path("/none"), (), ClusterRequest("x"), leave_out=leave_out)
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
