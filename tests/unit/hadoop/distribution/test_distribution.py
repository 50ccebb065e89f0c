from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.errors import HostProblem, UsageError
from howdah.hadoop.distribution.distribution import from_home, of_lock
from howdah.hadoop.distribution.lock import managed_versions, read_lock


def apache(home: Path, *names: str) -> Path:
    """A directory with the files `names` below share/hadoop, each holding its own name."""
    for name in names:
        file = home / "share" / "hadoop" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return home


WHOLE = (
    "common/hadoop-common-3.3.6.jar",
    "common/hadoop-common-3.3.6-tests.jar",
    "common/sources/hadoop-common-3.3.6-sources.jar",
    "common/lib/guava-27.0-jre.jar",
    "hdfs/hadoop-hdfs-3.3.6.jar",
    "hdfs/lib/guava-27.0-jre.jar",
    "hdfs/webapps/hdfs/index.html",
    "yarn/hadoop-yarn-api-3.3.6.jar",
    "yarn/lib/fst-2.50.jar",
    "mapreduce/hadoop-mapreduce-client-jobclient-3.3.6-tests.jar",
    "mapreduce/hadoop-mapreduce-examples-3.3.6.jar",
    "tools/lib/hadoop-streaming-3.3.6.jar",
    "tools/lib/guava-27.0-jre.jar",
)


def relative(jars: tuple[Path, ...], home: Path) -> list[str]:
    return [str(jar.relative_to(home / "share" / "hadoop")) for jar in jars]


def test_an_apache_distribution_is_opened_with_hadoops_own_jars_first(tmp_path: Path) -> None:
    distribution = from_home(apache(tmp_path, *WHOLE))
    assert (distribution.version, distribution.source, distribution.substitutes) == ("3.3.6", "home", {})
    assert relative(distribution.jars, tmp_path) == [
        "common/hadoop-common-3.3.6.jar",
        "hdfs/hadoop-hdfs-3.3.6.jar",
        "yarn/hadoop-yarn-api-3.3.6.jar",
        "mapreduce/hadoop-mapreduce-examples-3.3.6.jar",
        "common/lib/guava-27.0-jre.jar",
        "yarn/lib/fst-2.50.jar",
    ]
    assert relative(distribution.tool_jars, tmp_path) == [
        "common/hadoop-common-3.3.6-tests.jar",
        "mapreduce/hadoop-mapreduce-client-jobclient-3.3.6-tests.jar",
        "tools/lib/hadoop-streaming-3.3.6.jar",
    ]
    assert relative(distribution.directories, tmp_path) == ["hdfs"]
    assert distribution.examples_jar.name == "hadoop-mapreduce-examples-3.3.6.jar"
    assert distribution.streaming_jar.name == "hadoop-streaming-3.3.6.jar"
    assert distribution.jobclient_tests_jar.name == "hadoop-mapreduce-client-jobclient-3.3.6-tests.jar"


def test_testdfsio_goes_by_its_name_and_needs_its_own_jar(tmp_path: Path) -> None:
    carrier = "hdfs/hadoop-hdfs-3.3.6-tests.jar"
    jar, program = from_home(apache(tmp_path / "whole", *WHOLE, carrier)).dfsio
    assert (Path(jar).name, program) == (Path(carrier).name, "org.apache.hadoop.fs.TestDFSIO")
    lacking = from_home(apache(tmp_path / "lacking", *(one for one in WHOLE if "jobclient" not in one), carrier))
    with pytest.raises(HostProblem, match=r"has no hadoop-mapreduce-client-jobclient-3\.3\.6-tests\.jar"):
        _ = lacking.dfsio


def test_the_configuration_comes_after_the_jars_and_before_the_tests_jars(tmp_path: Path) -> None:
    distribution = from_home(apache(tmp_path, *WHOLE))
    entries = distribution.tests_classpath("/conf").split(":")
    assert entries[: len(distribution.jars) + 1] == [*map(str, distribution.jars), f"{tmp_path}/share/hadoop/hdfs"]
    assert entries[len(distribution.jars) + 1 :] == ["/conf", *map(str, distribution.tool_jars)]
    assert distribution.classpath("/conf").split(":")[-1] == "/conf"


