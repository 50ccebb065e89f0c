"""What happens to a job whose sort and shuffle are Howdah's plugins: the same result, never a wrong one.

Moments are drawn from HOWDAH_FAULT_SEED, which a failure prints; HOWDAH_FAULT_ROUNDS repeats every kill.
"""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.faults.conftest import Begun, Home, ended_right, eventually

pytestmark = pytest.mark.daemons

_SEED = int(os.environ.get("HOWDAH_FAULT_SEED") or random.randrange(1 << 31))
_ROUNDS = int(os.environ.get("HOWDAH_FAULT_ROUNDS", "1"))
_JOB = "org.apache.hadoop.mapreduce.JobCounter"
# Four maps, and reduces that are told at once of a map that has run again.
_RUN = (
    *("run", "terasort", "--size", "60M", "--cluster", "shared", "--no-probes", "--no-calibration", "--no-report"),
    *("--accelerator", "sort", "--conf", "dfs.blocksize=16777216", "--conf", "mapreduce.job.reduces=2"),
    *("--conf", "mapreduce.reduce.shuffle.retry-delay.max.ms=1000"),
)


_GZIP = "org.apache.hadoop.io.compress.GzipCodec"
# Several spills; compressed; all of it fetched; reduces that fetch while maps run.
_VARIANTS = {
    "spills": ("howdah.sort.memory.mb=1",),
    "codec": ("mapreduce.map.output.compress=true", f"mapreduce.map.output.compress.codec={_GZIP}"),
    "http": ("howdah.shuffle.direct=false",),
    "early": ("mapreduce.job.reduce.slowstart.completedmaps=0.05",),
}


def drawn(moments: random.Random, *variants: str) -> list[str]:
    """Options of some of `variants`."""
    some = [one for one in variants if moments.random() < 0.5]
    return [word for one in some for key in _VARIANTS[one] for word in ("--conf", key)]


def begin(home: Home, *options: str) -> Begun:
    run = home.begin(*_RUN, *options)
    eventually(lambda: home.phase("sort"), 120, "the sort begins", begun=run)
    return run


def kill_one(home: Home, run: Begun, victim: str, moments: random.Random) -> None:
    def victims() -> list[int]:
        return home.pids("bin/java ", "MRAppMaster") if victim == "master" else home.tasks(victim[0])

    def is_struck() -> bool:
        for pid in victims()[:1]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    eventually(victims, 120, f"a {victim} runs", begun=run)
    time.sleep(moments.uniform(0, 1 if victim == "reduce" else 3))  # A reduce does not live much longer.
    eventually(is_struck, 120, f"a {victim} is killed", begun=run)


@pytest.mark.promise("Tasks and application masters that are killed do not change the result", "how-to/accelerate")
@pytest.mark.parametrize("round_", range(_ROUNDS))
@pytest.mark.parametrize(
    "victims", [("map", "reduce"), pytest.param(("master",), marks=pytest.mark.soak(part="faults"))]
)
def test_processes_that_are_killed(cluster: Home, victims: tuple[str, ...], round_: int) -> None:
    moments = random.Random(f"{_SEED} {victims} {round_}")
    run = begin(cluster, *drawn(moments, *_VARIANTS))
    for victim in victims:
        kill_one(cluster, run, victim, moments)
    ended_right(cluster, run, _SEED)


def written(home: Home, name: str, attempt: str = "*_m_*") -> list[Path]:
    """The files of this name that maps have in the directories of their outputs."""
    work = home.path / "clusters" / "shared" / "work"
    return list(work.glob(f"*/local/usercache/*/appcache/*/output/{attempt}/{name}"))


def outputs(home: Home) -> list[Path]:
    """The outputs of maps that have been written to their end, and have records."""
    return [one.with_suffix("") for one in written(home, "*.index")]


def flip(output: Path, moments: random.Random) -> None:
    at = moments.randrange(output.stat().st_size)
    with output.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1 << at % 8]))


def cut(output: Path, moments: random.Random) -> None:
    os.truncate(output, moments.randrange(output.stat().st_size))


def lose_index(output: Path, moments: random.Random) -> None:
    output.with_name(f"{output.name}.index").unlink()


