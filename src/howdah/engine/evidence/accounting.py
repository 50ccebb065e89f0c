"""CPU of a run's phases by process accounting: the daemons and the containers they started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from howdah.cluster.live import LiveCluster
from howdah.hadoop.configuration.roles import NODEMANAGER


@dataclass(frozen=True, slots=True)
class Reading:
    """CPU seconds at one moment, as the agent's `accounting.cpu` returns them.

    `seconds` is by process: containers count with their NodeManager. `adopted` is those of containers that were killed
    and outlived what the NodeManager had started. `containers` has every container that has run at a reading, `running`
    those that run. Where it is not `steady`, a process ended while it was read.
    """

    seconds: Mapping[int, float]
    adopted: float
    containers: Mapping[str, float]
    running: frozenset[str]
    steady: bool


class Accounting:
    """Reads the CPU time of a cluster's daemons. Without daemons that are known there is nothing to read."""

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster
        self._here = [daemon for daemon in cluster.daemons if daemon.host == cluster.host.name]

    @property
    def complete(self) -> bool:
        """Whether every daemon of the cluster can be read."""
        return bool(self._here) and len(self._here) == len(self._cluster.daemons)

    def read(self) -> Reading:
        """The counters now."""
        managers = [daemon.pid for daemon in self._here if daemon.role == NODEMANAGER.name]
        answer = self._cluster.host.call(
            "accounting.cpu", pids=[daemon.pid for daemon in self._here], managers=managers
        )
        running = frozenset(answer["running"])
        return Reading(answer["seconds"], answer["adopted"], answer["containers"], running, answer["steady"])

    def by_role(self, before: Reading, after: Reading, last: Reading) -> dict[str, float] | None:
        """CPU seconds by role of what ran between `before` and `after`; None when a daemon is missing in one, or one
        is not steady.

        What containers of `before` have used since is left out. What containers of `after` used later, up to the
        reading `last`, is added: application masters outlive their jobs.
        """
        if not (self.complete and before.steady and after.steady):
            return None
        used = {NODEMANAGER.name: after.adopted - before.adopted}
        for daemon in self._here:
            if daemon.pid not in before.seconds or daemon.pid not in after.seconds:
                return None
            spent = after.seconds[daemon.pid] - before.seconds[daemon.pid]
            used[daemon.role] = used.get(daemon.role, 0.0) + spent
        earlier = sum(after.containers[one] - before.containers[one] for one in before.running)
        later = sum(last.containers[one] - after.containers[one] for one in after.running - before.running)
        used[NODEMANAGER.name] += later - earlier
        return used


def total(parts: Iterable[float]) -> float:
    """The sum, rounded to the kernel's hundredths of a second."""
    return round(sum(parts), 2)
