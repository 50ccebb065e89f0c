"""Add-ons: programs beside Hadoop that some workloads need, each in the cache by a lock of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from howdah.errors import HostProblem
from howdah.hadoop.distribution import damage
from howdah.hadoop.lock import Artifact, read_artifacts

_LOCKS = resources.files("howdah.hadoop") / "locks" / "addons"
ADDONS = tuple(sorted(lock.name.removesuffix(".json") for lock in _LOCKS.iterdir()))


@dataclass(frozen=True, slots=True)
class Addon:
    """An add-on as its lock has it. `artifacts` are in class path order, the program's own jar first."""

    name: str
    title: str
    artifacts: tuple[Artifact, ...]

    def home(self, cache: Path) -> Path:
        """Where its jars are."""
        return cache.resolve() / "addons" / self.name

    def jars(self, cache: Path) -> tuple[Path, ...]:
        """Its jars, each hashed. Raises HostProblem where one is missing or damaged."""
        home = self.home(cache)
        for one in self.artifacts:
            problem = damage(home / one.in_home, one.size, one.sha256, None)
            if problem is not None:
                raise HostProblem(
                    f"{self.title} is not in the cache, or not whole: {problem}",
                    hint=f"`howdah hadoop fetch --with {self.name}` fetches it.",
                )
        return tuple(home / one.in_home for one in self.artifacts)


def read_addon(name: str) -> Addon:
    """The add-on called `name`, one of ADDONS."""
    record = json.loads((_LOCKS / f"{name}.json").read_bytes())
    return Addon(name, record["title"], read_artifacts(record))
