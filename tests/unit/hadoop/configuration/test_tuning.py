from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.hadoop.configuration import tuning
from howdah.hadoop.configuration.cluster import Scope, configure, environment_script, file_of, scope_of, with_overrides
from howdah.hadoop.configuration.site import expand, parse_site, render_site
from howdah.hadoop.configuration.sizing import size_cluster
from howdah.hadoop.distribution.archive import task_arguments
from howdah.hadoop.distribution.distribution import of_lock
from howdah.hadoop.distribution.jdk import Jdk
from howdah.hadoop.distribution.lock import read_lock
from tests.plans import plan_of

GIB = 1 << 30
JDK = Jdk("/jdk", (17, 0, 1), "Debian", "x86_64", ())
FACTS = tuning.TuningFacts(size_cluster(3, 2, 24 * GIB, 22 * GIB, 80 * GIB), JDK, "/cache/a.jsa")
NAMES = [one.name for one in tuning.TUNINGS]
PLAN = plan_of(2, root="/work")


def test_names_are_distinct_and_reasons_given() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(one.why and one.results for one in tuning.TUNINGS)


@pytest.mark.promise("`--defaults stock` leaves out all of them", "reference/tuned-defaults")
def test_stock_is_nothing_at_all() -> None:
    assert tuning.resolve(tuning.select(stock=True), FACTS) == {}


@pytest.mark.promise("`--without NAME` leaves out one tuned default", "reference/tuned-defaults")
@pytest.mark.parametrize("name", NAMES)
def test_each_can_be_left_out_alone_and_matters(name: str) -> None:
    whole, fewer = tuning.select(stock=False), tuning.select(stock=False, without=(name,))
    assert [one.name for one in fewer] == [one for one in NAMES if one != name]

    def everything(chosen: tuple[tuning.Tuning, ...]) -> object:
        given = tuning.for_workloads(chosen, FACTS.sizing)
        return tuning.resolve(chosen, FACTS), tuning.client_flags(chosen, FACTS), given

    assert everything(whole) != everything(fewer)


@pytest.mark.promise("Your programs compute the same as with Hadoop's defaults", "how-to/use-your-own-programs")
def test_no_program_of_a_users_gets_what_would_change_its_results() -> None:
    tuned = tuning.select(stock=False)
    given = tuning.for_workloads(tuned, FACTS.sizing)
    shared = {"mapreduce.reduce.input.buffer.percent"}
    assert given.keys() & tuning.resolve(tuned, FACTS).keys() == shared
    assert {"mapreduce.job.maps", "mapreduce.job.reduces", "dfs.blocksize", "dfs.bytes-per-checksum"} < given.keys()
    assert tuning.for_workloads(tuning.select(stock=True), FACTS.sizing) == {}


@pytest.mark.parametrize("task_mib", [512, 640, 1024, 1536, 2048, 4096])
def test_a_users_reduce_has_the_heap_that_hadoops_defaults_give_it(task_mib: int) -> None:
    facts = replace(FACTS, sizing=replace(FACTS.sizing, task_mib=task_mib))
    found = tuning.resolve(tuning.select(stock=False), facts)
    heap, kept = facts.sizing.task_heap_mib, float(found["mapreduce.reduce.input.buffer.percent"])
    young = re.search(r"-Xmn(\d+)m", found[tuning.TASK_OPTIONS])
    assert young is not None
    assert kept == 0 or heap * (1 - kept) >= 819 + int(young[1])
    assert (kept > 0) == (task_mib > 1200)


@pytest.mark.parametrize("task_mib", [512, 640, 1024, 1536, 2048, 4096])
def test_what_a_reduce_fetches_fits_beside_the_young_generation_with_all_that_hadoop_takes_too_much(
    task_mib: int,
) -> None:
    facts = replace(FACTS, sizing=replace(FACTS.sizing, task_mib=task_mib))
    found = tuning.resolve(tuning.select(stock=False), facts)
    young = re.search(r"-Xmn(\d+)m", found[tuning.TASK_OPTIONS])
    assert young is not None
    heap = facts.sizing.task_heap_mib
    fetched = 1.25 * float(found["mapreduce.reduce.shuffle.input.buffer.percent"]) * heap
    assert 0.5 * heap < fetched < heap - int(young[1]) - 60


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown tuned default: 'large-block'"):
        tuning.select(stock=False, without=("large-block",))


