from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.request import ClusterRequest
from howdah.engine.measurement.preflight import (
    check_before_cluster,
    check_disks,
    check_job,
    check_keys,
    check_replicas,
    check_space,
    check_walltime,
    resolve,
)
from howdah.errors import HostProblem, HostsTaken, UsageError
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jars import place_of
from howdah.model.accelerator import ACCELERATOR_JAR, SORTING
from howdah.model.run import Trial
from howdah.model.sample import Moment
from howdah.storage import Storage
from howdah.store import RunWriter
from howdah.workload import Asked
from howdah.workload.distcp import DistCp
from howdah.workload.namenode import NameNodeThroughput
from howdah.workload.terasort import TeraSort
from tests.unit.engine.run.clusters import FakeCluster, FakeHost, FakeManager, node, space_of
from tests.unit.store import values

SETTINGS = TeraSort().resolve(Asked(size=1000), {"dfs.replication": "1"})


class Space:
    """A storage of which only the free space is asked."""

    name = "hdfs"

    def __init__(self, free: int) -> None:
        self._free = free

    def free_bytes(self) -> int:
        return self._free


def space(free: int, disk: int, *places: tuple[str, str]) -> None:
    cluster = FakeCluster(FakeHost({"files.space": lambda **_: space_of(disk)}), places=places).live()
    storage: Any = Space(free)
    assert isinstance(storage, Space)
    check_space(cluster, _storage(storage), TeraSort(), SETTINGS)


def _storage(storage: Any) -> Storage:
    return storage  # type: ignore[no-any-return]


def job(conf: dict[str, str], *nodes: Any, most: int = 8192) -> None:
    manager = FakeManager(live=nodes, most=most)
    check_job(FakeCluster(FakeHost({}), manager, settings={"mapreduce.map.memory.mb": "512"}).live(), conf)


def test_plugins_of_ours_need_their_jar() -> None:
    nothing = Distribution("3.4.2", Path("/none"), "managed", (), (), ())
    check_keys({SORTING.key: SORTING.stock}, nothing)
    if place_of(ACCELERATOR_JAR).is_file():
        check_keys({SORTING.key: SORTING.value}, nothing)
        return
    with pytest.raises(HostProblem, match=r"howdah-accelerator\.jar has not been built") as caught:
        check_keys({SORTING.key: SORTING.value}, nothing)
    assert "make jars" in str(caught.value.hint)


def test_a_job_that_fits_passes() -> None:
    job({}, node(2560))
    job({"mapreduce.map.memory.mb": "4096"}, node(2048), node(4096))


