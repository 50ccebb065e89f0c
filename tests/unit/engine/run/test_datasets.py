from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from howdah.engine.run.datasets import ROOT, Datasets, shaping
from howdah.errors import ClusterProblem, Untrusted, WorkloadFailed
from howdah.hadoop.configuration.keys import replacements, under_current_names
from howdah.storage import Storage, StoredFile
from howdah.workload import Dataset

IDENTITY = {"generator": "gen", "rows": 10}
FACTS = {"rows": 10, "checksum": "ab"}
STORED = {"files": 2, "bytes": 11, "replication": 1, "block_size": 128}
WHOLE = {**FACTS, "stored": STORED}


class Memory:
    """A storage of which datasets need reading, writing, renaming, removing and the layout."""

    def __init__(self) -> None:
        self.name = "hdfs"
        self.stored: dict[str, StoredFile] = {}
        self.content: dict[str, bytes] = {}
        self.policy: str | None = None

    def uri(self, path: str) -> str:
        return f"memory:{path}"

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
        self.storage, self.made, self.facts = storage, 0, FACTS

    def __call__(self, directory: str) -> Mapping[str, Any]:
        assert not self.storage.layout(directory), "it does not exist yet"
        self.made += 1
        self.storage.stored[f"{directory}/part-0"] = StoredFile(5, 1, 128)
        self.storage.stored[f"{directory}/deep/part-1"] = StoredFile(6, 1, 128)
        return self.facts


def datasets(
    storage: Memory, run: str, *, reuse: bool = True, asked: Mapping[str, str] | None = None, **surroundings: Any
) -> Datasets:
    place = f"/howdah/{run}"
    return Datasets(cast(Storage, storage), place, reuse=reuse, surroundings=surroundings, asked=asked or {})


@pytest.fixture
def storage() -> Memory:
    return Memory()


@pytest.fixture
def make(storage: Memory) -> Generator:
    return Generator(storage)


def test_fresh_data_is_the_runs_own(storage: Memory, make: Generator) -> None:
    for run in ("one", "two"):
        dataset, problem = datasets(storage, run, reuse=False).obtain(IDENTITY, make)
        assert (dataset, problem) == (Dataset(f"/howdah/{run}/input", WHOLE, reused=False), None)
    assert make.made == 2
    assert not storage.content


def test_a_second_run_uses_what_the_first_has_made(storage: Memory, make: Generator) -> None:
    first, _ = datasets(storage, "one").obtain(IDENTITY, make)
    second, problem = datasets(storage, "two").obtain(IDENTITY, make)
    assert (first.reused, second.reused, problem, make.made) == (False, True, None, 1)
    assert second.facts == first.facts == WHOLE
    assert second.describe() == {**first.describe(), "reused": True} == {**WHOLE, "reused": True, "made_by": "one"}
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


@pytest.mark.promise("Data that is kept is compared with what is asked before it is used again", "reference/workloads")
@pytest.mark.parametrize(
    "change", [{"length": 4}, {"replication": 2}, {"block_size": 64}, {"erasure_coding": "XOR-2-1-1024k"}]
)
def test_data_that_is_not_what_it_was_is_made_anew(storage: Memory, make: Generator, change: dict[str, Any]) -> None:
    place = datasets(storage, "one").obtain(IDENTITY, make)[0].directory
    storage.stored[f"{place}/deep/part-1"] = replace(storage.stored[f"{place}/deep/part-1"], **change)
    dataset, problem = datasets(storage, "two").obtain(IDENTITY, make)
    assert not dataset.reused
    assert problem is not None
    assert problem.startswith(f"the dataset {place} had changed and was made again: deep/part-1 was 6 bytes")
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


def test_replicas_are_what_the_storage_says_and_not_what_was_asked(storage: Memory, make: Generator) -> None:
    make.facts = {**FACTS, "replication": 3}
    for run, reuse in (("one", False), ("two", True), ("three", True)):
        dataset, _ = datasets(storage, run, reuse=reuse).obtain(IDENTITY, make)
        assert dataset.facts == WHOLE