@pytest.mark.promise("Each NodeManager offers what its host has", "reference/allocations")
def test_a_larger_node_has_more_unless_the_user_says_how_much() -> None:
    sizing = replace(FACTS.sizing, larger={"node2": 5})
    tunings = tuning.select(stock=False)
    of_nodes = tuning.for_nodes(tunings, sizing)
    memory, vcores = "yarn.nodemanager.resource.memory-mb", "yarn.nodemanager.resource.cpu-vcores"
    assert of_nodes == {"node2": {memory: str(sizing.mib_of(5)), vcores: "6"}}
    common = tuning.resolve(tunings, replace(FACTS, sizing=sizing))
    assert common["yarn.scheduler.maximum-allocation-mb"] == str(sizing.mib_of(5))
    hadoop = of_lock(read_lock("3.4.2"), Path("/hadoop"))
    made = configure(PLAN, hadoop, common, {vcores: "9"}, of_nodes)
    assert made.nodes["node2"][memory] == str(sizing.mib_of(5))
    assert vcores not in made.nodes["node2"], "the user's holds everywhere"
    assert memory not in made.nodes["node1"]
    assert tuning.for_nodes(tuning.select(stock=True), sizing) == {}


def test_without_an_archive_no_flag_names_one() -> None:
    found = tuning.resolve(tuning.select(stock=False), replace(FACTS, archive=None))
    assert "Shared" not in str(found)
    assert "@" not in found[tuning.TASK_OPTIONS]
    settings = tuning.resolve(tuning.select(stock=False), FACTS)
    assert "@$HADOOP_CONF_DIR/task-" in settings[tuning.TASK_OPTIONS]
    assert "/cache/a.jsa" not in str(settings), "a path of one host; its file of arguments has it"
    assert "-XX:SharedArchiveFile=/cache/a.jsa" in tuning.client_flags(tuning.select(stock=False), FACTS)


@pytest.mark.parametrize(
    ("major", "there"), [(8, False), (11, False), (15, True), (17, True), (18, False), (21, False)]
)
def test_a_flag_that_newer_javas_refuse_is_not_given_to_them(major: int, there: bool) -> None:
    facts = replace(FACTS, jdk=replace(JDK, version=(major, 0, 1)))
    found = tuning.resolve(tuning.select(stock=False), facts)[tuning.TASK_OPTIONS]
    assert ("BiasedLocking" in found) is there


def test_generations_are_sized_for_the_serial_collector_alone() -> None:
    def flags(*theirs: str, without: tuple[str, ...] = (), java: int = 17) -> list[str]:
        facts = replace(FACTS, jdk=replace(JDK, version=(java, 0, 1)))
        chosen = tuning.select(stock=False, without=without)
        return tuning.resolve(chosen, facts, theirs)[tuning.TASK_OPTIONS].split()

    assert {"-Xmn64m", "-XX:PretenureSizeThreshold=1m"} <= set(flags())
    assert {"-Xmn64m", "-XX:PretenureSizeThreshold=1m"} <= set(flags("-XX:+UseSerialGC"))
    for other in (flags("-XX:+UseG1GC"), flags(without=("serial-collector",))):
        assert not [flag for flag in other if flag.startswith(("-Xmn", "-XX:Pretenure"))]
    assert "-XX:PretenureSizeThreshold=1m" not in flags(java=26)


def test_heaps_are_below_their_containers() -> None:
    found = tuning.resolve(tuning.select(stock=False), FACTS)
    assert "-Xmx" not in found[tuning.TASK_OPTIONS], "Hadoop derives it from the container, whatever its size"
    assert FACTS.sizing.task_heap_mib < int(found["mapreduce.map.memory.mb"])
    assert found["yarn.app.mapreduce.am.command-opts"].startswith(f"-Xmx{FACTS.sizing.am_heap_mib}m ")
    assert FACTS.sizing.am_heap_mib < int(found["yarn.app.mapreduce.am.resource.mb"])


