from __future__ import annotations

import json
import os
import platform
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.allocation.here import local
from howdah.cluster.control import ControlClient, ControlServer, Served
from howdah.cluster.deployment.sizes import check_sizing
from howdah.cluster.faults import HostFault
from howdah.cluster.live.environment import shell_environment
from howdah.cluster.request import ClusterRequest, Links
from howdah.cluster.state import ClusterDirectory, Daemon, Lost, Manifest, cluster_directory, known_clusters
from howdah.cluster.supervision.client import Ended, find_cluster, forget, take_down
from howdah.errors import ClusterProblem, HostProblem, UsageError
from howdah.hadoop.configuration.plan import Quarters
from howdah.hadoop.configuration.sizing import Sizing
from howdah.store import howdah_home
from tests.plans import HOME, plan_of

PLAN = plan_of(1, name="c")
MANIFEST = Manifest(
    name="c",
    state="up",
    machine="h",
    supervisor=1,
    started=5.0,
    plan=PLAN,
    hadoop={"version": "3.4.2", "home": "/hadoop", "source": "managed", "substitutes": {}},
    jdk={"home": "/jdk", "version": "17.0.1", "vendor": "Debian"},
    sizing={"slots": 1},
    defaults={"kind": "tuned"},
    allocation={"kind": "local"},
    daemons=(Daemon("namenode", "master", "h", 7),),
    lost=(Lost("datanode", "node1", 8, -9, "/logs/datanode-node1.log"),),
    plugins={"/jars/plugin.jar": "00ff"},
)


@pytest.fixture
def directory(tmp_path: Path) -> ClusterDirectory:
    # Deeper than the 108 bytes that a socket's address may have.
    path = tmp_path / ("deep" * 30) / "c"
    path.mkdir(parents=True)
    return ClusterDirectory("c", path)


def test_a_request_goes_through_one_line_of_text() -> None:
    sizing = Sizing(3, 1, 2048, 1024, 3072, 256)
    request = ClusterRequest(
        "a", nodes=3, without=("x",), settings={"k": "v\n"}, jvm_flags=("-Da",), sizing=sizing, offline=True
    )
    assert "\n" not in request.to_json()
    assert ClusterRequest.from_json(request.to_json()) == request


def test_sizes_of_earlier_runs_are_had_again_or_refused() -> None:
    wanted = Sizing(3, 1, 2048, 1024, 3072, 256)
    assert check_sizing(wanted, Sizing(3, 1, 4096, 1024, 5120, 1024), "here") == wanted
    for less in (replace(wanted, node_mib=2944), replace(wanted, block_mib=128)):
        with pytest.raises(HostProblem, match=r"\[here\] a node is to have 3072 MiB .* as in the runs before"):
            check_sizing(wanted, less, "here")


def test_a_manifest_is_read_back(directory: ClusterDirectory) -> None:
    assert directory.read() is None
    directory.write(MANIFEST)
    assert directory.read() == MANIFEST
    directory.mark("down")
    found = directory.read()
    assert found is not None
    assert found.state == "down"


def test_a_manifest_of_an_earlier_howdah_is_of_one_host_and_has_no_plugins(directory: ClusterDirectory) -> None:
    directory.write(MANIFEST)
    file = directory.path / "cluster.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    del record["plugins"], record["machine"], record["lost"][0]["host"], record["lost"][0]["why"]
    del record["plan"]["mount_types"], record["plan"]["quarters"]
    record["plan"] |= {"mounted": True, "directory": "/d"}
    file.write_text(json.dumps(record), encoding="utf-8")
    own = {"h": Quarters("h", "/d", str(directory.conf), str(directory.logs), str(howdah_home() / "cache"))}
    assert directory.read() == replace(MANIFEST, plugins={}, plan=replace(PLAN, quarters=own))


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"plan": {}}'])
def test_a_damaged_manifest_is_none(directory: ClusterDirectory, text: str) -> None:
    (directory.path / "cluster.json").write_text(text, encoding="utf-8")
    assert directory.read() is None
    directory.mark("down")
    assert directory.read() is None


