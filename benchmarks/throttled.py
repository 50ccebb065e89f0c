"""Benchmarks of the file system on a slow disk: XFS on a loop device that the kernel holds at 200 MB/s, against fio.

The machine's own disk is cached by its host and tells nothing. The limit is set in the root group of blkio (cgroup v1),
so that it holds for write-back too. Needs root, fio and mkfs.xfs; everything is taken away at the end.
`WORKS=vector,read` measures only lines of these operations, and the first, which makes the file that they read.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.disks import own_disk
from benchmarks.filesystems import Work, build, in_jvm, said_in_jvm, target, warmed
from benchmarks.pairs import KEPT, cluster, howdah, manifest_of, output_of, ratio_words

ROUNDS = int(os.environ.get("ROUNDS", "5"))
RATE = 200_000_000
_RANGES = 1000
_PAGE = 4096
_ARMS = ("fio", "posixfs", "raw local", "local", "hdfs")
_SYNCED = "fs.posixfs.sync.on.close=true"
_ASKED = os.environ.get("WORKS", "")
_ALL = (
    Work("write, 1 stream", "write"),
    Work("read, 1 stream", "read"),
    Work("write, 1 stream, 3 ms per MiB", "write", compute=3),
    Work("read, 1 stream, 3 ms per MiB", "read", compute=3),
    Work("positioned reads", "position", count=_RANGES),
    Work("vectored reads", "vector", count=_RANGES),
    Work("write, 4 streams", "write", streams=4),
    Work("read, 4 streams", "read", streams=4),
    Work("write, 4 streams, 3 ms per MiB", "write", streams=4, compute=3),
    Work("read, 4 streams, 3 ms per MiB", "read", streams=4, compute=3),
)
_WORKS = (_ALL[0], *(work for work in _ALL[1:] if not _ASKED or work.operation in _ASKED.split(",")))


def measure() -> list[str]:
    """Runs the rounds that are missing (`ROUNDS`, 5 unless told): bytes per second of each arm."""
    if shutil.which("fio") is None:
        raise SystemExit("fio is missing: apt-get install fio")
    home = build()
    # What has some of the lines is no round of them all.
    kept = KEPT / (f"files-slow-{_ASKED}.jsonl" if _ASKED else "files-slow.jsonl")
    kept.parent.mkdir(parents=True, exist_ok=True)
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.is_file() else []
    with (
        own_disk(home, RATE) as disk,
        kept.open("a") as out,
        cluster("files-slow", 1, "--work-dir", str(disk / "hdfs")),
    ):
        manifest = manifest_of("files-slow")
        for number in range(ROUNDS):
            order = list(_ARMS)
            random.Random(f"files-slow-{number}").shuffle(order)
            for arm in order:
                if any(one["round"] == number and one["arm"] == arm for one in done):
                    continue
                for name, rate in _round(arm, disk, home, manifest).items():
                    done.append({"round": number, "arm": arm, "work": name, "rate": rate})
                    print(json.dumps(done[-1]), file=out, flush=True)
                print(f"round {number}, {arm}", file=sys.stderr, flush=True)
    return _table(done)


def _round(arm: str, disk: Path, home: Path, manifest: Mapping[str, object]) -> Mapping[str, float]:
    """Every work once, in order: what one stream has written is read by the next."""
    place = disk / "files"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    found = {}
    for work in _WORKS:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3\n")
        found[work.name] = _fio(work, place, home) if arm == "fio" else _hadoop(arm, work, place, home, manifest)
    if arm == "hdfs":
        howdah("exec", "--name", "files-slow", "--", "hdfs", "dfs", "-rm", "-r", "-skipTrash", "/bench")
    return found


def _hadoop(arm: str, work: Work, place: Path, home: Path, manifest: Mapping[str, object]) -> float:
    """Bytes per second of one of Hadoop's file systems; all but HDFS have the JVM compile on files in memory."""
    uri, settings = target(arm, place, manifest)
    warm, more = warmed(arm, "/dev/shm")
    numbers = (str(work.count), str(work.streams), str(work.compute))
    said = in_jvm((work.operation, uri, *numbers, *settings, *more, _SYNCED), home, warm=warm)
    return said["done"] / said["seconds"]


def _fio(work: Work, place: Path, home: Path) -> float:
    """Bytes per second of fio doing the same without computing: the most that the disk gives."""
    files = (f"--directory={place}", "--filename_format=file$jobnum", f"--size={work.count}M", "--bs=1M")
    streams: Mapping[str, Sequence[str]] = {
        "write": (*files, "--rw=write", "--end_fsync=1"),
        "read": (*files, "--rw=read"),
    }
    asked = streams.get(work.operation) or _replayed(work, place, home)
    command = ["fio", "--name=file", "--output-format=json", f"--numjobs={work.streams}", *asked]
    said = json.loads(output_of(command))
    way = "write" if work.operation == "write" else "read"
    # They begin together, and it is done when the last one is.
    seconds = max(float(job["job_runtime"]) for job in said["jobs"]) / 1000
    return sum(float(job[way]["io_bytes"]) for job in said["jobs"]) / seconds


def _replayed(work: Work, place: Path, home: Path) -> Sequence[str]:
    """What has fio read the same ranges: those at once without the page cache, which needs multiples of its pages."""
    at_once = work.operation == "vector"
    said = said_in_jvm(("ranges", f"file://{place}", str(work.count), "1", "0"), home)
    file, log = place / "file0", place / "ranges"
    lines = ["fio version 2 iolog", f"{file} add", f"{file} open"]
    # Hadoop's log comes with it.
    for offset, length in (map(int, found) for found in re.findall(r"^(\d+) (\d+)$", said, re.MULTILINE)):
        lines.append(f"{file} read {offset // _PAGE * _PAGE if at_once else offset} {length}")
    log.write_text("\n".join([*lines, f"{file} close", ""]))
    way = ("--ioengine=libaio", "--direct=1", "--iodepth=16") if at_once else ("--ioengine=psync",)
    return ("--rw=randread", f"--read_iolog={log}", "--fadvise_hint=random", *way)


def _table(done: Sequence[Mapping[str, object]]) -> list[str]:
    rates: dict[tuple[str, str], dict[int, float]] = {}
    for one in done:
        rates.setdefault((str(one["work"]), str(one["arm"])), {})[int(str(one["round"]))] = float(str(one["rate"]))
    lines = [f"| MB/s | {' | '.join(_ARMS)} | posixfs ÷ fio |", "|" + "---|" * (len(_ARMS) + 2)]
    for work in _WORKS:
        found = [rates.get((work.name, arm), {}) for arm in _ARMS]
        cells = [f"{statistics.geometric_mean(one.values()) / 1e6:.0f}" if one else "missing" for one in found]
        pairs = [found[1][number] / found[0][number] for number in sorted(found[1]) if number in found[0]]
        lines.append(f"| {work.name} | {' | '.join(cells)} | {ratio_words(pairs)} |")
    return lines
