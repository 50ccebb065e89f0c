"""A cluster on several hosts that are this machine: every host knows its own directories alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.state import ClusterDirectory
from howdah.store import read_run
from tests.system.running import Howdah, archives_of, processes_of

pytestmark = pytest.mark.daemons

_HOSTS = ("channel1", "channel2", "channel3")


@pytest.fixture(scope="module")
def gamma(howdah: Howdah) -> Iterator[dict[str, Any]]:
    """What `up --json` says of a cluster on three hosts."""
    yield howdah("up", "--name", "gamma", "--on", "channels:3", "--json").json()
    howdah("down", "--name", "gamma")


@pytest.fixture(scope="module")
def sorted_run(howdah: Howdah, gamma: dict[str, Any]) -> Path:
    """The directory of a TeraSort on the cluster."""
    record = howdah("run", "terasort", "--size", "smoke", "--cluster", "gamma", "--json", timeout=400).json()
    return Path(record["runs"][0]["path"])


@pytest.mark.promise("`--on channels:N` starts a node on each of N hosts of one machine", "reference/allocations")
def test_each_host_has_a_node_and_directories_of_its_own(gamma: dict[str, Any]) -> None:
    plan = gamma["plan"]
    assert [node["host"] for node in plan["nodes"]] == list(_HOSTS)
    assert plan["masters"]["host"] == "channel1"
    for node in plan["nodes"]:
        quarters = plan["quarters"][node["host"]]
        assert node["directory"].startswith(f"{quarters['root']}/")
        conf = Path(quarters["conf"], "nodes", node["name"])
        assert f"{node['directory']}/data" in (conf / "hdfs-site.xml").read_text(encoding="utf-8")
        others = [other["root"] for host, other in plan["quarters"].items() if host != node["host"]]
        for file in conf.iterdir():
            text = file.read_text(encoding="utf-8")
            # The masters' directories are in the settings that all daemons have.
            assert not [other for other in others if f"{other}/node" in text], file
    assert {daemon["host"] for daemon in gamma["daemons"]} == set(_HOSTS)


@pytest.mark.promise("Software reaches each host once", "reference/allocations")
def test_daemons_run_what_was_sent_to_their_host(gamma: dict[str, Any]) -> None:
    for daemon in gamma["daemons"]:
        store = gamma["plan"]["quarters"][daemon["host"]]["store"]
        assert {Path(file).parent for file in archives_of(daemon["pid"])} == {Path(store, "archives")}
        words = Path(f"/proc/{daemon['pid']}/cmdline").read_bytes().decode().split("\0")
        jars = [entry for entry in words[words.index("-cp") + 1].split(":") if entry.endswith(".jar")]
        assert jars
        assert all(jar.startswith(f"{store}/trees/") for jar in jars)


def test_the_agents_are_processes_of_their_own_and_have_the_daemons(gamma: dict[str, Any]) -> None:
    parents: dict[str, set[str]] = {}
    for daemon in gamma["daemons"]:
        stat = Path(f"/proc/{daemon['pid']}/stat").read_text(encoding="utf-8")
        parents.setdefault(daemon["host"], set()).add(stat.rpartition(")")[2].split()[1])
    assert all(len(pids) == 1 for pids in parents.values())
    assert len(set.union(*parents.values())) == 3


@pytest.mark.promise("TeraSort validates on several hosts", "reference/allocations")
def test_terasort_validates_and_is_measured(sorted_run: Path) -> None:
    stored = read_run(sorted_run)
    assert stored.run.outcome.kind == "valid"
    assert stored.run.trial.settings["cluster"]["allocation"] == {"kind": "channels", "hosts": 3}
    cpu = {(one.phase, one.role): one.value for one in stored.samples if one.metric == "daemon_cpu_seconds"}
    assert cpu["sort", "nodemanager"] > 1.0, "containers of all three hosts"
    assert {"gen", "sort", "validate"} <= {one.phase for one in stored.samples if one.metric == "cpu_seconds"}


@pytest.mark.promise("Several hosts on one machine are observed once", "reference/allocations")
def test_the_machine_is_observed_once(sorted_run: Path) -> None:
    stored = read_run(sorted_run)
    assert len(stored.environment["before"].hosts) == 1
    assert len(list((sorted_run / "series").iterdir())) == 1
    assert len([one for one in stored.samples if one.metric == "bound_cpu_cores"]) == 1
    text = "".join(file.read_text(encoding="utf-8") for file in (sorted_run / "series").iterdir())
    for node in ("node1", "node2", "node3"):
        assert f'"node":"{node}"' in text.replace(" ", ""), "daemons of every host are in it"


def test_what_names_the_hosts_is_not_in_what_tells_runs_apart(sorted_run: Path) -> None:
    text = (sorted_run / "readback.json").read_text(encoding="utf-8")
    assert "work-channel" not in text


def test_logs_are_read_from_the_hosts(howdah: Howdah, gamma: dict[str, Any]) -> None:
    listed = howdah("logs", "--name", "gamma").ok().out.splitlines()
    assert len(listed) == 9
    assert any(line.startswith("datanode-node2") and line.endswith(" on channel2") for line in listed)
    assert "STARTUP_MSG" in howdah("logs", "--name", "gamma", "datanode-node2", "-n", "10000").ok().out


def test_status_says_which_daemons_are_where(howdah: Howdah, gamma: dict[str, Any]) -> None:
    lines = howdah("status").ok().out.splitlines()
    where = {line.split()[0]: line for line in lines if line.strip().startswith("channel")}
    assert set(where) == set(_HOSTS)
    assert "masters, node1;" in where["channel1"]
    assert "node3;" in where["channel3"]


def test_down_brings_the_logs_home_and_leaves_nothing_else(howdah: Howdah, gamma: dict[str, Any]) -> None:
    howdah("down", "--name", "gamma").ok()
    kept = ClusterDirectory("gamma", howdah.home / "clusters" / "gamma")
    assert sorted(entry.name for entry in kept.path.iterdir()) == ["cluster.json", "logs", "supervisor.log"]
    assert len(list(kept.logs.glob("*.log"))) == 9
    assert "STARTUP_MSG" in howdah("logs", "--name", "gamma", "namenode", "-n", "10000").ok().out
    assert not [one for one in processes_of(howdah.home) if "gamma" in str(one)]
