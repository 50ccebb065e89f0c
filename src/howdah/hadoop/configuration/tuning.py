"""The tuned defaults: settings of Howdah's clusters that stock Hadoop does not have, and the reasons.

Each entry can be left out alone (`howdah up --without NAME`), which is how its effect is measured. The measurements are
in `docs/performance.md`. `--defaults stock` leaves all of them out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from howdah.errors import UsageError
from howdah.hadoop.configuration.roles import DATANODE, Role
from howdah.hadoop.configuration.sizing import Sizing
from howdah.hadoop.distribution.archive import TASK_ARGUMENTS, USER_CLASSES_FIRST
from howdah.hadoop.distribution.jdk import Jdk

_COLLECTOR = re.compile(r"-XX:\+Use\w+GC")
_SERIAL = "-XX:+UseSerialGC"
_KEPT = "mapreduce.reduce.input.buffer.percent"
_USUAL_HEAP_MIB = 819
"""Heap of a task without any setting: 0.8 of 1024."""
_REST_MIB = 64
"""Part of a reduce's heap that is left for other things than map outputs and the young generation."""

TASK_FILE = f"$HADOOP_CONF_DIR/{TASK_ARGUMENTS}"
"""File with the class archive of tasks and the class path that they need for it. A container's shell inserts the conf
directory of its NodeManager, which is different on every host; yarn.nodemanager.env-whitelist passes it."""

TASK_OPTIONS = "mapred.child.java.opts"
"""Key with the JVM options of tasks."""

_QUICK = "-XX:TieredStopAtLevel=1"


def _late(times: int) -> tuple[str, ...]:
    """Return flags that multiply the thresholds of the JVM's optimising compiler by `times`."""
    usual = {"Invocation": 5_000, "MinInvocation": 600, "Compile": 15_000, "BackEdge": 40_000}
    return tuple(f"-XX:Tier4{name}Threshold={times * value}" for name, value in usual.items())


@dataclass(frozen=True, slots=True)
class TuningFacts:
    """The facts that a tuned default may depend on. `archive` is the path of the class archive; None if there is
    none."""

    sizing: Sizing
    jdk: Jdk
    archive: str | None = None


def _nothing(_: TuningFacts) -> Mapping[str, str]:
    return {}


def _no_flags(_: TuningFacts) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Tuning:
    """One tuned default: Hadoop settings, and JVM flags of tasks, of application masters, of daemons and of clients.
    `workloads` are settings for Howdah's own workloads only: they would change the results of other programs. `results`
    says why the rest does not."""

    name: str
    why: str
    results: str
    settings: Callable[[TuningFacts], Mapping[str, str]] = _nothing
    workloads: Callable[[Sizing], Mapping[str, str]] = lambda _: {}
    task_flags: Callable[[TuningFacts], tuple[str, ...]] = _no_flags
    master_flags: Callable[[TuningFacts], tuple[str, ...]] = _no_flags
    daemon_flags: Callable[[TuningFacts, Role], tuple[str, ...]] = lambda *_: ()
    client_flags: Callable[[TuningFacts], tuple[str, ...]] = _no_flags


def _everywhere(name: str, why: str, results: str, *flags: str) -> Tuning:
    """Return a default with the same JVM flags for everything."""
    return Tuning(
        name,
        why,
        results,
        task_flags=_always(*flags),
        master_flags=_always(*flags),
        daemon_flags=lambda *_: flags,
        client_flags=_always(*flags),
    )


def _always(*flags: str) -> Callable[[TuningFacts], tuple[str, ...]]:
    return lambda _: flags


def _containers(facts: TuningFacts) -> Mapping[str, str]:
    sizing = facts.sizing
    return {
        "mapreduce.map.memory.mb": str(sizing.task_mib),
        "mapreduce.reduce.memory.mb": str(sizing.task_mib),
        "yarn.app.mapreduce.am.resource.mb": str(sizing.am_mib),
        "yarn.nodemanager.resource.memory-mb": str(sizing.node_mib),
        "yarn.nodemanager.resource.cpu-vcores": str(sizing.slots + 1),
        "yarn.scheduler.minimum-allocation-mb": "128",
        "yarn.scheduler.maximum-allocation-mb": str(sizing.mib_of(sizing.most_slots)),
    }


