"""Accelerators: Howdah's plugins that serve MapReduce jobs in place of Hadoop's classes.

The counters of a job show whether the plugins served it.
"""

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
    """A plugin that serves a job if the job's `key` has the plugin's `value`, which begins with the plugin's class.

    With the value `stock`, the job uses the stock class. The plugin counts in the counter group `group`. `records` is
    the stock counter of the records to serve. `work` names the plugin's work, for sentences.
    """

    key: str
    value: str
    stock: str
    group: str
    records: str
    work: str

    @property
    def name(self) -> str:
        """The plugin's class, without the package."""
        return self.value.partition(",")[0].rpartition(".")[2]

    def is_named_by(self, settings: Mapping[str, str]) -> bool:
        """Return whether jobs with `settings` are to use the plugin."""
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
"""The plugins of each accelerator, by its name."""


def settings_for(accelerator: str) -> Mapping[str, str]:
    """Return the settings of jobs that use only this accelerator.

    Stock classes are named too, because a cluster may have Howdah's plugins as its defaults. Plugins come with the HDFS
    client that reads through a buffer. No counter shows that client.
    """
    used = ACCELERATORS[accelerator]
    chosen = {one.key: one.value if one in used else one.stock for one in PLUGINS}
    return {**chosen, _CLIENT_KEY: _CLIENT if used else _STOCK_CLIENT}


def plugins_of(settings: Mapping[str, str]) -> tuple[Plugin, ...]:
    """Return the plugins that jobs with `settings` are to use."""
    return tuple(plugin for plugin in PLUGINS if plugin.is_named_by(settings))


def accelerator_of(settings: Mapping[str, str]) -> str:
    """Return the accelerator of jobs with `settings`, or the names of its plugins if no accelerator has just these."""
    found = plugins_of(settings)
    names = [name for name, plugins in ACCELERATORS.items() if plugins == found]
    return names[0] if names else " and ".join(plugin.name for plugin in found)


def plugins_named(accelerator: str) -> tuple[Plugin, ...]:
    """Return the plugins behind a name that `accelerator_of` returned."""
    if accelerator in ACCELERATORS:
        return ACCELERATORS[accelerator]
    return tuple(plugin for plugin in PLUGINS if plugin.name in accelerator.split(" and "))


def has_map_output(job: Job) -> bool:
    """Return whether records went from maps to reduces in the job. Accelerators serve only such jobs."""
    return job.reduces > 0 and bool(job.counter(_TASK, "MAP_OUTPUT_RECORDS"))


@dataclass(frozen=True, slots=True)
class Service:
    """The share of a job with map output that a plugin served.

    `records` of `expected` records went through the plugin. `records` is 0 if the plugin was not used; `expected` is
    None if Hadoop did not count the records. `fallbacks` are the plugin's counters of records left to the stock class,
    by name, one for each reason if the plugin gives reasons.
    """

    plugin: Plugin
    records: int
    expected: int | None
    fallbacks: Mapping[str, int]

    @property
    def whole(self) -> bool:
        """Whether the plugin served all of the job."""
        return self.records > 0 and self.records >= (self.expected or 0) and not self.fallbacks


def service(plugin: Plugin, job: Job) -> Service:
    """Return the service of `plugin` in `job`."""
    own = job.counters.get(plugin.group, {})
    left = {name: count for name, count in own.items() if name.startswith("FALLBACK") and count > 0}
    # The reasons add up to the number that has none in its name.
    reasons = {name: count for name, count in left.items() if name != _LEFT}
    return Service(plugin, own.get("RECORDS", 0), job.counter(_TASK, plugin.records), reasons or left)


def is_served(plugins: Sequence[Plugin], jobs: Iterable[Job]) -> bool:
    """Return whether `jobs` have map output, and all of it went through all of `plugins`."""
    found = [service(plugin, job) for job in jobs if has_map_output(job) for plugin in plugins]
    return bool(found) and all(one.whole for one in found)
