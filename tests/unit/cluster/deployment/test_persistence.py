"""Data of HDFS that stay: whose they are, where each part must be, and who may have them."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.deployment.persistence import (
    LOCK,
    RECORD,
    Owner,
    Persistence,
    Verified,
    _placed,
    known_directories,
    look,
    remove,
    verify,
)
from howdah.errors import HostProblem, HowdahError, UsageError
from howdah.hadoop.configuration.plan import Plan
from howdah.host import Host
from howdah.host.channel import open_local
from tests.persistent import data
from tests.plans import plan_of

_BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    opened = open_local("h")
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "clusters").mkdir(parents=True)


def take(directory: Path, host: Host, plan: Plan, hadoop: str = "3.4.2") -> tuple[Persistence, Plan]:
    made = Persistence(str(directory), {"h": host})
    try:
        return made, made.take(plan, hadoop, platform.node())
    except HowdahError:
        made.release()
        raise


def test_new_data_are_written_down_and_found_again(tmp_path: Path, host: Host) -> None:
    place = tmp_path / "kept"
    first, plan = take(place, host, plan_of(2))
    assert first.is_new
    assert plan.name_directory == f"{place}/name"
    assert [plan.block_directories(node) for node in plan.nodes] == [(f"{place}/node1",), (f"{place}/node2",)]
    data(place)  # What HDFS does now.
    first.keep("3.4.2")
    seen = look(str(place), host)
    assert seen is not None
    assert seen.owner is not None
    assert seen.owner.cluster == "p"
    first.release()
    first.release()
    second, again = take(place, host, plan_of(2))
    assert not second.is_new
    assert again == plan
    second.release()
    assert not (place / LOCK).exists()
    assert known_directories() == (str(place),)
    assert place.stat().st_mode & 0o077 == 0


@pytest.mark.promise("Persistent data of another version, user or number of nodes are refused", "how-to/persist")
@pytest.mark.parametrize(
    ("changes", "nodes", "why"),
    [
        ({"hadoop": "3.5.0"}, 2, "has data of Hadoop 3.5.0, and this cluster is of 3.4.2"),
        ({"user": "eve"}, 2, "has the data of eve"),
        ({}, 1, "has the data of 2 nodes, and the cluster has 1"),
        ({"schema": 9}, 2, "is of another Howdah"),
    ],
)
def test_data_of_others_are_refused(
    tmp_path: Path, host: Host, changes: Mapping[str, Any], nodes: int, why: str
) -> None:
    place = data(tmp_path / "kept", **changes)
    with pytest.raises(UsageError, match=why):
        take(place, host, plan_of(nodes))
    assert not (place / LOCK).exists()


@pytest.mark.promise("Persistent data of several file systems are refused before anything starts", "how-to/persist")
@pytest.mark.parametrize(
    ("part", "version", "why"),
    [
        ("node2", "clusterID=CID-2\nlayoutVersion=-57\n", "several file systems: name CID-1, node1 CID-1, node2 CID-2"),
        ("node1", None, "node1/current/VERSION is not there"),
        ("name", "clusterID=CID-1\nlayoutVersion=-68\n", "was left with layout -67 of HDFS, and now has -68"),
    ],
)
def test_parts_that_are_not_of_one_file_system_are_refused(
    tmp_path: Path, host: Host, part: str, version: str | None, why: str
) -> None:
    place = data(tmp_path / "kept", layout="-67")
    take(place, host, plan_of(2))[0].release()
    file = place / part / "current" / "VERSION"
    file.unlink()
    if version is not None:
        file.write_text(version)
    with pytest.raises((UsageError, HostProblem), match=why):
        take(place, host, plan_of(2))
    assert not (place / LOCK).exists()


def test_a_lock_that_another_host_makes_at_this_moment_is_no_data(tmp_path: Path, host: Host) -> None:
    (tmp_path / "kept").mkdir(mode=0o700)
    (tmp_path / "kept" / "lock.17.abcd").touch()
    made, _ = take(tmp_path / "kept", host, plan_of(1))
    assert made.is_new
    made.release()


def test_a_record_that_cannot_be_read_is_a_problem(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept")
    (place / RECORD).write_text("{}")
    with pytest.raises(HostProblem, match=r"howdah\.json cannot be read"):
        take(place, host, plan_of(2))
    assert look(str(place), host) is None


@pytest.mark.promise("Half-formatted data are refused", "how-to/persist")
@pytest.mark.parametrize("name", ["name", "node1", "thesis.tex"])
def test_half_formatted_data_are_refused(tmp_path: Path, host: Host, name: str) -> None:
    place = tmp_path / "kept"
    (place / name).mkdir(parents=True)
    with pytest.raises(HostProblem, match=f"has {name}, and no howdah.json: it is half-formatted"):
        take(place, host, plan_of(1))
    assert (place / name).is_dir()


def test_data_that_no_host_sees_are_named(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept", nodes=3)
    (place / "node2").rename(tmp_path / "elsewhere")
    with pytest.raises(HostProblem, match="has no data of node2 on any of the hosts h"):
        take(place, host, plan_of(3))


@pytest.mark.promise("Two clusters never have one directory of persistent data", "how-to/persist")
def test_one_cluster_at_a_time(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept")
    first, _ = take(place, host, plan_of(2))
    with pytest.raises(UsageError, match="is in use: the cluster p of "):
        take(place, host, plan_of(2, name="other"))
    first.release()
    take(place, host, plan_of(2, name="other"))[0].release()


def locked(place: Path, **changes: Any) -> None:
    """Leaves the lock of another cluster."""
    owner = Owner("gone", platform.node(), _BOOT, os.getpid(), 1.0)
    (place / LOCK).write_text(json.dumps(asdict(replace(owner, **changes))))


@pytest.mark.parametrize("changes", [{"boot": "another"}, {"supervisor": 2**22 + 1}])
def test_the_lock_of_a_supervisor_that_died_here_is_taken(
    tmp_path: Path, host: Host, changes: Mapping[str, Any]
) -> None:
    place = data(tmp_path / "kept")
    locked(place, **changes)
    take(place, host, plan_of(2))[0].release()
    assert {one.name for one in place.iterdir()} == {"name", "node1", "node2", RECORD}


def test_the_lock_of_another_machine_is_never_taken(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept")
    locked(place, machine="elsewhere", supervisor=2**22 + 1)
    with pytest.raises(UsageError, match="is in use: the cluster gone of elsewhere, since 01 January"):
        take(place, host, plan_of(2))


@pytest.fixture
def squeue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets `squeue` of the batch system `c` do something."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place), prepend=os.pathsep)
    monkeypatch.setenv("SLURM_CLUSTER_NAME", "c")

    def does(script: str) -> None:
        (place / "squeue").write_text(f"#!/bin/sh\n{script}\n")
        (place / "squeue").chmod(0o755)

    return does


def prints(state: str) -> str:
    """What `squeue` does of job 17 in that state."""
    return f"echo '17|{state}|1:00|2|N/A|n[1-2]|j|NO|None'"


@pytest.mark.parametrize("script", [prints("RUNNING"), prints("COMPLETING"), "exit 3"])
def test_the_lock_of_a_job_that_may_run_is_never_taken(
    tmp_path: Path, host: Host, squeue: Callable[[str], None], script: str
) -> None:
    place = data(tmp_path / "kept")
    locked(place, machine="elsewhere", job="slurm:c:17")
    squeue(script)
    with pytest.raises(UsageError, match=r"in job 17 of slurm \(c\)"):
        take(place, host, plan_of(2))
    assert (place / LOCK).exists()


def test_the_lock_of_a_job_of_another_batch_system_is_never_taken(
    tmp_path: Path, host: Host, squeue: Callable[[str], None]
) -> None:
    place = data(tmp_path / "kept")
    locked(place, machine="elsewhere", job="slurm:other:17")
    squeue("echo 'Invalid job id specified' >&2; exit 1")
    with pytest.raises(UsageError, match=r"in job 17 of slurm \(other\)"):
        take(place, host, plan_of(2))
    locked(place, machine="elsewhere", job="slurm:c:17")
    take(place, host, plan_of(2))[0].release()


def test_the_lock_of_a_job_is_free_for_itself_once_it_has_begun_anew(
    tmp_path: Path, host: Host, squeue: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = data(tmp_path / "kept")
    squeue(prints("RUNNING"))
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    locked(place, machine="elsewhere", job="slurm:c:17")
    with pytest.raises(UsageError, match="is in use"):
        take(place, host, plan_of(2))
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    take(place, host, plan_of(2))[0].release()
    locked(place, supervisor=2**22 + 1, job="slurm:c:17", restarts=1)  # Its supervisor was killed, the job goes on.
    take(place, host, plan_of(2))[0].release()


def test_a_lock_that_cannot_be_read_is_in_use(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept")
    (place / LOCK).write_text('{"cluster": "c", "of a newer Howdah": 1}')
    with pytest.raises(UsageError, match="is in use: its lock cannot be read"):
        take(place, host, plan_of(2))
    with pytest.raises(UsageError, match="its lock cannot be read"):
        remove(str(place), host, lambda: None)


class Racing:
    """A host on which another cluster takes the lock just before it is renamed."""

    def __init__(self, host: Host, place: Path) -> None:
        self.name, self.lost = host.name, None
        self._host, self._place = host, place
        self.renamed = 0

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "files.rename" and arguments["path"].endswith("/lock") and not self.renamed:
            self.renamed += 1
            locked(self._place, machine="elsewhere", cluster="faster")
        return self._host.call(operation, **arguments)


@pytest.mark.promise("Of two clusters that find a dead lock, one takes it", "how-to/persist")
def test_a_lock_that_another_cluster_has_just_taken_is_given_back(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept")
    locked(place, boot="another")
    racing: Host = Racing(host, place)  # type: ignore[assignment]
    with pytest.raises(UsageError, match="is in use: the cluster faster of elsewhere"):
        take(place, racing, plan_of(2))
    assert json.loads((place / LOCK).read_text())["cluster"] == "faster"
    assert {one.name for one in place.iterdir()} == {"name", "node1", "node2", RECORD, LOCK}


def test_a_directory_that_others_can_change_is_refused(tmp_path: Path, host: Host) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(HostProblem, match="everybody may rename"):
        take(tmp_path / "open" / "kept", host, plan_of(1))


@pytest.mark.promise("A DataNode's directory follows its data, not its host", "how-to/persist")
def test_nodes_go_where_their_data_are() -> None:
    plan = plan_of(3, hosts=("a", "b", "c"))
    seen = {"a": frozenset({"node2"}), "b": frozenset({"node3"}), "c": frozenset({"node1", "node2"})}
    placed = _placed(plan, 3, seen, "/kept")
    assert [(node.name, node.host) for node in placed.nodes] == [("node1", "c"), ("node2", "a"), ("node3", "b")]
    assert [node.directory for node in placed.nodes] == ["/d-c/node1", "/d-a/node2", "/d-b/node3"]
    shared = dict.fromkeys(("a", "b", "c"), frozenset({"node1", "node2", "node3"}))
    assert _placed(plan, 3, shared, "/kept") == plan
    fewer = _placed(plan_of(3, hosts=("a", "b")), 3, dict.fromkeys(("a", "b"), shared["a"]), "/kept")
    assert {node.host for node in fewer.nodes} == {"a", "b"}
    more = _placed(plan, 1, {**shared, "a": frozenset()}, "/kept")
    assert [node.name for node in more.nodes] == ["node1", "node2", "node3"]
    assert more.nodes[0].host in ("b", "c")
    with pytest.raises(HostProblem, match="has no node left for it"):
        _placed(plan, 3, {"a": shared["a"], "b": frozenset(), "c": frozenset()}, "/kept")


def test_what_belongs_together_is_verified(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept")
    assert verify(str(place), host) == Verified((), {})
    (place / "node2" / "current" / "VERSION").write_text("clusterID=CID-2\n")
    (place / "node1" / "current" / "VERSION").unlink()
    image = place / "name" / "current" / "fsimage_0000000000000000000"
    image.write_bytes(b"other")
    assert verify(str(place), host).problems == (
        f"{place}/node1/current/VERSION is not there",
        "parts are of several file systems: name CID-1, node2 CID-2",
        f"{image} is damaged",
    )


@pytest.mark.promise("Data on the hosts' own disks are verified as far as they are here", "how-to/persist")
def test_parts_on_the_disks_of_other_hosts_are_not_missing(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept", nodes=3, hosts=("a", "b", "c"))
    for other in ("node2", "node3"):
        shutil.rmtree(place / other)
    assert verify(str(place), host) == Verified((), {"node2": "b", "node3": "c"})
    shutil.rmtree(place / "node1")
    data(tmp_path / "shared", nodes=3, hosts=("a", "b", "c"))
    shutil.rmtree(tmp_path / "shared" / "node3")
    found = verify(str(tmp_path / "shared"), host)
    assert found.problems == (f"{tmp_path}/shared/node3/current/VERSION is not there",)
    for other in ("node1", "node2"):
        shutil.rmtree(tmp_path / "shared" / other)
    assert len(verify(str(tmp_path / "shared"), host).problems) == 0, "of an older release: who knows"
    whole = data(tmp_path / "known", nodes=3, hosts=("a", "b", "c"), shared=True)
    for other in ("node1", "node2"):
        shutil.rmtree(whole / other)
    assert len(verify(str(whole), host).problems) == 2, "all hosts saw one directory"
    locked(tmp_path / "shared")
    with pytest.raises(UsageError, match="is in use"):
        verify(str(tmp_path / "shared"), host)


def test_a_host_with_nodes_alone_is_cleaned_and_a_daemon_s_own_lock_counts(tmp_path: Path, host: Host) -> None:
    place = tmp_path / "kept"
    (place / "node2" / "current").mkdir(parents=True)
    daemon = subprocess.Popen(("sh", "-c", "sleep 60; : -Dproc_datanode"))
    try:
        (place / "node2" / "in_use.lock").write_text(f"{daemon.pid}@{platform.node()}")
        with pytest.raises(UsageError, match=f"process {daemon.pid} has node2"):
            remove(str(place), host, lambda: None)
    finally:
        daemon.kill()
        daemon.wait()
    (place / "node2" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="there is node2"):
        remove(str(place), host, lambda: None)
    (place / "node2" / "thesis.tex").unlink()
    remove(str(place), host, lambda: None)
    assert not place.exists()


@pytest.mark.promise("A first start that fails leaves no half-formatted data", "how-to/persist")
def test_a_cluster_that_does_not_come_up_leaves_nothing_there(tmp_path: Path, host: Host) -> None:
    place = tmp_path / "kept"
    first, plan = take(place, host, plan_of(2))
    for name in ("name", "node1", "node2"):
        (place / name / "current").mkdir(parents=True)
    first.release()
    assert not list(place.iterdir())
    again, _ = take(place, host, plan)
    data(place)
    again.keep("3.4.2")
    again.release()
    third, _ = take(place, host, plan_of(2))
    third.release()
    assert {one.name for one in place.iterdir()} == {"howdah.json", "name", "node1", "node2"}, "data stay"


def test_only_data_of_howdah_that_nobody_has_are_removed(tmp_path: Path, host: Host) -> None:
    place = data(tmp_path / "kept")
    (place / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match=r"no directory of Howdah alone: there is thesis\.tex"):
        remove(str(place), host, lambda: None)
    (place / "thesis.tex").unlink()
    locked(place)
    with pytest.raises(UsageError, match="is in use"):
        remove(str(place), host, lambda: None)
    (place / LOCK).unlink()
    asked = []
    remove(str(place), host, lambda: asked.append(1))
    assert asked
    assert not place.exists()
    with pytest.raises(HostProblem, match="No such file"):
        remove(str(place), host, lambda: None)


def test_of_many_that_create_a_file_one_has_made_it(tmp_path: Path) -> None:
    script = (
        "import sys; from howdah.host.agent.files import create; "
        "print(sum(create(f'{sys.argv[1]}/{n}', sys.argv[2].encode()) for n in range(200)))"
    )
    both = [
        subprocess.Popen((sys.executable, "-c", script, str(tmp_path), str(n)), stdout=subprocess.PIPE)
        for n in range(2)
    ]
    made = [int(one.communicate()[0]) for one in both]
    assert sum(made) == 200
    assert len(list(tmp_path.iterdir())) == 201  # With the home.
