"""Generated data that outlives its run: made once, used by every later run that would generate the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from howdah.storage import Storage, StoredFile
from howdah.workload import Dataset

ROOT = "/howdah/data"
_SCHEMA = 1
_SHAPING = (
    "dfs.replication",
    "dfs.blocksize",
    "dfs.bytes-per-checksum",
    "dfs.checksum.type",
    "io.seqfile.",
    "io.compression.",
    "mapreduce.output.fileoutputformat.",
    "mapreduce.randomwriter.",
    "mapreduce.randomtextwriter.",
)

Make = Callable[[str], Mapping[str, Any]]


def shaping(settings: Mapping[str, str]) -> dict[str, str]:
    """Those of a job's settings that change what a generator stores."""
    return {key: value for key, value in sorted(settings.items()) if key.startswith(_SHAPING)}


class Datasets:
    """The datasets of one storage. `private` is a directory of the run alone, where they are made.

    A dataset is a directory under ROOT and, beside it, a file that says what it is and how every file of it was stored.
    That file is written last: a generator that was killed leaves no dataset.
    """

    def __init__(self, storage: Storage, private: str, *, reuse: bool, surroundings: Mapping[str, Any]) -> None:
        """`surroundings` are part of every identity: the release of Hadoop, the number of nodes, what `shaping` gives.
        With `reuse` off, data is made anew and ends with the run."""
        self._storage = storage
        self._private = private
        self._reuse = reuse
        self._surroundings = surroundings

    def obtain(self, identity: Mapping[str, Any], make: Make) -> tuple[Dataset, str | None]:
        """The dataset of `identity`, and a sentence where one was there that could not be used."""
        fresh = f"{self._private}/input"
        if not self._reuse:
            return Dataset(fresh, make(fresh), reused=False), None
        whole = {"schema": _SCHEMA, **identity, **self._surroundings}
        if (policy := self._storage.erasure_coding(self._private)) is not None:
            whole["erasure_coding"] = policy
        digest = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]
        place = f"{ROOT}/{identity['generator']}-{digest}"
        problem = None
        if (found := self._read(place)) is not None:
            facts, stored = found
            problem = self._damage(place, stored)
            if problem is None:
                return Dataset(place, facts, reused=True), None
        self._storage.remove(f"{place}.json")
        self._storage.remove(place)
        facts = make(fresh)
        self._storage.rename(fresh, place)
        files = {name: asdict(file) for name, file in self._storage.layout(place).items()}
        record = {"identity": whole, "facts": facts, "files": files}
        self._storage.write(f"{place}.json", json.dumps(record, indent=1).encode())
        return Dataset(place, facts, reused=False), problem

    def _read(self, place: str) -> tuple[Mapping[str, Any], dict[str, StoredFile]] | None:
        """Facts and files of a dataset; None where its record is missing or damaged."""
        name = f"{place}.json".rpartition("/")[2]
        if name not in self._storage.files(ROOT):
            return None
        try:
            record = json.loads(self._storage.read(f"{place}.json"))
            return record["facts"], {name: StoredFile(**file) for name, file in record["files"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def _damage(self, place: str, stored: Mapping[str, StoredFile]) -> str | None:
        """What is wrong with the files of a dataset, compared with what was stored when it was made."""
        now = self._storage.layout(place)
        for name in sorted(stored.keys() | now.keys()):
            if stored.get(name) != now.get(name):
                return (
                    f"the dataset {place} was not what it had been and was made anew: {name} "
                    f"was {_words(stored.get(name))} and is {_words(now.get(name))}"
                )
        return None


def _words(file: StoredFile | None) -> str:
    if file is None:
        return "not there"
    kept = f"{file.replication} replicas" if file.erasure_coding is None else file.erasure_coding
    return f"{file.length} bytes in {kept} with blocks of {file.block_size}"
