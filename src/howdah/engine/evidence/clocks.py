"""The clocks of hosts: Hadoop's times, and so the times of jobs, are differences of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from howdah.errors import HostProblem, HowdahError
from howdah.host import Host, operations
from howdah.host.over import over
from howdah.model.run import Check

STEP_SECONDS = 0.25
"""A step that matters. Clocks that are kept right by slewing do not differ: it slews both of a host's clocks."""

APART_SECONDS = 1.0
"""Clocks of two hosts that are further apart are wrong; differences below are known well enough to be taken away."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The time of day is `ahead` of this machine's, give or take `unsure`, and of the host's other clock by `gap`."""

    ahead: float
    unsure: float
    gap: float


class Clocks:
    """The time of day of every host, compared with this machine's and with the clock that nobody can set. Made when a
    run begins."""

    def __init__(self, hosts: Mapping[str, Host]) -> None:
        self._hosts = hosts
        self._began = self._read()

    @property
    def ahead(self) -> Mapping[str, float]:
        """Seconds that hosts were ahead of this machine when the run began, where that can be told from none."""
        return {name: one.ahead for name, one in self._began.items() if abs(one.ahead) > one.unsure}

    def compare(self) -> None:
        """Raises HostProblem if two hosts were too far apart when the run began."""
        if words := _apart(self._began):
            raise HostProblem(words, hint="Set them right on each host: chronyc makestep")

    def check(self) -> Check | None:
        """Whether none was set, and no host slept, since. Hosts that are lost meanwhile are not asked; None where no
        host answers."""
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
        return Check("clock", True, f"the time of day went on evenly on {', '.join(sorted(steps))}")

    def _read(self) -> dict[str, _Reading]:
        read = over(self._hosts, _reading)
        return {name: one for name, one in read.items() if one is not None}


def _reading(host: Host) -> _Reading | None:
    """None where the host does not answer."""
    try:
        utc, monotonic = operations.moment(host)
        return _Reading(*operations.clock_offset(host), utc - monotonic)
    except HowdahError:
        return None


def _apart(read: Mapping[str, _Reading]) -> str:
    """What is wrong with clocks that are too far apart; empty where nothing is."""
    if not read:
        return ""
    first, last = (choose(read, key=lambda name: read[name].ahead) for choose in (min, max))
    apart = read[last].ahead - read[first].ahead
    if apart - read[first].unsure - read[last].unsure <= APART_SECONDS:
        return ""
    return f"the clock of {last} is {apart:.2f} s ahead of that of {first}; Hadoop takes differences of them for times"