def test_plugins_are_between_hadoops_jars_and_directories(tmp_path: Path) -> None:
    plain = from_home(apache(tmp_path / "hadoop", *WHOLE))
    jar = tmp_path / "plugin.jar"
    jar.write_text("one")
    own = replace(plain, plugins=(jar,))
    begin = [*map(str, plain.jars), str(jar), str(plain.directories[0]), "/conf"]
    assert own.classpath("/conf").split(":") == begin
    assert own.tests_classpath("/conf").split(":") == [*begin, *map(str, plain.tool_jars)]
    assert own.hashes() == {**plain.hashes(), "plugin.jar": hashlib.sha256(b"one").hexdigest()}
    before = own.fingerprint()
    assert before != plain.fingerprint()
    jar.write_text("another")
    assert own.fingerprint() != before


@pytest.mark.parametrize("version", managed_versions()[:1])
def test_a_lock_says_nothing_of_plugins(version: str, tmp_path: Path) -> None:
    lock = read_lock(version)
    jar = tmp_path / "plugin.jar"
    jar.write_text("one")
    hashes = replace(of_lock(lock, Path("/h")), plugins=(jar,)).hashes()
    assert len(hashes) == len(lock.artifacts) + 1
    assert hashes["plugin.jar"] == hashlib.sha256(b"one").hexdigest()


def test_hashes_of_a_home_are_computed(tmp_path: Path) -> None:
    hashes = from_home(apache(tmp_path, *WHOLE)).hashes()
    name = "hdfs/hadoop-hdfs-3.3.6.jar"
    assert hashes[f"share/hadoop/{name}"] == hashlib.sha256(name.encode()).hexdigest()
    assert len(hashes) == 9


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), "it has no share/hadoop"),
        (("hdfs/hadoop-hdfs-3.3.6.jar",), "should have one hadoop-common-VERSION.jar, has none"),
        (
            ("common/hadoop-common-3.3.6.jar", "common/hadoop-common-3.4.2.jar"),
            r"has 2 of them \(3.3.6, 3.4.2\)",
        ),
        (("common/hadoop-common-3.3.6.jar",), "not whole: no hadoop-.*jar in share/hadoop/hdfs"),
    ],
)
def test_what_is_no_distribution_is_refused(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        from_home(apache(tmp_path, *names))


def test_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a directory"):
        from_home(tmp_path / "nowhere")


def test_a_vendors_version_is_read(tmp_path: Path) -> None:
    names = [name.replace("3.3.6", "3.3.6.5-cdh-71") for name in WHOLE]
    assert from_home(apache(tmp_path, *names)).version == "3.3.6.5-cdh-71"


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    distribution = from_home(apache(tmp_path, *(name for name in WHOLE if "streaming" not in name)))
    with pytest.raises(HostProblem, match="no hadoop-streaming"):
        _ = distribution.streaming_jar


@pytest.mark.parametrize("version", managed_versions())
def test_the_locks(version: str) -> None:
    lock = read_lock(version)
    distribution = of_lock(lock, Path("/h"))
    names = [jar.name for jar in distribution.jars]
    assert len({one.in_home for one in lock.artifacts}) == len(lock.artifacts)
    assert all(len(one.sha256) == 64 and one.size > 0 for one in lock.artifacts)
    own = [name.startswith("hadoop-") and "shaded" not in name for name in names]
    assert own == sorted(own, reverse=True), "Hadoop's own jars come first"
    assert not any("-tests" in name or name.startswith(("junit", "mockito")) for name in names)
    assert len({name.rsplit("-", 1)[0] for name in names}) > 150
    for needed in ("hadoop-common-", "hadoop-yarn-server-nodemanager-", "lz4-java-", "snappy-java-", "leveldbjni-all-"):
        assert any(name.startswith(needed) for name in names), needed
    assert any("linux-x86_64" in name for name in names)
    assert any("linux-aarch_64" in name for name in names)
    assert not any("osx" in name or "riscv" in name for name in names)
    assert lock.deprecated["mapred.reduce.tasks"] == "mapreduce.job.reduces"


def test_jars_that_3_5_0_did_not_publish_are_of_3_4_2_and_say_so() -> None:
    substitutes = of_lock(read_lock("3.5.0"), Path("/h")).substitutes
    assert substitutes["hadoop-mapreduce-examples-3.4.2.jar"] == "3.4.2"
    assert substitutes["hadoop-streaming-3.4.2.jar"] == "3.4.2"
    assert of_lock(read_lock("3.4.2"), Path("/h")).substitutes == {}