@pytest.mark.promise("A job that sets the JVM options of its tasks replaces Howdah's", "how-to/use-your-own-programs")
def test_options_of_a_users_programs_replace_ours() -> None:
    """Hadoop reads the key of maps or of reduces, then that of both."""
    found = tuning.resolve(tuning.select(stock=False), FACTS, ("-Da=1",))
    keys = {key for key in found if key.endswith("java.opts")}
    assert keys == {"mapred.child.java.opts"}, "a program that sets this old key still gets what it asks for"


@pytest.mark.parametrize(
    ("key", "file", "scope"),
    [
        ("dfs.blocksize", "hdfs-site.xml", Scope.JOB),
        ("dfs.client.read.shortcircuit", "hdfs-site.xml", Scope.JOB),
        ("dfs.namenode.handler.count", "hdfs-site.xml", Scope.CLUSTER),
        ("mapreduce.map.memory.mb", "mapred-site.xml", Scope.JOB),
        ("mapreduce.shuffle.max.threads", "mapred-site.xml", Scope.CLUSTER),
        ("mapreduce.jobhistory.done-dir", "mapred-site.xml", Scope.CLUSTER),
        ("yarn.app.mapreduce.am.resource.mb", "mapred-site.xml", Scope.JOB),
        ("yarn.nodemanager.resource.memory-mb", "yarn-site.xml", Scope.CLUSTER),
        ("io.file.buffer.size", "core-site.xml", Scope.JOB),
        ("hadoop.tmp.dir", "core-site.xml", Scope.CLUSTER),
    ],
)
def test_where_a_key_belongs_and_who_reads_it(key: str, file: str, scope: Scope) -> None:
    assert (file_of(key), scope_of(key)) == (file, scope)


@pytest.mark.promise("`--conf KEY=VALUE` wins over all tuned defaults", "reference/tuned-defaults")
def test_the_users_settings_win_over_tuned_ones_and_those_over_what_is_needed() -> None:
    distribution = of_lock(read_lock("3.4.2"), Path("/hadoop"))
    tuned = {"dfs.replication": "7", "dfs.heartbeat.interval": "9"}
    made = configure(PLAN, distribution, tuned, {"dfs.replication": "1"})
    assert (made.common["dfs.replication"], made.common["dfs.heartbeat.interval"]) == ("1", "9")
    files = made.files("node2", "export JAVA_HOME=x\n")
    assert files["hadoop-env.sh"] == b"export JAVA_HOME=x\n"
    node = parse_site(files["hdfs-site.xml"], "hdfs-site.xml").properties
    assert node["dfs.datanode.address"] == f"127.77.0.3:{PLAN.nodes[1].ports['datanode_data']}"
    client = parse_site(made.files(None, "")["hdfs-site.xml"], "hdfs-site.xml").properties
    assert "dfs.datanode.address" not in client, "a client has no node's own settings"
    assert client["dfs.client.use.datanode.hostname"] == "true"


@pytest.mark.promise("A cluster that was stopped leaves nothing in `/tmp`", "CHANGELOG")
def test_what_daemons_keep_is_in_the_clusters_own_directory() -> None:
    """These are Hadoop's keys whose default is a directory of the user's below /tmp on the daemon's own disk."""
    made = configure(PLAN, of_lock(read_lock("3.4.2"), Path("/hadoop")), {}, {}).common
    assert made["hadoop.tmp.dir"].startswith("/work/")
    assert made["yarn.node-attribute.fs-store.root-dir"].startswith("file:///work/")


@pytest.mark.promise("`howdah up` demands the type of what is mounted", "how-to/filesystem")
def test_where_the_storage_is_mounted_its_types_are_demanded() -> None:
    distribution = of_lock(read_lock("3.4.2"), Path("/hadoop"))
    own = replace(PLAN, storage="posix:/data/shared")
    mounted = replace(own, mount_types=("lustre", "nfs4"))
    plain, demanding = (configure(plan, distribution, {}, {}).common for plan in (own, mounted))
    assert plain["fs.posixfs.mount.required"] == "false"
    assert "fs.posixfs.mount.type" not in plain
    assert demanding["fs.posixfs.mount.required"] == "true"
    assert demanding["fs.posixfs.mount.type"] == "lustre,nfs4"


