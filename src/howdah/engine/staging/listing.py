"""Listings of the files to copy, by their paths below the directory that is staged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from howdah.errors import HostProblem, UsageError
from howdah.hadoop.interfaces.webhdfs import FileStatus, NotFound, WebHdfs
from howdah.host import Host, operations
from howdah.host.over import over

Listing = Mapping[str, "StagedFile"]
"""Files by path below the directory; a single file has the path ""."""

TEMPORARY = ".distcp.tmp."
"""The prefix of the names of files that DistCp has not finished."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """The length of a file in bytes, and the time of its change, in a unit of its file system.

    `made` is when HDFS began the file, in milliseconds. Comparisons ignore it.
    """

    bytes: int
    changed: int
    made: int | None = field(default=None, compare=False)


def shared_files(hosts: Mapping[str, Host], path: str) -> Listing:
    """Return the files below `path`, which every host must see in the same way. Raises HostProblem if a host does not,
    and UsageError if there are none."""
    seen = over(hosts, lambda host: operations.walk(host, path))
    names = iter(seen)
    first = next(names)
    for name in names:
        if seen[name].keys() != seen[first].keys():
            one = next(iter(seen[name].keys() ^ seen[first].keys()))
            where = first if one in seen[first] else name
            raise HostProblem(
                f"{path} is not one directory for all hosts: {where} alone has {one or 'it'}",
                hint="Stage from and to a file system that every host has mounted.",
            )
    found = {file: StagedFile(*values) for file, values in seen[first].items()}
    if not found:
        raise UsageError(f"there are no files in {path}")
    return found


def hdfs_files(webhdfs: WebHdfs, path: str) -> Listing:
    """Return the files below `path` of HDFS. Raises UsageError if there are none."""
    try:
        found = _below(webhdfs, webhdfs.status(path), "")
    except NotFound:
        found = {}
    if not found:
        raise UsageError(f"there are no files in {path} of HDFS")
    return found


def moving(before: Listing, after: Listing) -> tuple[int, float] | None:
    """Return the bytes that came to HDFS between two of its listings, and the seconds between the first and the last
    byte. None if nothing came, or if all came within a millisecond."""
    new = [file for name, file in after.items() if name not in before and file.bytes]
    first = min((file.made for file in new if file.made is not None), default=None)
    last = max((file.changed for file in new), default=0)
    if first is None or last <= first:
        return None
    return sum(file.bytes for file in new), (last - first) / 1000


def _below(webhdfs: WebHdfs, entry: FileStatus, name: str) -> dict[str, StagedFile]:
    if not entry.is_directory:
        return {name: StagedFile(entry.length, round(entry.modified * 1000), round(entry.accessed * 1000))}
    found: dict[str, StagedFile] = {}
    for one in webhdfs.list(entry.path):
        found |= _below(webhdfs, one, f"{name}/{one.name}" if name else one.name)
    return found
