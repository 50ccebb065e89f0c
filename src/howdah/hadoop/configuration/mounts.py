"""The mount table of `viewfs:`, by which clients see several file systems as one (ViewFs guide of Hadoop, 3.4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from howdah.errors import UsageError

SCHEME = "viewfs"
_DEFAULT_NAME = "fs.viewfs.mounttable.default.name.key"


@dataclass(frozen=True, slots=True)
class MountTable:
    """A mount table. `links` are URIs by mount point; the link of `/` serves all paths that no other link has."""

    name: str
    links: Mapping[str, str]

    def target(self, path: str) -> tuple[str, str]:
        """Return the HDFS on which a path is, as the authority of its URI, and the path there.

        Raises UsageError if no link has the path, or if it leads elsewhere than to an HDFS.
        """
        points = [point for point in self.links if path == point or path.startswith(point.rstrip("/") + "/")]
        if not points:
            raise UsageError(f"{path} is not in the mount table {self.name} of {SCHEME}: it links {self._listed()}")
        point = max(points, key=len)
        found = urlsplit(self.links[point])
        if found.scheme != "hdfs":
            raise UsageError(f"{path} is at {self.links[point]} by the mount table {self.name}; Howdah needs an HDFS")
        rest = path[len(point.rstrip("/")) :]
        return found.netloc, (found.path.rstrip("/") + rest).rstrip("/") or "/"

    def _listed(self) -> str:
        return ", ".join(sorted(self.links)) or "nothing"


def mount_table(settings: Mapping[str, str]) -> MountTable | None:
    """Return the mount table of a configuration whose default file system is `viewfs:`; None for other ones."""
    default = urlsplit(settings.get("fs.defaultFS", ""))
    if default.scheme != SCHEME:
        return None
    name = default.netloc or settings.get(_DEFAULT_NAME, "default")
    before = f"fs.viewfs.mounttable.{name}."
    links = {}
    for key, value in settings.items():
        kind, _, point = key.removeprefix(before).partition(".") if key.startswith(before) else ("", "", "")
        if kind == "link":
            links["/" + point.strip("/")] = value
        elif kind in ("linkFallback", "linkMergeSlash"):
            links["/"] = value
    return MountTable(name, links)
