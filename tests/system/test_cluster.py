"""Clusters: up, healthy, side by side, what they listen on, down."""

from __future__ import annotations

import json
import os
import platform
import re
import stat
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.exposure import wildcard_ports
from howdah.cluster.state import ClusterDirectory
from howdah.hadoop.configuration.plan import Plan
from howdah.hadoop.configuration.site import read_sites
from howdah.hadoop.distribution.distribution import managed
from tests.sshd import ssh_server
from tests.system.running import Howdah, Said, archives_of, below, listening, processes_of

pytestmark = pytest.mark.daemons


def get(address: str, path: str) -> Any:
    with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
        return json.load(answer)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def directory_of(howdah: Howdah, name: str) -> ClusterDirectory:
    return ClusterDirectory(name, howdah.home / "clusters" / name)


def plan_of(howdah: Howdah, name: str) -> Plan:
    manifest = directory_of(howdah, name).read()
    assert manifest is not None
    return manifest.plan


class OtherLogin(Howdah):
    """Howdah on another host that has the same files."""

    command = ("unshare", "--uts", "sh", "-c", 'hostname login2; exec "$@"', "login2", *Howdah.command)


@pytest.fixture(scope="module")
def beside(howdah: Howdah, cluster: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A second cluster, `beta`, of one node."""
    yield howdah("up", "--name", "beta", "--json").json()
    howdah("down", "--name", "beta")


@pytest.fixture(scope="module")
def job(howdah: Howdah, cluster: dict[str, Any]) -> Iterator[dict[int, str]]:
    """While a job runs on `alpha`: the command lines of all processes of the cluster, the job's included."""
    jar = managed("3.4.2", howdah.home / "cache").jobclient_tests_jar
    arguments = ("sleep", "-m", "1", "-r", "1", "-mt", "300000", "-rt", "1")
    client = howdah.start("exec", "--name", "alpha", "--", "hadoop", "jar", str(jar), *arguments)
    yield wait_for_task([daemon["pid"] for daemon in cluster["daemons"]], client)
    client.kill()
    client.wait()
    running = howdah("exec", "--name", "alpha", "--", "yarn", "application", "-list", "-appStates", "RUNNING").ok()
    for line in running.out.splitlines():
        if line.startswith("application_"):
            howdah("exec", "--name", "alpha", "--", "yarn", "application", "-kill", line.split()[0]).ok()


def wait_for_task(daemons: list[int], client: subprocess.Popen[str]) -> dict[int, str]:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        found = below(daemons)
        tasks = [pid for pid, command in found.items() if is_java(command, "YarnChild")]
        if any(archives_of(pid) for pid in tasks):  # A JVM that starts has not mapped all of its files yet.
            return below(daemons)
        assert client.poll() is None, "the job ended before it had a task"
        time.sleep(0.2)
    raise AssertionError("no task within 90 s")


def is_java(command: str, main: str) -> bool:
    return command.split(" ", 1)[0].endswith("/java") and main in command


@pytest.mark.promise("`howdah up --nodes 3` starts nine Hadoop daemons, each a process of its own", "README")
def test_every_daemon_is_a_process_of_its_own(cluster: dict[str, Any]) -> None:
    daemons = cluster["daemons"]
    assert sorted(daemon["role"] for daemon in daemons) == sorted(
        ["namenode", "resourcemanager", "historyserver", *["datanode", "nodemanager"] * 3]
    )
    assert len({daemon["pid"] for daemon in daemons}) == 9
    for daemon in daemons:
        command = Path(f"/proc/{daemon['pid']}/cmdline").read_text(encoding="utf-8")
        assert f"-Dproc_{daemon['role']}\0" in command


def test_addresses_are_loopback_and_ports_are_of_one_daemon(cluster: dict[str, Any]) -> None:
    plan = cluster["plan"]
    places = [plan["masters"], *plan["nodes"]]
    assert all(ip_address(place["address"]).is_loopback for place in places)
    assert len({place["address"] for place in places}) == 4
    ports = [port for place in places for port in place["ports"].values()]
    assert len(ports) == len(set(ports)) == 11 + 3 * 7


@pytest.mark.promise("What a cluster keeps is readable by its owner only", "issue 2")
def test_what_the_cluster_keeps_is_private(howdah: Howdah, cluster: dict[str, Any]) -> None:
    kept = directory_of(howdah, "alpha")
    work = Path(cluster["plan"]["quarters"][cluster["machine"]]["root"])
    places = [Path(place["directory"]) for place in (cluster["plan"]["masters"], *cluster["plan"]["nodes"])]
    nodes = sorted((kept.conf / "nodes").iterdir())
    assert len(nodes) == 3
    for directory in (kept.path, kept.conf, kept.logs, work, *places, *nodes):
        assert (str(directory), oct(mode(directory))) == (str(directory), "0o700")
    assert {mode(file) for file in kept.conf.iterdir() if file.is_file()} == {0o600}
    assert mode(kept.socket) == 0o600


def test_the_configuration_directory_is_complete(howdah: Howdah, cluster: dict[str, Any]) -> None:
    conf = directory_of(howdah, "alpha").conf
    names = {"core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml", "capacity-scheduler.xml"}
    assert names | {"hadoop-env.sh", "log4j.properties"} <= {file.name for file in conf.iterdir()}
    assert set(read_sites(conf)) == names - {"capacity-scheduler.xml"}
    for node in cluster["plan"]["nodes"]:
        sites = read_sites(conf / "nodes" / node["name"])
        assert sites["hdfs-site.xml"].properties["dfs.datanode.address"].startswith(f"{node['address']}:")


def test_it_is_healthy_by_its_own_words(cluster: dict[str, Any]) -> None:
    ports = cluster["plan"]["masters"]["ports"]
    address = cluster["plan"]["masters"]["address"]
    bean = "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
    state = get(f"{address}:{ports['namenode_web']}", bean)["beans"][0]
    assert (state["NumLiveDataNodes"], state["NumDeadDataNodes"], state["FSState"]) == (3, 0, "Operational")
    metrics = get(f"{address}:{ports['resourcemanager_web']}", "/ws/v1/cluster/metrics")["clusterMetrics"]
    assert (metrics["activeNodes"], metrics["lostNodes"], metrics["unhealthyNodes"]) == (3, 0, 0)


@pytest.mark.promise(
    "`howdah status` repeats what `up` printed, with the ports that listen beyond loopback", "tutorial/first-cluster"
)
def test_status_says_what_up_said(howdah: Howdah, cluster: dict[str, Any]) -> None:
    [status] = howdah("status", "--name", "alpha", "--json").json()
    only_up = {"seconds", "other_users"}
    assert status == {key: value for key, value in cluster.items() if key not in only_up}
    text = howdah("status").ok().out
    assert "daemons          9 of 9 alive" in text
    for name, ranges in wildcard_ports(plan_of(howdah, "alpha")).items():
        assert all(str(first) in text for first, _ in ranges)
        assert name in text


def test_logs_are_listed_and_shown(howdah: Howdah, cluster: dict[str, Any]) -> None:
    assert len(howdah("logs", "--name", "alpha").ok().out.splitlines()) == 9
    assert "STARTUP_MSG" in howdah("logs", "--name", "alpha", "datanode-node2", "-n", "10000").ok().out
    assert howdah("logs", "--name", "alpha", "datanode-node7").code == 2


def test_status_names_each_daemon_with_its_log(howdah: Howdah, cluster: dict[str, Any]) -> None:
    lines = howdah("status", "--name", "alpha", "--daemons").ok().out.splitlines()
    for one in cluster["daemons"]:
        [line] = [line for line in lines if f"pid {one['pid']} " in line]
        name = f"{one['role']}-{one['place']}"
        assert line.split()[0] == name
        resident = re.search(r"alive  ([\d.]+) MB  /", line)
        assert resident is not None
        # As the kernel says it, a moment later.
        pages = int(Path(f"/proc/{one['pid']}/statm").read_text().split()[1])
        assert float(resident.group(1)) * 1e6 == pytest.approx(pages * os.sysconf("SC_PAGE_SIZE"), rel=0.2)
        assert Path(line.split()[-1]).is_file()


def test_a_second_cluster_of_the_name_is_refused(howdah: Howdah, cluster: dict[str, Any]) -> None:
    said = howdah("up", "--name", "alpha")
    assert said.code == 2
    assert "already up" in said.err


@pytest.mark.promise("Two clusters at once share no address and no port", "reference/ports")
def test_two_clusters_do_not_meet(
    howdah: Howdah, on: Callable[..., Said], cluster: dict[str, Any], beside: dict[str, Any]
) -> None:
    ports = [
        {port for place in (one["plan"]["masters"], *one["plan"]["nodes"]) for port in place["ports"].values()}
        for one in (cluster, beside)
    ]
    assert not ports[0] & ports[1]
    on("hadoop", "fs", "-touchz", "/only-on-alpha").ok()
    assert howdah("exec", "--name", "beta", "--", "hadoop", "fs", "-test", "-e", "/only-on-alpha").code == 1
    nodes = howdah("exec", "--name", "beta", "--", "yarn", "node", "-list").ok()
    assert "Total Nodes:1" in nodes.out
    assert {one["name"] for one in howdah("status", "--json").json()} == {"alpha", "beta"}


@pytest.mark.promise("`howdah down` leaves no process and no data; the logs stay", "tutorial/first-cluster")
@pytest.mark.skipif(os.geteuid() != 0, reason="root gives a process another host's name")
@pytest.mark.promise("From another login, commands go to the host of the supervisor", "tutorial/many-hosts")
def test_another_login_goes_to_the_supervisor_s_host(
    howdah: Howdah, cluster: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = OtherLogin(howdah.home)
    said = login("status")
    assert f"alpha  up on {platform.node()}: `howdah status --name alpha` asks there" in said.ok().out
    with ssh_server(tmp_path / "sshd") as server:
        monkeypatch.setenv("PATH", f"{server.path(platform.node())}:{os.environ['PATH']}")
        there = login("status", "--name", "alpha", "--json").json()
        assert there == howdah("status", "--name", "alpha", "--json").json()
        assert login("exec", "--name", "alpha", "--", "sh", "-c", "hadoop version >/dev/null && exit 7").code == 7
        (server.directory / "key").unlink()
        refused = login("exec", "--name", "alpha", "--", "true")
    assert refused.code == 1
    assert f"the cluster 'alpha' was started on {platform.node()}, and this is login2" in refused.err
    assert f"if `ssh -o BatchMode=yes {platform.node()} true` worked" in refused.err


def test_down_leaves_nothing_but_the_logs(howdah: Howdah, beside: dict[str, Any]) -> None:
    said = howdah("down", "--name", "beta").ok()
    assert "is down" in said.out
    kept = directory_of(howdah, "beta")
    assert processes_of(kept.path) == []
    assert not Path(beside["plan"]["quarters"][beside["machine"]]["root"]).exists()
    assert {file.stem for file in kept.logs.glob("*.log")} == {
        "namenode", "resourcemanager", "historyserver", "datanode-node1", "nodemanager-node1",
    }  # fmt: skip
    again = howdah("down", "--name", "beta").ok()
    assert "No cluster called beta is up" in again.out
    assert howdah("status", "--name", "beta").code == 1


@pytest.mark.promise("All that listens is on loopback or in the list of the page", "reference/ports")
def test_all_that_listens_is_loopback_or_said(howdah: Howdah, job: dict[int, str]) -> None:
    plan = plan_of(howdah, "alpha")
    said = wildcard_ports(plan)
    open_to_all = {port for address, port in listening(job) if not ip_address(address).is_loopback}
    spans = [(what, first, last) for what, ranges in said.items() for first, last in ranges]
    used = {what for what, first, last in spans for port in open_to_all if first <= port <= last}
    assert used == set(said), "nothing is said that is not so"
    assert [port for port in open_to_all if not any(first <= port <= last for _, first, last in spans)] == []
    masters = [pid for pid, command in job.items() if is_java(command, "MRAppMaster")]
    assert len(listening(masters)) == 3, (
        "for clients, for tasks, for the web: what JOBS in howdah.hadoop.configuration.plan counts"
    )


def test_tasks_and_masters_map_the_class_archive(job: dict[int, str]) -> None:
    for main in ("YarnChild", "MRAppMaster"):
        pids = [pid for pid, command in job.items() if is_java(command, main)]
        assert pids
        for pid in pids:
            assert [Path(file).name.startswith("3.4.2-jdk") for file in archives_of(pid)] == [True], main