def _sharing(facts: TuningFacts, *, tasks: bool) -> tuple[str, ...]:
    """Return the flags of class-data sharing. A JVM that cannot map the archive starts without it (-Xshare:auto)."""
    if facts.archive is None:
        return ()
    return ("-Xshare:auto", f"@{TASK_FILE}" if tasks else f"-XX:SharedArchiveFile={facts.archive}")


def _biased_locking(facts: TuningFacts) -> tuple[str, ...]:
    """Return the flags of biased locking: on by default up to Java 14, off but available in 15 to 17 (JEP 374), gone
    after."""
    return ("-XX:+UseBiasedLocking", "-XX:BiasedLockingStartupDelay=0") if 15 <= facts.jdk.major <= 17 else ()


def _young_mib(facts: TuningFacts) -> int:
    return min(64, facts.sizing.task_heap_mib // 4)


def _young(facts: TuningFacts) -> tuple[str, ...]:
    """Return the flags of the young generation. The threshold may disappear after Java 25 (JDK-8366155), and a JVM does
    not start with an unknown flag."""
    threshold = ("-XX:PretenureSizeThreshold=1m",) if facts.jdk.major <= 25 else ()
    return (f"-Xmn{_young_mib(facts)}m", *threshold)


def _fetched_share(facts: TuningFacts) -> float:
    """Return the share of a reduce's heap for map outputs: Hadoop's 0.7 at most.

    Hadoop takes another map output while less than this is taken. There may be a quarter more, which is the largest
    output that Hadoop takes into memory (MergeManagerImpl.reserve, mapreduce.reduce.shuffle.memory.limit.percent). All
    of it is in the old generation. With 0.9, reduces whose input is larger than their heap ran out of heap.
    """
    heap = facts.sizing.task_heap_mib
    return min(0.7, (heap - _young_mib(facts) - _REST_MIB) / (1.25 * heap))


def _kept_share(facts: TuningFacts) -> float:
    """Return the share of a reduce's heap that map outputs may still take when the reduce runs. Hadoop's default is 0:
    a program that fits into Hadoop's heap has to fit into the rest."""
    heap = facts.sizing.task_heap_mib
    return max(0, heap - _young_mib(facts) - _USUAL_HEAP_MIB) * 100 // heap / 100


def _tasks(sizing: Sizing) -> Mapping[str, str]:
    slots = str(sizing.total_slots)
    return {"mapreduce.job.maps": slots, "mapreduce.job.reduces": slots}


TUNINGS = (
    Tuning(
        "container-sizes",
        "as many tasks at once as there are processors, each with the memory that this leaves",
        "A program that sets `mapreduce.map.memory.mb` or `mapreduce.reduce.memory.mb` gets that container, and a heap "
        "of 0.8 of it. Known gaps: on a small machine, tasks have less than Hadoop's 1 GiB, and a program that needs "
        "more has to ask for it. An application master has a heap of 819 MiB instead of 1 GiB, which a job of tens of "
        "thousands of tasks may exceed (`yarn.app.mapreduce.am.command-opts`)",
        _containers,
    ),
    Tuning(
        "task-counts",
        "one map and one reduce per slot",
        "Other programs keep Hadoop's two maps and one reduce, as some read the output of one reduce alone",
        workloads=_tasks,
    ),
    Tuning(
        "large-blocks",
        "blocks and so splits of 1 GiB, less on a small disk: a task's JVM costs 1.5 to 2 s of CPU, which a 128 MiB "
        "split does not repay",
        "Other programs keep Hadoop's 128 MiB: the size of blocks decides how many maps, and so how many files, a job "
        "of maps alone has, what `hadoop fs -checksum` prints, and how much disk a file takes while it is written",
        workloads=lambda sizing: {"dfs.blocksize": str(sizing.block_mib << 20)},
    ),
    Tuning(
        "large-checksum-chunks",
        "one checksum for 4 KiB instead of 512 bytes: fewer to make, to send and to compare; whole files are then "
        "compared by a checksum that does not depend on it",
        "Other programs keep Hadoop's 512 bytes: the number changes what `hadoop fs -checksum` prints, by which DistCp "
        "compares files of two clusters",
        workloads=lambda _: {"dfs.bytes-per-checksum": "4096", "dfs.checksum.combine.mode": "COMPOSITE_CRC"},
    ),
    _everywhere(
        "serial-collector",
        "one task has one processor: parallel collectors only add threads and barriers",
        "A collector that a program or a user names replaces this one",
        _SERIAL,
    ),
    Tuning(
        "biased-locking",
        "a task takes the same uncontended locks for every record; on Java 15 to 17 they can be made nearly free again",
        "What a lock guards does not change",
        task_flags=_biased_locking,
    ),
    _everywhere(
        "no-perf-data",
        "no memory-mapped statistics file per JVM",
        "Only tools that look for JVMs (`jps`, `jstat`) miss the file",
        "-XX:-UsePerfData",
    ),
    Tuning(
        "class-data-sharing",
        "JVMs map Hadoop's classes from one archive instead of parsing jars",
        "A task's class path has Hadoop's jars and then the job's own, as usual; a job whose own classes come first "
        f"(`{USER_CLASSES_FIRST}`) has Hadoop's class path and no archive. Known gap: a job whose tasks need classes "
        "from elsewhere than its jar, `-libjars` and `-files` (an unpacked archive, "
        "`mapreduce.application.classpath`) needs `--without class-data-sharing`",
        lambda facts: {} if facts.archive is None else {USER_CLASSES_FIRST: "false"},
        task_flags=lambda facts: _sharing(facts, tasks=True),
        master_flags=lambda facts: _sharing(facts, tasks=True),
        daemon_flags=lambda facts, _: _sharing(facts, tasks=False),
        client_flags=lambda facts: _sharing(facts, tasks=False),
    ),
    Tuning(
        "quick-compiler",
        "daemons of a small cluster, application masters and clients are busiest while they start: the optimising "
        "compiler costs them more than it gives (9 daemons: 23 s of CPU until healthy with it, 12 s without). "
        "DataNodes, which move the data, keep it, but it begins later",
        "Compilers of one JVM compute the same",
        master_flags=_always(_QUICK),
        daemon_flags=lambda _, role: _late(10) if role is DATANODE else (_QUICK,),
        client_flags=_always(_QUICK),
    ),
    Tuning(
        "late-compiler",
        "a task lives for seconds: optimising its less busy methods costs more than they then save",
        "Compilers of one JVM compute the same",
        task_flags=_always(*_late(4)),
    ),
    Tuning(
        "small-young-generation",
        "what a task makes for a record dies at once: a third of the heap for that is memory to be fetched from the "
        "machine, a megabyte or more is a buffer, which lives as long as the task",
        "The heap is as large as before; more of it is there for what lives long",
        task_flags=_young,
    ),
    Tuning(
        "sort-buffer",
        "sorts that fit the processor's cache, merged in one pass",
        "A combiner may run more often and values of one key may come in another order, both of which MapReduce leaves "
        "open; a record that is larger than the buffer is written by itself",
        lambda _: {"mapreduce.task.io.sort.mb": "32", "mapreduce.task.io.sort.factor": "100"},
    ),
    Tuning(
        "late-reduces",
        "reduces that start early hold a slot that a map could use",
        "Reduces begin later, with the same input",
        lambda _: {"mapreduce.job.reduce.slowstart.completedmaps": "1.0"},
    ),
    Tuning(
        "reduce-memory",
        "map outputs that fit stay in memory until the reduce has read them, instead of being merged to disk first",
        "While reduces of other programs run, map outputs leave them the heap that Hadoop's defaults give, 819 MiB, or "
        "all of a smaller one",
        lambda facts: {
            _KEPT: f"{_kept_share(facts):.2f}",
            "mapreduce.reduce.shuffle.input.buffer.percent": f"{_fetched_share(facts):.2f}",
            "mapreduce.reduce.shuffle.merge.percent": "0.95",
            "mapreduce.reduce.merge.inmem.threshold": "0",
        },
        workloads=lambda _: {_KEPT: "0.9"},
    ),
    Tuning(
        "quick-heartbeats",
        "a container is handed out at a heartbeat: one second between them is much in a job of half a minute",
        "Only the lines of progress that a client prints come at other moments",
        lambda _: {
            "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": "200",
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "200",
            "mapreduce.client.progressmonitor.pollinterval": "500",
            "mapreduce.client.completion.pollinterval": "500",
        },
    ),
    Tuning(
        "no-speculation",
        "on nodes that share a machine a second attempt only takes processors from the first",
        "A task has one attempt unless that fails, which is what every program has to expect",
        lambda _: {"mapreduce.map.speculative": "false", "mapreduce.reduce.speculative": "false"},
    ),
)


def select(*, stock: bool, without: tuple[str, ...] = ()) -> tuple[Tuning, ...]:
    """Return the tuned defaults to use. Raises UsageError for an unknown name in `without`."""
    known = {tuning.name for tuning in TUNINGS}
    for name in without:
        if name not in known:
            raise UsageError(f"unknown tuned default: {name!r}", hint=f"Known: {', '.join(sorted(known))}.")
    return () if stock else tuple(tuning for tuning in TUNINGS if tuning.name not in without)


def daemon_flags(tunings: tuple[Tuning, ...], facts: TuningFacts, role: Role) -> tuple[str, ...]:
    """Return the JVM flags of the daemons of `role`."""
    return tuple(flag for tuning in tunings for flag in tuning.daemon_flags(facts, role))


def joined(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Return `ours` and then the user's flags. A JVM takes one collector: the user's collector replaces ours."""
    if any(map(is_collector, theirs)):
        ours = tuple(flag for flag in ours if not is_collector(flag))
    return (*ours, *theirs)


def is_collector(flag: str) -> bool:
    """Return whether a JVM flag chooses the garbage collector; a JVM with two such flags does not start."""
    return _COLLECTOR.fullmatch(flag) is not None


def client_flags(tunings: tuple[Tuning, ...], facts: TuningFacts) -> tuple[str, ...]:
    """Return the JVM flags of job clients and of the `hadoop` commands."""
    return tuple(flag for tuning in tunings for flag in tuning.client_flags(facts))


def for_workloads(tunings: tuple[Tuning, ...], sizing: Sizing) -> dict[str, str]:
    """Return the settings of Howdah's own workloads that neither the user nor the cluster's configuration sets."""
    return {key: value for tuning in tunings for key, value in tuning.workloads(sizing).items()}


def for_nodes(tunings: tuple[Tuning, ...], sizing: Sizing) -> Mapping[str, Mapping[str, str]]:
    """Return the settings that larger nodes have in addition to those of all nodes, by name."""
    if not any(tuning.settings is _containers for tuning in tunings):
        return {}
    return {
        node: {
            "yarn.nodemanager.resource.memory-mb": str(sizing.mib_of(slots)),
            "yarn.nodemanager.resource.cpu-vcores": str(slots + 1),
        }
        for node, slots in sizing.larger.items()
    }


def resolve(tunings: tuple[Tuning, ...], facts: TuningFacts, flags: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the settings of `tunings`, including the JVM options of tasks and application masters, to which the user's
    `flags` are added.

    The module flags that Hadoop needs on newer JDKs are not included: YARN adds those itself
    (`mapreduce.jvm.add-opens-as-default`).
    """
    settings: dict[str, str] = {}
    for tuning in tunings:
        settings.update(tuning.settings(facts))
    sized = "mapreduce.map.memory.mb" in settings
    task = joined(tuple(flag for tuning in tunings for flag in tuning.task_flags(facts)), flags)
    if _SERIAL not in task:
        # Other collectors size their generations themselves.
        task = tuple(flag for flag in task if flag not in _young(facts))
    if task:
        # Hadoop reads this key last: a program that sets any key for its JVM options has those options alone. There is
        # no -Xmx, as Hadoop then derives the heap from the memory of the container, which a program may set.
        settings[TASK_OPTIONS] = " ".join(task)
    master = joined(tuple(flag for tuning in tunings for flag in tuning.master_flags(facts)), flags)
    if sized or master:
        # 1024 is Hadoop's own default, which is lost when the key is set.
        heap = facts.sizing.am_heap_mib if sized else 1024
        settings["yarn.app.mapreduce.am.command-opts"] = " ".join((f"-Xmx{heap}m", *master))
    return settings
