"""The Hadoop file system under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


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

    def checksum(self, path: str) -> str:
        """What two files of equal content and layout have in common, whatever made them.

        Raises ClusterProblem when there is no such file.
        """

    def remove(self, path: str) -> None:
        """Removes a file or a tree, past any trash; what is not there is fine."""
