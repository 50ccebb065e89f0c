"""Whether clocks went on evenly during a run: Hadoop's times, and so the times of jobs, are differences of them."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.errors import HowdahError
from howdah.host import Host, operations
from howdah.model.run import Check

SECONDS = 0.25
"""A step that matters. Clocks that are kept right by slewing do not differ: it slews both of a host's clocks."""


class Clocks:
    """The time of day of every host beside the clock that nobody can set. Made when a run begins."""

    def __init__(self, hosts: Mapping[str, Host]) -> None:
        self._hosts = hosts
        self._began = self._gaps()

    def check(self) -> Check | None:
        """Whether none was set, and no host slept, since. Hosts that are lost meanwhile are not asked; None where no
        host answers."""
        steps = {name: gap - self._began[name] for name, gap in self._gaps().items() if name in self._began}
        wrong = {name: step for name, step in steps.items() if abs(step) > SECONDS}
        if not steps:
            return None
        if not wrong:
            return Check("clock", True, f"the time of day went on evenly on {', '.join(sorted(steps))}")
        words = ", ".join(f"{step:+.2f} s on {name}" for name, step in sorted(wrong.items()))
        return Check("clock", False, f"the time of day jumped: {words}; Hadoop measures jobs by it")

    def _gaps(self) -> dict[str, float]:
        found = {}
        for name, host in self._hosts.items():
            try:
                utc, monotonic = operations.moment(host)
            except HowdahError:
                continue
            found[name] = utc - monotonic
        return found
