"""Benchmarks of the accelerator: the same job on the same cluster, with Hadoop's own sort and shuffle and with ours.

Each row brings one cluster up for all of its pairs, which keeps one input.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from benchmarks.arms import BLOCKS
from benchmarks.pairs import (
    Arm,
    cluster,
    describe,
    largest_counter,
    need_disk,
    posix_directory,
    ratio_words,
    ratios,
    run_blocks,
)
from howdah.hadoop.configuration.tuning import TASK_OPTIONS
from howdah.hadoop.distribution.jars import place_of
from howdah.model.quantity import parse_amount
from howdah.workload import Asked
from howdah.workload.registry import find_workload

COMPRESSED = "mapreduce.map.output.compress"
CODEC = "mapreduce.map.output.compress.codec"


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: a workload, its size, the phase that is compared, and settings of both sides and of each.

    `container` is the memory of map and reduce containers in MiB, `heap` percent of it heap; 0 leaves what the cluster
    has. With `posix`, ours reads and writes a directory of the same disk instead of HDFS. `options` are the workload's;
    those of a command have `{size}` where its size in bytes is meant.
    """

    workload: str
    size: str
    what: str
    phase: str
    nodes: int = 1
    container: int = 0
    heap: int = 80
    posix: bool = False
    options: Sequence[str] = ()
    conf: Mapping[str, str] = field(default_factory=dict)
    stock: Mapping[str, str] = field(default_factory=dict)
    ours: Mapping[str, str] = field(default_factory=dict)


_terasort = partial(Row, "terasort", phase="sort")


def _codec(name: str) -> Mapping[str, str]:
    return {COMPRESSED: "true", CODEC: f"org.apache.hadoop.io.compress.{name}Codec"}


def _shuffle(what: str, *, options: Sequence[str], reduces: str = "2") -> Row:
    return Row("shuffle", "2G", what, "shuffle", options=options, conf={"mapreduce.job.reduces": reduces})


def _command(what: str, program: str) -> Row:
    """One of Hadoop's examples that reads words, and is no workload of ours."""
    text, found = "$HOWDAH_DIRECTORY/text", "$HOWDAH_DIRECTORY/found"
    generate = f"hadoop jar {place_of('howdah-workloads')} textgen -Dmapreduce.job.maps=2 {{size}} {text}"
    run = f"hadoop jar $HADOOP_HOME/share/hadoop/mapreduce/*examples-3*.jar {program} {text} {found} 2 textinputformat"
    return Row("command", "1G", what, "run", options=("--prepare", generate, "--run", run))


_EQUAL = {"mapreduce.job.reduces": "2"}
# Four maps: Hadoop's own sort gains as much from that as ours, which just holds them in memory with their entries.
_FOUR_MAPS = {"mapreduce.input.fileinputformat.split.minsize": "2500000000"}

_BEST = _terasort(
    "10G",
    "each at its own best, 4 GiB",
    container=4096,
    heap=86,
    conf=_FOUR_MAPS,
    # With that share, the input of a reduce just fits into its heap.
    stock={"mapreduce.job.reduces": "4", "mapreduce.reduce.shuffle.input.buffer.percent": "0.9"},
    ours={**_EQUAL, "howdah.sort.memory.mb": "3150"},
)

ROWS = {
    "sort": _BEST,
    "stack": replace(_BEST, what="each at its own best, 4 GiB: HDFS, and ours on posixfs:", posix=True),
    "sort-equal": _terasort("10G", "equal splits, reduces, memory", container=4096, conf=_EQUAL),
    "sort-small": _terasort("10G", "1.5 GiB containers", container=1536, conf={"mapreduce.job.reduces": "4"}),
    "sort-2g": _terasort("2G", "2 GB", container=4096, conf=_EQUAL),
    "sort-http": _terasort(
        "10G",
        "three nodes, all map outputs over HTTP",
        nodes=3,
        # All nodes are on one disk.
        conf={"mapreduce.job.reduces": "4", "dfs.replication": "1"},
        ours={"howdah.shuffle.direct": "false"},
    ),
    "sort-spills": _terasort(
        "10G",
        "1 GiB containers, io.sort.factor 10",
        container=1024,
        conf={"mapreduce.task.io.sort.factor": "10", "mapreduce.job.reduces": "4"},
    ),
    "sort-random": Row("sort", "2G", "Sort of RandomWriter data", "sort", conf=_EQUAL),
    # What RandomWriter writes for each host unless it is told otherwise.
    "sort-random-10g": Row("sort", "10G", "Sort of RandomWriter data", "sort", conf={"mapreduce.job.reduces": "4"}),
    "sort-words": Row("wordcount", "2G", "WordCount with its combiner", "count", conf=_EQUAL),
    "sort-combiner": _command("aggregatewordcount: a combiner that the sort does not know", "aggregatewordcount"),
    "sort-keys": _shuffle(
        "a million Text keys with values of 100 bytes",
        options=("--type", "text", "--key", "16", "--value", "100", "--distinct", "1000000"),
    ),
    "sort-prefix": _shuffle("keys of 50 bytes, 40 in common", options=("--key", "50", "--prefix", "40")),
    "sort-skew": _shuffle("partitions of Zipf's sizes", options=("--skew", "1"), reduces="4"),
    "sort-order": _shuffle("a comparator that the sort does not know", options=("--comparator", "reverse")),
    "sort-pairs": Row("secondarysort", "20M", "secondary sort of pairs", "sort", conf=_EQUAL),
    "sort-gzip": _terasort("2G", "gzip", container=4096, conf={**_EQUAL, **_codec("Gzip")}),
    "sort-snappy": _terasort("2G", "Snappy", container=4096, conf={**_EQUAL, **_codec("Snappy")}),
    "sort-lz4": _terasort("2G", "LZ4", container=4096, conf={**_EQUAL, **_codec("Lz4")}),
    "sort-encrypted": _terasort(
        "2G", "encrypted", container=4096, conf={**_EQUAL, "mapreduce.job.encrypted-intermediate-data": "true"}
    ),
}


