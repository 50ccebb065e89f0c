"""Faults that a user injects on purpose: daemons that die or hang, a cut cable, a lost disk, and a slow
network card, disk or processor."""

from __future__ import annotations

import signal
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from howdah.errors import UsageError
from howdah.spec.slips import did_you_mean

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "continue": signal.SIGCONT}
"""Faults of daemons, with their signals."""
DEVICES = {"cut": "network", "join": "network", "slow": "network", "restore": "resources", "disk": "last disk"}
"""Faults of simulated hosts, with what each one affects."""
_SLOW = {"network": "network", "disk_rate": "disks", "cpus": "processors"}
KINDS = (*SIGNALS, *DEVICES)


@dataclass(frozen=True, slots=True)
class HostFault:
    """Fault `kind` on `host`: of its daemon `role`, or of everything that it has.

    Only what is slow has a `rate`: `resource` is "network" (bits per second), "disk_rate" (bytes per second of each
    disk) or "cpus" (processors).
    """

    kind: str
    host: str
    role: str | None = None
    rate: float | None = None
    resource: str = "network"

    @property
    def device(self) -> str | None:
        """The device of a simulated host that is affected; None for daemons."""
        return _SLOW[self.resource] if self.kind == "slow" else DEVICES.get(self.kind)


def read_fault(request: dict[str, Any]) -> HostFault:
    """Return the fault that a request of the control socket asks for. Raises UsageError if there is no such fault."""
    rate, resource = request.get("rate"), request.get("resource", "network")
    fault = HostFault(request["kind"], request["host"], request.get("role"), rate, resource)
    check_fault(fault)
    return fault


def check_fault(fault: HostFault) -> None:
    """Raise UsageError if there is no such fault."""
    if fault.kind not in KINDS:
        raise UsageError(f"there is no fault {fault.kind!r}", hint=did_you_mean(fault.kind, KINDS))
    if (fault.kind == "slow") != (fault.rate is not None):
        hint = "For example `howdah fault slow HOST --rate 10mbit`."
        raise UsageError("what is slow has a rate, and nothing else has one", hint=hint)
    if fault.role is not None and fault.kind in DEVICES:
        raise UsageError(f"{fault.kind} is about a host's {fault.device}, not about its {fault.role}")


def check_host(fault: HostFault, hosts: Collection[str]) -> None:
    """Raise UsageError if a cluster on `hosts` does not have the host of the fault."""
    if fault.host not in hosts:
        raise UsageError(f"the cluster has no host {fault.host!r}", hint=did_you_mean(fault.host, hosts))
