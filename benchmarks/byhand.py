"""A workload's job run by Howdah, and the same program typed by hand on the same cluster with the same input.

What is compared: the time from the command to the submission, the job's time, its effective configuration and its
counters. `howdah run` keeps the program of each phase; by hand, it writes to another directory.
"""

from __future__ import annotations

import getpass
import json
import random
import shlex
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.pairs import KEPT, howdah, ratio_words
from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.live.managed import open_managed
from howdah.cluster.supervision.client import find_cluster
from howdah.hadoop.configuration.site import parse_site
from howdah.hadoop.history.job_files import find_history
from howdah.hadoop.history.job_history import parse_history
from howdah.model.job import Job
from howdah.model.run import Run
from howdah.store import read_run

_NAME = "byhand"
_PHASES = {"dfsio": "write", "sort": "sort", "wordcount": "count"}
# An application master stays for five seconds: the next run begins when the cluster is idle again, whoever it is by.
_IDLE_SECONDS = 8.0
# How a job is found and where it reads and writes: they must differ.
_OWN_KEYS = (
    "mapreduce.job.tags",
    "mapreduce.job.jar",
    "mapreduce.input.fileinputformat.inputdir",
    "mapreduce.output.fileoutputformat.outputdir",
    "mapreduce.job.dir",
    "test.build.data",
)
_COUNTERS = {
    "org.apache.hadoop.mapreduce.TaskCounter": (
        *("MAP_INPUT_RECORDS", "MAP_OUTPUT_RECORDS", "MAP_OUTPUT_BYTES", "SPILLED_RECORDS", "REDUCE_INPUT_RECORDS"),
        *("REDUCE_OUTPUT_RECORDS", "REDUCE_SHUFFLE_BYTES", "COMBINE_OUTPUT_RECORDS"),
    ),
    "org.apache.hadoop.mapreduce.FileSystemCounter": ("HDFS_BYTES_WRITTEN",),
    "org.apache.hadoop.mapreduce.JobCounter": ("TOTAL_LAUNCHED_MAPS", "TOTAL_LAUNCHED_REDUCES"),
}


@dataclass(frozen=True, slots=True)
class _Done:
    """One job: `before` is seconds from the command to its submission."""

    before: float
    job: Job
    settings: Mapping[str, str]


def measure(size: str, blocks: int) -> list[str]:
    """Interleaved pairs of each workload, in an order drawn anew for each."""
    done = howdah("up", "--name", _NAME, "--nodes", "1")
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    try:
        cluster = open_managed(find_cluster(_NAME))
        found = {workload: _pairs(cluster, workload, size, blocks) for workload in _PHASES}
        cluster.close()
    finally:
        howdah("down", "--name", _NAME)
    lines = ["| workload | job time, by hand ÷ howdah | to submission, howdah − by hand | settings | counters |"]
    lines.append("|---|---|---|---|---|")
    return [*lines, *(_line(workload, pairs) for workload, pairs in found.items())]


def _pairs(cluster: LiveCluster, workload: str, size: str, blocks: int) -> list[tuple[_Done, _Done]]:
    run, _ = _by_howdah(workload, size)  # Makes the data, and says what the program is.
    pairs = []
    for block in range(blocks):
        made: dict[str, _Done] = {}
        for side in random.Random(f"{workload}-{block}").sample(("howdah", "hand"), 2):
            time.sleep(_IDLE_SECONDS)
            made[side] = _by_howdah(workload, size)[1] if side == "howdah" else _by_hand(cluster, run, workload, block)
            print(f"{workload} {block}, {side}: {made[side].job.seconds:.1f} s", file=sys.stderr, flush=True)
        pairs.append((made["howdah"], made["hand"]))
    return pairs


def _by_howdah(workload: str, size: str) -> tuple[Run, _Done]:
    began = time.time()
    options = ("--cluster", _NAME, "--data", "reuse", "--no-calibration", "--no-report", "--json")
    done = howdah("run", workload, "--size", size, *options, "--out", str(KEPT / _NAME))
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    kept = Path(json.loads(done.stdout)["runs"][0]["path"])
    run = read_run(kept).run
    [job] = next(phase.jobs for phase in run.phases if phase.name == _PHASES[workload])
    history, settings = ((kept / "jobs" / f"{job}{end}").read_bytes() for end in (".jhist", "_conf.xml"))
    return run, _read(began, history, settings)


def _by_hand(cluster: LiveCluster, run: Run, workload: str, block: int) -> _Done:
    """The program with the configuration that Howdah gives its own workloads, as it is kept in the run."""
    phase = next(phase for phase in run.phases if phase.name == _PHASES[workload])
    program = [word.replace(f"/howdah/{run.id}", f"/hand/{workload}-{block}") for word in phase.command or ()]
    conf = KEPT / _NAME / run.id / "conf" / "clients" / phase.name
    typed = f"date +%s.%N; exec hadoop --config {shlex.quote(str(conf))} jar {shlex.join(program)}"
    done = howdah("exec", "--name", _NAME, "--", "sh", "-c", typed)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    application = max(cluster.resourcemanager.applications(), key=lambda one: one.start or 0)
    settings = cluster.settings
    history, configuration = find_history(
        cluster.webhdfs,
        application.id.replace("application", "job", 1),
        user=getpass.getuser(),
        intermediate=settings.get("mapreduce.jobhistory.intermediate-done-dir"),
        done=settings.get("mapreduce.jobhistory.done-dir"),
        staging=settings.get("yarn.app.mapreduce.am.staging-dir"),
    )
    cluster.webhdfs.delete("/hand", recursive=True)
    return _read(float(done.stdout.split()[0]), history, configuration)


def _read(began: float, history: bytes, settings: bytes) -> _Done:
    job = parse_history(history)
    return _Done(job.submit - began, job, parse_site(settings, "the job's configuration").properties)


def _line(workload: str, pairs: Sequence[tuple[_Done, _Done]]) -> str:
    ratios = [hand.job.seconds / ours.job.seconds for ours, hand in pairs]
    extra = [ours.before - hand.before for ours, hand in pairs]
    keys = sorted({key for ours, hand in pairs for key in _unlike(ours.settings, hand.settings)})
    counters = sorted({name for ours, hand in pairs for name in _unlike(_counts(ours.job), _counts(hand.job))})
    spread = f"{statistics.fmean(extra):.2f} s ({min(extra):.2f}–{max(extra):.2f})"
    return f"| {workload} | {ratio_words(ratios)} | {spread} | {_words(keys)} | {_words(counters)} |"


def _counts(job: Job) -> dict[str, str]:
    return {name: str(job.counter(group, name)) for group, names in _COUNTERS.items() for name in names}


def _unlike(ours: Mapping[str, str], hand: Mapping[str, str]) -> set[str]:
    return {key for key in ours.keys() | hand.keys() if key not in _OWN_KEYS and ours.get(key) != hand.get(key)}


def _words(names: Sequence[str]) -> str:
    return "equal" if not names else f"differ: {', '.join(names)}"
