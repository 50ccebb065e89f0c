from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from howdah.engine.datasets import ROOT, Datasets, shaping
from howdah.errors import ClusterProblem, WorkloadFailed
from howdah.storage import Storage, StoredFile
from howdah.workload import Dataset

IDENTITY = {"generator": "gen", "rows": 10}
FACTS = {"rows": 10, "checksum": "ab"}


class Memory:
    """A storage of which datasets need reading, writing, renaming, removing and the layout."""

    def __init__(self) -> None:
        self.stored: dict[str, StoredFile] = {}
        self.content: dict[str, bytes] = {}
        self.policy: str | None = None

    def files(self, path: str) -> Mapping[str, int]:
        return {name.rpartition("/")[2]: 0 for name in self.content if name.rpartition("/")[0] == path}

    def read(self, path: str) -> bytes:
        return self.content[path]

    def write(self, path: str, content: bytes) -> None:
        self.content[path] = content

    def layout(self, path: str) -> Mapping[str, StoredFile]:
        below = f"{path}/"
        return {name.removeprefix(below): file for name, file in self.stored.items() if name.startswith(below)}

    def erasure_coding(self, path: str) -> str | None:
        return self.policy

    def rename(self, path: str, target: str) -> None:
        if self.layout(target):
            raise ClusterProblem(target)
        for name, file in self.layout(path).items():
            del self.stored[f"{path}/{name}"]
            self.stored[f"{target}/{name}"] = file

    def remove(self, path: str) -> None:
        self.content.pop(path, None)
        for name in self.layout(path):
            del self.stored[f"{path}/{name}"]


class Generator:
    """Writes two files, one of them in a directory, and counts how often."""

    def __init__(self, storage: Memory) -> None:
        self.storage, self.made = storage, 0

    def __call__(self, directory: str) -> Mapping[str, Any]:
        assert not self.storage.layout(directory), "it does not exist yet"
        self.made += 1
        self.storage.stored[f"{directory}/part-0"] = StoredFile(5, 1, 128)
        self.storage.stored[f"{directory}/deep/part-1"] = StoredFile(6, 1, 128)
        return FACTS


def datasets(storage: Memory, run: str, *, reuse: bool = True, **surroundings: Any) -> Datasets:
    return Datasets(cast(Storage, storage), f"/howdah/{run}", reuse=reuse, surroundings=surroundings)


@pytest.fixture
def storage() -> Memory:
    return Memory()


@pytest.fixture
def make(storage: Memory) -> Generator:
    return Generator(storage)


def test_fresh_data_is_the_runs_own(storage: Memory, make: Generator) -> None:
    for run in ("one", "two"):
        dataset, problem = datasets(storage, run, reuse=False).obtain(IDENTITY, make)
        assert (dataset, problem) == (Dataset(f"/howdah/{run}/input", FACTS, reused=False), None)
    assert make.made == 2
    assert not storage.content


def test_a_second_run_uses_what_the_first_has_made(storage: Memory, make: Generator) -> None:
    first, _ = datasets(storage, "one").obtain(IDENTITY, make)
    second, problem = datasets(storage, "two").obtain(IDENTITY, make)
    assert (first.reused, second.reused, problem, make.made) == (False, True, None, 1)
    assert second.facts == first.facts == FACTS
    assert second.directory == first.directory
    assert first.directory.startswith(f"{ROOT}/gen-")
    assert not storage.layout("/howdah/one"), "it was moved, not copied"


@pytest.mark.parametrize("other", [{"rows": 11}, {"generator": "other"}, {"maps": 2}])
def test_other_data_is_made(storage: Memory, make: Generator, other: dict[str, Any]) -> None:
    datasets(storage, "one").obtain(IDENTITY, make)
    assert not datasets(storage, "two").obtain({**IDENTITY, **other}, make)[0].reused


def test_other_surroundings_are_other_data(storage: Memory, make: Generator) -> None:
    datasets(storage, "one", nodes=1).obtain(IDENTITY, make)
    assert not datasets(storage, "two", nodes=2).obtain(IDENTITY, make)[0].reused
    assert datasets(storage, "three", nodes=1).obtain(IDENTITY, make)[0].reused


def test_erasure_coded_data_is_other_data(storage: Memory, make: Generator) -> None:
    datasets(storage, "one").obtain(IDENTITY, make)
    storage.policy = "XOR-2-1-1024k"
    assert not datasets(storage, "two").obtain(IDENTITY, make)[0].reused
    assert datasets(storage, "three").obtain(IDENTITY, make)[0].reused


@pytest.mark.parametrize(
    "change", [{"length": 4}, {"replication": 2}, {"block_size": 64}, {"erasure_coding": "XOR-2-1-1024k"}]
)
def test_data_that_is_not_what_it_was_is_made_anew(storage: Memory, make: Generator, change: dict[str, Any]) -> None:
    place = datasets(storage, "one").obtain(IDENTITY, make)[0].directory
    storage.stored[f"{place}/deep/part-1"] = replace(storage.stored[f"{place}/deep/part-1"], **change)
    dataset, problem = datasets(storage, "two").obtain(IDENTITY, make)
    assert not dataset.reused
    assert problem is not None
    assert problem.startswith(
        f"the dataset {place} was not what it had been and was made anew: deep/part-1 was 6 bytes"
    )
    assert datasets(storage, "three").obtain(IDENTITY, make)[0].reused


def test_a_missing_or_additional_file_is_noticed(storage: Memory, make: Generator) -> None:
    place = datasets(storage, "one").obtain(IDENTITY, make)[0].directory
    del storage.stored[f"{place}/part-0"]
    assert "and is not there" in str(datasets(storage, "two").obtain(IDENTITY, make)[1])
    storage.stored[f"{place}/more"] = StoredFile(1, 1, 1)
    assert "more was not there" in str(datasets(storage, "three").obtain(IDENTITY, make)[1])


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"facts": {}}', b'{"facts": {}, "files": {"a": {"x": 1}}}'])
def test_a_damaged_record_is_no_dataset(storage: Memory, make: Generator, text: bytes) -> None:
    place = datasets(storage, "one").obtain(IDENTITY, make)[0].directory
    storage.content[f"{place}.json"] = text
    assert not datasets(storage, "two").obtain(IDENTITY, make)[0].reused


def test_a_generator_that_fails_leaves_no_dataset(storage: Memory, make: Generator) -> None:
    def fail(directory: str) -> Mapping[str, Any]:
        make(directory)
        raise WorkloadFailed("killed")

    with pytest.raises(WorkloadFailed):
        datasets(storage, "one").obtain(IDENTITY, fail)
    assert not storage.layout(ROOT)
    assert not storage.content
    assert not datasets(storage, "two").obtain(IDENTITY, make)[0].reused


def test_what_shapes_stored_data() -> None:
    shapes = {
        "dfs.blocksize": "1",
        "dfs.replication": "2",
        "mapreduce.output.fileoutputformat.compress": "true",
        "io.compression.codecs": "x",
    }
    assert shaping({**shapes, "mapreduce.task.io.sort.mb": "7", "yarn.x": "y"}) == shapes
