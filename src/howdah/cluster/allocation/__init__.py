"""The sources of hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from howdah.cluster.allocation.here import channels, local, open_channel
from howdah.cluster.allocation.holding import Holding, Open, Wait, close_hosts, patient
from howdah.cluster.allocation.listed import hosts, open_described
from howdah.cluster.allocation.pbs import pbs
from howdah.cluster.allocation.simulated import open_simulated, sim
from howdah.cluster.allocation.slurm import open_in_job, slurm
from howdah.cluster.faults import HostFault
from howdah.cluster.request import Links
from howdah.errors import UsageError
from howdah.hadoop.configuration.plan import Plan, Quarters, Spot
from howdah.host import Host
from howdah.host.batch import BATCH_SYSTEMS
from howdah.host.channel import open_local
from howdah.spec.slips import did_you_mean

__all__ = [
    "ALLOCATIONS",
    "Allocation",
    "close_hosts",
    "ends_with_its_supervisor",
    "find_allocation",
    "open_hosts",
    "patient",
]


class Allocation(Protocol):
    """Hosts for one cluster, and the places of its daemons on the hosts.

    Life cycle: call `acquire` once, and `release` at least once, also after a failed `acquire`. `release` is
    idempotent.
    """

    @property
    def hosts(self) -> Mapping[str, Host]:
        """Open channels by host name, from `acquire` to `release`."""

    @property
    def usual_nodes(self) -> int:
        """Default number of nodes of a cluster here: one for each host."""

    @property
    def is_here(self) -> bool:
        """Whether the hosts are this machine."""

    def acquire(self, name: str, nodes: int, home: Quarters, wait: Wait = patient) -> Plan:
        """Open a channel to every host that is used, and lay out `nodes` nodes. `home` is the cluster's part of this
        machine, used if this machine is one of the hosts. Hosts of a batch system may come after hours.

        Raises:
            HostProblem: no host, no address, no free ports. `release` closes the channels that were opened.
        """

    @property
    def names(self) -> Sequence[str]:
        """Every host that it has, used or not, from `acquire` to `release`."""

    def add(self, host: str) -> None:
        """Opens a channel to a host of `names` that has none. Raises HostProblem."""

    def drop(self, host: str) -> None:
        """Closes the channel to a host, which ends everything that was started through it."""

    def stand(self, host: str, plan: Plan, home: Quarters) -> tuple[Spot, Quarters]:
        """Return the spot for daemons on a host of `hosts` that `plan` does not have, and the cluster's quarters there.
        `home` is that of `acquire`.

        Raises:
            UsageError: a cluster of this allocation takes in no hosts that it did not have.
            HostProblem: no address, no free ports, other hosts are not reached.
        """

    def check_fault(self, fault: HostFault) -> None:
        """Raise UsageError if the fault cannot happen to these hosts: before anything is started, as far as they are
        known then, and before `disturb`."""

    def disturb(self, fault: HostFault) -> None:
        """Inject a fault into the network or a disk of a host. Raises UsageError if Howdah may not disturb the
        device."""

    def rejoin(self) -> None:
        """Undo the faults because of which hosts cannot be reached."""

    @property
    def leash(self) -> Host | None:
        """A host whose agent ends with the job that has the hosts, before them; None if there is none."""

    def seconds_left(self) -> float | None:
        """Return the seconds until the hosts are taken away; None if nobody takes them, or if the time is unknown. May
        take as long as the commands of a batch system."""

    def release(self) -> None:
        """Close every channel, which stops everything that was started through the channel."""

    def describe(self) -> Mapping[str, Any]:
        """Return a description for reports and for `open_hosts`: at least `kind`."""


ALLOCATIONS: dict[str, Callable[[str | None, Links], Allocation]] = {
    "local": local,
    "channels": channels,
    "hosts": hosts,
    "sim": sim,
    "slurm": slurm,
    "pbs": pbs,
}
"""Constructors by kind; each one gets the text behind the colon."""

_OPENERS: dict[str, Callable[[Mapping[str, Any]], Open]] = {
    "local": lambda _: open_local,
    "channels": open_channel,
    "hosts": open_described,
    "sim": open_simulated,
    "slurm": open_in_job,
    "pbs": open_described,
}


def find_allocation(text: str, links: Links | None = None) -> Allocation:
    """Return the allocation that is written as KIND or KIND:ARGUMENT; nothing is opened yet. Raises UsageError."""
    kind, colon, argument = text.partition(":")
    if kind not in ALLOCATIONS:
        raise UsageError(
            f"--on {text}: there is no kind of allocation called {kind!r}", hint=did_you_mean(kind, ALLOCATIONS)
        )
    return ALLOCATIONS[kind](argument if colon else None, links or Links())


def ends_with_its_supervisor(described: Mapping[str, Any]) -> bool:
    """Return whether nothing of a cluster is left when its supervisor has died, because the agents of batch jobs clean
    up. Cancels the job if it was submitted for the cluster. Raises HostProblem if the batch system does not answer."""
    if described["kind"] not in BATCH_SYSTEMS:
        return False
    if described["submitted"]:
        BATCH_SYSTEMS[described["kind"]].cancel(described["job"])
    return True


def open_hosts(described: Mapping[str, Any], names: Iterable[str]) -> dict[str, Host]:
    """Open separate channels to hosts of an allocation that another process holds, from the result of its `describe`.

    Raises HostProblem; no channel is open then.
    """
    holding = Holding((), _OPENERS[described["kind"]](described))
    try:
        holding.open(names)
    except BaseException:
        holding.release()
        raise
    return dict(holding.hosts)