@pytest.mark.promise("A job that could never be scheduled is refused before it is submitted", "issue 2")
@pytest.mark.parametrize(
    ("memory", "most", "said"), [(4097, 8192, "container this cluster can ever give has 4096"), (4000, 3000, "3000")]
)
def test_a_container_that_no_node_can_hold_is_refused(memory: int, most: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        job({"mapreduce.map.memory.mb": str(memory)}, node(2048), node(4096), most=most)


def test_a_node_that_does_not_run_holds_nothing() -> None:
    with pytest.raises(UsageError, match="has 2048 MiB"):
        job({"mapreduce.map.memory.mb": "4096"}, node(2048), node(4096, "LOST"))
    with pytest.raises(UsageError, match="no NodeManager"):
        job({}, node(4096, "UNHEALTHY"))


def test_data_must_fit_the_storage_with_its_replicas(tmp_path: Path) -> None:
    stored, _ = TeraSort().space_bytes(SETTINGS)
    space(stored, 0)
    with pytest.raises(UsageError, match=r"2\.00 kB in hdfs"):
        space(stored - 1, 0)


def test_what_lies_between_map_and_reduce_must_fit_the_disk_too(tmp_path: Path) -> None:
    stored, intermediate = TeraSort().space_bytes(SETTINGS)
    space(stored, stored + intermediate, (str(tmp_path), str(tmp_path)))
    with pytest.raises(UsageError, match=str(tmp_path)):
        space(stored, stored + intermediate - 1, (str(tmp_path), str(tmp_path)))


@pytest.mark.promise("Data that does not fit is refused before anything is started", "issue 2")
def test_more_than_the_disk_is_refused_before_a_cluster_is_made(tmp_path: Path) -> None:
    asked = ClusterRequest("c", work_directory=str(tmp_path))
    check_before_cluster([(TeraSort(), Asked(size=1000))], asked)
    with pytest.raises(UsageError, match=r"needs 40\.4 PB on the disk"):
        check_before_cluster([(TeraSort(), Asked(size=1000)), (TeraSort(), Asked(size=10**16))], asked)


def test_of_several_workloads_it_is_enough_that_one_can_be_run(tmp_path: Path) -> None:
    asked = ClusterRequest("c", work_directory=str(tmp_path), storage=f"posix:{tmp_path}")
    small, large = (TeraSort(), Asked(size=1000)), (TeraSort(), Asked(size=10**16))
    namenode, bad = (NameNodeThroughput(), Asked()), (TeraSort(), Asked(size=150))
    check_before_cluster([namenode, large, bad, small], asked, leave_out=True)
    with pytest.raises(UsageError, match="calls a NameNode"):
        check_before_cluster([namenode, large, bad], asked, leave_out=True)
    for one, said in ((namenode, "calls a NameNode"), (large, "PB"), (bad, "not a whole number of rows")):
        with pytest.raises(UsageError, match=said):
            check_before_cluster([small, one], asked)


def test_a_storage_that_the_cluster_will_not_have_is_refused_before_it_is_made(tmp_path: Path) -> None:
    copy = [(DistCp(), Asked(own={"to": "hdfs"}))]
    check_before_cluster(copy, ClusterRequest("c", work_directory=str(tmp_path), storage=f"posix:{tmp_path},hdfs"))
    with pytest.raises(UsageError, match="--to hdfs: the cluster has no such storage; it has posix"):
        check_before_cluster(copy, ClusterRequest("c", work_directory=str(tmp_path), storage=f"posix:{tmp_path}"))


def _two_disks(path: str) -> dict[str, int]:
    return space_of(50, 1) if path == "/work" else space_of(1000, 2)


@pytest.mark.parametrize(
    ("stored", "between", "said"),
    [(1000, 50, None), (1001, 0, r"1\.00 kB on the disk of /data"), (1000, 51, "51 B on the disk of /work")],
)
def test_data_and_what_lies_between_may_be_on_two_disks(stored: int, between: int, said: str | None) -> None:
    host: Any = FakeHost({"files.space": _two_disks})
    with nullcontext() if said is None else pytest.raises(UsageError, match=said):
        check_disks(host, TeraSort(), ("/data", stored), ("/work", between))


def test_what_is_on_one_disk_adds_up() -> None:
    host: Any = FakeHost({"files.space": lambda **_: space_of(100)})
    check_disks(host, TeraSort(), ("/data", 60), ("/work", 40))
    with pytest.raises(UsageError, match="needs 101 B on the disk of /work"):
        check_disks(host, TeraSort(), ("/data", 61), ("/work", 40))


def test_data_in_a_shared_directory_takes_no_room_of_the_work_directory(tmp_path: Path) -> None:
    asked = ClusterRequest("c", work_directory=str(tmp_path), storage="posix:/dev/shm")
    check_before_cluster([(TeraSort(), Asked(size=1000))], asked)
    with pytest.raises(UsageError, match="on the disk of /dev/shm"):
        check_before_cluster([(TeraSort(), Asked(size=10**16))], asked)


@pytest.mark.parametrize("key", ["dfs.replication", "mapreduce.terasort.output.replication"])
def test_more_replicas_than_datanodes_are_refused(key: str) -> None:
    check_replicas({key: "2"}, 2)
    check_replicas({}, 0)
    with pytest.raises(UsageError, match=rf"{key} is 3, and HDFS has 2 DataNodes"):
        check_replicas({key: " 3 "}, 2)
    asked = [(TeraSort(), Asked(size=1000, conf={key: "2"}))]
    with pytest.raises(UsageError, match="HDFS has 1 DataNode:"):
        check_before_cluster(asked, ClusterRequest("c", nodes=1))
    check_before_cluster(asked, ClusterRequest("c", nodes=2))


def test_other_storages_keep_one_copy_whatever_is_asked_of_hdfs() -> None:
    conf = {"dfs.replication": "3", "mapreduce.terasort.output.replication": "2"}
    asked = Asked(size=1000, conf=conf)
    there, elsewhere = (resolve(TeraSort(), asked, {"dfs.replication": "3"}, hdfs=hdfs) for hdfs in (True, False))
    assert (there["input_replication"], there["output_replication"]) == (3, 2)
    assert (elsewhere["input_replication"], elsewhere["output_replication"]) == (1, 1)
    assert there["conf"] == elsewhere["conf"] == conf


@pytest.mark.promise("A run that took longer before than its job has left is refused", "how-to/batch")
def test_a_run_that_cannot_end_in_time_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    settings = {"size_bytes": 1000, "conf": {}, "places": (1, 2)}
    earlier = values.run()
    trial = Trial("terasort", {"workload": {"size_bytes": 1000, "conf": {}, "places": [1, 2]}})
    took = replace(earlier, trial=trial, end=Moment(earlier.start.utc, earlier.start.monotonic + 100.0))
    RunWriter(tmp_path / "runs", took).close()

    def check(left: float | None, nodes: int = 3, **changes: Any) -> None:
        cluster = FakeCluster(FakeHost({}), left=left, description={"nodes": nodes}).live()
        check_walltime(cluster, tmp_path / "runs", TeraSort(), {**settings, **changes})

    check(None)
    check(131.0)
    check(31.0, size_bytes=2000)  # Nobody knows.
    check(31.0, nodes=4)
    with pytest.raises(HostsTaken, match="and 130 s are needed: 100 s to run, as it took before, 30 s to stop"):
        check(129.0)
