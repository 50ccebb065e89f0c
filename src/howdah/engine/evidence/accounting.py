"""CPU of a run's phases by process accounting: the daemons and the containers they started."""

from __future__ import annotations

from collections.abc import Iterable

from howdah.cluster.live import LiveCluster
from howdah.hadoop.configuration.roles import NODEMANAGER
from howdah.host import operations
from howdah.host.operations import CpuReading


class Accounting:
    """Reads the CPU time of a cluster's daemons. Without daemons that are known there is nothing to read."""

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster
        self._here = [daemon for daemon in cluster.daemons if daemon.host == cluster.host.name]

    @property
    def complete(self) -> bool:
        """Whether every daemon of the cluster can be read."""
        return bool(self._here) and len(self._here) == len(self._cluster.daemons)

    def read(self) -> CpuReading:
        """The counters now."""
        managers = [daemon.pid for daemon in self._here if daemon.role == NODEMANAGER.name]
        return operations.read_cpu(self._cluster.host, [daemon.pid for daemon in self._here], managers)

    def by_role(self, before: CpuReading, after: CpuReading, last: CpuReading) -> dict[str, float] | None:
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
