"""Factors by name: their levels, and what they make of a cluster and its jobs."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

import pytest

from howdah.cluster.request import ClusterRequest
from howdah.engine.experiment.factors import CONFIGURATION, FACTORS, check_factors, check_fault, conditions, cost_of
from howdah.engine.run.faults import Fault
from howdah.errors import UsageError
from howdah.host import Host
from howdah.model.accelerator import accelerator_of

MADE = ClusterRequest("experiment")
SEAMS = {"storage", "disks"}
"""Those that have one level here, or none that this machine offers."""


@pytest.mark.parametrize(
    "factor", [one for one in FACTORS.values() if one.name != CONFIGURATION], ids=lambda one: one.name
)
def test_every_factor_takes_the_levels_that_it_names_and_they_differ(factor) -> None:
    levels = factor.levels.split(", ")
    made = replace(MADE, allocation="sim:3") if "of simulated hosts" in factor.what else MADE
    found = [conditions({factor.name: level}, made) for level in levels]
    assert factor.name in SEAMS or all(found.count(one) == 1 for one in found)
    if factor.follows is not None:
        re.compile(factor.follows)


def test_more_disks_are_mounted_at_more_places() -> None:
    follows = FACTORS["disks"].follows
    assert follows is not None
    assert re.fullmatch(follows, "hosts.vm.mounts.disk 2.type")
    assert not re.fullmatch(follows, "hosts.vm.mounts.cluster.type")


@pytest.mark.parametrize(
    ("name", "level", "said"),
    [
        ("nodes", "0", "nodes is '0'"),
        ("nodes", "3.0", "nodes is '3.0'"),
        ("on", "clouds:3", "no kind of allocation called 'clouds'"),
        ("vcores", "all", "vcores is 'all'"),
        ("cpus", "\u0661", "cpus is"),
        ("memory", "much", "not a size: 'much'"),
        ("replication", "-1", "replication is '-1'"),
        ("jvm", "G1", "jvm is 'G1'"),
        ("shuffle_dir", "here", "no absolute path"),
        ("cache", "cold", "there is no cache 'cold' here"),
        ("faults", "namenode@50%", "no fault"),
        ("faults", "datanode@100%", "no fault"),
        ("storage", "lustre", "no storage: 'lustre'"),
        ("configuration", "mine", "stand in an experiment file alone"),
        ("accelerator", "Sort", "there is no accelerator 'Sort' here"),
        ("disks", "2", "that of local is what it is"),
        ("network", "1gbit", "that of local is what it is"),
    ],
)
def test_a_level_that_is_none(name: str, level: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        conditions({name: level}, MADE)


@pytest.mark.promise("A fault that the hosts cannot have is refused before anything is started", "how-to/faults")
@pytest.mark.parametrize(
    ("on", "fault", "said"),
    [
        ("channels:3", "kill:channel9@50%", "the cluster has no host 'channel9'"),
        ("channels:3", "cut:channel2@50%", "the network of channel2 is not simulated"),
        ("channels:3", "kill:channel2@50%", None),
        ("channels:3", "datanode@50%", None),
        ("sim:3", "disk:sim3@50%", "sim3 has no disks of its own"),
        ("sim:3,disks=1", "disk:sim3@50%", None),
        ("sim:3", "cut:sim9@50%", "the cluster has no host 'sim9'"),
        ("slurm", "kill:node7@50%", None),
    ],
)
def test_a_fault_is_checked_with_the_hosts_that_are_to_have_it(on: str, fault: str, said: str | None) -> None:
    found = conditions({"on": on, "faults": fault}, MADE)
    if said is None:
        check_fault(found)
    else:
        with pytest.raises(UsageError, match=said):
            check_fault(found)


def test_hosts_bring_a_node_each_unless_one_says_how_many() -> None:
    assert conditions({"on": "channels:3"}, MADE).made.nodes == 3
    for settings in ({"on": "channels:3", "nodes": "5"}, {"nodes": "5", "on": "channels:3"}):
        made = conditions(settings, MADE).made
        assert (made.allocation, made.nodes) == ("channels:3", 5)


def test_what_they_change() -> None:
    found = conditions(
        {"nodes": "3", "cpus": "2", "jvm": "-XX:+UseG1GC -Xss1m", "cache": "dropped", "faults": "datanode@30%",
         "replication": "2", "shuffle_dir": "/dev/shm", "mapreduce.job.reduces": "4"},
        MADE,
    )  # fmt: skip
    assert (found.made.nodes, found.made.processors, found.made.shuffle_directory) == (3, 2, "/dev/shm")
    assert found.made.jvm_flags == found.made.task_flags == ("-XX:+UseG1GC", "-Xss1m")
    assert (found.cold, found.fault) == (True, Fault("datanode", 0.3))
    assert found.conf == {"dfs.replication": "2", "mapreduce.job.reduces": "4"}


def test_what_a_change_takes() -> None:
    names = ("cache", "cpus", "dfs.replication", "dfs.namenode.handler.count", "accelerator")
    assert [cost_of(name) for name in names] == ["job", "cluster", "job", "cluster", "job"]


def test_an_accelerator_is_three_keys_of_the_job_and_none_turns_off_what_a_cluster_has() -> None:
    found = conditions({"accelerator": "sort"}, MADE)
    assert found.made == MADE
    assert found.conf == {
        "mapreduce.job.map.output.collector.class": "org.howdah.sort.SortingCollector,"
        "org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
        "mapreduce.job.reduce.shuffle.consumer.plugin.class": "org.howdah.shuffle.MergingShuffle",
        "fs.hdfs.impl": "org.howdah.hdfs.BufferedFileSystem",
    }
    assert accelerator_of(found.conf) == "sort"
    plain = conditions({"accelerator": "none"}, MADE).conf
    assert plain.keys() == found.conf.keys(), "every run says which it had"
    assert accelerator_of({**found.conf, **plain}) == "none"
    assert plain["fs.hdfs.impl"] == "org.apache.hadoop.hdfs.DistributedFileSystem"


class Small:
    """A host with two processors and no jars, whose user is nobody special."""

    name = "vm"

    def call(self, operation: str, /, **arguments: object) -> object:
        answers = {
            "machine.capacity": {"processors": 2, "memory": 1 << 34, "memory_available": 1 << 34},
            "files.is_writable": False,
            "files.resolve": None,
        }
        return answers[operation]


@pytest.mark.promise("A level that this machine cannot offer is refused before the first run", "reference/experiment")
@pytest.mark.parametrize(
    ("name", "level", "reason"),
    [
        ("cpus", "3", "vm has 2 processors"),
        ("cpus", "2", None),
        ("cache", "dropped", "only root may empty the page cache of vm"),
        ("cache", "warm", None),
        ("shuffle_dir", "/fast", "vm has no directory /fast"),
        ("shuffle_dir", "work", None),
        ("accelerator", "none", None),
        ("accelerator", "sort", "howdah-accelerator.jar has not been built"),
    ],
)
def test_what_a_host_cannot_offer_is_refused_with_the_reason(name: str, level: str, reason: str | None) -> None:
    if reason is None:
        check_factors({name: level}, cast(Host, Small()))
        return
    with pytest.raises(UsageError) as caught:
        check_factors({name: level}, cast(Host, Small()))
    assert caught.value.message.startswith(f"{name} cannot be {level} here: {reason}")
    assert (caught.value.hint is not None) == (name == "accelerator")


def test_an_accelerator_whose_jar_is_there() -> None:
    class Built(Small):
        def call(self, operation: str, /, **arguments: object) -> object:
            assert operation == "files.resolve"
            assert str(arguments["path"]).endswith("/jars/howdah-accelerator.jar")
            return arguments["path"]

    check_factors({"accelerator": "sort"}, cast(Host, Built()))