@pytest.mark.promise("A damaged map output is never merged; its map runs again", "how-to/accelerate")
@pytest.mark.parametrize("damages", [(flip, cut), pytest.param((lose_index,), marks=pytest.mark.soak(part="faults"))])
def test_map_outputs_that_are_damaged(
    cluster: Home, damages: tuple[Callable[[Path, random.Random], None], ...]
) -> None:
    moments = random.Random(_SEED)
    run = begin(cluster, *(drawn(moments, "codec", "http") if flip in damages else ()))
    # The other two of four maps run then, so that no reduce has begun.
    ended = eventually(lambda: outputs(cluster)[1:] and outputs(cluster), 120, "two maps end", begun=run)
    for output, damage in zip(ended, damages, strict=False):
        damage(output, moments)
    ended_right(cluster, run, _SEED)
    jobs = cluster.kept().jobs()
    again = [job["counters"][_JOB].get("NUM_FAILED_MAPS", 0) for job in jobs if job["name"] == "TeraSort"]
    assert again == [len(damages)], f"seed {_SEED}: a map whose output is damaged did not run again"


def mapping(home: Home) -> list[tuple[int, str]]:
    """Maps that have begun to read: their processes and attempts. Looks at command lines alone, as maps are short."""
    logs = (home.path / "clusters" / "shared" / "work").glob("*/containers/*/*/syslog")
    reading = [log.parent.name for log in logs if "Processing split" in log.read_text(errors="replace")]
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            attempt = re.search(r"YarnChild 127\.\S+ \d+ (attempt_\d+_\d+_m_\d+_\d+)", line)
            is_jvm = line.split(" ", 1)[0].endswith("/java")
            if is_jvm and attempt is not None and any(one in line for one in reading):
                found.append((int(entry.parent.name), attempt[1]))
    return found


@pytest.mark.promise("Two attempts of one map at once do not change the result", "issue 6")
@pytest.mark.soak(part="faults")
def test_a_map_on_a_slow_host_and_its_twin_both_end(cluster: Home) -> None:
    """The first attempt stands still until a second one of its task runs. Then whichever writes its output waits for
    the other to do so, and the application master stands still until both have written it to the end."""
    # The master judges a map by its reports, of which the first usually comes after three seconds.
    slow_enough = ("--size", "1G", "--conf", "mapreduce.input.fileinputformat.split.minsize=250000000")
    speculative = ("--conf", "mapreduce.map.speculative=true", "--conf", "mapreduce.task.progress-report.interval=300")
    run = begin(cluster, *speculative, *slow_enough)
    generators = {one for one, _ in mapping(cluster)}  # The last of them may not have ended yet.
    stopped: list[int] = []

    def sorting() -> dict[str, int]:
        return {attempt: pid for pid, attempt in mapping(cluster) if pid not in generators}

    def stop(pid: int) -> None:
        stopped.append(pid)
        os.kill(pid, signal.SIGSTOP)

    def are_writing(attempts: Mapping[str, int]) -> bool:
        for one, its in attempts.items():
            if its not in stopped and written(cluster, "file.out", one):
                stop(its)
        return set(attempts.values()) <= set(stopped)

    slow, pid = eventually(sorting, 120, "a map reads", begun=run).popitem()
    twin = f"{slow[:-1]}1"
    application = "application_{}_{}".format(*slow.split("_")[1:3])
    # Not the shell that has started it, nor the one of the generator, which stays for a while.
    lines = cluster.processes()
    masters = cluster.pids("MRAppMaster", application)
    (master,) = (one for one in masters if lines[one].partition(" ")[0].endswith("/java"))
    time.sleep(0.7)
    try:
        stop(pid)
        eventually(lambda: twin in sorting(), 120, f"{twin} reads", begun=run)
        both = {slow: pid, twin: sorting()[twin]}
        os.kill(stopped.pop(), signal.SIGCONT)
        eventually(lambda: are_writing(both), 60, "both write their outputs", begun=run)
        stop(master)
        for one in both.values():
            os.kill(one, signal.SIGCONT)
        ended = partial(written, cluster, "file.out.index")
        eventually(lambda: all(map(ended, both)), 60, "both have written them", begun=run)
        time.sleep(0.5)  # Both tell the master that they are done.
    finally:
        for one in stopped:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGCONT)
    ended_right(cluster, run, _SEED)
    jobs = cluster.kept().jobs()
    (sort,) = (job for job in jobs if job["name"] == "TeraSort")
    states = {one["id"]: one["state"] for one in sort["attempts"]}
    # Of two that have succeeded, the master may still have one killed.
    assert {states[slow], states[twin]} <= {"SUCCEEDED", "KILLED"}
