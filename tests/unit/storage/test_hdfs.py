"""How HDFS says that files are stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from howdah.hadoop.interfaces.namenode import NameNode
from howdah.hadoop.interfaces.webhdfs import FileStatus, NotFound, WebHdfs
from howdah.storage import StoredFile
from howdah.storage.hdfs import Hdfs


@dataclass
class Tree:
    """Directories by path, with what is in them."""

    directories: dict[str, tuple[FileStatus, ...]] = field(default_factory=dict)

    def list(self, path: str) -> tuple[FileStatus, ...]:
        if path not in self.directories:
            raise NotFound(path, 404, None, "no such directory")
        return self.directories[path]


@dataclass
class Master:
    live: tuple[str, ...]

    def status(self) -> Any:
        return self


def status(path: str, replication: int, policy: str | None = None, *, directory: bool = False) -> FileStatus:
    return FileStatus(path, directory, 5, replication, 128, "me", "us", "644", 1.0, 1.0, policy)


def hdfs(live: int) -> Hdfs:
    files = (
        status("/d/a", 3),
        status("/d/b", 1),
        status("/d/c", 1, "XOR-2-1-1024k"),
        status("/d/e", 0, directory=True),
    )
    tree = Tree({"/d": files, "/d/e": (status("/d/e/f", 2),)})
    master = Master(tuple(f"node-{number}" for number in range(live)))
    return Hdfs(cast(NameNode, master), cast(WebHdfs, tree), "hdfs://nn:1", {})


def test_a_directory_is_read_to_its_ground() -> None:
    assert hdfs(3).layout("/d") == {
        "a": StoredFile(5, 3, 128),
        "b": StoredFile(5, 1, 128),
        "c": StoredFile(5, 1, 128, "XOR-2-1-1024k"),
        "e/f": StoredFile(5, 2, 128),
    }
    assert hdfs(3).layout("/none") == {}


def test_there_are_no_more_replicas_than_datanodes() -> None:
    found = hdfs(1).layout("/d")
    assert (found["a"].replication, found["b"].replication, found["e/f"].replication) == (1, 1, 1)
