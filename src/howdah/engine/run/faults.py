"""Faults in the middle of a measured job, as the factor `faults` asks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from howdah.cluster.faults import HostFault, check_device, check_host
from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.observer import JobProgress, Silent
from howdah.engine.run.waiting import share_done
from howdah.errors import UsageError
from howdah.hadoop.configuration.roles import DATANODE, NODEMANAGER
from howdah.spec.simulation import parse_slow_rate

_ROLES = (DATANODE.name, NODEMANAGER.name)
_KINDS = ("kill", "stop", "cut", "slow", "disk")
_UNDONE = {"stop": "continue", "cut": "join", "slow": "restore"}
"""The action that undoes each fault that can be undone."""
_WHEN = re.compile(r"(?:([a-z0-9-]+):)?([0-9]{1,2})%")
_HINT = (
    f"Write none; or {' or '.join(_ROLES)} and when: datanode@50%; or what happens to a host: cut:sim3@50%, or "
    "cut:sim3@sort:50%. Known: kill:HOST, kill:HOST:datanode, stop:HOST, cut:HOST, slow:HOST:10mbit (also 10MB, "
    "0.2cpus), disk:HOST."
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that happens once the job has done the share `at` of its maps and reduces, in the measured phases or in
    `phase`.

    Without a `host`, the daemon `role` of the last node is killed. With a `host`, `kind` happens to the host or to its
    daemon. `resource` of the host becomes as slow as `rate`, as in `HostFault`.
    """

    role: str | None
    at: float
    kind: str = "kill"
    host: str | None = None
    rate: float | None = None
    phase: str | None = None
    resource: str = "network"

    def record(self) -> Mapping[str, Any]:
        """Return the fault as a trial has it: unset and usual values are left out."""
        return {name: value for name, value in asdict(self).items() if value is not None and _USUAL.get(name) != value}

    def on(self, host: str) -> HostFault:
        """Return the fault as it happens on `host`."""
        return HostFault(self.kind, host, self.role, self.rate, self.resource)


_USUAL = {"kind": "kill", "resource": "network"}


def parse_fault(text: str) -> Fault | None:
    """Return the fault of a text: `datanode@50%`, `cut:sim3@50%`, `slow:sim3:10mbit@sort:50%`, or `none`. Raises
    UsageError for anything else."""
    if text == "none":
        return None
    what, _, when = text.partition("@")
    moment, (kind, *parts) = _WHEN.fullmatch(when), what.split(":")
    if moment is None:
        raise _no_fault(text)
    phase, at = moment[1], int(moment[2]) / 100
    if kind in _ROLES and not parts:
        return Fault(kind, at, phase=phase)
    host, argument = (*parts, None, None)[:2]
    if kind not in _KINDS or not host or len(parts) > 2:
        raise _no_fault(text)
    if kind == "slow":
        resource, rate = parse_slow_rate(argument or "")
        return Fault(None, at, kind, host, rate, phase, resource)
    if argument is not None and (kind not in ("kill", "stop") or argument not in _ROLES):
        raise _no_fault(text)
    return Fault(argument, at, kind, host, None, phase)


def _no_fault(text: str) -> UsageError:
    return UsageError(f"faults is {text!r}, which is no fault", hint=_HINT)


class Disturber(Silent):
    """Watches the measured phases, and lets the fault happen once. A fault that can be undone is undone when the
    phase's client ends, so that later phases do not suffer, and when the run ends, so that later runs do not."""

    def __init__(self, cluster: LiveCluster, fault: Fault, phases: Collection[str]) -> None:
        """Raises UsageError if the cluster has no such host, or the host no such device."""
        if fault.host is not None:
            check_host(fault.on(fault.host), cluster.hosts)
            check_device(fault.on(fault.host), cluster.description.get("allocation", {}))
        self._cluster = cluster
        self._fault = fault
        self._phases = phases if fault.phase is None else {fault.phase}
        self._watches = False
        self.happened = False
        self._lasts = False

    def phase_started(self, name: str, data_bytes: int | None) -> None:  # noqa: ARG002
        self._watches = name in self._phases

    def progress(self, progress: JobProgress) -> None:
        done = share_done(progress)
        if self._watches and not self.happened and done is not None and done >= self._fault.at:
            self.happened = self._lasts = True
            self._let_happen()

    def undo(self) -> None:
        """Undo what lasts of the fault, if anything does. Raises HowdahError."""
        fault, undone = self._fault, _UNDONE.get(self._fault.kind)
        if self._lasts and fault.host is not None and undone is not None:
            self._lasts = False
            self._cluster.disturb(HostFault(undone, fault.host, fault.role))

    def _let_happen(self) -> None:
        fault = self._fault
        if fault.host is not None:
            self._cluster.disturb(fault.on(fault.host))
        elif fault.role is not None:
            self._cluster.kill_daemon(fault.role)
