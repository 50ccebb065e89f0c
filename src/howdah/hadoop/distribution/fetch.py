"""Filling the cache with a managed Hadoop. Maven fetches the jars: it knows Central and the user's mirrors."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from howdah.errors import HostProblem
from howdah.hadoop.distribution.commands import are_current, install_launchers
from howdah.hadoop.distribution.distribution import (
    STAMP,
    WEB_PAGES,
    Distribution,
    damage,
    managed_home,
    of_lock,
    open_locked,
)
from howdah.hadoop.distribution.lock import Artifact, Lock, read_lock
from howdah.host import operations
from howdah.host.protocol import Completed, Host
from howdah.store import lock_file

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
_TIMEOUT_S = 3600.0
_WATCH_S = 0.25
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NOISE = re.compile(r"\[ERROR\]\s*(\[Help|To see the full|Re-run Maven|For more information|$)")


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a fetch: bytes that are on this machine, and bytes in all."""

    done: int
    total: int


def fetch(
    host: Host,
    version: str,
    cache: Path,
    *,
    offline: bool,
    progress: Callable[[Progress], None],
    repository: Path | None = None,
) -> Distribution:
    """Return the managed `version` in `cache`; fetch it if it is missing or damaged. See `fetch_locked`.

    Raises UsageError if there is no such managed version.
    """
    return fetch_locked(host, read_lock(version), cache, offline=offline, progress=progress, repository=repository)


def fetch_locked(
    host: Host,
    lock: Lock,
    cache: Path,
    *,
    offline: bool,
    progress: Callable[[Progress], None],
    repository: Path | None = None,
) -> Distribution:
    """Return the release of `lock` in `cache`; fetch it if it is missing or damaged.

    `host` is the machine of `cache`. Whole jars are kept, so an interrupted fetch continues where it was. If there are
    two fetches at once, the second waits for the first. Jars are taken from the user's Maven repository (`repository`
    names another), and Maven fetches those that are missing there. A jar there that does not match the lock is deleted
    and fetched again. `progress` is called from another thread, about four times a second, and at the end with `done ==
    total`.

    Raises:
        HostProblem: `offline` and jars are missing, no Maven, no network, or a jar that stays wrong.
    """
    home = managed_home(lock.version, cache)
    with contextlib.suppress(HostProblem):
        found = open_locked(lock, cache)
        if are_current(found):
            return found
    with _alone(home):
        try:
            install_launchers(open_locked(lock, cache))
        except HostProblem:
            _fill(host, lock, home, offline, repository, progress)
    return open_locked(lock, cache)


def _fill(
    host: Host, lock: Lock, home: Path, offline: bool, repository: Path | None, progress: Callable[[Progress], None]
) -> None:
    (home / STAMP).unlink(missing_ok=True)
    _drop_strangers(lock, home)
    likely = repository or _local_repository()
    missing = [one for one in lock.artifacts if damage(home / one.in_home, one.size, one.sha256, None)]
    with _watched(lock, home, likely, progress):
        missing = _place(missing, [likely / one.in_repository for one in missing], home, delete_wrong=not offline)
        if missing and offline:
            raise HostProblem(
                f"{_some(missing)} of Hadoop {lock.version} not in the cache and this is an offline run",
                hint="Run it once while online; it is kept from then on.",
            )
        for _ in range(2):
            if missing:
                missing = _place(missing, _resolve(host, missing, home, repository), home, delete_wrong=True)
        if missing:
            raise HostProblem(
                f"Maven brings {_some(missing)} of Hadoop {lock.version} with another SHA-256 than the lock has",
                hint="A mirror or proxy between here and Maven Central changes files; see ~/.m2/settings.xml.",
            )
        _unpack_web_pages(lock, home)
        install_launchers(of_lock(lock, home))
    touched = {one.in_home: (home / one.in_home).stat().st_mtime_ns for one in lock.artifacts}
    fresh = home / f"{STAMP}.new"
    fresh.write_text(json.dumps({"lock": lock.digest, "mtime_ns": touched}, indent=1) + "\n", encoding="utf-8")
    fresh.replace(home / STAMP)


def _drop_strangers(lock: Lock, home: Path) -> None:
    """Remove jars of an earlier lock: programs that load `share/hadoop/…/*` would find both."""
    known = {one.in_home for one in lock.artifacts}
    for jar in (home / "share").rglob("*.jar"):
        if str(jar.relative_to(home)) not in known:
            jar.unlink()


def _place(artifacts: Sequence[Artifact], sources: Iterable[Path], home: Path, *, delete_wrong: bool) -> list[Artifact]:
    """Copy verified jars into `home`; return the artifacts whose source is missing or does not match the lock."""
    missing = []
    for artifact, source in zip(artifacts, sources, strict=True):
        if not source.is_file():
            missing.append(artifact)
            continue
        jar = home / artifact.in_home
        jar.parent.mkdir(parents=True, exist_ok=True)
        part = jar.with_name(f"{jar.name}.part")
        # A copy, not a link: what happens to the user's Maven repository later must not reach the cache.
        shutil.copyfile(source, part)
        if damage(part, artifact.size, artifact.sha256, None) is None:
            part.replace(jar)
            continue
        part.unlink()
        missing.append(artifact)
        if delete_wrong:
            source.unlink()
    return missing


