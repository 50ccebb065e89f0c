"""Faults that a user injects on purpose: daemons that die or hang, a cut cable, a lost disk, and a slow
network card, disk or processor."""

from __future__ import annotations

import signal
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from howdah.errors import UsageError
from howdah.spec.slips import did_you_mean

SIGNALS = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP, "continue": signal.SIGCONT}
"""Faults of daemons, with their signals."""
DEVICES = {"cut": "network", "join": "network", "slow": "network", "restore": "resources", "disk": "last disk"}
"""Faults of simulated hosts, with what each one affects."""
_UNDOES = {"restore": "slow", "join": "cut", "continue": "stop"}
"""The fault that each of these kinds undoes."""
_SLOW = {"network": "network", "disk_rate": "disks", "cpus": "processors"}
_DONE = {
    "kill": "killed",
    "stop": "stopped",
    "continue": "continued",
    "cut": "cut",
    "join": "joined",
    "slow": "slowed down",
    "restore": "back at their own rates",
    "disk": "lost",
}
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

    @property
    def sentence(self) -> str:
        """The words for it once it has happened."""
        what = self.device or self.role or "daemons"
        return f"{self.host}: its {what} {'are' if what.endswith('s') else 'is'} {_DONE[self.kind]}."

    def changed(self, lasting: Mapping[str, str]) -> Mapping[str, str]:
        """Return the faults that last when this one has happened, as `Manifest.disturbed`: kind by host and what is
        affected."""
        what = f"{self.device or self.role or 'daemons'} of {self.host}"
        if self.kind in _UNDOES:
            undone, whole = _UNDOES[self.kind], self.role is None
            return {
                one: kind
                for one, kind in lasting.items()
                if kind != undone or not (one == what or (whole and one.endswith(f" of {self.host}")))
            }
        return {**lasting, what: self.kind} if self.kind in _UNDOES.values() else lasting


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
    if fault.kind == "slow" and fault.rate is None:
        hint = "For example `howdah fault slow HOST --rate 10mbit`."
        raise UsageError("slow needs a rate: how slow?", hint=hint)
    if fault.kind != "slow" and fault.rate is not None:
        raise UsageError(f"{fault.kind} has no rate", hint="`howdah fault slow HOST --rate 10mbit` has one.")
    if fault.role is not None and fault.kind in DEVICES:
        raise UsageError(f"{fault.kind} is about a host's {fault.device}, not about its {fault.role}")


def check_device(fault: HostFault, allocation: Mapping[str, Any]) -> None:
    """Raise UsageError if hosts of this description of an allocation do not have the device of the fault."""
    if fault.device is None:
        return
    if allocation.get("kind") != "sim":
        verb = "are" if fault.device.endswith("s") else "is"
        raise UsageError(
            f"the {fault.device} of {fault.host} {verb} not simulated: {fault.kind} would be yours to do",
            hint="`howdah up --on sim:3` has hosts whose network, disks and processors Howdah may disturb.",
        )
    if fault.device in ("disks", DEVICES["disk"]) and not allocation.get("disks"):
        raise UsageError(f"{fault.host} has no disks of its own", hint="For example --on sim:3,disks=2.")


def check_host(fault: HostFault, hosts: Collection[str]) -> None:
    """Raise UsageError if a cluster on `hosts` does not have the host of the fault."""
    if fault.host not in hosts:
        raise UsageError(f"the cluster has no host {fault.host!r}", hint=did_you_mean(fault.host, hosts))
