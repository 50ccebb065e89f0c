"""Benchmarks of the file system itself: the same calls on ours, on Hadoop's two for local files and
on HDFS with one copy, each figure by a JVM of its own, arms in an order drawn anew for each round.

`ROW=files` is in memory (tmpfs), names too, `ROW=files-disk` on the disk of HOWDAH_HOME with fsync at the end of
writing and the files taken out of memory before reading. Of HDFS, the daemons' processor time counts too.
`ROW=names-disk` and `ROW=files-moosefs` are about names alone, on a disk and on a shared file system. Names are also
those of a loop of Python's own calls. Hadoop's own two fork a process for each name, so that fewer names tell their
rate.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.disks import own_disk
from benchmarks.pairs import KEPT, ROOT, cluster, howdah, manifest_of, output_of, ratio_words
from tools.moosefs import moosefs

ROUNDS = int(os.environ.get("ROUNDS", "10"))
RAW_LOCAL = "fs.file.impl=org.apache.hadoop.fs.RawLocalFileSystem"
_LOCAL = {"raw local": (RAW_LOCAL,)}
_OWN = "fs.posixfs.impl=org.howdah.filesystem.PosixFileSystem"
_DISK_ARMS = ("posixfs", "raw local", "local", "hdfs", "python")
_ARMS = ("posixfs", "posixfs, checksums", "raw local", "local", "hdfs", "python")
# Where the kernel cannot rename without replacing, ours makes a second name and removes the first.
_LINKING = "python, link and unlink"
_SHARED_ARMS = ("posixfs", "raw local", "local", "python", _LINKING)
# They keep nothing beside the bytes, and so can read one and the same file.
_SAME = ("posixfs", "raw local")


@dataclass(frozen=True, slots=True)
class Work:
    """One line of a table: `count` MiB per stream, or ranges; `compute` ms of work per MiB by each stream. What is
    written first is read next."""

    name: str
    operation: str
    streams: int = 1
    compute: int = 0
    count: int = 1024


_STREAMS = (
    Work("write", "write"),
    Work("read", "read"),
    Work("position", "position", count=2000),
    Work("vector", "vector", count=2000),
    Work("write, 4 streams", "write", streams=4),
    Work("read, 4 streams", "read", streams=4),
)
_FORKING = {"raw local": 50, "local": 50}
# In memory, one pass is over before its processor time can be told.
_PASSES = 8
_NAMES = ("create", "stat", "list", "rename", "delete")
_NAMES_COUNT = 10_000


def measure(row: str) -> list[str]:
    """Runs the rounds that are missing (`ROUNDS`, 10 unless told), and compares ours with each other arm."""
    home = build()
    in_memory = row == "files"
    arms = _ARMS if in_memory else tuple(arm for arm in _ARMS if arm != "python")
    root = Path("/dev/shm") if in_memory else home
    place = root / "bench-files"
    read, work = root / "bench-read", root / "bench-hdfs"
    try:
        if in_memory:
            # Memory that a virtual machine has not had before costs whoever is first to write to it.
            _make_read(place)
        _make_read(read)
        with cluster(row, 1, "--work-dir", str(work)) as name:
            manifest = manifest_of(name)
            done = rounds(row, arms, lambda arm: _round(arm, place, read, work, manifest, home, cold=not in_memory))
    finally:
        for one in (place, read, work):
            shutil.rmtree(one, ignore_errors=True)
    return _table(done, arms, [work.name for work in _STREAMS], _NAMES if in_memory else ())


def measure_names() -> list[str]:
    """The same of names on a disk of their own, HDFS too. Not on the machine's: its ext4 passes over inodes that were
    deleted a while ago one by one, which makes whoever comes next ten times slower."""
    home = build()
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as memory,
        own_disk(home, None) as disk,
        cluster("names-disk", 1, "--work-dir", str(disk / "hdfs")) as name,
    ):
        manifest = manifest_of(name)

        def names(arm: str) -> list[dict[str, object]]:
            place = disk / "names"
            shutil.rmtree(place, ignore_errors=True)
            uri, settings = target(arm, place, manifest)
            warm, more = warmed(arm, memory)
            daemons = _daemons(arm, manifest)
            found = _names(arm, uri, str(place), home, (*settings, *more), warm=warm, daemons=daemons)
            _forget_hdfs(arm, manifest)
            return found

        done = rounds("names-disk", _DISK_ARMS, names)
    return _table(done, _DISK_ARMS, (), _NAMES)


def measure_shared() -> list[str]:
    """The same of names on MooseFS, mounted on one host of three chunk servers; one copy."""
    home = build()

    def names(arm: str) -> list[dict[str, object]]:
        place = there.mount / arm.replace(" ", "-").replace(",", "")
        uri, settings = target(arm, place, {})
        warm, more = warmed(arm, memory)
        found = _names(arm, uri, str(place), home, (*settings, *more), there.inside(0), warm)
        there.plain(0, "rm", "-r", str(place))
        return found

    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as memory,
        tempfile.TemporaryDirectory(dir=home) as root,
        moosefs(Path(root), hosts=1, copies=1) as there,
    ):
        done = rounds("files-moosefs", _SHARED_ARMS, names)
    return _table(done, _SHARED_ARMS, (), _NAMES)


def rounds(
    row: str, arms: Sequence[str], measured: Callable[[str], list[dict[str, object]]]
) -> list[dict[str, object]]:
    """The figures of all rounds, after those that were missing were measured; kept line by line."""
    kept = KEPT / f"{row}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.is_file() else []
    with kept.open("a") as out:
        for number in range(ROUNDS):
            for arm in random.Random(f"{row}-{number}").sample(arms, len(arms)):
                if any(one["round"] == number and one["arm"] == arm for one in done):
                    continue
                figures = [{"round": number, "arm": arm, **figure} for figure in measured(arm)]
                done += figures
                out.writelines(f"{json.dumps(figure)}\n" for figure in figures)
                out.flush()
                print(f"round {number}, {arm}", file=sys.stderr, flush=True)
    return done


def build() -> Path:
    """Builds what the benchmarks need; HOWDAH_HOME, which has Hadoop afterwards."""
    modules = "sort,filesystem,benchmarks"
    maven = ["mvn", "-B", "-q", "-f", str(ROOT / "java/pom.xml"), "-P", "benchmarks"]
    built = subprocess.run([*maven, "-pl", modules, "package", "-DskipTests"], check=False)
    if built.returncode != 0 or howdah("hadoop", "fetch").returncode != 0:
        raise SystemExit("the benchmarks could not be built")
    return Path(os.environ.get("HOWDAH_HOME") or Path.home() / ".howdah")


def _make_read(directory: Path) -> None:
    """Makes what `_SAME` arms read: where in memory a file lies makes it up to a third faster or slower to read."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for number in range(max(work.streams for work in _STREAMS)):
        with (directory / f"file{number}").open("wb") as out:
            for _ in range(_STREAMS[0].count):
                out.write(os.urandom(1 << 20))


