"""Generated data that outlives its run: made once, and used by every later run that would generate the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from howdah.errors import Untrusted
from howdah.model.quantity import parse_binary
from howdah.model.storage import HDFS, SCHEMES
from howdah.storage import Storage, StoredFile
from howdah.workload import Dataset

ROOT = "/howdah/data"
_SCHEMA = 1
_REPLICATION, _BLOCK_SIZE = "dfs.replication", "dfs.blocksize"
_SHAPING = (
    *(_REPLICATION, _BLOCK_SIZE),
    "dfs.bytes-per-checksum",
    "dfs.checksum.type",
    "io.seqfile.",
    "io.compression.",
    "mapreduce.output.fileoutputformat.",
    "mapreduce.randomwriter.",
    "mapreduce.randomtextwriter.",
    # TestDFSIO's, which its options of other names set, too.
    *("test.io.compression.class", "test.io.block.storage.policy", "test.io.erasure.code.policy"),
    *(f"fs.{scheme}.{name}" for scheme in SCHEMES for name in ("block.size", "checksum", "layout", "preallocate")),
)

Make = Callable[[str], Mapping[str, Any]]


def shaping(settings: Mapping[str, str]) -> dict[str, str]:
    """Return those of a job's settings, under their current names, that change what a generator stores."""
    return {key: value for key, value in sorted(settings.items()) if key.startswith(_SHAPING)}


class Datasets:
    """The datasets of one storage. They are made in `private`, the directory of the run alone, which has the run's
    name.

    A dataset is a directory under ROOT and a file next to it. The file describes the dataset and how each of its files
    was stored. It is written last: a generator that was killed leaves no dataset.
    """

    def __init__(
        self,
        storage: Storage,
        private: str,
        *,
        reuse: bool,
        surroundings: Mapping[str, Any],
        asked: Mapping[str, str],
    ) -> None:
        """`surroundings` are part of every identity: the release of Hadoop, the number of nodes, the result of
        `shaping`. `asked` are the Hadoop keys of this run. With `reuse` off, data is made from scratch and removed with
        the run.
        """
        self._storage = storage
        self._private = private
        self._reuse = reuse
        self._surroundings = surroundings
        self._asked = asked

    def obtain(self, identity: Mapping[str, Any], make: Make) -> tuple[Dataset, str | None]:
        """Return the dataset of `identity`, and a sentence if an existing one could not be used.

        Raises Untrusted if the generated data is not stored as the run requested.
        """
        fresh = f"{self._private}/input"
        if not self._reuse:
            facts, files = self._made(fresh, make)
            return Dataset(fresh, self._facts(facts, files), reused=False), None
        whole = {"schema": _SCHEMA, **identity, **self._surroundings}
        if (policy := self._storage.erasure_coding(self._private)) is not None:
            whole["erasure_coding"] = policy
        digest = digest_of(whole)
        place = f"{ROOT}/{identity['generator']}-{digest}"
        problem = None
        if (kept := self._read(place)) is not None:
            problem = self._damage(place, kept.files)
            if problem is None:
                return Dataset(place, self._facts(kept.facts, kept.files), reused=True, made_by=kept.made_by), None
        self._storage.remove(f"{place}.json")
        self._storage.remove(place)
        facts, files = self._made(fresh, make)
        self._storage.rename(fresh, place)
        made_by = self._private.rpartition("/")[2]
        record = {"identity": whole, "facts": facts, "files": {name: asdict(file) for name, file in files.items()}}
        self._storage.write(f"{place}.json", json.dumps({**record, "made_by": made_by}, indent=1).encode())
        return Dataset(place, self._facts(facts, files), reused=False, made_by=made_by), problem

    def _made(self, directory: str, make: Make) -> tuple[Mapping[str, Any], Mapping[str, StoredFile]]:
        """Generate data in `directory`. Return the facts from the generator, and how the files are stored."""
        facts = make(directory)
        files = self._storage.layout(directory)
        if (problem := self._unlike(files)) is not None:
            raise Untrusted(f"the data of {directory} is not stored as it was asked to be: {problem}")
        return facts, files

    def _facts(self, facts: Mapping[str, Any], files: Mapping[str, StoredFile]) -> dict[str, Any]:
        """Return facts for `run.json`. A generator knows how many replicas it was to make, the storage how many there
        are."""
        whole = [file for file in files.values() if file.length > 0]
        stored: dict[str, Any] = {"files": len(whole), "bytes": sum(file.length for file in whole)}
        values: Mapping[str, set[Any]] = {
            "replication": _replications(files),
            # Of other storages it is what Hadoop says of every file, and no property of any.
            "block_size": _block_sizes(files) if self._storage.name == HDFS else set(),
            "erasure_coding": {file.erasure_coding for file in whole if file.erasure_coding is not None},
        }
        for name, found in values.items():
            if found:
                stored[name] = next(iter(found)) if len(found) == 1 else sorted(found)
        return {**{name: fact for name, fact in facts.items() if name != "replication"}, "stored": stored}

    def _read(self, place: str) -> _Kept | None:
        """Return the record of a dataset; None if it is missing or damaged."""
        name = f"{place}.json".rpartition("/")[2]
        if name not in self._storage.files(ROOT):
            return None
        try:
            record = json.loads(self._storage.read(f"{place}.json"))
            files = {name: StoredFile(**file) for name, file in record["files"].items()}
            return _Kept(record["facts"], files, record.get("made_by"))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def _damage(self, place: str, stored: Mapping[str, StoredFile]) -> str | None:
        """Return how the files of a dataset differ from those that were stored when it was made, or from this run's
        request. None if they do not."""
        now = self._storage.layout(place)
        for name in sorted(stored.keys() | now.keys()):
            if stored.get(name) != now.get(name):
                return (
                    f"the dataset {place} had changed and was made again: {name} "
                    f"was {_words(stored.get(name))} and is {_words(now.get(name))}"
                )
        if (problem := self._unlike(now)) is not None:
            return f"the dataset {place} did not fit the request and was made again: {problem}"
        return None

    def _unlike(self, files: Mapping[str, StoredFile]) -> str | None:
        """Return which requested HDFS setting the stored files do not show; None if they show all. Other storages
        ignore these settings."""
        if self._storage.name != HDFS:
            return None
        for key, found in ((_REPLICATION, _replications(files)), (_BLOCK_SIZE, _block_sizes(files))):
            wanted = self._asked.get(key)
            if wanted is not None and found and found != {parse_binary(wanted)}:
                return f"{key} was to be {wanted} and is {' and '.join(map(str, sorted(found)))}"
        return None


def digest_of(facts: Mapping[str, Any]) -> str:
    """Return sixteen hexadecimal digits that tell these facts from others."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The record of a dataset. Records of earlier versions do not name the run that made it."""

    facts: Mapping[str, Any]
    files: Mapping[str, StoredFile]
    made_by: str | None


def _replications(files: Mapping[str, StoredFile]) -> set[int]:
    """Return the replications of files with content that have replicas."""
    return {file.replication for file in files.values() if file.length > 0 and file.erasure_coding is None}


def _block_sizes(files: Mapping[str, StoredFile]) -> set[int]:
    return {file.block_size for file in files.values() if file.length > 0}


def _words(file: StoredFile | None) -> str:
    if file is None:
        return "not there"
    kept = f"{file.replication} replicas" if file.erasure_coding is None else file.erasure_coding
    return f"{file.length} bytes in {kept} with blocks of {file.block_size}"