def _unpack_web_pages(lock: Lock, home: Path) -> None:
    tests = next(one for one in lock.artifacts if one.artifact == "hadoop-hdfs" and one.classifier == "tests")
    place = home / WEB_PAGES
    fresh = place.with_name("webapps.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with zipfile.ZipFile(home / tests.in_home) as jar:
        jar.extractall(fresh, [name for name in jar.namelist() if name.startswith("webapps/")])
    shutil.rmtree(place, ignore_errors=True)
    (fresh / "webapps").rename(place)
    fresh.rmdir()


def _resolve(host: Host, artifacts: Sequence[Artifact], home: Path, repository: Path | None) -> list[Path]:
    """Have Maven fetch exactly these `artifacts`; return the path of each in its repository."""
    if operations.find_command(host, "mvn") is None:
        raise HostProblem(
            "Maven is needed to fetch Hadoop, and there is no mvn on the PATH",
            hint="Install Maven 3.6 or newer (`sudo apt install maven`); it runs once, then Hadoop is in "
            f"{home.parent}. Or copy that directory from another machine (`cp -a`), or use a Hadoop that you have by "
            "its HADOOP_HOME (`--hadoop-home`).",
            host=host.name,
        )
    work = home.parent / f".{home.name}.maven"
    work.mkdir(exist_ok=True)
    try:
        completed, found = _run_maven(host, artifacts, work, repository)
    finally:
        shutil.rmtree(work)
    if completed.code != 0:
        raise HostProblem(
            f"Maven could not fetch {len(artifacts)} jars of Hadoop {home.name}: {_last_words(completed)}",
            hint="Maven uses the mirrors and proxies of ~/.m2/settings.xml. It keeps the jars that it got; try again.",
            host=host.name,
        )
    return [next(jar for jar in found if str(jar).endswith(f"/{one.in_repository}")) for one in artifacts]


def _run_maven(
    host: Host, artifacts: Sequence[Artifact], work: Path, repository: Path | None
) -> tuple[Completed, list[Path]]:
    pom, listed = work / "pom.xml", work / "jars"
    pom.write_text(_pom(artifacts), encoding="utf-8")
    # -U: Maven would otherwise remember a failed look-up for a day.
    argv = ["mvn", "-B", "-q", "-U", "-f", str(pom), "-Dmaven.artifact.threads=8"]
    argv += [f"{_PLUGIN}:build-classpath", f"-Dmdep.outputFile={listed}"]
    argv += [] if repository is None else [f"-Dmaven.repo.local={repository}"]
    completed = host.run(argv, timeout=_TIMEOUT_S, cwd=str(work))
    return completed, [Path(jar) for jar in listed.read_text().strip().split(":")] if completed.code == 0 else []


def _pom(artifacts: Sequence[Artifact]) -> str:
    """Return a project that depends on exactly these jars, without their own dependencies."""
    dependencies = "".join(
        f"<dependency><groupId>{one.group}</groupId><artifactId>{one.artifact}</artifactId>"
        f"<version>{one.version}</version>"
        + (f"<classifier>{one.classifier}</classifier>" if one.classifier else "")
        + "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
        + "</dependency>\n"
        for one in artifacts
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>howdah</groupId><artifactId>fetch</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>\n{dependencies}</dependencies></project>\n"
    )


def _last_words(completed: Completed) -> str:
    """Return the lines of Maven's output that say what went wrong."""
    output = _COLOUR.sub("", (completed.stdout + completed.stderr).decode("utf-8", "replace")).splitlines()
    errors = [line for line in output if "[ERROR]" in line and not _NOISE.search(line)]
    # The reason is at the end of Maven's long sentence.
    lines = [line[max(line.rfind("Could not "), line.find("[ERROR]") + 7) :].strip()[:400] for line in errors[:2]]
    lines = lines or [line[:400] for line in output[-2:]]
    return " / ".join(lines) or f"exit code {completed.code} without a word"


def _local_repository() -> Path:
    """Return the directory of the user's Maven repository. A wrong guess costs only the progress display: Maven itself
    reports where jars are."""
    settings = Path.home() / ".m2" / "settings.xml"
    with contextlib.suppress(OSError, ElementTree.ParseError):
        for element in ElementTree.parse(settings).iter():  # noqa: S314, the user's own file
            if element.tag.endswith("localRepository") and element.text:
                return Path(element.text.strip().replace("${user.home}", str(Path.home())))
    return Path.home() / ".m2" / "repository"


@contextlib.contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Hold the lock of this cached release; the kernel drops the lock with the process."""
    home.parent.mkdir(parents=True, exist_ok=True)
    with (home.parent / f".{home.name}.lock").open("w") as held:
        lock_file(held, wait=True)
        yield


@contextlib.contextmanager
def _watched(lock: Lock, home: Path, repository: Path, progress: Callable[[Progress], None]) -> Iterator[None]:
    """Report the bytes in the cache and in Maven's repository while the body runs."""
    total = sum(one.size for one in lock.artifacts)
    ended = threading.Event()

    def report() -> None:
        while not ended.wait(_WATCH_S):
            progress(Progress(sum(_present(one, home, repository) for one in lock.artifacts), total))

    watcher = threading.Thread(target=report, name="fetch-progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
    progress(Progress(total, total))


def _present(artifact: Artifact, home: Path, repository: Path) -> int:
    """Return how many bytes of `artifact` are here: in the cache, or in Maven's repository, where a download has a
    suffix."""
    if (home / artifact.in_home).exists():
        return artifact.size
    folder = (repository / artifact.in_repository).parent
    sizes = [0]
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        sizes += [entry.stat().st_size for entry in entries if entry.name.startswith(artifact.file_name)]
    return min(max(sizes), artifact.size)


def _some(artifacts: Sequence[Artifact]) -> str:
    names = ", ".join(one.file_name for one in artifacts[:3])
    return names if len(artifacts) <= 3 else f"{names} and {len(artifacts) - 3} more jars"
