"""The clocks of hosts. Hadoop's times, and so the times of jobs, are differences of these clocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from howdah.cluster.live.cluster import LiveCluster
from howdah.errors import HostProblem, HowdahError
from howdah.hadoop.configuration.roles import RESOURCEMANAGER
from howdah.host import Host, operations
from howdah.host.over import over
from howdah.model.run import Check

STEP_SECONDS = 0.25
"""The seconds of a step that matters. Slewing causes no step: it moves both clocks of a host."""

APART_SECONDS = 1.0
"""The seconds above which the clocks of two hosts are wrong. Smaller differences are known well enough to be
subtracted."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """Seconds by which the host's time of day is `ahead` of this machine's, give or take `unsure`. `gap` is its lead
    over the host's monotonic clock."""

    ahead: float
    unsure: float
    gap: float


class Clocks:
    """The time of day of every host, compared with this machine's and with the host's monotonic clock. Create one when
    a run begins."""

    def __init__(self, hosts: Mapping[str, Host]) -> None:
        self._hosts = hosts
        self._began = self._read()

    @property
    def ahead(self) -> Mapping[str, float]:
        """Seconds that hosts were ahead of this machine when the run began, if the difference exceeds its
        uncertainty."""
        return {name: one.ahead for name, one in self._began.items() if abs(one.ahead) > one.unsure}

    def compare(self) -> None:
        """Compare the clocks when the run began. Raises HostProblem if two hosts were too far apart."""
        if words := _apart(self._began):
            raise HostProblem(words, hint="Set them right on each host: chronyc makestep")

    def check(self) -> Check | None:
        """Return a check that no clock was set, and no host slept, since the run began, and that clocks are not too far
        apart now. Lost hosts are left out. None if no host answers."""
        read = {name: one for name, one in self._read().items() if name in self._began}
        steps = {name: one.gap - self._began[name].gap for name, one in read.items()}
        wrong = {name: step for name, step in steps.items() if abs(step) > STEP_SECONDS}
        if not steps:
            return None
        if wrong:
            words = ", ".join(f"{step:+.2f} s on {name}" for name, step in sorted(wrong.items()))
            return Check("clock", False, f"the time of day jumped: {words}; Hadoop measures jobs by it")
        if words := _apart(read):
            return Check("clock", False, words)
        return Check("clock", True, f"not adjusted during the run: {', '.join(sorted(steps))}")

    def _read(self) -> dict[str, _Reading]:
        read = over(self._hosts, _reading)
        return {name: one for name, one in read.items() if one is not None}


def manager_ahead(cluster: LiveCluster, ahead: Mapping[str, float]) -> float:
    """Return how far the clock of the ResourceManager's machine is ahead, by the clocks of all machines."""
    managers = [one.host for one in cluster.daemons if one.role == RESOURCEMANAGER.name]
    return sum(ahead.get(cluster.machine_of(host), 0.0) for host in managers[:1])


def _reading(host: Host) -> _Reading | None:
    """Return the clocks of `host`; None if it does not answer."""
    try:
        utc, monotonic = operations.moment(host)
        return _Reading(*operations.clock_offset(host), utc - monotonic)
    except HowdahError:
        return None


def _apart(read: Mapping[str, _Reading]) -> str:
    """Return a sentence about clocks that are too far apart; empty if none are."""
    if not read:
        return ""
    first, last = (choose(read, key=lambda name: read[name].ahead) for choose in (min, max))
    apart = read[last].ahead - read[first].ahead
    if apart - read[first].unsure - read[last].unsure <= APART_SECONDS:
        return ""
    return f"the clock of {last} is {apart:.2f} s ahead of that of {first}; Hadoop takes differences of them for times"