@pytest.mark.promise("`mapreduce.job.user.classpath.first` puts the job's own classes first", "CHANGELOG")
def test_a_job_whose_own_classes_come_first_has_hadoops_class_path() -> None:
    """Hadoop replaces a variable in a setting by the job's own value of that key."""
    found = tuning.resolve(tuning.select(stock=False), FACTS)
    key = "mapreduce.job.user.classpath.first"
    assert found[key] == "false", "Hadoop's default, without which there is nothing to replace it by"
    files = task_arguments(of_lock(read_lock("3.4.2"), Path("/hadoop")), "/a.jsa", "/conf")
    for first, is_empty in (("false", False), ("true", True)):
        job = expand({**found, key: first})
        for options in (job[tuning.TASK_OPTIONS], job["yarn.app.mapreduce.am.command-opts"]):
            [file] = [word.removeprefix("@$HADOOP_CONF_DIR/") for word in options.split() if word.startswith("@")]
            assert (files[file] == "") == is_empty


@pytest.mark.promise("`HADOOP_OPTS` and `HADOOP_CLIENT_OPTS` may name a garbage collector", "CHANGELOG")
@pytest.mark.parametrize(
    ("variables", "collectors"),
    [
        ({}, ["-XX:+UseSerialGC"]),
        ({"HADOOP_OPTS": "-Da=1 -XX:+UseG1GC"}, ["-XX:+UseG1GC"]),
        ({"HADOOP_CLIENT_OPTS": "-XX:+UseParallelGC"}, []),
        ({"JDK_JAVA_OPTIONS": "-XX:+UseZGC"}, []),
    ],
)
def test_a_collector_that_the_user_exports_replaces_ours(variables: dict[str, str], collectors: list[str]) -> None:
    flags = tuning.client_flags(tuning.select(stock=False), FACTS)
    script = environment_script(of_lock(read_lock("3.4.2"), Path("/hadoop")), JDK, flags, "/logs")
    twice = f"{script}{script}echo $HADOOP_OPTS"  # Launchers call each other.
    said = subprocess.run(["/bin/bash", "-c", twice], env=variables, capture_output=True, text=True, check=True)
    options = said.stdout.split()
    assert list(dict.fromkeys(flag for flag in options if tuning.is_collector(flag))) == collectors
    assert "-XX:TieredStopAtLevel=1" in options


@pytest.mark.parametrize("source", ["managed", "home"])
def test_our_own_jars_are_where_containers_and_clients_look(source: str) -> None:
    plain = replace(of_lock(read_lock("3.4.2"), Path("/hadoop")), source=source)  # type: ignore[arg-type]
    own = replace(plain, plugins=(Path("/own/plugin.jar"),))
    key = "mapreduce.application.classpath"
    before, after = (configure(PLAN, one, {}, {}).common[key] for one in (plain, own))
    assert after == f"{before},/own/plugin.jar"
    lines = environment_script(own, JDK, (), "/logs").splitlines()
    assert "export HOWDAH_PLUGINS='/own/plugin.jar'" in lines
    assert any("HADOOP_CLASSPATH" in line for line in lines) == (source == "home")
    assert "PLUGINS" not in environment_script(plain, JDK, (), "/logs")


def test_overrides_stand_in_their_own_file_alone() -> None:
    files = {
        "core-site.xml": render_site({"mapreduce.job.tags": "old", "a.b": "1"}).encode(),
        "hdfs-site.xml": render_site({"dfs.replication": "3"}, final=["dfs.replication"]).encode(),
        "log4j.properties": b"x",
    }
    changed = with_overrides(files, {"mapreduce.job.tags": "new", "dfs.replication": "1", "yarn.x": "<&>"})
    sites = {name: parse_site(text, name).properties for name, text in changed.items() if name.endswith(".xml")}
    assert sites == {
        "core-site.xml": {"a.b": "1"},
        "hdfs-site.xml": {"dfs.replication": "3"},
        "mapred-site.xml": {"mapreduce.job.tags": "new"},
        "yarn-site.xml": {"yarn.x": "<&>"},
    }
    assert changed["log4j.properties"] == b"x"
    assert changed["hdfs-site.xml"] == files["hdfs-site.xml"], "final, and unchanged to the byte"
    assert with_overrides(files, {}) == files
