"""The settings that daemons and jobs of a run held, as they report them: whether requests took effect, and whether runs
differ in anything else."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from howdah.hadoop.configuration.cluster import Scope, scope_of
from howdah.hadoop.interfaces.effective import Setting, parse_conf
from howdah.model.redaction import is_sensitive
from howdah.model.run import Check
from howdah.store import layout

DAEMON_FLAGS = "daemon-flags.json"
"""The file in a run's configuration with the JVM flags of each daemon, by its name."""

FLAGS = "jvm."
"""The prefix of the names of JVM flags among the settings of daemons; a role follows."""

COMPUTED = frozenset(
    {
        "mapreduce.job.maps",
        "mapreduce.input.fileinputformat.numinputfiles",
        "mapreduce.job.cache.files.filesizes",
        "mapreduce.job.cache.archives.filesizes",
        "mapreduce.job.application.attempt.id",
    }
)
"""Keys that the job client and the application master compute and write there: splits, files of the input, the size of
shipped files, and how often the master was started. A job that reads another job's output has one file for each reduce.
TeraSort ships a list of the bounds of its partitions. These keys follow from settings and are none themselves.
"""

_REDUCES = "mapreduce.job.reduces"
_LISTED = 3
# What HDFS's and YARN's classes note about themselves when they happen to be loaded.
_LAZY = "rpc.engine."
_PORTS = (".port", ".port-range")
"""The endings of keys whose values are ports alone."""

_NAMES = (
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), "HOST"),
    (re.compile(r"(?<=\w):\d{2,5}\b"), ":PORT"),
    (re.compile(r"_\d{13}_\d{4,}"), "_ID"),
    (re.compile(r"\b1\d{12}\b"), "TIME"),
)


@dataclass(frozen=True, slots=True)
class ReadBack:
    """The settings of a run by key, each with all values that were held: by the daemons together, and by the jobs of
    each phase. `flags` are the JVM flags of the daemons of each role, in their order."""

    daemons: Mapping[str, frozenset[Setting]]
    jobs: Mapping[str, Mapping[str, frozenset[Setting]]]
    flags: Mapping[str, frozenset[tuple[str, ...]]] = field(default_factory=dict)


def read_back(directory: Path) -> ReadBack:
    """Return the settings that the run directory `directory` has. Keys whose value no daemon knows yet are missing: a
    NodeManager loads HDFS's keys when it first needs them.

    Raises Untrusted for a job's configuration that cannot be read.
    """
    daemons: dict[str, set[Setting]] = {}
    for file in sorted((directory / layout.CONF / "effective").glob("*.json")):
        for key, one in json.loads(file.read_text(encoding="utf-8")).items():
            daemons.setdefault(key, set()).add(Setting(one["value"], one["source"]))
    jobs: dict[str, dict[str, set[Setting]]] = {}
    for file in sorted((directory / layout.JOBS).glob("*_conf.xml")):
        record = json.loads(file.with_name(f"{file.name.removesuffix('_conf.xml')}.json").read_text(encoding="utf-8"))
        for key, setting in parse_conf(file.read_bytes()).items():
            jobs.setdefault(record["phase"], {}).setdefault(key, set()).add(setting)
    flags: dict[str, set[tuple[str, ...]]] = {}
    kept = directory / layout.CONF / DAEMON_FLAGS
    for name, words in json.loads(kept.read_text(encoding="utf-8")).items() if kept.exists() else ():
        flags.setdefault(name.partition("-")[0], set()).add(tuple(words))
    return ReadBack(
        {key: frozenset(found) for key, found in daemons.items()},
        {phase: {key: frozenset(found) for key, found in held.items()} for phase, held in jobs.items()},
        {role: frozenset(found) for role, found in flags.items()},
    )


def check_settings(asked: Mapping[str, str], held: ReadBack, measured: Collection[str]) -> Check | None:
    """Return a check that the settings `asked` took effect.

    A key of the cluster must be in a daemon. A key of a job must be in a job of the phases that are `measured`, or of
    any phase if those lack the key. None if no key was read back, for example because no job ran.
    """
    wrong, right = [], []
    jobs = [settings for phase, settings in held.jobs.items() if phase in measured]
    for key, value in asked.items():
        if is_sensitive(key):
            continue  # What was held is not kept.
        if scope_of(key) is Scope.CLUSTER:
            places = [held.daemons]
        else:
            takes = (settings for settings in jobs if key in settings and not _is_moot(key, settings))
            own = [] if key in COMPUTED else list(takes)
            places = own or list(held.jobs.values())
        values = sorted({setting.value for place in places for setting in place.get(key, ())})
        if key in COMPUTED and value.strip() not in values:
            continue  # What a job made of its input, where no generator took it, says nothing against it.
        if values and value.strip() not in values:
            wrong.append(f"{key} was to be {value} and is {' and '.join(values[:_LISTED])}")
        elif values:
            right.append(key)
    if not wrong and not right:
        return None
    return Check("settings", not wrong, "; ".join(wrong) or f"read back as they were asked: {', '.join(right)}")


def _is_moot(key: str, settings: Mapping[str, frozenset[Setting]]) -> bool:
    """Return whether a program of maps alone has set this key itself."""
    return key == _REDUCES and {one.value for one in settings[key]} == {"0"}


def distinguishing(held: ReadBack, own: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the settings that can tell runs apart, by `daemons/KEY` or `PHASE/KEY`: every value that is no default of
    Hadoop.

    Values that merely name the run, its hosts, ports and times are replaced by placeholders. `own` has more such texts,
    for example the run's id, and their replacements.
    """
    found = {}
    for place, settings in (("daemons", held.daemons), *held.jobs.items()):
        for key, several in settings.items():
            values = {one.value for one in several if one.source is None or not one.source.endswith("-default.xml")}
            if values and not key.startswith(_LAZY):
                plain = {"PORT"} if key.endswith(_PORTS) else {_nameless(value, own) for value in values}
                found[f"{place}/{key}"] = sorted(plain)
    for role, lines in held.flags.items():
        found[f"daemons/{FLAGS}{role}"] = sorted({_nameless(" ".join(line), own) for line in lines})
    return dict(sorted(found.items()))


def _nameless(value: str, own: Mapping[str, str]) -> str:
    for text, name in own.items():
        value = value.replace(text, name)
    for pattern, name in _NAMES:
        value = pattern.sub(name, value)
    return value
