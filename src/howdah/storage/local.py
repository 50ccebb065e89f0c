"""`file:`: a directory that every node of the cluster sees at the same path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, TypeVar

from howdah.errors import ClusterProblem, HostProblem
from howdah.host import Host, operations
from howdah.host.operations import DirectoryEntry
from howdah.storage import StoredFile

Answer = TypeVar("Answer")

# What Hadoop's file system for `file:` says of every file (fs.local.block.size).
_BLOCK_BYTES = 32 << 20


class LocalFiles:
    """Files below one directory of the hosts; see `howdah.storage.Storage`."""

    name = "file"

    def __init__(self, host: Host, root: str, block_bytes: int = _BLOCK_BYTES) -> None:
        """Create a storage below `root`, an absolute path that need not exist yet.

        `host` is one of the hosts that see it. Hadoop's file system reports `block_bytes` for every file.
        """
        self._host = host
        self._block_bytes = block_bytes
        self._root = root.rstrip("/")  # Empty for the root of all.

    def uri(self, path: str) -> str:
        return f"file://{self._root}{path}"

    def describe(self) -> Mapping[str, Any]:
        space = operations.space(self._host, self._root or "/")
        return {
            "kind": self.name,
            "uri": self.uri("/"),
            "capacity_bytes": space.total,
            "replication": "1",
            "block_size": str(self._block_bytes),
        }

    def free_bytes(self) -> int:
        return operations.space(self._host, self._root or "/").free

    def read(self, path: str) -> bytes:
        return self._ask(operations.read_file, path)

    def files(self, path: str) -> Mapping[str, int]:
        return {entry.name: entry.size for entry in self._entries(path) if entry.type == "file"}

    def layout(self, path: str) -> Mapping[str, StoredFile]:
        found: dict[str, StoredFile] = {}
        for entry in self._entries(path):
            if entry.type == "directory":
                inside = self.layout(f"{path}/{entry.name}")
                found |= {f"{entry.name}/{inner}": file for inner, file in inside.items()}
            else:
                found[entry.name] = StoredFile(entry.size, 1, self._block_bytes)
        return found

    def erasure_coding(self, path: str) -> str | None:
        return None

    def activity(self, *, fresh: bool) -> Mapping[str, int]:
        return {}

    def checksum(self, path: str) -> str:
        return f"SHA-256 {self._ask(operations.checksum, path)}"

    def write(self, path: str, content: bytes) -> None:
        self._make_parent(path)
        operations.write_file(self._host, self._root + path, content)

    def rename(self, path: str, target: str) -> None:
        if operations.resolve_path(self._host, self._root + target) is not None:
            raise ClusterProblem(f"{target} is there already")
        self._make_parent(target)
        operations.rename(self._host, self._root + path, self._root + target)

    def remove(self, path: str) -> None:
        operations.remove(self._host, self._root + path)

    def _make_parent(self, path: str) -> None:
        operations.make_directory(self._host, str(PurePosixPath(self._root + path).parent))

    def _entries(self, path: str) -> list[DirectoryEntry]:
        """Return the entries of a directory, without Hadoop's checksum next to each file (`.NAME.crc`)."""
        if operations.resolve_path(self._host, self._root + path) is None:
            return []
        found = self._ask(operations.list_directory, path)
        return [entry for entry in found if not (entry.name.startswith(".") and entry.name.endswith(".crc"))]

    def _ask(self, operation: Callable[[Host, str], Answer], path: str) -> Answer:
        try:
            return operation(self._host, self._root + path)
        except HostProblem as problem:
            raise ClusterProblem(problem.message) from problem
