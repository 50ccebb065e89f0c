"""The configuration keys that a Hadoop distribution knows, and the check for misspelled keys."""

from __future__ import annotations

import functools
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from howdah.errors import UsageError
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.lock import managed_versions, read_lock
from howdah.spec.slips import distance

_DEFAULTS = ("core-default.xml", "hdfs-default.xml", "yarn-default.xml", "mapred-default.xml", "distcp-default.xml")

# Many real keys are in no default file, only constants of these classes: MapReduce's Java options, queues, HA …
_CONSTANTS = tuple(
    f"org/apache/hadoop/{name}.class"
    for name in """
        fs/CommonConfigurationKeys fs/CommonConfigurationKeysPublic fs/viewfs/Constants ha/SshFenceByTcpPort
        hdfs/DFSConfigKeys hdfs/client/HdfsClientConfigKeys hdfs/client/HdfsClientConfigKeys$Failover
        hdfs/client/HdfsClientConfigKeys$HedgedRead hdfs/client/HdfsClientConfigKeys$Read
        hdfs/client/HdfsClientConfigKeys$Retry hdfs/client/HdfsClientConfigKeys$ShortCircuit
        hdfs/client/HdfsClientConfigKeys$Write yarn/conf/YarnConfiguration
        yarn/server/resourcemanager/scheduler/capacity/CapacitySchedulerConfiguration
        yarn/server/resourcemanager/scheduler/fair/FairSchedulerConfiguration
        mapreduce/MRConfig mapreduce/MRJobConfig mapreduce/v2/jobhistory/JHAdminConfig
        mapreduce/lib/input/FileInputFormat mapreduce/lib/output/FileOutputFormat mapreduce/server/jobtracker/JTConfig
        mapreduce/server/tasktracker/TTConfig mapred/ShuffleHandler examples/terasort/TeraSortConfigKeys
    """.split()
)
_KEY = re.compile(r"[a-zA-Z][\w-]*(\.[\w-]+)+(?<!\.java|\.json)(?<!\.xml)")

# Hadoop asks for a key with the scheme of a path in it, whatever that is.
_OF_A_SCHEME = re.compile(r"fs\.(AbstractFileSystem\.)?[\w+-]+\.impl(\.disable\.cache)?")

# Closer than this is a slip of the keyboard: `mapreduce.job.reducers`, `dfs.block.sise`. Short keys are not judged.
_SLIP = 2
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Key:
    """A known configuration key. `default` and `description` are None if no default file has the key."""

    name: str
    default: str | None = None
    description: str | None = None
    replaced_by: str | None = None
    """Key to use instead of a deprecated one, which Hadoop still accepts."""


def known_keys(distribution: Distribution) -> Mapping[str, Key]:
    """Return the keys of `*-default.xml` and of the constant classes in the distribution's jars, and the deprecated
    keys."""
    return _known_keys(tuple(jar for jar in distribution.jars if jar.name.startswith("hadoop-")), distribution.version)


def check_key(key: str, known: Mapping[str, Key]) -> None:
    """Accept a known key, or one that resembles no known key: users have keys of their own.

    A known key with parts at its end is fine (`dfs.namenode.rpc-address.NAMESERVICE.NAMENODE`), and so is the class of
    any scheme's file system (`fs.hdfs.impl`).

    Raises:
        UsageError: `key` is one or two letters away from a known key.
    """
    if key in known or len(key) < _SHORTEST or _OF_A_SCHEME.fullmatch(key):
        return
    if any(start in known for start in _starts(key)):
        return
    near = [(slips, name) for name in known if (slips := _distance(key, name)) <= _SLIP]
    if near:
        best = min(near)[1]
        raise UsageError(
            f"Hadoop does not know the key {key}; did you mean {known[best].replaced_by or best}?",
            hint="A key of your own must differ from Hadoop's in more than two letters.",
        )


def replacements(version: str) -> Mapping[str, str]:
    """Return the old keys that release `version` still accepts, with their replacements. A release that is not managed
    gets those of the oldest managed release."""
    return read_lock(version if version in managed_versions() else managed_versions()[0]).deprecated


def under_current_names(settings: Mapping[str, str], replaced: Mapping[str, str]) -> dict[str, str]:
    """Return `settings` under the present names of their keys; `replaced` comes from `replacements`."""
    return {replaced.get(key, key): value for key, value in settings.items()}


@functools.cache
def _known_keys(jars: tuple[Path, ...], version: str) -> Mapping[str, Key]:
    known: dict[str, Key] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as content:
            names = set(content.namelist())
            for name in names.intersection(_CONSTANTS):
                known |= {key: Key(key) for key in _constants(content.read(name)) if key not in known}
            for name in names.intersection(_DEFAULTS):
                known |= {key.name: key for key in _defaults(content.read(name))}
    for old, new in replacements(version).items():
        known[old] = Key(old, replaced_by=new)
    return known


def _defaults(content: bytes) -> Iterator[Key]:
    for element in ElementTree.fromstring(content).iter("property"):  # noqa: S314, from a jar of Hadoop
        name = (element.findtext("name") or "").strip()
        yield Key(
            name, (element.findtext("value") or "").strip(), " ".join((element.findtext("description") or "").split())
        )


def _constants(content: bytes) -> Iterator[str]:
    """Yield the strings of a class file that look like keys (JVM specification, section 4.4: the constant pool)."""
    sizes = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
    (count,) = struct.unpack_from(">H", content, 8)
    position, index = 10, 1
    while index < count:
        tag = content[position]
        if tag == 1:
            (length,) = struct.unpack_from(">H", content, position + 1)
            text = content[position + 3 : position + 3 + length].decode("utf-8", "replace")
            if _KEY.fullmatch(text):
                yield text
            position += 3 + length
        else:
            position += 1 + sizes[tag]
        # Long and double take two places.
        index += 2 if tag in (5, 6) else 1


def _starts(key: str) -> Iterator[str]:
    """Yield the beginnings of a key: a.b.c.d → a.b.c, a.b. One part alone says too little to vouch for the parts behind
    it."""
    parts = key.split(".")
    for length in range(len(parts) - 1, 1, -1):
        yield ".".join(parts[:length])


def _distance(one: str, other: str) -> int:
    """Return the number of slips between two keys. Keys with different digits are different: `…server1` and
    `…server2`."""
    return distance(one, other, _SLIP) if _digits(one) == _digits(other) else _SLIP + 1


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
