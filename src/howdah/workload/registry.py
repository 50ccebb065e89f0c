"""All workloads, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from howdah.errors import UsageError
from howdah.hadoop.distribution.jars import own_jar
from howdah.hadoop.distribution.spark import find_spark
from howdah.spec.slips import did_you_mean
from howdah.workload import Settings, Workload, distcp, namenode
from howdah.workload.command import Command
from howdah.workload.dfsio import Dfsio
from howdah.workload.distcp import DistCp
from howdah.workload.grep import Grep
from howdah.workload.hs import Hs
from howdah.workload.join import Join
from howdah.workload.namenode import NameNodeThroughput
from howdah.workload.pi import Pi
from howdah.workload.secondarysort import SecondarySort
from howdah.workload.shuffle import Shuffle
from howdah.workload.sort import Sort
from howdah.workload.sparkterasort import SparkTeraSort
from howdah.workload.terasort import TeraSort
from howdah.workload.wordcount import WordCount

_ALL: tuple[type[Workload], ...] = (
    *(
        TeraSort,
        SparkTeraSort,
        Hs,
        Sort,
        SecondarySort,
        WordCount,
        Grep,
        Join,
        Pi,
        Shuffle,
        Dfsio,
        DistCp,
        NameNodeThroughput,
        Command,
    ),
)
WORKLOADS = {one.name: one for one in _ALL}
_JARS: Mapping[type[Workload], str] = {
    SparkTeraSort: "howdah-spark",
    **dict.fromkeys((Sort, SecondarySort, WordCount, Grep, Join, Shuffle), "howdah-workloads"),
}
"""The module of Howdah whose jar has a workload's programs."""
_STORAGES: Mapping[type[Workload], Callable[[Settings, str, Collection[str]], None]] = {
    DistCp: distcp.check_storages,
    NameNodeThroughput: namenode.check_storages,
}


def check_installed(workload: Workload) -> None:
    """Raises UsageError if an optional extra that `workload` needs is not installed, HostProblem if a jar of Howdah is
    not built."""
    if isinstance(workload, SparkTeraSort):
        find_spark()
    own_jars(workload)


def own_jars(workload: Workload) -> Sequence[Path]:
    """Return the jars of Howdah with the programs of `workload`. Raises HostProblem if one is not built."""
    name = _JARS.get(type(workload))
    return () if name is None else (own_jar(name),)


def check_storages(workload: Workload, settings: Settings, used: str, there: Collection[str]) -> None:
    """Raises UsageError if `workload` cannot work on the storage `used` of a cluster that has the storages `there`, by
    name."""
    if (check := _STORAGES.get(type(workload))) is not None:
        check(settings, used, there)


def find_workload(name: str) -> Workload:
    """Return the workload called `name`. Raises UsageError with a suggestion of what was meant."""
    if name in WORKLOADS:
        return WORKLOADS[name]()
    raise UsageError(f"unknown workload: {name!r}", hint=did_you_mean(name, WORKLOADS))
