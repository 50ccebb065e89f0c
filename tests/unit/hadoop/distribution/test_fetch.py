"""Fetching a Hadoop of four tiny jars from a Maven that is a fake written by hand: no network, no JVM."""

from __future__ import annotations

import hashlib
import io
import os
import threading
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from howdah.errors import HostProblem, UsageError
from howdah.hadoop.distribution.distribution import Distribution, open_locked
from howdah.hadoop.distribution.fetch import Progress, fetch, fetch_locked
from howdah.hadoop.distribution.lock import Artifact, Lock
from howdah.host.protocol import Completed

_POM = "{http://maven.apache.org/POM/4.0.0}"


def jar_bytes(name: str) -> bytes:
    """A jar with one entry; the tests jar of HDFS has the web pages, as the real one does."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as jar:
        jar.writestr(zipfile.ZipInfo("NAME"), name)
        if name == "hadoop-hdfs-tests":
            jar.writestr(zipfile.ZipInfo("webapps/hdfs/index.html"), "<html/>")
    return content.getvalue()


def artifact(name: str, place: str, classifier: str = "", group: str = "org.apache.hadoop") -> Artifact:
    content = jar_bytes(f"{name}-{classifier}" if classifier else name)
    return Artifact(group, name, "3.4.2", classifier, place, len(content), hashlib.sha256(content).hexdigest(), None)


def tiny_lock(digest: str = "lock-1") -> Lock:
    artifacts = (
        artifact("hadoop-common", "common"),
        artifact("hadoop-hdfs", "hdfs", "tests"),
        artifact("hadoop-streaming", "tools/lib"),
        artifact("guava", "common/lib", group="com.google.guava"),
    )
    return Lock("3.4.2", artifacts, {}, digest)


class MavenHost:
    """The part of a Host that `fetch` uses. `broken` names jars that come with wrong bytes, and how often."""

    lost: str | None = None
    name = "here"

    def __init__(self, repository: Path, *, mvn: bool = True, network: bool = True) -> None:
        self.repository = repository
        self.broken: dict[str, int] = {}
        self.runs: list[list[str]] = []
        self._mvn = mvn
        self._network = network

    def call(self, operation: str, /, **arguments: Any) -> Any:
        assert (operation, arguments) == ("files.find_command", {"name": "mvn"})
        return "/usr/bin/mvn" if self._mvn else None

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        pom = ElementTree.parse(argv[argv.index("-f") + 1]).getroot()
        wanted = [
            [dependency.findtext(f"{_POM}{tag}") or "" for tag in ("groupId", "artifactId", "version", "classifier")]
            for dependency in pom.iter(f"{_POM}dependency")
        ]
        self.runs.append([name for _, name, _, _ in wanted])
        if not self._network:
            said = b"\x1b[1;31m[ERROR]\x1b[m Could not transfer artifact x: Unknown host\n[ERROR] \n[ERROR] [Help 1]\n"
            return Completed(1, said, b"", 0.1, 0.1)
        output = next(option for option in argv if option.startswith("-Dmdep.outputFile=")).partition("=")[2]
        Path(output).write_text(":".join(str(self._bring(*one)) for one in wanted))
        return Completed(0, b"", b"", 0.1, 0.1)

    def _bring(self, group: str, name: str, version: str, classifier: str) -> Path:
        suffix = f"-{classifier}" if classifier else ""
        file = self.repository.joinpath(*group.split("."), name, version, f"{name}-{version}{suffix}.jar")
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            content = jar_bytes(f"{name}{suffix}")
            if self.broken.get(name, 0) > 0:
                self.broken[name] -= 1
                content = content[::-1]
            file.write_bytes(content)
        return file

    def start(self, *_: Any, **__: Any) -> Any:
        raise HostProblem("a fetch starts nothing")

    stream = start

    def close(self) -> None:
        pass


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def maven(tmp_path: Path) -> MavenHost:
    return MavenHost(tmp_path / "m2")


def do_fetch(
    maven: MavenHost, cache: Path, *, offline: bool = False, seen: list[Progress] | None = None
) -> Distribution:
    progress = (lambda _: None) if seen is None else seen.append
    return fetch_locked(maven, tiny_lock(), cache, offline=offline, progress=progress, repository=maven.repository)


def jars(distribution: Distribution) -> list[Path]:
    return [*distribution.jars, *distribution.tool_jars]


def test_a_fetch_leaves_a_whole_distribution_in_apaches_layout(maven: MavenHost, cache: Path) -> None:
    seen: list[Progress] = []
    distribution = do_fetch(maven, cache, seen=seen)
    share = cache / "hadoop" / "3.4.2" / "share" / "hadoop"
    assert distribution.jars == (share / "common/hadoop-common-3.4.2.jar", share / "common/lib/guava-3.4.2.jar")
    assert distribution.directories == (share / "hdfs",)
    assert (share / "hdfs/webapps/hdfs/index.html").read_text() == "<html/>"
    assert seen[-1].done == seen[-1].total == sum(one.size for one in tiny_lock().artifacts)
    assert open_locked(tiny_lock(), cache, verify=True) == distribution


@pytest.mark.promise("Once fetched, everything works without a network", "reference/hadoop")
def test_nothing_is_run_when_the_cache_is_whole(maven: MavenHost, cache: Path) -> None:
    do_fetch(maven, cache)
    do_fetch(maven, cache)
    do_fetch(maven, cache, offline=True)
    assert len(maven.runs) == 1


def test_launchers_of_an_earlier_howdah_are_replaced_and_jars_are_not(maven: MavenHost, cache: Path) -> None:
    distribution = do_fetch(maven, cache)
    script = distribution.home / "bin" / "hadoop"
    whole, times = script.read_text(), [jar.stat().st_mtime_ns for jar in jars(distribution)]
    script.write_text("#!/bin/sh\n")
    assert do_fetch(maven, cache, offline=True) == distribution
    assert script.read_text() == whole
    assert [jar.stat().st_mtime_ns for jar in jars(distribution)] == times
    assert len(maven.runs) == 1


def test_jars_of_the_maven_repository_are_used_without_maven(maven: MavenHost, cache: Path, tmp_path: Path) -> None:
    do_fetch(maven, cache)
    do_fetch(maven, tmp_path / "other cache", offline=True)
    assert len(maven.runs) == 1


def test_a_relative_cache_is_one_of_this_directory(
    maven: MavenHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert do_fetch(maven, Path("cache")).home == tmp_path / "cache" / "hadoop" / "3.4.2"


@pytest.mark.promise("An interrupted fetch goes on where it was", "reference/hadoop")
def test_an_interrupted_fetch_goes_on_with_what_is_missing(maven: MavenHost, cache: Path) -> None:
    distribution = do_fetch(maven, cache)
    (distribution.home / "howdah.json").unlink()
    distribution.jars[1].rename(distribution.jars[1].with_suffix(".jar.part"))
    (maven.repository / "com/google/guava/guava/3.4.2/guava-3.4.2.jar").unlink()
    do_fetch(maven, cache)
    assert maven.runs[1:] == [["guava"]]


@pytest.mark.promise("Every jar of the managed Hadoop is checked against the SHA-256 of a lock file", "README")
@pytest.mark.parametrize("harm", ["shorter", "same size", "missing"])
def test_a_damaged_jar_is_named_and_fetched_anew(maven: MavenHost, cache: Path, harm: str) -> None:
    for number in range(len(jars(do_fetch(maven, cache)))):
        jar = jars(do_fetch(maven, cache))[number]
        whole = jar.read_bytes()
        if harm == "missing":
            jar.unlink()
        else:
            jar.write_bytes(whole[1:] if harm == "shorter" else whole[::-1])
        with pytest.raises(HostProblem, match=jar.name) as caught:
            open_locked(tiny_lock(), cache)
        assert "howdah hadoop fetch 3.4.2" in (caught.value.hint or "")
        do_fetch(maven, cache)
        assert jar.read_bytes() == whole


def test_a_jar_changed_behind_its_time_is_found_by_the_full_check(maven: MavenHost, cache: Path) -> None:
    jar = do_fetch(maven, cache).jars[0]
    facts = jar.stat()
    jar.write_bytes(jar.read_bytes()[::-1])
    os.utime(jar, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    open_locked(tiny_lock(), cache)
    with pytest.raises(HostProblem, match="SHA-256"):
        open_locked(tiny_lock(), cache, verify=True)


@pytest.mark.promise("Every jar of the managed Hadoop is checked against the SHA-256 of a lock file", "README")
def test_a_corrupt_jar_in_the_repository_is_deleted_and_fetched_again(maven: MavenHost, cache: Path) -> None:
    maven.broken = {"guava": 1}
    do_fetch(maven, cache)
    assert maven.runs[1:] == [["guava"]]


def test_a_jar_that_stays_wrong_is_named_and_not_left_in_the_repository(maven: MavenHost, cache: Path) -> None:
    maven.broken = {"guava": 9}
    with pytest.raises(HostProblem, match=r"guava-3.4.2.jar .*another SHA-256"):
        do_fetch(maven, cache)
    assert len(maven.runs) == 2
    assert not (maven.repository / "com/google/guava/guava/3.4.2/guava-3.4.2.jar").exists()
    with pytest.raises(HostProblem, match="not in the cache"):
        open_locked(tiny_lock(), cache)


def test_offline_with_an_empty_cache_says_what_to_do(maven: MavenHost, cache: Path) -> None:
    with pytest.raises(HostProblem, match=r"hadoop-common-3.4.2.jar, .* and 1 more jars .*offline") as caught:
        do_fetch(maven, cache, offline=True)
    assert "online" in (caught.value.hint or "")
    assert maven.runs == []


def test_no_maven(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(HostProblem, match="no mvn on the PATH") as caught:
        do_fetch(MavenHost(tmp_path / "m2", mvn=False), cache)
    assert "HADOOP_HOME" in (caught.value.hint or "")


def test_no_network_shows_what_maven_said_last(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(HostProblem, match=r"3.4.2: Could not transfer artifact x: Unknown host\n"):
        do_fetch(MavenHost(tmp_path / "m2", network=False), cache)


def test_a_new_lock_drops_jars_of_the_old_one(maven: MavenHost, cache: Path) -> None:
    distribution = do_fetch(maven, cache)
    smaller = replace(tiny_lock("lock-2"), artifacts=tiny_lock().artifacts[:3])
    with pytest.raises(HostProblem, match="another lock"):
        open_locked(smaller, cache)
    fetch_locked(maven, smaller, cache, offline=True, progress=lambda _: None, repository=maven.repository)
    assert not distribution.jars[1].exists()


@pytest.mark.promise("Two fetches at once are safe", "reference/hadoop")
def test_of_two_fetches_at_once_one_does_the_work(maven: MavenHost, cache: Path) -> None:
    threads = [threading.Thread(target=do_fetch, args=(maven, cache)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(maven.runs) == 1
    open_locked(tiny_lock(), cache, verify=True)


def test_an_unknown_version_names_those_there_are(maven: MavenHost, cache: Path) -> None:
    with pytest.raises(UsageError, match=r"no managed Hadoop 2.0.0; there are 3.4.2, 3.5.0"):
        fetch(maven, "2.0.0", cache, offline=True, progress=lambda _: None)
