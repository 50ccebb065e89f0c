"""Who gives us hosts."""

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
    """Hosts for one cluster, and where on them its daemons may stand.

    Life cycle: `acquire` once, `release` at least once, always, also after a failed `acquire`; `release` is idempotent.
    """

    @property
    def hosts(self) -> Mapping[str, Host]:
        """Open channels by host name, from `acquire` to `release`."""

    @property
    def usual_nodes(self) -> int:
        """How many nodes a cluster here has when nobody says how many: one for each host."""

    @property
    def is_here(self) -> bool:
        """Whether its hosts are this machine."""

    def acquire(self, name: str, nodes: int, home: Quarters, wait: Wait = patient) -> Plan:
        """Opens a channel to every host that is used and lays out `nodes` nodes. `home` is what the cluster has on this
        machine, if it is one of the hosts. Hosts of a batch system may come after hours.

        Raises:
            HostProblem: no host, no address, no free ports; what was opened is closed by `release`.
        """

    @property
    def names(self) -> Sequence[str]:
        """Every host that it has, used or not, from `acquire` to `release`."""

    def add(self, host: str) -> None:
        """Opens a channel to a host of `names` that has none. Raises HostProblem."""

    def drop(self, host: str) -> None:
        """Closes the channel to a host, which ends everything that was started through it."""

    def stand(self, host: str, plan: Plan, home: Quarters) -> tuple[Spot, Quarters]:
        """Where daemons of the cluster may stand on a host of `hosts` that `plan` does not have. `home` is that of
        `acquire`.

        Raises:
            UsageError: a cluster of this allocation takes in no hosts that it did not have.
            HostProblem: no address, no free ports, other hosts are not reached.
        """

    def disturb(self, fault: HostFault) -> None:
        """Does something to the network of a host. Raises UsageError where the network is not ours to disturb."""

    def seconds_left(self) -> float | None:
        """In how many seconds the hosts are taken away; None where nobody takes them, or when is not known. May take as
        long as the commands of a batch system do."""

    def release(self) -> None:
        """Closes every channel, which ends everything that was started through it."""

    def describe(self) -> Mapping[str, Any]:
        """What a report says about it, and `open_hosts` needs: at least `kind`."""


ALLOCATIONS: dict[str, Callable[[str | None, Links], Allocation]] = {
    "local": local,
    "channels": channels,
    "hosts": hosts,
    "sim": sim,
    "slurm": slurm,
    "pbs": pbs,
}
"""By kind; each is given what stands behind the colon."""

_OPENERS: dict[str, Callable[[Mapping[str, Any]], Open]] = {
    "local": lambda _: open_local,
    "channels": open_channel,
    "hosts": open_described,
    "sim": open_simulated,
    "slurm": open_in_job,
    "pbs": open_described,
}


def find_allocation(text: str, links: Links | None = None) -> Allocation:
    """The allocation that one writes as KIND or KIND:ARGUMENT; nothing is opened yet. Raises UsageError."""
    kind, colon, argument = text.partition(":")
    if kind not in ALLOCATIONS:
        raise UsageError(
            f"--on {text}: there is no kind of allocation called {kind!r}", hint=did_you_mean(kind, ALLOCATIONS)
        )
    return ALLOCATIONS[kind](argument if colon else None, links or Links())


def ends_with_its_supervisor(described: Mapping[str, Any]) -> bool:
    """Whether nothing of a cluster is left when its supervisor has died: agents of batch jobs see to that. Ends the
    job, where it was submitted for the cluster. Raises HostProblem where the batch system does not answer."""
    if described["kind"] not in BATCH_SYSTEMS:
        return False
    if described["submitted"]:
        BATCH_SYSTEMS[described["kind"]].cancel(described["job"])
    return True


def open_hosts(described: Mapping[str, Any], names: Iterable[str]) -> dict[str, Host]:
    """Channels of their own to hosts of an allocation that another process holds, from what it `describe`d.

    Raises HostProblem; none is open then.
    """
    holding = Holding((), _OPENERS[described["kind"]](described))
    try:
        holding.open(names)
    except BaseException:
        holding.release()
        raise
    return dict(holding.hosts)
