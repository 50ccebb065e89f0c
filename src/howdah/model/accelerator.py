"""Accelerators: plugins of our own that serve MapReduce jobs in the place of Hadoop's classes, and how the counters of
a job show that they did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from howdah.model.job import Job

NONE = "none"

ACCELERATOR_JAR = "howdah-accelerator"
"""The module whose jar has the plugins."""

_TASK = "org.apache.hadoop.mapreduce.TaskCounter"
_LEFT = "FALLBACKS"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A job whose `key` is `value`, which begins with the plugin's class, uses it; with `stock` it uses Hadoop's own.
    It counts in the counter group `group`; `records` is Hadoop's own counter of what it has to serve. `work` is what
    it does in the place of Hadoop's class, for sentences."""

    key: str
    value: str
    stock: str
    group: str
    records: str
    work: str

    @property
    def name(self) -> str:
        """Its class, without the package."""
        return self.value.partition(",")[0].rpartition(".")[2]

    def is_named_by(self, settings: Mapping[str, str]) -> bool:
        """Whether jobs with `settings` are to use it."""
        classes = [one.strip() for one in settings.get(self.key, "").split(",")]
        return self.value.partition(",")[0] in classes


SORTING = Plugin(
    "mapreduce.job.map.output.collector.class",
    # The second serves what the first refuses.
    "org.howdah.sort.SortingCollector,org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
    "org.apache.hadoop.mapred.MapTask$MapOutputBuffer",
    "Howdah Sort",
    "MAP_OUTPUT_RECORDS",
    "sort",
)
MERGING = Plugin(
    "mapreduce.job.reduce.shuffle.consumer.plugin.class",
    "org.howdah.shuffle.MergingShuffle",
    "org.apache.hadoop.mapreduce.task.reduce.Shuffle",
    "Howdah Shuffle",
    "REDUCE_INPUT_RECORDS",
    "shuffle",
)
PLUGINS = (SORTING, MERGING)

_CLIENT_KEY = "fs.hdfs.impl"
_CLIENT = "org.howdah.hdfs.BufferedFileSystem"
_STOCK_CLIENT = "org.apache.hadoop.hdfs.DistributedFileSystem"

ACCELERATORS: Mapping[str, tuple[Plugin, ...]] = {NONE: (), "sort": PLUGINS}
"""What each accelerator consists of, by its name."""


def settings_for(accelerator: str) -> Mapping[str, str]:
    """The settings of jobs that use just this accelerator. Hadoop's own classes are named too: a cluster may have ours
    as its defaults. With plugins comes the client of HDFS that reads by a buffer; no counter tells of that one."""
    used = ACCELERATORS[accelerator]
    chosen = {one.key: one.value if one in used else one.stock for one in PLUGINS}
    return {**chosen, _CLIENT_KEY: _CLIENT if used else _STOCK_CLIENT}


def plugins_of(settings: Mapping[str, str]) -> tuple[Plugin, ...]:
    """The plugins that jobs with `settings` are to use."""
    return tuple(plugin for plugin in PLUGINS if plugin.is_named_by(settings))


def accelerator_of(settings: Mapping[str, str]) -> str:
    """The accelerator of jobs with `settings`; the names of its plugins where they are not all of any."""
    found = plugins_of(settings)
    names = [name for name, plugins in ACCELERATORS.items() if plugins == found]
    return names[0] if names else " and ".join(plugin.name for plugin in found)


def plugins_named(accelerator: str) -> tuple[Plugin, ...]:
    """The plugins behind a name that `accelerator_of` gave."""
    if accelerator in ACCELERATORS:
        return ACCELERATORS[accelerator]
    return tuple(plugin for plugin in PLUGINS if plugin.name in accelerator.split(" and "))


def has_map_output(job: Job) -> bool:
    """Whether the job handed records from maps to reduces, which is what accelerators are for."""
    return job.reduces > 0 and bool(job.counter(_TASK, "MAP_OUTPUT_RECORDS"))


@dataclass(frozen=True, slots=True)
class Service:
    """What a plugin did in a job with map output: `records` of `expected` went through it (0 where it was not used;
    None where Hadoop did not count how many there were), and `fallbacks` are its counters of what it left to Hadoop's
    own class, by name: of each reason, where it says why."""

    plugin: Plugin
    records: int
    expected: int | None
    fallbacks: Mapping[str, int]

    @property
    def whole(self) -> bool:
        """Whether it served all of the job."""
        return self.records > 0 and self.records >= (self.expected or 0) and not self.fallbacks


def service(plugin: Plugin, job: Job) -> Service:
    """That of `plugin` in `job`."""
    own = job.counters.get(plugin.group, {})
    left = {name: count for name, count in own.items() if name.startswith("FALLBACK") and count > 0}
    # The reasons add up to the number that has none in its name.
    reasons = {name: count for name, count in left.items() if name != _LEFT}
    return Service(plugin, own.get("RECORDS", 0), job.counter(_TASK, plugin.records), reasons or left)


def is_served(plugins: Sequence[Plugin], jobs: Iterable[Job]) -> bool:
    """Whether there is map output in `jobs`, and all of it went through all of `plugins`."""
    found = [service(plugin, job) for job in jobs if has_map_output(job) for plugin in plugins]
    return bool(found) and all(one.whole for one in found)
