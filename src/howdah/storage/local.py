"""`file:`: a directory that every node of the cluster sees at the same path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from howdah.errors import ClusterProblem, HostProblem
from howdah.host import Host
from howdah.storage import StoredFile

# What Hadoop's file system for `file:` says of every file (fs.local.block.size).
_BLOCK_BYTES = 32 << 20


class LocalFiles:
    """Files below one directory of the hosts; see `howdah.storage.Storage`."""

    name = "file"

    def __init__(self, host: Host, root: str, block_bytes: int = _BLOCK_BYTES) -> None:
        """`root` is an absolute path; it need not be there yet. `host` is one of those that see it. `block_bytes` is
        what Hadoop's file system says of every file."""
        self._host = host
        self._block_bytes = block_bytes
        self._root = root.rstrip("/")  # Empty for the root of all.

    def uri(self, path: str) -> str:
        return f"file://{self._root}{path}"

    def describe(self) -> Mapping[str, Any]:
        space = self._host.call("files.space", path=self._root or "/")
        return {
            "kind": self.name,
            "uri": self.uri("/"),
            "capacity_bytes": space["total"],
            "replication": "1",
            "block_size": str(self._block_bytes),
        }

    def free_bytes(self) -> int:
        free: int = self._host.call("files.space", path=self._root or "/")["free"]
        return free

    def read(self, path: str) -> bytes:
        content: bytes = self._ask("files.read", path)
        return content

    def files(self, path: str) -> Mapping[str, int]:
        return {entry["name"]: entry["size"] for entry in self._entries(path) if entry["type"] == "file"}

    def layout(self, path: str) -> Mapping[str, StoredFile]:
        found: dict[str, StoredFile] = {}
        for entry in self._entries(path):
            name = entry["name"]
            if entry["type"] == "directory":
                found |= {f"{name}/{inner}": file for inner, file in self.layout(f"{path}/{name}").items()}
            else:
                found[name] = StoredFile(entry["size"], 1, self._block_bytes)
        return found

    def erasure_coding(self, path: str) -> str | None:
        return None

    def activity(self, *, fresh: bool) -> Mapping[str, int]:
        return {}

    def checksum(self, path: str) -> str:
        return f"SHA-256 {self._ask('files.checksum', path)}"

    def write(self, path: str, content: bytes) -> None:
        self._make_parent(path)
        self._host.call("files.write", path=self._root + path, content=content)

    def rename(self, path: str, target: str) -> None:
        if self._host.call("files.resolve", path=self._root + target) is not None:
            raise ClusterProblem(f"{target} is there already")
        self._make_parent(target)
        self._host.call("files.rename", path=self._root + path, to=self._root + target)

    def remove(self, path: str) -> None:
        self._host.call("files.remove", path=self._root + path)

    def _make_parent(self, path: str) -> None:
        self._host.call("files.make", path=str(PurePosixPath(self._root + path).parent))

    def _entries(self, path: str) -> list[dict[str, Any]]:
        """What is in a directory, without the checksums that Hadoop keeps beside each file (`.NAME.crc`)."""
        if self._host.call("files.resolve", path=self._root + path) is None:
            return []
        found: list[dict[str, Any]] = self._ask("files.list", path)
        return [entry for entry in found if not (entry["name"].startswith(".") and entry["name"].endswith(".crc"))]

    def _ask(self, operation: str, path: str) -> Any:
        try:
            return self._host.call(operation, path=self._root + path)
        except HostProblem as problem:
            raise ClusterProblem(problem.message) from problem
