"""CPU of a phase by process accounting: the daemons, the containers they started, and the client."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from howdah.cluster.live import LiveCluster
from howdah.hadoop.roles import NODEMANAGER

_SETTLE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Reading:
    """CPU seconds by process: containers count with their NodeManager, which waits for them. `adopted` is those of
    containers that were killed and outlived what the NodeManager had started."""

    seconds: dict[int, float]
    adopted: float
    unsettled: int


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
        """The counters now, once the containers of the last job have ended and were waited for."""
        managers = [daemon.pid for daemon in self._here if daemon.role == NODEMANAGER.name]
        answer = self._cluster.host.call(
            "accounting.cpu",
            pids=[daemon.pid for daemon in self._here],
            settle_seconds=_SETTLE_SECONDS,
            settled=managers,
        )
        return Reading(answer["seconds"], answer["adopted"], answer["unsettled"])

    def by_role(self, before: Reading, after: Reading) -> dict[str, float] | None:
        """CPU seconds by role between two readings; None when a daemon is missing in one, or containers still ran."""
        if not self.complete or before.unsettled or after.unsettled:
            return None
        used = {NODEMANAGER.name: after.adopted - before.adopted}
        for daemon in self._here:
            if daemon.pid not in before.seconds or daemon.pid not in after.seconds:
                return None
            spent = after.seconds[daemon.pid] - before.seconds[daemon.pid]
            used[daemon.role] = used.get(daemon.role, 0.0) + spent
        return used


def total(parts: Iterable[float]) -> float:
    """The sum, rounded to the kernel's hundredths of a second."""
    return round(sum(parts), 2)
