"""What a session makes of a cluster, without daemons."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from howdah.cluster.state import Daemon
from howdah.engine.observer import Silent
from howdah.engine.run.phase import Hooks
from howdah.engine.run.session import JobSession, run_tag
from howdah.engine.run.storages import storages_of
from howdah.errors import HostProblem
from howdah.hadoop.interfaces.resourcemanager import Application, YarnNode
from howdah.model.metric import Metric
from howdah.model.run import Caveat
from howdah.storage import Storage
from howdah.store import RunWriter
from howdah.workload.programs import ShellLine
from tests.unit.engine.run.clusters import IDLE, FakeCluster, FakeHost, FakeManager, FakeProcess, application, node
from tests.unit.engine.run.test_datasets import IDENTITY, Generator, Memory
from tests.unit.store.values import run

Opens = Callable[..., JobSession]


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    """Opens sessions, each with a run directory of its own; the keys of its settings have underscores for dots."""
    with ExitStack() as stack:

        def one(
            cluster: FakeCluster, storage: Any, *, reuse: bool = False, defaults: Any = None, **settings: str
        ) -> JobSession:
            writer = RunWriter(tmp_path / str(len(list(tmp_path.iterdir()))), run())
            stack.callback(writer.close)
            return JobSession(
                cluster.live(),
                cast(Storage, storage),
                writer,
                Silent(),
                Hooks(check=lambda: None, save=lambda: None),
                run_id=writer.path.name,
                settings={key.replace("_", "."): value for key, value in settings.items()},
                defaults=defaults or {},
                reuse=reuse,
            )

        yield one


@pytest.mark.parametrize(("description", "reused"), [({"kind": "conf"}, False), ({"nodes": 1}, True)])
def test_data_of_a_cluster_with_other_nodes_is_other_data(
    opens: Opens, description: Mapping[str, Any], reused: bool
) -> None:
    storage = Memory()
    make = Generator(storage)

    def is_reused(*live: YarnNode) -> bool:
        cluster = FakeCluster(FakeHost({}), FakeManager(live=live), description=description)
        return opens(cluster, storage, reuse=True).dataset(IDENTITY, make).reused

    assert not is_reused(node(1))
    assert is_reused(node(1), node(1, "LOST"))
    assert is_reused(node(1), node(1)) is reused


def test_old_names_of_keys_are_part_of_what_data_is(opens: Opens) -> None:
    storage = Memory()
    make = Generator(storage)
    cluster = FakeCluster(FakeHost({}), description={"nodes": 1})
    opens(cluster, storage, reuse=True).dataset(IDENTITY, make)
    assert not opens(cluster, storage, reuse=True, mapred_output_compress="true").dataset(IDENTITY, make).reused
    opens(cluster, storage, reuse=True, dfs_blocksize="128").dataset(IDENTITY, make)
    assert opens(cluster, storage, reuse=True, dfs_block_size="128").dataset(IDENTITY, make).reused


def test_defaults_of_workloads_are_part_of_what_data_is_and_of_what_clients_see(opens: Opens, tmp_path: Path) -> None:
    """As were the same keys in the cluster's configuration, so that data which was kept is used again."""
    storage, key = Memory(), "dfs.bytes-per-checksum"
    make = Generator(storage)
    held = FakeCluster(FakeHost({}), description={"nodes": 1}, settings={key: "4096"})
    opens(held, storage, reuse=True).dataset(IDENTITY, make)
    cluster = FakeCluster(FakeHost({}), description={"nodes": 1})
    assert opens(cluster, storage, reuse=True, defaults={key: "4096"}).dataset(IDENTITY, make).reused
    assert not opens(cluster, storage, reuse=True).dataset(IDENTITY, make).reused
    phase(opens, defaults={key: "4096", "a.b": "1"}, a_b="2")
    [file] = tmp_path.rglob("conf/clients/check/mapred-site.xml")
    assert file.read_text().splitlines()[:2] == [f"{key}=4096", "a.b=2"]


@pytest.mark.parametrize(
    ("one_here", "vcores", "maps", "at_once"),
    [
        (False, "3", 2, None),
        (False, "-1", 2, None),
        (True, "3", 2, 2),
        (True, "3", 100, 3),
        (True, "64", 16, 16),
        (True, "64", 17, None),
        (True, None, 9, 8),
    ],
)
def test_maps_run_in_the_client_where_one_node_beside_it_is_all_there_is(
    opens: Opens, one_here: bool, vcores: str | None, maps: int, at_once: int | None
) -> None:
    settings = {"fs.defaultFS": "hdfs://nn"}
    settings |= {} if vcores is None else {"yarn.nodemanager.resource.cpu-vcores": vcores}
    cluster = FakeCluster(FakeHost({}), is_one_node_here=one_here, settings=settings)
    found = opens(cluster, Memory()).programs.in_client(maps)
    local = ("-Dmapreduce.framework.name=local", f"-Dmapreduce.local.map.tasks.maximum={at_once}")
    assert found[:2] == (() if at_once is None else local)
    kept = () if at_once is None else ("-Dmapreduce.jobtracker.staging.root.dir=/c/master/tmp/staging",)
    assert found[2:] == kept, "it goes with the cluster"


