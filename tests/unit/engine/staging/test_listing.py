"""What is to be staged, and what is written down of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.engine.staging import ledger
from howdah.engine.staging.ledger import Entry
from howdah.engine.staging.listing import StagedFile, hdfs_files, moving, shared_files
from howdah.engine.staging.stage import Wish
from howdah.errors import HostProblem, UsageError
from howdah.hadoop.interfaces.webhdfs import FileStatus, NotFound, WebHdfs
from howdah.host import Host, operations
from howdah.host.channel import open_local


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    opened = open_local("h")
    yield opened
    opened.close()


class Elsewhere:
    """A host that sees other files below a directory."""

    def __init__(self, host: Host, seen: Path, instead: Path) -> None:
        self.name = "other"
        self._host = host
        self._seen, self._instead = str(seen), str(instead)

    def call(self, operation: str, /, **arguments: str) -> object:
        assert operation == "files.walk"
        return self._host.call(operation, path=arguments["path"].replace(self._seen, self._instead))


def test_a_walk_has_every_file_and_refuses_what_is_none(tmp_path: Path, host: Host) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c d").write_text("abc")
    (tmp_path / "e").write_text("")
    os.utime(tmp_path / "e", ns=(1, 1_500_000_000_123_456_789))
    found = operations.walk(host, str(tmp_path))
    assert {name: size for name, (size, _) in found.items()} == {"a/b/c d": 3, "e": 0}
    assert found["e"][1] == 1_500_000_000_123_456_789
    assert operations.walk(host, str(tmp_path / "a" / "b" / "c d")).keys() == {""}
    (tmp_path / "link").symlink_to(tmp_path / "e")
    assert operations.walk(host, str(tmp_path))["link"][0] == 0
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HostProblem, match="pipe is no ordinary file"):
        operations.walk(host, str(tmp_path))


@pytest.mark.promise("All hosts must see the same files", "how-to/stage")
def test_hosts_that_see_different_files_are_a_problem(tmp_path: Path, host: Host) -> None:
    for place, names in (("one", ("a", "b")), ("two", ("a",)), ("three", ())):
        (tmp_path / place).mkdir()
        for name in names:
            (tmp_path / place / name).write_text("x")
    shared = str(tmp_path / "one")
    other: Host = Elsewhere(host, tmp_path / "one", tmp_path / "two")  # type: ignore[assignment]
    with pytest.raises(HostProblem, match="is not one directory for all hosts: h alone has b"):
        shared_files({"h": host, "other": other}, shared)
    found = shared_files({"h": host, "again": host}, shared)
    assert ledger.sizes(found) == {"a": 1, "b": 1}
    with pytest.raises(UsageError, match="there are no files in"):
        shared_files({"h": host}, str(tmp_path / "three"))


class Tree:
    """HDFS with the files of a test."""

    def __init__(self, lengths: dict[str, int]) -> None:
        self._lengths = lengths

    def status(self, path: str) -> FileStatus:
        if path in self._lengths:
            return self._entry(path, is_directory=False)
        if any(name.startswith(f"{path}/") for name in self._lengths):
            return self._entry(path, is_directory=True)
        raise NotFound(path, 404, None, "no such file")

    def list(self, path: str) -> tuple[FileStatus, ...]:
        below = {name[len(path) + 1 :].partition("/")[0] for name in self._lengths if name.startswith(f"{path}/")}
        return tuple(self.status(f"{path}/{name}") for name in sorted(below))

    def _entry(self, path: str, *, is_directory: bool) -> FileStatus:
        length = 0 if is_directory else self._lengths[path]
        return FileStatus(path, is_directory, length, 3, 1, "o", "g", "644", 1.5, 1.25, None)


def test_files_of_hdfs_are_found_below_directories() -> None:
    hdfs: WebHdfs = Tree({"/d/a": 1, "/d/x/y/b": 2, "/other": 3})  # type: ignore[assignment]
    assert hdfs_files(hdfs, "/d") == {"a": StagedFile(1, 1500), "x/y/b": StagedFile(2, 1500)}
    assert hdfs_files(hdfs, "/other") == {"": StagedFile(3, 1500)}
    with pytest.raises(UsageError, match="there are no files in /nothing of HDFS"):
        hdfs_files(hdfs, "/nothing")


def test_a_ledger_tells_stages_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    places = {
        ledger.place_of(way, source, target, cluster)
        for way in ("in", "out")
        for source, target in (("/a", "/b"), ("/b", "/a"))
        for cluster in ("c", "d")
    }
    assert len(places) == 8
    file = ledger.place_of("in", "/a", "/b", "c")
    assert ledger.read(file) is None
    entry = Entry("in", "/a", "/b", "c", "copying", 1.0, {"x": 2, "y": 3})
    ledger.write(file, entry)
    assert ledger.read(file) == entry
    assert entry.bytes == 5
    file.write_text("{")
    assert ledger.read(file) is None


def test_the_ends_of_a_stage_for_hadoop() -> None:
    several, one = {"a": StagedFile(1, 1), "b": StagedFile(1, 1)}, {"": StagedFile(1, 1)}
    into, out = Wish("in", "/l/a", "/d", 2), Wish("out", "/d", "/l/a", 2)
    assert into.uris("hdfs://n:1", several) == ("posixfs://stage/", "hdfs://n:1/d")
    assert into.uris("hdfs://n:1", one) == ("posixfs://stage/a", "hdfs://n:1/d")
    assert out.uris("hdfs://n:1", several) == ("hdfs://n:1/d", "posixfs://stage/a")
    assert (into.root(several), into.root(one), out.root(several), out.root(one)) == ("/l/a", "/l", "/l", "/l")


def test_the_time_between_the_first_and_the_last_byte_is_that_of_what_came() -> None:
    before = {"old": StagedFile(100, 900, 500)}
    after = {**before, "a": StagedFile(5, 3000, 1000), "b": StagedFile(7, 5000, 2000), "empty": StagedFile(0, 9000, 1)}
    assert moving(before, after) == (12, 4.0)
    assert moving(after, after) is None
    assert moving({}, {"a": StagedFile(5, 1000, 1000)}) is None
    assert moving({}, {"a": StagedFile(5, 3000)}) is None
