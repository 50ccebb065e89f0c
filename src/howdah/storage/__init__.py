"""The Hadoop file system under test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The way a file is stored; `block_size` in bytes; `erasure_coding` is the policy, None for replicas.

    `replication` is the number of requested replicas, or of those that the hosts can keep if it is smaller.
    """

    length: int
    replication: int
    block_size: int
    erasure_coding: str | None = None


class Storage(Protocol):
    """The file system of a workload's data. Paths are absolute within the storage."""

    name: str

    def uri(self, path: str) -> str:
        """Return `path` in the form for Hadoop programs."""

    def describe(self) -> Mapping[str, Any]:
        """Return the facts for a report: kind, capacity, default replication and block size."""

    def free_bytes(self) -> int:
        """Return the bytes that can still be stored, replicas counted."""

    def read(self, path: str) -> bytes:
        """Return the whole content of a small file. Raises ClusterProblem if it is missing or incomplete."""

    def files(self, path: str) -> Mapping[str, int]:
        """Return the length by name of the files directly in directory `path`; empty if there is no such directory."""

    def layout(self, path: str) -> Mapping[str, StoredFile]:
        """Return how every file below directory `path` is stored, by its path below it; empty without the directory."""

    def erasure_coding(self, path: str) -> str | None:
        """Return the erasure coding policy for files written below `path`; None for replicas.

        The directory `path` need not exist yet.
        """

    def activity(self, *, fresh: bool) -> Mapping[str, int]:
        """Return the operations that the storage's master has counted since it started, by its own names.

        The counts are some seconds old; `fresh` waits until they are current. Empty if no master counts.
        """

    def checksum(self, path: str) -> str:
        """Return a checksum that two files of equal content and layout share, whatever wrote them.

        Raises ClusterProblem if there is no such file.
        """

    def write(self, path: str, content: bytes) -> None:
        """Create a small file, or replace the whole file, and create the directories above it."""

    def rename(self, path: str, target: str) -> None:
        """Rename a directory in one step, and create the directory above `target`.

        Raises ClusterProblem if `target` exists already.
        """

    def remove(self, path: str) -> None:
        """Remove a file or a tree, bypassing any trash. A missing path is no error."""