def _round(
    arm: str, place: Path, read: Path, work_dir: Path, manifest: Mapping[str, object], home: Path, *, cold: bool
) -> list[dict[str, object]]:
    """Every work once, on files of its own but for what `_SAME` arms read; names in memory alone."""
    uri, settings = target(arm, place, manifest)
    streams_read = target(arm, read, manifest)[0] if arm in _SAME else f"{uri}/streams"
    daemons = _daemons(arm, manifest)
    found: list[dict[str, object]] = []
    shutil.rmtree(place, ignore_errors=True)
    for work in _STREAMS if arm != "python" else ():
        out = None
        if cold and work.operation != "write":
            os.sync()  # Only what is on the disk can be taken out of memory.
            out = work_dir if arm == "hdfs" else read if arm in _SAME else place
        directory = f"{uri}/streams" if work.operation == "write" else streams_read
        arguments = [work.operation, directory, str(work.count), str(work.streams), str(work.compute), *settings]
        passes = 1 if cold else _PASSES // work.streams
        found.append({"operation": work.name, **in_jvm(arguments, home, daemons=daemons, passes=passes, cold=out)})
    # Checksums are of bytes: names are the same with them.
    if arm != "posixfs, checksums" and not cold:
        found += _names(arm, f"{uri}/names", f"{place}/names", home, settings, daemons=daemons)
    _forget_hdfs(arm, manifest)
    return found


def _forget_hdfs(arm: str, manifest: Mapping[str, object]) -> None:
    """Deletes what was written to HDFS, if `arm` is that."""
    if arm == "hdfs":
        howdah("exec", "--name", str(manifest["name"]), "--", "hdfs", "dfs", "-rm", "-r", "-skipTrash", "/bench")


def _names(
    arm: str,
    uri: str,
    files: str,
    home: Path,
    settings: Sequence[str],
    before: Sequence[str] = (),
    warm: str | None = None,
    daemons: Sequence[int] = (),
) -> list[dict[str, object]]:
    """Every operation on names, in their order: what one makes the next looks at."""
    found: list[dict[str, object]] = []
    for operation in _NAMES:
        count = _FORKING.get(arm, _NAMES_COUNT)
        if arm.startswith("python"):
            asked = "link" if (arm, operation) == (_LINKING, "rename") else operation
            script = str(ROOT / "benchmarks" / "names.py")
            said = json.loads(output_of([*before, sys.executable, script, asked, files, str(count)]))
        else:
            arguments = [operation, uri, str(count), "1", "0", *settings]
            said = in_jvm(arguments, home, before=before, daemons=daemons, warm=warm)
        found.append({"operation": operation, **said})
    return found