def phase(opens: Opens, *others: Application, **given: Any) -> JobSession:
    """A session in which a command was a phase, while the ResourceManager knew `others` too."""
    readings = iter(range(3))

    def cpu(**_: Any) -> Any:
        return {**IDLE, "seconds": {1: float(next(readings))}}

    host = FakeHost({"files.read": lambda **_: b"", "accounting.cpu": cpu}, FakeProcess(says="said"))
    daemons = (Daemon("nodemanager", "node1", "here", 1),)
    found = opens(FakeCluster(host, FakeManager(every=others), daemons=daemons), Memory(), **given)
    assert found.run("check", "run", ShellLine("true")).output == "said"
    return found


def test_a_phase_does_not_begin_without_a_valid_login(opens: Opens) -> None:
    class Expired(FakeCluster):
        def check_login(self) -> None:
            raise HostProblem("your ticket ended at 10:00:00")

    ran = FakeProcess(says="said")
    answers = {"files.read": lambda **_: b"", "accounting.cpu": lambda **_: IDLE}
    found = opens(Expired(FakeHost(answers, ran), FakeManager()), Memory())
    with pytest.raises(HostProblem, match="your ticket ended at 10:00:00"):
        found.run("check", "run", ShellLine("true"))
    assert [one.error for one in found.record.phases] == ["your ticket ended at 10:00:00"]


@pytest.mark.promise("Applications of others that ran meanwhile are named", "how-to/existing-cluster")
def test_applications_that_were_there_for_a_moment_are_named(opens: Opens) -> None:
    now, far = time.time(), 1000.0
    others = (
        application(id="application_1_0001", start=now - far, finish=now - far / 2),
        application(id="application_1_0002", start=now - far, finish=now + far),
        application("RUNNING", id="application_1_0003", start=now - far, finish=None),
        application("RUNNING", id="application_1_0004", start=now + far, finish=None),
        application("RUNNING", id="application_1_0005", start=now - far, finish=None, tags=(run_tag(run().id),)),
    )
    found = phase(opens, *others)
    text = "other applications ran on the cluster at the same time: application_1_0002, application_1_0003"
    assert Caveat("check", text) in found.record.caveats
    found.account()
    assert Caveat("check", "cpu_seconds is missing: others ran, too") in found.record.caveats
    assert not [one for one in phase(opens, others[0]).record.caveats if "other applications" in one.text]


def test_applications_are_compared_by_the_clock_of_the_resourcemanager(opens: Opens) -> None:
    now, ahead = time.time(), 500.0
    others = (
        application(id="application_1_0001", start=now, finish=now + ahead - 100),
        application("RUNNING", id="application_1_0002", start=now + ahead - 1, finish=None),
    )
    answers = {"files.read": lambda **_: b"", "accounting.cpu": lambda **_: IDLE}
    host = FakeHost(answers, FakeProcess(says="said"))
    daemons = (Daemon("resourcemanager", "masters", "here", 1),)
    found = opens(FakeCluster(host, FakeManager(every=others), daemons=daemons), Memory())
    found.record.ahead = {"here": ahead}
    found.run("check", "run", ShellLine("true"))
    named = [one.text for one in found.record.caveats if "other applications" in one.text]
    assert named == ["other applications ran on the cluster at the same time: application_1_0002"]


def test_the_cpu_of_a_phase_is_that_of_the_daemons_and_the_client(opens: Opens) -> None:
    found = phase(opens)
    assert not [one for one in found.record.samples if one.metric == "cpu_seconds"], "it is not known yet"
    found.account()
    values = {(one.metric, one.role): one.value for one in found.record.samples if "cpu" in one.metric}
    assert values == {
        ("client_cpu_seconds", "client"): 1.5,
        ("daemon_cpu_seconds", "nodemanager"): 1.0,
        ("cpu_seconds", "job"): 2.5,
    }
    assert not found.record.caveats


def test_a_number_says_where_it_is_from(opens: Opens) -> None:
    found = opens(FakeCluster(FakeHost({})), Memory())
    metric = Metric("rate", "1/s", "higher", "how often", "the program")
    found.sample(metric, 2.0, phase="run")
    found.sample(metric, 4.0, phase="all", quality="derived", source="2 × rate")
    told = [(one.phase, one.quality, one.source) for one in found.record.samples]
    assert told == [("run", "measured", "the program"), ("all", "derived", "2 × rate")]


BOTH = {"fs.defaultFS": "hdfs://nn:1", "fs.posixfs.impl": "org.howdah.filesystem.PosixFileSystem"}


@pytest.mark.parametrize("name", ["hdfs", "posix"])
def test_what_programs_keep_at_home_is_below_the_runs_own_directory(opens: Opens, name: str) -> None:
    cluster = FakeCluster(FakeHost({}), settings=BOTH)
    found = opens(cluster, storages_of(cluster.live())[name])
    *moved, home = found.programs.at_home()
    assert home == f"-Ddfs.user.home.dir.prefix={found.directory}/home"
    assert (("-Dfs.defaultFS=posixfs:///" in moved), bool(moved)) == (name == "posix", name == "posix")
