"""HDFS over HTTP: the NameNode names a DataNode, which sends or takes the bytes. Whole files or an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from howdah.hadoop.interfaces.http import (
    PLAIN,
    Garbled,
    Http,
    Rejected,
    Unreachable,
    cause_of,
    field,
    read_whole,
    rejection,
)

_PIECE = 1 << 20

Locate = Callable[[str], tuple[tuple[str, ...], str]]
"""A function that returns the NameNodes on which clients see a path, and the path there."""
_REDIRECTS = (301, 302, 303, 307, 308)


class NotFound(Rejected):
    """There is no such file or directory."""


class AlreadyExists(Rejected):
    """The file or directory exists already, and was not to be replaced."""


class AccessDenied(Rejected):
    """The user may not do this."""


class InSafeMode(Rejected):
    """The NameNode is in safe mode: it changes nothing, and may not know yet where the blocks are."""


_KINDS: dict[str | None, type[Rejected]] = {
    "FileNotFoundException": NotFound,
    "FileAlreadyExistsException": AlreadyExists,
    "AccessControlException": AccessDenied,
    "SecurityException": AccessDenied,
    "SafeModeException": InSafeMode,
}


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file or directory. Lengths are bytes, times are seconds since 1970, `permission` is octal digits.

    `accessed` is the creation time of a file until somebody has read it. A reader changes it once an hour at most
    (`dfs.namenode.accesstime.precision`).

    `erasure_coding` is the policy by which a file is stored, or by which a directory would store a new file; None for
    replicas.
    """

    path: str
    is_directory: bool
    length: int
    replication: int
    block_size: int
    owner: str
    group: str
    permission: str
    modified: float
    accessed: float
    erasure_coding: str | None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class ContentSummary:
    """The summary of a whole tree. `length` is the bytes of files, `space` the bytes of all their replicas."""

    length: int
    files: int
    directories: int
    space: int


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksum of a file. Files with the same `algorithm` (it names block and chunk layout) and equal `digest`
    (hex) have equal content."""

    algorithm: str
    digest: str


@dataclass(frozen=True, slots=True)
class WebHdfs:
    """HDFS through the NameNodes' web addresses (host:port), as `user`; the active NameNode answers.

    The DataNodes' host names must be known here, because redirects go to them. Paths are absolute and need no escaping.
    Every method raises Unreachable (also for an answer that was cut off), Rejected or one of its kinds, and Garbled.
    """

    addresses: tuple[str, ...]
    user: str
    http: Http = PLAIN
    locate: Locate | None = None

    def status(self, path: str) -> FileStatus:
        """Return the status of a path. Raises NotFound."""
        url, answer = self._json("GET", path, "GETFILESTATUS")
        return _status(path, field(answer, "FileStatus", dict, url), url)

    def exists(self, path: str) -> bool:
        try:
            self.status(path)
        except NotFound:
            return False
        return True

    def list(self, path: str) -> tuple[FileStatus, ...]:
        """Return the entries of a directory, sorted by path; for a file, return the file itself. Raises NotFound."""
        url, answer = self._json("GET", path, "LISTSTATUS")
        found = []
        for row in field(field(answer, "FileStatuses", dict, url), "FileStatus", list, url):
            name = field(row, "pathSuffix", str, url)
            found.append(_status(f"{path.rstrip('/')}/{name}" if name else path, row, url))
        return tuple(sorted(found, key=lambda status: status.path))

    def read(self, path: str) -> bytes:
        """Return the whole file, in memory. Raises NotFound."""
        return b"".join(self.stream(path))

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield the file in pieces of at most 1 MiB. The last step raises Unreachable if bytes are missing at the
        end."""
        connection, response, url = self._open("GET", path, "OPEN", {})
        try:
            length = response.length
            if length is None and not response.chunked:
                raise Garbled(url, "neither its length nor its end is marked, so a part would look like the whole")
            seen = 0
            while piece := response.read(_PIECE):
                seen += len(piece)
                yield piece
            if length is not None and seen != length:
                raise Unreachable(url, f"the file ended after {seen} of {length} bytes")
        except (OSError, HTTPException) as error:
            raise Unreachable(url, cause_of(error)) from error
        finally:
            connection.close()

    def write(self, path: str, content: bytes, *, overwrite: bool = False) -> None:
        """Create a file and the directories above it. After Unreachable, a part of the file may exist.

        Raises:
            AlreadyExists: the file exists, and `overwrite` is false.
        """
        query = {"overwrite": str(overwrite).lower(), "createparent": "true"}
        connection, response, url = self._open("PUT", path, "CREATE", query, content)
        try:
            read_whole(response, url)
        finally:
            connection.close()
        if response.status != 201:
            raise Garbled(url, f"status {response.status} where 201 says that the file was created")

    def delete(self, path: str, *, recursive: bool = False) -> bool:
        """Delete a path; return whether there was something to delete. Raises Rejected for a directory with content,
        unless `recursive`."""
        _, deleted = self._boolean("DELETE", path, "DELETE", {"recursive": str(recursive).lower()})
        return deleted

    def rename(self, path: str, target: str) -> None:
        """Rename a path. Raises Rejected if HDFS refuses; HDFS gives no reason."""
        there = target if self.locate is None else self.locate(target)[1]
        self._must("PUT", path, "RENAME", {"destination": there}, f"cannot rename {path} to {target}")

    def mkdirs(self, path: str) -> None:
        """Create a directory and those above it; an existing directory is fine. Raises AlreadyExists if there is a
        file."""
        self._must("PUT", path, "MKDIRS", {}, f"cannot create the directory {path}")

    def set_replication(self, path: str, replication: int) -> None:
        """Set the number of replicas of a file; HDFS gets there later. Raises Rejected for a directory."""
        query = {"replication": str(replication)}
        self._must("PUT", path, "SETREPLICATION", query, f"cannot set the replication of {path}: not a file")

    def content_summary(self, path: str) -> ContentSummary:
        """Return the summary of a tree. Raises NotFound."""
        url, answer = self._json("GET", path, "GETCONTENTSUMMARY")
        record = field(answer, "ContentSummary", dict, url)
        names = ("length", "fileCount", "directoryCount", "spaceConsumed")
        return ContentSummary(*(field(record, name, int, url) for name in names))

    def checksum(self, path: str) -> Checksum:
        """Return the checksum of a file, which the DataNodes compute from their stored checksums. Raises NotFound."""
        url, answer = self._json("GET", path, "GETFILECHECKSUM")
        record = field(answer, "FileChecksum", dict, url)
        return Checksum(field(record, "algorithm", str, url), field(record, "bytes", str, url))

    def _must(self, method: str, path: str, operation: str, query: dict[str, str], problem: str) -> None:
        url, done = self._boolean(method, path, operation, query)
        if not done:
            raise Rejected(url, 200, None, problem)

    def _boolean(self, method: str, path: str, operation: str, query: dict[str, str]) -> tuple[str, bool]:
        url, answer = self._json(method, path, operation, query)
        return url, field(answer, "boolean", bool, url)

    def _json(self, method: str, path: str, operation: str, query: dict[str, str] | None = None) -> tuple[str, Any]:
        connection, response, url = self._open(method, path, operation, query or {})
        try:
            content = read_whole(response, url)
        finally:
            connection.close()
        try:
            return url, json.loads(content)
        except ValueError as error:
            raise Garbled(url, f"not JSON ({error})") from error

    def _url(self, address: str, path: str, operation: str, query: dict[str, str]) -> str:
        if not path.startswith("/"):
            raise ValueError(f"not an absolute path: {path!r}")
        return f"{self.http.scheme}://{address}/webhdfs/v1{quote(path)}?" + urlencode(
            {"op": operation, "user.name": self.user, **query}
        )

    def _open(
        self, method: str, path: str, operation: str, query: dict[str, str], content: bytes | None = None
    ) -> tuple[HTTPConnection, HTTPResponse, str]:
        """Return the head of the NameNode's answer or, after a redirect, of the DataNode's. Only the DataNode gets
        `content`."""
        causes = []
        addresses, there = (self.addresses, path) if self.locate is None else self.locate(path)
        for address in addresses:
            url = self._url(address, there, operation, query)
            try:
                connection, response = self._good(method, url, None)
            except Unreachable as error:
                causes.append(f"{address}: {error.cause}")
                continue
            except Rejected as error:
                if error.exception != "StandbyException":
                    raise
                causes.append(f"{address}: standby")
                continue
            if response.status not in _REDIRECTS:
                return connection, response, url
            connection.close()
            target = response.getheader("Location") or ""
            if not urlsplit(target).hostname:
                raise Garbled(url, f"redirect to {target!r}")
            return *self._good(method, target, content), target
        raise Unreachable(
            f"{self.http.scheme}://…/webhdfs/v1{path}?op={operation}", "; ".join(causes) or "no address given"
        )

    def _good(self, method: str, url: str, content: bytes | None) -> tuple[HTTPConnection, HTTPResponse]:
        headers = {} if content is None else {"Content-Type": "application/octet-stream"}
        connection, response = self.http.open(method, url, content, headers)
        if response.status < 400:
            return connection, response
        try:
            error = rejection(url, response.status, read_whole(response, url))
        finally:
            connection.close()
        raise _KINDS.get(error.exception, Rejected)(url, error.status, error.exception, error.text)


def _status(path: str, record: Any, url: str) -> FileStatus:
    return FileStatus(
        path=path,
        is_directory=field(record, "type", str, url) == "DIRECTORY",
        length=field(record, "length", int, url),
        replication=field(record, "replication", int, url),
        block_size=field(record, "blockSize", int, url),
        owner=field(record, "owner", str, url),
        group=field(record, "group", str, url),
        permission=field(record, "permission", str, url),
        modified=field(record, "modificationTime", int, url) / 1000,
        accessed=field(record, "accessTime", int, url) / 1000,
        erasure_coding=field(record, "ecPolicy", str, url) if "ecPolicy" in record else None,
    )
