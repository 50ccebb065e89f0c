"""Whether a cluster is what it was asked to be."""

from __future__ import annotations

from typing import Any

import pytest

from howdah.cluster.live.parts import PartCheck, Parts
from howdah.cluster.state import Daemon
from howdah.engine.evidence.cluster import check_cluster, check_emptied
from howdah.engine.evidence.readback import ReadBack
from howdah.engine.evidence.surroundings import flags_of
from howdah.hadoop.interfaces.effective import Setting
from tests.unit.engine.run.clusters import FakeCluster, FakeHost

MIB = 1 << 20


def checked(asked: dict[str, Any], held: ReadBack, *, allowed: tuple[int, ...] = ()) -> dict[str, tuple[bool, str]]:
    host = FakeHost({"machine.allowed_processors": lambda **_: list(allowed)})
    daemons = (Daemon("namenode", "master", "here", 1),)
    cluster = FakeCluster(host, daemons=daemons, description={"defaults": asked})
    return {one.name: (one.passed, one.detail) for one in check_cluster(cluster.live(), held)}


@pytest.mark.parametrize(("allowed", "passed"), [((1, 1), True), ((1, 2), False)])
def test_processors(allowed: tuple[int, ...], passed: bool) -> None:
    assert checked({"processors": 1}, ReadBack({}, {}), allowed=allowed)["processors"][0] is passed


def test_flags_have_to_be_those_of_every_daemon_and_of_every_task() -> None:
    asked = {"jvm_flags": ["-Xa"], "task_flags": ["-Xa"]}
    with_it, without = Setting("-Xmx1g -Xa", None), Setting("-Xmx1g -Xab", None)
    daemons: dict[str, frozenset[tuple[str, ...]]] = {"namenode": frozenset({("-Xmx64m", "-Xa")})}
    jobs = {"sort": {"mapreduce.map.java.opts": frozenset({with_it})}}
    assert checked(asked, ReadBack({}, jobs, daemons))["jvm"][0]
    daemons["datanode"] = frozenset({("-Xa",), ("-Xb",)})
    jobs["sort"]["mapreduce.reduce.java.opts"] = frozenset({without})
    said = "datanode runs without -Xa; sort has mapreduce.reduce.java.opts without -Xa"
    assert checked(asked, ReadBack({}, jobs, daemons)) == {"jvm": (False, said)}


@pytest.mark.parametrize(
    ("values", "passed"),
    [(("/fast/howdah-a/node1", "/fast/howdah-a/node2"), True), (("/fast/howdah-a/node1", "/slow"), False), ((), False)],
)
def test_the_directory_of_map_outputs(values: tuple[str, ...], passed: bool) -> None:
    usual = Setting("/work/master/tmp/nm-local-dir", "yarn-default.xml")
    held = {"yarn.nodemanager.local-dirs": frozenset({usual, *(Setting(value, "yarn-site.xml") for value in values)})}
    assert checked({"shuffle_directory": "/fast"}, ReadBack(held, {}))["shuffle directory"][0] is passed


def test_nothing_is_checked_that_nobody_asked_for() -> None:
    assert checked({"jvm_flags": [], "processors": None}, ReadBack({}, {})) == {}


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [(8000 * MIB, 20 * MIB, True), (8000 * MIB, 7000 * MIB, False), (100 * MIB, 100 * MIB, True)],
)
def test_an_emptied_page_cache_is_nearly_empty(before: int, after: int, passed: bool) -> None:
    assert check_emptied(before, after).passed is passed


def test_flags_are_what_stands_before_the_class_path() -> None:
    line = ["/jdk/bin/java", "-Dproc_namenode", "-Xmx256m", "-cp", "/a:/b", "org.apache.NameNode", "-Xnot"]
    assert flags_of(line) == ["-Dproc_namenode", "-Xmx256m"]
    assert flags_of([]) == []


def test_processors_are_asked_of_every_host() -> None:
    two = FakeHost({"machine.allowed_processors": lambda pids: [2] if pids == [7] else []}, name="there")
    one = FakeHost({"machine.allowed_processors": lambda pids: [1] if pids == [7] else []})
    daemons = (Daemon("namenode", "master", "here", 7), Daemon("datanode", "node1", "there", 7))
    cluster = FakeCluster(one, daemons=daemons, others=(two,), description={"defaults": {"processors": 1}})
    [check] = check_cluster(cluster.live(), ReadBack({}, {}))
    assert (check.passed, check.detail) == (False, "daemons may use 1, 2")


@pytest.mark.parametrize("held", [True, False])
def test_parts_of_simulated_hosts_that_are_others_now(held: bool) -> None:
    found = PartCheck("network", held, "cards brought 11.9 MB/s at first, and 11.4 MB/s now")
    cluster = FakeCluster(FakeHost({}), parts=Parts(check=lambda: iter([found])))
    [check] = check_cluster(cluster.live(), ReadBack({}, {}))
    assert (check.name, check.passed, check.detail) == (found.name, held, found.words)
