"""Benchmarks that compare jobs: probes on and off, tuned defaults and Hadoop's own, each tuned default left out."""

from __future__ import annotations

import itertools
import math
import os
import statistics

from benchmarks.pairs import (
    Arm,
    block_effects,
    cluster,
    describe,
    in_order,
    posix_directory,
    probe_share,
    ratio_words,
    ratios,
    run_blocks,
)
from howdah.hadoop.configuration.tuning import TUNINGS
from howdah.hadoop.distribution.jars import own_jar
from howdah.model.quantity import parse_bytes
from howdah.stats.order import trend

BLOCKS = int(os.environ.get("BLOCKS", "8"))
SIZE = os.environ.get("SIZE", "2G")
# Both sides get the same number of map outputs to fetch and files to write: Hadoop's own default is one reduce, which
# would leave a processor idle and flatter us.
SAME_TASKS = ("--maps", "2", "--reduces", "2")


def tuned() -> list[str]:
    """Tuned defaults against Hadoop's own on one node."""
    return _tuned("tuned", 1)


def tuned_on_three_nodes() -> list[str]:
    """The same on three nodes."""
    return _tuned("tuned3", 3)


def _tuned(row: str, nodes: int) -> list[str]:
    common = ("--nodes", str(nodes), "--no-calibration")
    arms = (Arm("stock", (*common, "--defaults", "stock")), Arm("tuned", common))
    run_blocks(row, arms, BLOCKS, ("terasort", "--size", SIZE, *SAME_TASKS))
    lines = ["| figure of the sort phase | stock | tuned | stock ÷ tuned |", "|---|---|---|---|"]
    for metric in ("job_seconds", "cpu_seconds"):
        found = ratios(row, metric, "sort", "stock", "tuned")
        sides = (describe(row, metric, "sort", arm) for arm in ("stock", "tuned"))
        lines.append(f"| {metric} | {' | '.join(sides)} | {ratio_words(found)} |")
    return lines


def settings() -> list[str]:
    """Each tuned default left out alone, against all of them, in blocks."""
    common = ("--nodes", "1", "--no-calibration")
    arms = [Arm("tuned", common)]
    arms += [Arm(one.name, (*common, "--without", one.name)) for one in TUNINGS]
    run_blocks("settings", arms, BLOCKS, ("terasort", "--size", SIZE, *SAME_TASKS))
    times, processors = (
        block_effects("settings", metric, "sort", "tuned") for metric in ("job_seconds", "cpu_seconds")
    )
    lines = ["| left out | job_seconds ÷ tuned | cpu_seconds ÷ tuned |", "|---|---|---|"]
    return [*lines, *(f"| {one} | {times[one]} | {processors[one]} |" for one in times)]


def same() -> list[str]:
    """One configuration under two labels, 40 runs in turn, each on a cluster of its own: what noise is like here."""
    common = ("--nodes", "1", "--no-calibration")
    run_blocks(
        "same", (Arm("a", common), Arm("b", common)), max(BLOCKS, 20), ("terasort", "--size", "200M", *SAME_TASKS)
    )
    values = in_order("same", "job_seconds", "sort")
    found = trend([0] * len(values), values)
    assert found is not None
    last = len(values) - 1
    logs = [math.log(value) - math.log(found.ratio) * place / last for place, value in enumerate(values)]
    rest = [log - statistics.fmean(logs) for log in logs]
    squares = sum(one * one for one in rest)
    alike = sum(one * other for one, other in itertools.pairwise(rest)) / squares
    cv = math.sqrt(math.expm1(squares / (len(rest) - 2)))
    drift = found.ratio - 1
    return [
        f"a ÷ b: {ratio_words(ratios('same', 'job_seconds', 'sort', 'a', 'b'))}",
        f"{len(values)} runs: CV {cv:.1%}; a run and the next: {alike:.2f}; last ÷ first by their order "
        f"{found.ratio:.3f} (95 % {found.interval.low:.3f}–{found.interval.high:.3f})",
        f"noise: {{ cv: {cv:.1%}, autocorrelation: {max(0.0, alike):.2f}, drift: {drift:.1%}, drift_runs: {last} }}",
    ]


def text() -> list[str]:
    """Our generator of text, in its client (as on one node) and as a job, against Hadoop's own on one cluster."""
    return _text("text")


def text_on_posix() -> list[str]:
    """The same on a cluster without HDFS, whose storage is a directory of the same disk."""
    with posix_directory() as posix:
        return _text("text-posix", "--storage", posix)


def _text(row: str, *storage: str) -> list[str]:
    size, maps = parse_bytes(os.environ.get("SIZE", "8G")), 2
    generator = f"hadoop jar {own_jar('howdah-workloads')} textgen -Dmapreduce.job.maps={maps}"
    asked = f"{size} $HOWDAH_DIRECTORY/text"
    theirs = (
        "hadoop jar $HADOOP_HOME/share/hadoop/mapreduce/hadoop-mapreduce-examples-3.4.2.jar randomtextwriter "
        f"-Dmapreduce.randomtextwriter.totalbytes={size} -Dmapreduce.randomtextwriter.bytespermap={size // maps} "
        "-outFormat org.apache.hadoop.mapreduce.lib.output.TextOutputFormat $HOWDAH_DIRECTORY/text"
    )
    # As a session gives them (`howdah.workload.Session.in_client`).
    in_client = f"-Dmapreduce.framework.name=local -Dmapreduce.local.map.tasks.maximum={maps}"
    ways = {
        "client": f"{generator} {in_client} {asked}",
        "job": f"{generator} {asked}",
        "randomtextwriter": theirs,
    }
    kept = f"{row}-{size}"
    with cluster(row, 1, *storage) as there:
        common = ("--cluster", there, "--no-calibration", "--no-probes")
        run_blocks(
            kept,
            tuple(Arm(name, (*common, "--run", line)) for name, line in ways.items()),
            BLOCKS,
            ("command", "--bytes", str(size)),
        )
    lines = ["| figure | randomtextwriter | textgen | | randomtextwriter ÷ textgen |", "|---|---|---|---|---|"]
    where = {"client": "in its client", "job": "in a job"}
    for way, metric in itertools.product(where, ("client_seconds", "cpu_seconds")):
        sides = " | ".join(describe(kept, metric, "run", arm) for arm in ("randomtextwriter", way))
        found = ratios(kept, metric, "run", "randomtextwriter", way)
        lines.append(f"| {metric} | {sides} | {where[way]} | {ratio_words(found)} |")
    return lines


def probes() -> list[str]:
    """Probes on and off, on one cluster per run, and the CPU that they take."""
    common = ("--nodes", "1", "--no-calibration")
    arms = (Arm("on", common), Arm("off", (*common, "--no-probes")))
    run_blocks("probes", arms, max(BLOCKS, 10), ("terasort", "--size", "1G", *SAME_TASKS))
    lines = [f"job time with probes ÷ without: {ratio_words(ratios('probes', 'job_seconds', 'sort', 'on', 'off'))}", ""]
    shares = probe_share("probes", "on")
    lines.append(
        f"CPU of the probing process ÷ (processors × time): {100 * statistics.fmean(shares):.2f} % "
        f"({100 * min(shares):.2f}–{100 * max(shares):.2f}, n={len(shares)})"
    )
    return lines
