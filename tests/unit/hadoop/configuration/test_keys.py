from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.hadoop.configuration.keys import Key, check_key, known_keys
from howdah.hadoop.distribution.distribution import Distribution, managed
from howdah.store import howdah_home

KNOWN = {
    name: Key(name)
    for name in (
        "mapreduce.job.reduces dfs.blocksize dfs.replication dfs.namenode.rpc-address yarn.nodemanager.aux-services "
        "mapreduce.task.io.sort.mb fs.defaultFS dfs.datanode.data.dir yarn.nodemanager.resource.memory-mb"
    ).split()
} | {"dfs.block.size": Key("dfs.block.size", replaced_by="dfs.blocksize"), "fs.abfs.impl": Key("fs.abfs.impl")}


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("mapreduce.job.reducers", "mapreduce.job.reduces"),
        ("mapreduce.job.reduce", "mapreduce.job.reduces"),
        ("dfs.block.sise", "dfs.blocksize"),
        ("dfs.blcoksize", "dfs.blocksize"),
        ("dfs.bloksise", "dfs.blocksize"),
        ("fs.defaultFs", "fs.defaultFS"),
        ("yarn.nodemanger.resource.memory-mb", "yarn.nodemanager.resource.memory-mb"),
        ("mapreduce.task.io.sort-mb", "mapreduce.task.io.sort.mb"),
    ],
)
def test_a_slip_is_caught(key: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"does not know the key {key}; did you mean {meant}\\?"):
        check_key(key, KNOWN)


@pytest.mark.parametrize(
    "key",
    [
        *KNOWN,
        "dfs.namenode.rpc-address.ns1.nn1",
        "yarn.nodemanager.aux-services.spark_shuffle.class",
        "dfs.datanode.data.dir2",
        "my.own.key",
        "fs.abc",
        "fs.hdfs.impl",
        "fs.AbstractFileSystem.hdfs.impl",
    ],
)
def test_known_keys_their_extensions_and_the_users_own_pass(key: str) -> None:
    check_key(key, KNOWN)


def class_file(*strings: str) -> bytes:
    """The start of a class file: a constant pool with `strings`, and a long, which takes two places."""
    pool = b"".join(b"\x01" + struct.pack(">H", len(text)) + text.encode() for text in strings)
    return struct.pack(">IHHH", 0xCAFEBABE, 0, 52, len(strings) + 3) + b"\x05" + bytes(8) + pool


def test_keys_come_from_default_files_constants_and_the_deprecated(tmp_path: Path) -> None:
    jar = tmp_path / "hadoop-x.jar"
    with zipfile.ZipFile(jar, "w") as content:
        content.writestr(
            "core-default.xml",
            "<configuration><property><name>io.file.buffer.size</name><value>4096</value>"
            "<description>The size\n of buffers.</description></property></configuration>",
        )
        content.writestr(
            "org/apache/hadoop/mapreduce/MRJobConfig.class",
            class_file("mapreduce.map.java.opts", "io.file.buffer.size", "Ljava/lang/String;", "MRJobConfig.java"),
        )
        content.writestr("org/apache/hadoop/Other.class", class_file("not.a.key"))
    known = known_keys(Distribution("3.4.2", tmp_path, "home", (jar,), (), ()))
    assert known["io.file.buffer.size"] == Key("io.file.buffer.size", "4096", "The size of buffers.")
    assert known["mapreduce.map.java.opts"] == Key("mapreduce.map.java.opts")
    assert known["mapred.reduce.tasks"].replaced_by == "mapreduce.job.reduces"
    assert "not.a.key" not in known
    assert "MRJobConfig.java" not in known


@pytest.mark.daemons
@pytest.mark.parametrize(
    "key",
    [
        "dfs.ha.namenodes.ns1",
        "dfs.namenode.rpc-address.ns1.nn1",
        "fs.viewfs.mounttable.default.link./data",
        "hadoop.proxyuser.hive.hosts",
        "mapreduce.job.map.output.collector.class",
        "mapreduce.job.reduce.shuffle.consumer.plugin.class",
        "mapreduce.map.java.opts",
        "mapreduce.terasort.output.replication",
        "mapreduce.terasort.simplepartitioner",
        "yarn.nodemanager.aux-services.mapreduce_shuffle.class",
        "yarn.resourcemanager.hostname.rm1",
        "yarn.scheduler.capacity.root.defaul.capacity",
    ],
)
def test_no_false_alarm_with_the_keys_of_a_real_hadoop(key: str) -> None:
    check_key(key, known_keys(managed("3.4.2", howdah_home() / "cache")))


@pytest.mark.daemons
def test_a_slip_is_caught_with_the_keys_of_a_real_hadoop() -> None:
    known = known_keys(managed("3.4.2", howdah_home() / "cache"))
    assert known["dfs.blocksize"].default == "134217728"
    with pytest.raises(UsageError, match=r"did you mean mapreduce.job.reduces\?"):
        check_key("mapreduce.job.reducers", known)
