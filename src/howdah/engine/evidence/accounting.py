"""CPU time of a run's phases by process accounting: of the daemons and of the containers that they started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.state import Daemon
from howdah.hadoop.configuration.roles import NODEMANAGER
from howdah.host import Host, operations
from howdah.host.operations import CpuReading
from howdah.host.over import of_reachable, over

Readings = Mapping[str, CpuReading]
"""Readings of CPU time, by host."""


class Accounting:
    """Reads the CPU time of a cluster's daemons. Without known daemons there is nothing to read."""

    def __init__(self, cluster: LiveCluster) -> None:
        self._cluster = cluster
        self._found = cluster.daemons_by_host()

    @property
    def complete(self) -> bool:
        """Whether every daemon of the cluster can be read."""
        found = sum(len(daemons) for _, daemons in self._found.values())
        return found > 0 and found == len(self._cluster.daemons)

    def read(self) -> Readings:
        """Return the counters now, of hosts that are not lost. Raises HostProblem."""

        def read(found: tuple[Host, Sequence[Daemon]]) -> CpuReading | None:
            host, daemons = found
            managers = [daemon.pid for daemon in daemons if daemon.role == NODEMANAGER.name]
            return of_reachable(host, lambda host: operations.read_cpu(host, [one.pid for one in daemons], managers))

        return {name: reading for name, reading in over(self._found, read).items() if reading is not None}

    def by_role(self, before: Readings, after: Readings, last: Readings) -> dict[str, float] | None:
        """Return CPU seconds by role between `before` and `after`. None if a daemon or a host is missing in a reading,
        or if a reading is not steady.

        The time that containers of `before` have used since is left out. The time that containers of `after` used
        later, up to the reading `last`, is added: application masters outlive their jobs.
        """
        if not self.complete or not all(self._found.keys() <= one.keys() for one in (before, after, last)):
            return None
        used: dict[str, float] = {NODEMANAGER.name: 0.0}
        for host, (_, daemons) in self._found.items():
            there = _on_host(daemons, before[host], after[host], last[host])
            if there is None:
                return None
            for role, seconds in there.items():
                used[role] = used.get(role, 0.0) + seconds
        return used


def _on_host(
    daemons: Iterable[Daemon], before: CpuReading, after: CpuReading, last: CpuReading
) -> dict[str, float] | None:
    """Return `Accounting.by_role` of one host."""
    if not (before.steady and after.steady):
        return None
    used = {NODEMANAGER.name: after.adopted - before.adopted}
    for daemon in daemons:
        if daemon.pid not in before.seconds or daemon.pid not in after.seconds:
            return None
        spent = after.seconds[daemon.pid] - before.seconds[daemon.pid]
        used[daemon.role] = used.get(daemon.role, 0.0) + spent
    earlier = sum(after.containers[one] - before.containers[one] for one in before.running)
    later = sum(last.containers[one] - after.containers[one] for one in after.running - before.running)
    used[NODEMANAGER.name] += later - earlier
    return used


def total(parts: Iterable[float]) -> float:
    """Return the sum, rounded to the kernel's hundredths of a second."""
    return round(sum(parts), 2)
