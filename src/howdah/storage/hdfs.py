"""HDFS, through its HTTP interface: no JVM is started."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

from howdah.errors import ClusterProblem
from howdah.hadoop.interfaces.namenode import METRICS_SECONDS, NameNode
from howdah.hadoop.interfaces.webhdfs import FileStatus, NotFound, WebHdfs
from howdah.storage import StoredFile


class Hdfs:
    """The file system of a cluster's NameNode; see `howdah.storage.Storage`."""

    name = "hdfs"

    def __init__(self, namenode: NameNode, webhdfs: WebHdfs, default_fs: str, settings: Mapping[str, str]) -> None:
        """Create a storage. `default_fs` is the `hdfs://…` URI; `settings` is the configuration that clients use."""
        self._namenode = namenode
        self._webhdfs = webhdfs
        self._default_fs = default_fs.rstrip("/")
        self._settings = settings

    def uri(self, path: str) -> str:
        return f"{self._default_fs}{path}"

    def describe(self) -> Mapping[str, Any]:
        status = self._namenode.status()
        return {
            "kind": self.name,
            "uri": self._default_fs,
            "capacity_bytes": status.capacity,
            "live_datanodes": len(status.live),
            "replication": self._settings.get("dfs.replication", "3"),
            "block_size": self._settings.get("dfs.blocksize", "134217728"),
        }

    def free_bytes(self) -> int:
        return self._namenode.status().remaining

    def read(self, path: str) -> bytes:
        return self._webhdfs.read(path)

    def files(self, path: str) -> Mapping[str, int]:
        try:
            entries = self._webhdfs.list(path)
        except NotFound:
            return {}
        return {entry.name: entry.length for entry in entries if not entry.is_directory}

    def layout(self, path: str) -> Mapping[str, StoredFile]:
        # A file's replication is how many replicas it shall have. There are no more than DataNodes: each keeps one.
        most = len(self._namenode.status().live)
        return {
            name: StoredFile(file.length, min(file.replication, most), file.block_size, file.erasure_coding)
            for name, file in self._files_below(path)
        }

    def _files_below(self, path: str) -> Iterator[tuple[str, FileStatus]]:
        """Yield every file below directory `path`, with its path below the directory."""
        entries: Sequence[FileStatus] = ()
        with suppress(NotFound):
            entries = self._webhdfs.list(path)
        for entry in entries:
            if entry.is_directory:
                yield from ((f"{entry.name}/{name}", file) for name, file in self._files_below(entry.path))
            else:
                yield entry.name, entry

    def erasure_coding(self, path: str) -> str | None:
        for place in (path, *map(str, PurePosixPath(path).parents)):
            with suppress(NotFound):
                return self._webhdfs.status(place).erasure_coding
        return None

    def activity(self, *, fresh: bool) -> Mapping[str, int]:
        if fresh:
            time.sleep(METRICS_SECONDS)
        return self._namenode.activity()

    def checksum(self, path: str) -> str:
        found = self._webhdfs.checksum(path)
        return f"{found.algorithm} {found.digest}"

    def write(self, path: str, content: bytes) -> None:
        self._webhdfs.write(path, content, overwrite=True)

    def rename(self, path: str, target: str) -> None:
        # HDFS moves a directory into a target that is one.
        if self._webhdfs.exists(target):
            raise ClusterProblem(f"{target} is there already")
        self._webhdfs.mkdirs(target.rpartition("/")[0])
        self._webhdfs.rename(path, target)

    def remove(self, path: str) -> None:
        self._webhdfs.delete(path, recursive=True)
