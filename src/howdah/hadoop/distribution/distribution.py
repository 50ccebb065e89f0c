"""A Hadoop distribution on disk: a managed one, or the user's own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from howdah.errors import HostProblem, UsageError
from howdah.hadoop.distribution.lock import Lock, read_lock

# Written last by `fetch`: without it, a cached distribution is not complete.
STAMP = "howdah.json"
# HDFS daemons do not start without it. The published jar of HDFS lacks these pages, its tests jar has them.
WEB_PAGES = "share/hadoop/hdfs/webapps"

_COMMON = re.compile(r"hadoop-common-(\d+\.\d+\.\d+(?:[.-](?!tests|sources|test-sources|javadoc)[\w.]+)*)\.jar")
_OWN = ("common", "hdfs", "yarn", "mapreduce")
_LIBRARIES = ("common/lib", "hdfs/lib", "yarn/lib", "mapreduce/lib")
_TOOLS = ("yarn/test", "tools/lib")


@dataclass(frozen=True, slots=True)
class Distribution:
    """Hadoop at `home` (an HADOOP_HOME with `share/hadoop/…`).

    `jars` begin the class path of daemons and clients, each by name. Their order is fixed, because class-data sharing
    demands the same prefix in every JVM: first the jars of Hadoop, then all others. `plugins` are next. These are
    Howdah's jars, which are elsewhere; a distribution has none unless they are added to it. `directories` follow, with
    the daemons' web pages. `tool_jars` come last where they are needed: the tests jars with their libraries, distcp,
    streaming, gridmix. `substitutes` maps the file names of jars of another release than `version` to that release.
    """

    version: str
    home: Path
    source: Literal["managed", "home"]
    jars: tuple[Path, ...]
    directories: tuple[Path, ...]
    tool_jars: tuple[Path, ...]
    substitutes: Mapping[str, str] = field(default_factory=dict)
    locked: Mapping[str, str] | None = None
    """SHA-256 by path relative to `home`, if a lock has them."""
    plugins: tuple[Path, ...] = ()
    beside: tuple[Path, ...] = ()
    """Howdah's jars that are on the class path of single daemons alone, at its end."""

    def jar_beside(self, name: str) -> Path:
        """Return the jar of the module `name` among `beside`."""
        return next(jar for jar in self.beside if jar.stem == name)

    @property
    def prefix(self) -> tuple[Path, ...]:
        """Jars at the beginning of the class path of every JVM."""
        return (*self.jars, *self.plugins)

    def classpath(self, *extra: Path | str) -> str:
        """Return the class path of daemons and clients; `extra` (the configuration directory) goes to its end."""
        return ":".join(map(str, (*self.prefix, *self.directories, *extra)))

    def tests_classpath(self, *extra: Path | str) -> str:
        """Return the class path for the programs in the tests jars (`TestDFSIO`, `NNThroughputBenchmark`) and for
        tools.

        `extra` is before the tests jars, which have a `log4j.properties` that would hide the one of `extra`.
        """
        return ":".join(map(str, (*self.prefix, *self.directories, *extra, *self.tool_jars)))

    def fingerprint(self) -> str:
        """Return a digest that changes with the release, and with the path, size or time of a jar."""
        digest = hashlib.sha256(self.version.encode())
        for jar in self.prefix:
            facts = jar.stat()
            digest.update(f"{jar} {facts.st_size} {facts.st_mtime_ns}\n".encode())
        return digest.hexdigest()

    @property
    def examples_jar(self) -> Path:
        """Jar with `pi`, `teragen`, `terasort`, `teravalidate`, `wordcount` …"""
        return self._find("mapreduce", "hadoop-mapreduce-examples-*.jar")

    @property
    def streaming_jar(self) -> Path:
        return self._find("tools/lib", "hadoop-streaming-*.jar")

    @property
    def distcp_jar(self) -> Path:
        return self._find("tools/lib", "hadoop-distcp-*.jar")

    @property
    def jobclient_tests_jar(self) -> Path:
        """Jar with `TestDFSIO`, `nnbench`, `mrbench`, `minicluster` …; they need the class path of the tests."""
        return self._find("mapreduce", f"hadoop-mapreduce-client-jobclient-{self.version}-tests.jar")

    @property
    def dfsio(self) -> tuple[str, ...]:
        """Arguments by which `hadoop jar` runs TestDFSIO, which needs the class path of the tests.

        In Hadoop 3.5.0, the list of the programs in TestDFSIO's jar breaks off before TestDFSIO. It does so at a class
        that has no `main` any more (`MapredTestDriver`). The arguments therefore name the class, after a jar that has
        no such list.

        Raises:
            HostProblem: one of the two jars is missing.
        """
        _ = self.jobclient_tests_jar
        return str(self.hdfs_tests_jar), "org.apache.hadoop.fs.TestDFSIO"

    @property
    def hdfs_tests_jar(self) -> Path:
        """Jar with `NNThroughputBenchmark`, by its class name; it needs the class path of the tests."""
        return self._find("hdfs", f"hadoop-hdfs-{self.version}-tests.jar")

    def hashes(self) -> dict[str, str]:
        """Return the SHA-256 of every jar by its path relative to `home`, and of plugins by name. They come from the
        lock, or are read from the disk (about 1 s)."""
        plugins = {jar.name: sha256(jar) for jar in self.plugins}
        if self.locked is not None:
            return {**self.locked, **plugins}
        return {str(jar.relative_to(self.home)): sha256(jar) for jar in (*self.jars, *self.tool_jars)} | plugins

    def _find(self, place: str, pattern: str) -> Path:
        found = sorted(jar for jar in (self.home / "share/hadoop" / place).glob(pattern) if "sources" not in jar.name)
        if not found:
            raise HostProblem(f"Hadoop {self.version} in {self.home} has no {pattern} in share/hadoop/{place}")
        return found[0]