def target(arm: str, place: Path, manifest: Mapping[str, object]) -> tuple[str, Sequence[str]]:
    if arm == "hdfs":
        plan = manifest["plan"]
        assert isinstance(plan, dict)
        masters = plan["masters"]
        return f"hdfs://{masters['address']}:{masters['ports']['namenode_rpc']}/bench", (
            "dfs.replication=1",
            "dfs.client.use.datanode.hostname=true",
        )
    if arm.startswith("posixfs"):
        # As a user has it: with a root of its own, which no link may lead out of.
        keys = (_OWN, f"fs.posixfs.mount={place.parent}", *(("fs.posixfs.checksum=true",) if "," in arm else ()))
        return f"posixfs:///{place.name}", keys
    return f"file://{place}", _LOCAL.get(arm, ())


def warmed(arm: str, memory: str) -> tuple[str | None, Sequence[str]]:
    """Where in `memory` the files are that have the JVM compile, and the settings for that; of HDFS they are in it."""
    if arm == "hdfs":
        return None, ()
    if arm.startswith("posixfs"):
        return "posixfs://warm/warm", (f"fs.posixfs.mount.warm={memory}",)
    return f"file://{memory}/warm", ()


def in_jvm(
    arguments: Sequence[str],
    home: Path,
    *,
    before: Sequence[str] = (),
    daemons: Sequence[int] = (),
    passes: int = 1,
    warm: str | None = None,
    cold: Path | None = None,
) -> dict[str, float]:
    """What `Rounds` says: `seconds`, `cpu` (seconds of its JVM and of `daemons`) and what was `done` in all passes.

    `warm` is where files are that have the JVM compile, if not beside the others. What is
    below `cold` is taken out of memory before.
    """
    flags = [f"-Ddaemons={','.join(map(str, daemons))}", f"-Dpasses={passes}", f"-Dcold={cold or ''}"]
    flags += [] if warm is None else [f"-Dwarm={warm}"]
    said: dict[str, float] = json.loads(said_in_jvm(arguments, home, before=before, flags=flags).splitlines()[-1])
    return said


OURS = ROOT / "src/howdah/jars/howdah-filesystem.jar"


def said_in_jvm(
    arguments: Sequence[str],
    home: Path,
    *,
    before: Sequence[str] = (),
    flags: Sequence[str] = (),
    jar: Path = OURS,
) -> str:
    """All that `Rounds` says."""
    own = [ROOT / "java/benchmarks/target/howdah-benchmarks.jar", jar]
    jars = [*map(str, own), *map(str, sorted((home / "cache/hadoop/3.4.2").glob("**/*.jar")))]
    usual = ("-XX:+UseSerialGC", "-Xmx1g", *flags, "-cp", ":".join(jars))
    return output_of([*before, "java", *usual, "org.howdah.filesystem.Rounds", *arguments])


def _daemons(arm: str, manifest: Mapping[str, object]) -> list[int]:
    """The processes of HDFS, if `arm` is that."""
    if arm != "hdfs":
        return []
    daemons = manifest["daemons"]
    assert isinstance(daemons, list)
    return [daemon["pid"] for daemon in daemons if daemon["role"] in ("datanode", "namenode")]


def _table(
    done: Sequence[Mapping[str, object]], arms: Sequence[str], streams: Sequence[str], names: Sequence[str]
) -> list[str]:
    values: dict[tuple[str, str, str], dict[int, float]] = {}
    for one in done:
        rate = float(str(one["done"])) / float(str(one["seconds"]))
        share = float(str(one["cpu"])) / float(str(one["done"]))
        # Less than a tick of the kernel's clock is no figure.
        for figure, value in (("rate", rate), *((("cpu", share),) if share else ())):
            key = (str(one["operation"]), str(one["arm"]), figure)
            values.setdefault(key, {})[int(str(one["round"]))] = value
    head = "| operation | " + " | ".join(arms) + " | " + " | ".join(f"ours ÷ {arm}" for arm in arms[1:]) + " |"
    lines = []
    for figure, unit in (("rate", "MB/s; operations per second"), ("cpu", "processor seconds per GB; per million")):
        lines += ["", unit, "", head, "|" + "---|" * (2 * len(arms))]
        for operation in (*streams, *names):
            rate, share = (1e-6, 1e9) if operation in streams else (1.0, 1e6)
            scale = rate if figure == "rate" else share
            ours = values.get((operation, "posixfs", figure), {})
            found = (values.get((operation, arm, figure), {}).values() for arm in arms)
            cells = [spread([value * scale for value in one]) for one in found]
            for arm in arms[1:]:
                other = values.get((operation, arm, figure), {})
                cells.append(ratio_words([ours[one] / other[one] for one in sorted(ours) if one in other]))
            lines.append(f"| {operation} | {' | '.join(cells)} |")
    return lines


def spread(found: Sequence[float]) -> str:
    """Geometric mean and range."""
    if not found:
        return "missing"
    mean, low, high = (
        f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        for value in (statistics.geometric_mean(found), min(found), max(found))
    )
    return f"{mean} ({low}–{high})"
