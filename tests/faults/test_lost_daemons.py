"""Daemons killed while the sort runs."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Begun, Home, ended_right, eventually, one_message

pytestmark = pytest.mark.daemons

_RUN = ("run", "terasort", "--no-probes", "--no-calibration", "--no-report")
_SEED = int(os.environ.get("HOWDAH_FAULT_SEED") or random.randrange(1 << 31))
# Many small maps, so that some read their block after the DataNode is gone.
_MANY_MAPS = ("--conf", "dfs.blocksize=16777216")


def kill_in_the_sort(home: Home, run: Begun, role: str, node: int | None = None) -> None:
    eventually(lambda: home.phase("sort") and home.tasks("m"), 120, "a map of the sort runs", begun=run)
    os.kill(home.daemon(role, node), signal.SIGKILL)


def assert_logs_are_kept(home: Home, role: str) -> None:
    (run,) = home.runs
    assert (run / "logs/daemons" / f"{role}.log").stat().st_size > 0
    assert not (run / "samples.jsonl").exists()


@pytest.mark.promise("A job with replicas survives the loss of a DataNode", "issue 2")
def test_a_datanode_with_replication_2(home: Home) -> None:
    conf = ("--conf", "dfs.replication=2", "--conf", "mapreduce.terasort.output.replication=2")
    run = home.begin(*_RUN, "--size", "120M", "--nodes", "3", "--accelerator", "sort", *conf, *_MANY_MAPS)
    kill_in_the_sort(home, run, "datanode", 1)
    record = ended_right(home, run)
    assert any(re.match(r"datanode of node1 .* ended with code -9", one["text"]) for one in record["caveats"])


@pytest.mark.promise("Without replicas, the lost blocks are named", "issue 2")
def test_a_datanode_with_replication_1(home: Home) -> None:
    conf = ("--conf", "dfs.replication=1", "--conf", "mapreduce.map.maxattempts=1")
    run = home.begin(*_RUN, "--size", "120M", "--nodes", "2", *conf, *_MANY_MAPS)
    kill_in_the_sort(home, run, "datanode", 1)
    ended = run.end()
    assert ended.code == 1, ended.said
    message = one_message(ended)
    assert re.search(r"HDFS lost every replica of blk_\d+", message), message
    assert "datanode of node1" in message
    assert_logs_are_kept(home, "datanode-node1")


def sort_on_two(home: Home, moments: random.Random) -> Begun:
    """An accelerated sort on `two`, at a moment at which node1 has outputs of maps and a reduce fetches."""
    up = home.howdah("up", "--name", "two", "--nodes", "2")
    assert up.code == 0, up.said
    early = ("--conf", "mapreduce.job.reduce.slowstart.completedmaps=0.05")
    run = home.begin(*_RUN, "--size", "120M", "--cluster", "two", "--accelerator", "sort", *_MANY_MAPS, *early)
    local = home.path / "clusters" / "two" / "work" / "node1" / "local"

    def are_there() -> bool:
        """Outputs of maps of the sort, and a reduce that may have begun to fetch them."""
        outputs = local.glob("usercache/*/appcache/*/output/*_m_*/file.out.index")
        return home.phase("sort") and bool(list(outputs)) and bool(home.tasks("r"))

    eventually(are_there, 120, "a map of node1 ends and a reduce runs", begun=run)
    time.sleep(moments.uniform(0, 2))
    return run


def sorted_right(home: Home, run: Begun) -> dict[str, Any]:
    """The job that sorted."""
    ended_right(home, run, _SEED)
    jobs = home.kept().jobs()
    (sort,) = (job for job in jobs if job["name"] == "TeraSort")
    assert "FALLBACKS" not in sort["counters"]["Howdah Shuffle"]
    return dict(sort)


@pytest.mark.soak(part="faults")
def test_a_nodemanager_that_stands_still_for_a_while(home: Home) -> None:
    moments = random.Random(_SEED)
    run = sort_on_two(home, moments)
    pid = home.daemon("nodemanager", 1)
    os.kill(pid, signal.SIGSTOP)
    try:
        # Less than after which it counts as lost.
        time.sleep(moments.uniform(2, 12))
    finally:
        os.kill(pid, signal.SIGCONT)
    sorted_right(home, run)
    assert home.howdah("down", "--name", "two").code == 0


@pytest.mark.soak(part="faults")
@pytest.mark.promise("A job survives the loss of a NodeManager", "issue 2")
def test_a_nodemanager(home: Home) -> None:
    run = sort_on_two(home, random.Random(_SEED))
    os.kill(home.daemon("nodemanager", 1), signal.SIGKILL)
    sort = sorted_right(home, run)
    again = [one["id"] for one in sort["attempts"] if re.search(r"_m_\d+_[1-9]\d*$", one["id"])]
    assert again, f"seed {_SEED}: no map of the lost node ran again"
    assert any("nodemanager of node1" in one["text"] for one in home.run_record()["caveats"])
    eventually(lambda: not home.tasks() and not home.pids("MRAppMaster"), 30, "its containers have ended")
    status = home.howdah("status", "--name", "two")
    assert "lost: nodemanager of node1" in status.out
    assert home.howdah("down", "--name", "two").code == 0
    assert not home.processes()


@pytest.mark.promise("The loss of a master ends the run with its name and its log", "issue 2")
@pytest.mark.parametrize("role", ["namenode", pytest.param("resourcemanager", marks=pytest.mark.soak(part="faults"))])
def test_a_master(home: Home, role: str) -> None:
    run = home.begin(*_RUN, "--size", "100M")
    kill_in_the_sort(home, run, role)
    ended = run.end(25)
    assert ended.code == 1, ended.said
    message = one_message(ended)
    found = re.match(rf"{role} of master \(process \d+\) ended with code -9; its log: (\S+)", message)
    assert found is not None, message
    assert Path(found[1].rstrip(".")).is_file(), "the log that it names is not there"
    assert message.count("ended with code -9") == 1, "it is said twice"
    assert home.run_record()["outcome"]["kind"] == "failed"
    assert_logs_are_kept(home, role)
    assert not home.processes(), "run returned before everything had ended"
