"""Lock files: the exact list of the jars of a managed Hadoop, to the byte. `tools/lock_hadoop.py` writes them."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath

from howdah.errors import UsageError

PRIMARY = "3.4.2"
"""The release that every test runs on. The other managed releases are watched: tested in parts."""

_PACKAGE = resources.files("howdah.hadoop.distribution")
_RELEASE = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class Artifact:
    """One jar: its Maven coordinates, and its place below `share/hadoop` of HADOOP_HOME.

    `substitute` is the release that this jar is from, if the managed release did not publish its own.
    """

    group: str
    artifact: str
    version: str
    classifier: str
    place: str
    size: int
    sha256: str
    substitute: str | None

    @property
    def file_name(self) -> str:
        classifier = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{classifier}.jar"

    @property
    def in_home(self) -> str:
        """The path relative to HADOOP_HOME, as in an Apache distribution."""
        return f"share/hadoop/{self.place}/{self.file_name}"

    @property
    def in_repository(self) -> str:
        """The path relative to a Maven repository."""
        return str(PurePosixPath(*self.group.split("."), self.artifact, self.version, self.file_name))

    @property
    def on_class_path(self) -> bool:
        """Whether daemons load the jar: it is neither a tests jar nor a tool."""
        return self.classifier != "tests" and self.place != "tools/lib"


@dataclass(frozen=True, slots=True)
class Lock:
    """A managed release. `artifacts` are in class path order; `digest` is the SHA-256 of the lock file and the scripts.
    `deprecated` maps the configuration keys that this release still accepts to their replacements."""

    version: str
    artifacts: tuple[Artifact, ...]
    deprecated: Mapping[str, str]
    digest: str


def managed_versions() -> tuple[str, ...]:
    """Return the Hadoop releases that have a lock, oldest first."""
    names = [
        entry.name.removesuffix(".json") for entry in (_PACKAGE / "locks").iterdir() if entry.name.endswith(".json")
    ]
    return tuple(sorted(filter(_RELEASE.fullmatch, names), key=lambda name: [int(part) for part in name.split(".")]))


@functools.cache
def read_lock(version: str) -> Lock:
    """Return the lock of release `version`. Raises UsageError if there is none."""
    if version not in managed_versions():
        raise UsageError(
            f"no managed Hadoop {version}; there are {', '.join(managed_versions())}",
            hint="Another release is used through its own directory (HADOOP_HOME).",
        )
    content = (_PACKAGE / "locks" / f"{version}.json").read_bytes()
    record = json.loads(content)
    artifacts = tuple(
        Artifact(
            group=entry["groupId"],
            artifact=entry["artifactId"],
            version=entry["version"],
            classifier=entry.get("classifier", ""),
            place=entry["place"],
            size=entry["size"],
            sha256=entry["sha256"],
            substitute=entry.get("substitute"),
        )
        for entry in record["jars"]
    )
    scripts = sorted((_PACKAGE / "scripts").iterdir(), key=lambda script: script.name)
    digest = hashlib.sha256(content + b"".join(script.read_bytes() for script in scripts)).hexdigest()
    return Lock(version, artifacts, record["deprecated"], digest)
