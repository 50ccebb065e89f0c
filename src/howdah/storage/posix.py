"""`posixfs:`, a directory that every node sees, through Howdah's file system for Hadoop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from howdah.errors import ClusterProblem
from howdah.hadoop.interfaces.webhdfs import NotFound
from howdah.host import Host, operations
from howdah.model.quantity import parse_binary
from howdah.model.storage import POSIX, POSIX_SCHEME
from howdah.storage.local import LocalFiles


class PosixFiles(LocalFiles):
    """Files below the root of `posixfs:`; see `howdah.storage.Storage`."""

    name = POSIX

    def __init__(self, host: Host, settings: Mapping[str, str]) -> None:
        """Create a storage. `settings` is the configuration that clients use; `host` is one that sees the root."""
        root = settings.get(f"fs.{POSIX_SCHEME}.mount", "/")
        block = settings.get(f"fs.{POSIX_SCHEME}.block.size", "128m")
        super().__init__(host, root, block_bytes=parse_binary(block))

    def uri(self, path: str) -> str:
        return f"{POSIX_SCHEME}://{path}"

    def list(self, path: str) -> Sequence[Found]:
        """Return the entries of directory `path`, by whole paths. Raises NotFound if there is no such directory."""
        if operations.resolve_path(self._host, self._root + path) is None:
            raise NotFound(self.uri(path), 404, None, "no such directory")
        return [Found(f"{path}/{entry.name}") for entry in self._entries(path)]

    def read(self, path: str) -> bytes:
        try:
            return super().read(path)
        except ClusterProblem as problem:
            raise NotFound(self.uri(path), 404, None, problem.message) from problem


@dataclass(frozen=True, slots=True)
class Found:
    """An entry of a directory."""

    path: str
