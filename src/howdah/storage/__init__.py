"""The Hadoop file system under test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class StoredFile:
    """How a file is stored; `block_size` in bytes; `erasure_coding` is the policy, None for replicas. `replication` is
    how many replicas there can be, where fewer hosts keep them than there shall be."""

    length: int
    replication: int
    block_size: int
    erasure_coding: str | None = None


class Storage(Protocol):
    """Where a workload keeps its data. Paths are absolute within the storage."""

    name: str

    def uri(self, path: str) -> str:
        """`path` as Hadoop programs take it."""

    def describe(self) -> Mapping[str, Any]:
        """What a report says about it: kind, capacity, default replication and block size."""

    def free_bytes(self) -> int:
        """Bytes that can still be stored, replicas counted."""

    def read(self, path: str) -> bytes:
        """The whole content of a small file. Raises ClusterProblem when it is not there or not whole."""

    def files(self, path: str) -> Mapping[str, int]:
        """Length by name of the files directly in directory `path`; empty when there is no such directory."""

    def layout(self, path: str) -> Mapping[str, StoredFile]:
        """How every file below directory `path` is stored, by its path below it; empty without such a directory."""

    def erasure_coding(self, path: str) -> str | None:
        """The policy by which files written below `path`, which need not be there yet, are erasure coded; None for
        replicas."""

    def activity(self, *, fresh: bool) -> Mapping[str, int]:
        """What the storage's master has counted of its operations since it started, by its own names.

        As of some seconds ago; `fresh` waits until it is of now. Empty where there is no master that counts.
        """

    def checksum(self, path: str) -> str:
        """What two files of equal content and layout have in common, whatever made them.

        Raises ClusterProblem when there is no such file.
        """

    def write(self, path: str, content: bytes) -> None:
        """Creates a small file, or replaces it whole, and the directories above it."""

    def rename(self, path: str, target: str) -> None:
        """Gives a directory another name at once. The directory above it is made. Raises ClusterProblem where `target`
        is there already."""

    def remove(self, path: str) -> None:
        """Removes a file or a tree, past any trash; what is not there is fine."""