def managed_home(version: str, cache: Path) -> Path:
    """Return HADOOP_HOME of the managed `version`, whether it has been fetched or not.

    The path has no symbolic links, as `bin/hadoop` sees it: class-data sharing compares the names of jars.
    """
    return cache.resolve() / "hadoop" / version


def managed(version: str, cache: Path, *, verify: bool = False) -> Distribution:
    """Return the managed `version` in `cache`; see `open_locked`. Raises UsageError if there is no such managed
    version."""
    return open_locked(read_lock(version), cache, verify=verify)


def open_locked(lock: Lock, cache: Path, *, verify: bool = False) -> Distribution:
    """Return the release of `lock` in `cache`, after a check of its files.

    The check always covers whether the release is complete and of this lock, and every jar's size. A jar is hashed if
    it was touched since it was put there; with `verify`, every jar is.

    Raises:
        HostProblem: it has not been fetched, or a jar is missing or damaged; the message names the jar.
    """
    version = lock.version
    home = managed_home(version, cache)
    try:
        stamp = json.loads((home / STAMP).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise HostProblem(f"Hadoop {version} is not in the cache {cache}", hint=_fetch_hint(version)) from None
    if stamp["lock"] != lock.digest:
        raise HostProblem(
            f"Hadoop {version} in {home} was fetched with another lock than this Howdah has", hint=_fetch_hint(version)
        )
    for artifact in lock.artifacts:
        jar = home / artifact.in_home
        problem = damage(jar, artifact.size, artifact.sha256, None if verify else stamp["mtime_ns"][artifact.in_home])
        if problem is not None:
            raise HostProblem(f"a jar of the managed Hadoop {version} is damaged: {problem}", hint=_fetch_hint(version))
    if not (home / WEB_PAGES).is_dir():
        raise HostProblem(
            f"the managed Hadoop {version} is damaged: {home / WEB_PAGES} is missing", hint=_fetch_hint(version)
        )
    return of_lock(lock, home)


def of_lock(lock: Lock, home: Path) -> Distribution:
    """Return the distribution that `lock` describes, at `home`, without any check."""
    return Distribution(
        version=lock.version,
        home=home,
        source="managed",
        jars=tuple(home / artifact.in_home for artifact in lock.artifacts if artifact.on_class_path),
        directories=_with_web_pages(home / "share" / "hadoop"),
        tool_jars=tuple(home / artifact.in_home for artifact in lock.artifacts if not artifact.on_class_path),
        substitutes={one.file_name: one.substitute for one in lock.artifacts if one.substitute is not None},
        locked={artifact.in_home: artifact.sha256 for artifact in lock.artifacts},
    )


def from_home(path: Path) -> Distribution:
    """Return the user's Apache distribution at `path`; its version is read from `hadoop-common-VERSION.jar`.

    Raises:
        UsageError: `path` is not an HADOOP_HOME; the message says what is missing.
    """
    home = path.expanduser().absolute()
    share = home / "share" / "hadoop"
    if not home.is_dir():
        raise UsageError(f"no Hadoop at {home}: not a directory")
    if not share.is_dir():
        raise UsageError(
            f"no Hadoop at {home}: it has no share/hadoop",
            hint="Give the directory that an Apache release unpacks to, as hadoop-3.4.2, not a source tree.",
        )
    versions = [match[1] for jar in sorted((share / "common").glob("*.jar")) if (match := _COMMON.fullmatch(jar.name))]
    if len(versions) != 1:
        found = f"{len(versions)} of them ({', '.join(versions)})" if versions else "none"
        raise UsageError(
            f"no Hadoop at {home}: share/hadoop/common should have one hadoop-common-VERSION.jar, has {found}"
        )
    for place in _OWN:
        if not any((share / place).glob("hadoop-*.jar")):
            raise UsageError(f"Hadoop {versions[0]} at {home} is not whole: no hadoop-*.jar in share/hadoop/{place}")
    own = _jars(share, _OWN)
    tests = [jar for jar in own if jar.stem.endswith("-tests")]
    jars = _distinct([*(jar for jar in own if jar not in tests), *_jars(share, _LIBRARIES)])
    tools = _distinct([*tests, *_jars(share, _TOOLS)], besides=jars)
    return Distribution(versions[0], home, "home", tuple(jars), _with_web_pages(share), tuple(tools))


def sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def damage(jar: Path, size: int, digest: str, mtime_ns: int | None) -> str | None:
    """Return the problem of `jar`, or None. The jar is not hashed if its modification time is `mtime_ns`."""
    try:
        facts = jar.stat()
    except FileNotFoundError:
        return f"{jar} is missing"
    if facts.st_size != size:
        return f"{jar} has {facts.st_size} bytes instead of {size}"
    if facts.st_mtime_ns != mtime_ns and sha256(jar) != digest:
        return f"{jar} does not have the SHA-256 of the lock"
    return None


def _with_web_pages(share: Path) -> tuple[Path, ...]:
    """Return the directories that stock scripts put on the class path, too: a daemon looks there for `webapps/NAME`."""
    return tuple(share / place for place in _OWN if (share / place / "webapps").is_dir())


def _distinct(jars: Iterable[Path], besides: Iterable[Path] = ()) -> list[Path]:
    """Return the first jar of each name: hdfs/lib and tools/lib repeat much of common/lib."""
    names = {jar.name for jar in besides}
    return list({jar.name: jar for jar in reversed([jar for jar in jars if jar.name not in names])}.values())[::-1]


def _jars(share: Path, places: tuple[str, ...]) -> list[Path]:
    found = [jar for place in places for jar in sorted((share / place).glob("*.jar"))]
    return [jar for jar in found if not jar.stem.endswith("-sources")]


def _fetch_hint(version: str) -> str:
    return f"Run `howdah hadoop fetch {version}` while online; jars that are whole are kept."