def test_what_is_stored_unlike_each_other_is_listed(storage: Memory) -> None:
    def mixed(directory: str) -> Mapping[str, Any]:
        storage.stored[f"{directory}/a"] = StoredFile(5, 1, 128)
        storage.stored[f"{directory}/b"] = StoredFile(5, 2, 64)
        storage.stored[f"{directory}/_SUCCESS"] = StoredFile(0, 9, 1)
        storage.stored[f"{directory}/c"] = StoredFile(5, 7, 64, "XOR-2-1-1024k")
        return {}

    stored = datasets(storage, "one").obtain(IDENTITY, mixed)[0].facts["stored"]
    coded = {"replication": [1, 2], "block_size": [64, 128], "erasure_coding": "XOR-2-1-1024k"}
    assert stored == {"files": 3, "bytes": 15, **coded}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"dfs.replication": "3"}, r"dfs\.replication was to be 3 and is 1"),
        ({"dfs.blocksize": "1k"}, r"dfs\.blocksize was to be 1k and is 128"),
    ],
)
@pytest.mark.parametrize("reuse", [True, False])
def test_data_that_is_not_stored_as_asked_is_no_dataset(
    storage: Memory, make: Generator, asked: dict[str, str], said: str, reuse: bool
) -> None:
    with pytest.raises(Untrusted, match=said):
        datasets(storage, "one", reuse=reuse, asked=asked).obtain(IDENTITY, make)
    assert not storage.layout(ROOT)
    assert not storage.content


def test_what_is_stored_as_asked_is_fine(storage: Memory, make: Generator) -> None:
    asked = {"dfs.replication": " 1 ", "dfs.blocksize": "128", "mapreduce.job.reduces": "7"}
    assert datasets(storage, "one", asked=asked).obtain(IDENTITY, make)[1] is None
    assert datasets(storage, "two", asked=asked).obtain(IDENTITY, make)[0].reused


def test_kept_data_is_compared_with_what_is_asked_now(storage: Memory, make: Generator) -> None:
    place = datasets(storage, "one").obtain(IDENTITY, make)[0].directory
    with pytest.raises(Untrusted):  # It is made anew, and no better.
        datasets(storage, "two", asked={"dfs.blocksize": "64"}).obtain(IDENTITY, make)
    assert make.made == 2
    assert not storage.layout(place)


def test_hdfs_settings_are_nothing_to_other_storages(storage: Memory, make: Generator) -> None:
    storage.name = "posix"
    asked = {"dfs.replication": "3", "dfs.blocksize": "64"}
    dataset, problem = datasets(storage, "one", asked=asked).obtain(IDENTITY, make)
    assert (dataset.facts["stored"], problem) == ({"files": 2, "bytes": 11, "replication": 1}, None)


def test_records_of_earlier_versions_do_not_say_who_made_them(storage: Memory, make: Generator) -> None:
    place = datasets(storage, "one").obtain(IDENTITY, make)[0].directory
    record = json.loads(storage.content[f"{place}.json"])
    del record["made_by"]
    storage.content[f"{place}.json"] = json.dumps(record).encode()
    dataset, _ = datasets(storage, "two").obtain(IDENTITY, make)
    assert (dataset.reused, dataset.made_by, "made_by" in dataset.describe()) == (True, None, False)


def test_what_shapes_stored_data() -> None:
    shapes = {
        "dfs.blocksize": "1",
        "dfs.replication": "2",
        "mapreduce.output.fileoutputformat.compress": "true",
        "io.compression.codecs": "x",
        "test.io.compression.class": "gzip",
        "test.io.erasure.code.policy": "XOR-2-1-1024k",
        "fs.posixfs.checksum": "true",
        "fs.lustrefs.layout": "-c 4",
    }
    others = {
        "mapreduce.task.io.sort.mb": "7",
        "yarn.x": "y",
        "fs.posixfs.threads": "2",
        "test.io.file.buffer.size": "1",
    }
    assert shaping({**shapes, **others}) == shapes


def test_old_names_of_keys_shape_data_too() -> None:
    replaced = replacements("3.4.2")
    old = {"dfs.block.size": "1", "mapred.output.compress": "true", "mapred.output.compression.codec": "x"}
    assert shaping(under_current_names(old, replaced)) == {
        "dfs.blocksize": "1",
        "mapreduce.output.fileoutputformat.compress": "true",
        "mapreduce.output.fileoutputformat.compress.codec": "x",
    }
    assert replacements("3.3.6-of-another") == replaced