def measure(name: str) -> list[str]:
    """Runs the pairs of one row that are missing (`BLOCKS`, 8 unless told; `SIZE` instead of the row's)."""
    row = ROWS[name]
    size = os.environ.get("SIZE", row.size)
    _check_disk(row, size)
    with ExitStack() as stack:
        posix = stack.enter_context(posix_directory()) if row.posix else None
        storages = () if posix is None else ("--storage", f"hdfs,{posix}")
        there = stack.enter_context(cluster(name, row.nodes, *storages))
        common = ("--cluster", there, "--no-calibration", "--no-report", "--data", "reuse", *_containers(there, row))
        stock = (*common, *_conf({**row.conf, **row.stock}))
        own = () if posix is None else ("--storage", posix)
        ours = (*common, *_conf({**row.conf, **row.ours}), *own, "--accelerator", "sort")
        run_blocks(
            f"{name}-{size}",
            (Arm("stock", stock), Arm("sort", ours)),
            BLOCKS,
            (row.workload, *_size_and_options(row, size)),
        )
    lines = [
        f"{row.workload} {size}, {row.what}, {row.nodes} node{'s' if row.nodes > 1 else ''}",
        "",
        "| figure | stock | sort | stock ÷ sort |",
        "|---|---|---|---|",
    ]
    for metric in ("job_seconds", "cpu_seconds"):
        found = ratios(f"{name}-{size}", metric, row.phase, "stock", "sort")
        sides = (describe(f"{name}-{size}", metric, row.phase, arm) for arm in ("stock", "sort"))
        lines.append(f"| {metric} | {' | '.join(sides)} | {ratio_words(found)} |")
    for task in ("map", "reduce"):
        counter = f"{task.upper()}_PHYSICAL_MEMORY_BYTES_MAX"
        one, other = (largest_counter(f"{name}-{size}", counter, row.phase, arm) for arm in ("stock", "sort"))
        if one and other:
            cells = f"{one >> 20} | {other >> 20} | {one / other:.2f}"
            lines.append(f"| largest RSS of a {task}, MiB | {cells} |")
    return lines


def _size_and_options(row: Row, size: str) -> tuple[str, ...]:
    if row.workload != "command":
        return ("--size", size, *row.options)
    return ("--bytes", size, *(one.replace("{size}", str(parse_amount(size, "B"))) for one in row.options))


def _check_disk(row: Row, size: str) -> None:
    """Half as much again as a run needs: what the one before had may not be deleted yet. Every node is on the disk of
    HOWDAH_HOME, and with `posix` the other storage has an input too. A command does not say: four times its input."""
    workload = find_workload(row.workload)
    amount = parse_amount(size, workload.unit)
    if row.workload == "command":
        need_disk(4 * amount)
        return
    settings = workload.resolve(Asked(amount, None, None, {}, {}), {"dfs.replication": "1"})
    need_disk(1.5 * sum(workload.space_bytes(settings)) + (amount if row.posix else 0))


def _containers(name: str, row: Row) -> tuple[str, ...]:
    """Options for containers as `row` has them; the other flags of the cluster's task JVMs stay."""
    if not row.container:
        return ()
    home = Path(os.environ.get("HOWDAH_HOME") or Path.home() / ".howdah")
    site = xml.etree.ElementTree.parse(home / "clusters" / name / "conf" / "mapred-site.xml")
    keys = {one.findtext("name"): one.findtext("value") or "" for one in site.iter("property")}
    memory = dict.fromkeys(("mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb"), str(row.container))
    heap = row.container * row.heap // 100
    return _conf({**memory, TASK_OPTIONS: f"-Xmx{heap}m {keys[TASK_OPTIONS]}"})


def _conf(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(part for key, value in settings.items() for part in ("--conf", f"{key}={value}"))