def test_one_supervisor_per_name(directory: ClusterDirectory) -> None:
    assert not directory.is_held()
    held = directory.lock()
    assert held is not None
    assert directory.lock() is None
    assert directory.is_held()
    held.release()
    assert not directory.is_held()


@pytest.mark.promise("A cluster of another host is left alone", "CHANGELOG")
def test_a_cluster_of_another_host_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Several hosts may have one HOWDAH_HOME."""
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    directory = cluster_directory("c")
    with subprocess.Popen(["sleep", "60"]) as stranger:
        try:
            held = directory.lock()
            assert held is not None
            mine = json.loads((directory.path / "lock").read_text(encoding="utf-8"))
            there = json.dumps({**mine, "host": "elsewhere", "pid": stranger.pid})
            (directory.path / "lock").write_text(there, encoding="utf-8")
            assert directory.elsewhere() == "elsewhere", "it is starting there"
            with pytest.raises(HostProblem, match="was started on elsewhere"):
                take_down("c")
            directory.write(replace(MANIFEST, supervisor=stranger.pid))
            with pytest.raises(HostProblem, match="was started on elsewhere, and this is"):
                find_cluster("c")
            assert directory.lock() is None, "nobody here knows whether it lives"
            (directory.path / "lock").unlink()
            with pytest.raises(HostProblem, match="was started on h") as raised:
                take_down("c")
            assert "howdah down --name c --forget" in str(raised.value.hint)
            assert forget("c")
            assert directory.elsewhere() is None
            assert stranger.poll() is None
        finally:
            stranger.kill()
    assert not forget("c")
    assert take_down("c") is Ended.NOTHING


def test_what_is_here_is_ended_and_not_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    cluster_directory("c").path.mkdir(parents=True)
    cluster_directory("c").write(replace(MANIFEST, machine=platform.node()))
    with pytest.raises(UsageError, match="is of this host"):
        forget("c")


@pytest.mark.parametrize("name", ["", "A", "a/b", "..", "-a", "a" * 41, "a b"])
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(UsageError, match="not a cluster name"):
        cluster_directory(name)


def test_clusters_are_those_with_a_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    assert list(known_clusters()) == []
    (tmp_path / "clusters" / "stray").mkdir(parents=True)
    held = cluster_directory("a").lock()
    assert held is not None
    assert [one.name for one in known_clusters()] == ["a"]


class Cluster:
    """What a supervisor does when asked; remembers it."""

    def __init__(self) -> None:
        self.ends = 0
        self.killed: list[str] = []
        self.has_killed = threading.Event()
        self.faults: list[HostFault] = []
        self.called: list[tuple[str, str, str]] = []
        self.changes: list[tuple[str, Sequence[str], float]] = []

    def fault(self, fault: HostFault) -> None:
        if fault.host == "gone":
            raise UsageError("the cluster has no host 'gone'", hint="There is sim1.")
        self.faults.append(fault)

    def call_in(self, host: str, program: str, invitation: str) -> None:
        if host == "gone":
            raise HostProblem("the cluster has no such host", host=host)
        self.called.append((host, program, invitation))

    def resize(self, kind: str, hosts: Sequence[str], seconds: float) -> int:
        if self.changes:
            raise UsageError("the hosts of this cluster are changing", hint="Wait until that is done.")
        self.changes.append((kind, hosts, seconds))
        return len(self.changes)

    def resized(self, number: int) -> Mapping[str, Any]:
        return {"runs": False, "said": [f"{self.changes[number - 1][1][0]} has left the cluster"]}

    def is_changing(self) -> bool:
        return bool(self.changes)

    def end(self) -> None:
        self.ends += 1

    def kill(self, tag: str) -> None:
        self.killed.append(tag)
        self.has_killed.set()


@pytest.fixture
def cluster(directory: ClusterDirectory) -> Iterator[Cluster]:
    cluster = Cluster()
    does = (
        lambda: {"datanode-node1": 1 << 28},
        cluster.end,
        cluster.kill,
        cluster.kill,
        cluster.fault,
        cluster.call_in,
        cluster.resize,
    )
    with ControlServer(directory, Served(lambda: MANIFEST, *does, cluster.resized, cluster.is_changing)):
        yield cluster


def test_status_and_down_are_answered(directory: ClusterDirectory, cluster: Cluster) -> None:
    client = ControlClient(directory)
    assert [Lost(**one) for one in client.ask("status")["lost"]] == [*MANIFEST.lost]
    assert client.ask("down") == {}
    client.close()
    assert cluster.ends == 1
    assert directory.socket.stat().st_mode & 0o077 == 0


def test_the_memory_of_daemons_is_told(directory: ClusterDirectory, cluster: Cluster) -> None:
    client = ControlClient(directory)
    assert client.ask("memory") == {"datanode-node1": 1 << 28}
    client.close()


def test_a_daemon_is_killed(directory: ClusterDirectory, cluster: Cluster) -> None:
    client = ControlClient(directory)
    assert client.ask("kill", role="datanode") == {}
    client.close()
    assert cluster.killed == ["datanode"]


def test_another_agent_is_let_to_call(directory: ClusterDirectory, cluster: Cluster) -> None:
    client = ControlClient(directory)
    assert client.ask("call_in", host="n1", program="P", invitation="I") == {}
    assert client.ask("call_in", host="gone", program="P", invitation="I")["error"] == (
        "[gone] the cluster has no such host"
    )
    client.close()
    assert cluster.called == [("n1", "P", "I")]


def test_a_fault_is_passed_on_and_what_is_wrong_with_it_comes_back(
    directory: ClusterDirectory, cluster: Cluster
) -> None:
    client = ControlClient(directory)
    assert client.ask("fault", kind="kill", host="sim1", role="datanode") == {}
    said = client.ask("fault", kind="kill", host="gone")
    assert said == {"error": "the cluster has no host 'gone'", "hint": "There is sim1.", "code": 2}
    assert "no fault 'kil'" in client.ask("fault", kind="kil", host="sim1")["error"]
    client.close()
    assert cluster.faults == [HostFault("kill", "sim1", "datanode")]


def test_hosts_change_one_at_a_time_and_not_while_somebody_measures(
    directory: ClusterDirectory, cluster: Cluster
) -> None:
    client, run = ControlClient(directory), ControlClient(directory)
    run.ask("claim", by="a run")
    refused = client.ask("resize", kind="shrink", hosts=["n2"], seconds=60.0)
    assert (refused["error"], refused["code"]) == (
        "somebody measures on this cluster: its hosts stay as they are meanwhile",
        2,
    )
    run.close()
    deadline = time.monotonic() + 10
    while (begun := client.ask("resize", kind="shrink", hosts=["n2"], seconds=60.0)) != {"change": 1}:
        assert "error" in begun
        assert time.monotonic() < deadline
    assert cluster.changes == [("shrink", ["n2"], 60.0)]
    assert client.ask("resized", change=1) == {"runs": False, "said": ["n2 has left the cluster"]}
    assert "are changing" in client.ask("resize", kind="grow", hosts=["n2"], seconds=0.0)["error"]
    assert "are changing" in client.ask("claim", by="a run")["error"]
    client.close()


def test_a_broken_lease_kills_and_a_released_one_does_not(directory: ClusterDirectory, cluster: Cluster) -> None:
    kept, broken = ControlClient(directory), ControlClient(directory)
    kept.ask("lease", tag="kept")
    kept.ask("release")
    kept.close()
    broken.ask("lease", tag="broken")
    broken.close()
    assert cluster.has_killed.wait(10)
    assert cluster.killed == ["broken"]


def test_one_at_a_time_measures_and_the_next_when_it_has_gone(directory: ClusterDirectory, cluster: Cluster) -> None:
    first, second = ControlClient(directory), ControlClient(directory)
    assert first.ask("claim", by="first") == {"claimed_by": "first"}
    assert second.ask("claim", by="second") == {"claimed_by": "first"}
    first.close()
    deadline = time.monotonic() + 10
    while second.ask("claim", by="second") != {"claimed_by": "second"}:
        assert time.monotonic() < deadline
    second.close()


def test_nobody_listens(directory: ClusterDirectory) -> None:
    with pytest.raises(ClusterProblem, match="'c' is not up"):
        ControlClient(directory)


@pytest.mark.promise("`exec` sets the variables that programs look for", "how-to/use-your-own-programs")
def test_what_programs_look_for_is_in_their_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    found = shell_environment(MANIFEST, {"PATH": "/mine", "OTHER": "kept"})
    assert found["PATH"] == "/hadoop/bin:/jdk/bin:/mine"
    assert found["HADOOP_CONF_DIR"] == str(tmp_path / "clusters" / "c" / "conf")
    assert (found["JAVA_HOME"], found["HADOOP_HOME"], found["OTHER"]) == ("/jdk", "/hadoop", "kept")


@pytest.mark.promise("A `spark-submit` under `exec` finds the jar", "how-to/accelerate")
def test_spark_has_the_jars_of_the_cluster_behind_those_that_the_user_names() -> None:
    assert "SPARK_DIST_CLASSPATH" not in shell_environment(replace(MANIFEST, plugins={}), {})
    manifest = replace(MANIFEST, plugins={"/jars/a.jar": "1", "/jars/b.jar": "2"})
    assert shell_environment(manifest, {})["SPARK_DIST_CLASSPATH"] == "/jars/a.jar:/jars/b.jar"
    own = {"SPARK_DIST_CLASSPATH": "/own/*"}
    assert shell_environment(manifest, own)["SPARK_DIST_CLASSPATH"] == "/own/*:/jars/a.jar:/jars/b.jar"


class AllFree:
    """A host on which every port is free."""

    name = "free"

    def call(self, operation: str, /, **arguments: list[int]) -> list[int]:
        assert operation == "network.free_ports"
        return arguments["ports"]

    def close(self) -> None: ...


def test_two_clusters_that_come_up_at_once_get_different_ports() -> None:
    first, second = (local(None, Links(), lambda _: AllFree()) for _ in range(2))  # type: ignore[arg-type,return-value]
    try:
        plans = [allocation.acquire("a", 20, HOME) for allocation in (first, second)]
        ports = [{port for place in plan.places for port in place.ports.values()} for plan in plans]
        assert not ports[0] & ports[1], "none of the daemons listens yet"
        assert not {place.address for place in plans[0].places} & {place.address for place in plans[1].places}
    finally:
        first.release()
        second.release()
    first.release()


@pytest.mark.promise("The cluster of a job that has ended is in nobody's way", "how-to/batch")
@pytest.mark.parametrize(("state", "place"), [("RUNNING", "n1"), ("COMPLETING", "n1"), ("CANCELLED", None)])
def test_the_cluster_of_a_job_on_another_host(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, directory: ClusterDirectory, state: str, place: str | None
) -> None:
    held = directory.lock()
    assert held is not None
    lock = directory.path / "lock"
    lock.write_text(lock.read_text().replace(json.dumps(platform.node()), '"n1"', 1))
    directory.write(
        replace(
            MANIFEST, machine="n1", allocation={"kind": "slurm", "job": "17", "key": "slurm:c:17", "submitted": False}
        )
    )
    (tmp_path / "squeue").write_text(f"#!/bin/sh\necho '17|{state}|1:00|2|N/A|n[1-2]|j|NO|None'\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("SLURM_CLUSTER_NAME", "c")
    assert directory.elsewhere() == place
    found = directory.read()
    assert found is not None
    assert (found.state, lock.exists()) == ((MANIFEST.state, True) if place else ("down", False))
