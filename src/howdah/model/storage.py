"""The storages of a cluster, as users write them: `hdfs`, `posix:/mnt/shared`, or both with a comma in between."""

from __future__ import annotations

from dataclasses import dataclass

from howdah.errors import UsageError

HDFS = "hdfs"
POSIX = "posix"

FILESYSTEM_JAR = "howdah-filesystem"
"""The module whose jar has the file system for `posix`."""

POSIX_SCHEME = "posixfs"
SCHEMES = (POSIX_SCHEME, "lustrefs")
"""The schemes of Howdah's file system. Both are settings of one program, `fs.SCHEME.NAME`."""


@dataclass(frozen=True, slots=True)
class Storages:
    """The storages of a cluster.

    `directory` is the root of `posix`, None without `posix`; `default` is the storage of plain paths.
    """

    hdfs: bool
    directory: str | None
    default: str


def parse_storages(text: str) -> Storages:
    """Return the storages that `text` names; the first is the default. Raises UsageError."""
    hdfs, directory = False, None
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        name, colon, root = part.partition(":")
        if name == HDFS and not colon and not hdfs:
            hdfs = True
        elif name == POSIX and directory is None and root.startswith("/"):
            directory = root.rstrip("/") or "/"
        else:
            raise UsageError(
                f"no storage: {part!r} in {text!r}",
                hint="Write hdfs, posix:/DIRECTORY, or both with a comma; the first is the default.",
            )
    return Storages(hdfs, directory, parts[0].partition(":")[0])
