"""Killing a daemon in the middle of a measured job, as the factor `faults` asks."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from howdah.cluster.live import LiveCluster
from howdah.engine.observer import JobProgress, Silent
from howdah.errors import UsageError
from howdah.hadoop.configuration.roles import DATANODE, NODEMANAGER

_ROLES = (DATANODE.name, NODEMANAGER.name)


@dataclass(frozen=True, slots=True)
class Fault:
    """The daemon `role` of the last node is killed once the job has done the share `at` of its maps and reduces."""

    role: str
    at: float


def parse_fault(text: str) -> Fault | None:
    """`datanode@50%`, or `none`. Raises UsageError for anything else."""
    if text == "none":
        return None
    match = re.fullmatch(r"([a-z]+)@([0-9]{1,2})%", text)
    if match is None or match[1] not in _ROLES:
        raise UsageError(
            f"faults is {text!r}, which is no fault",
            hint=f"Write none, or {' or '.join(_ROLES)} and when: datanode@50%.",
        )
    return Fault(match[1], int(match[2]) / 100)


class Killer(Silent):
    """Watches the phases that are measured, and kills once."""

    def __init__(self, cluster: LiveCluster, fault: Fault, phases: Collection[str]) -> None:
        self._cluster = cluster
        self._fault = fault
        self._phases = phases
        self._watches = False
        self.killed = False

    def phase_started(self, name: str, data_bytes: int | None) -> None:  # noqa: ARG002
        self._watches = name in self._phases

    def progress(self, progress: JobProgress) -> None:
        shares = [share for share in (progress.map, progress.reduce) if share is not None]
        if self._watches and not self.killed and shares and sum(shares) / len(shares) >= self._fault.at:
            self.killed = True
            self._cluster.kill_daemon(self._fault.role)
