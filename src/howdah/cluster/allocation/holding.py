"""The part that all allocations share, wherever their hosts come from: holding hosts open, and a block of ports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from howdah.cluster.allocation.ports import Reservation
from howdah.cluster.faults import HostFault, check_device, check_host
from howdah.errors import UsageError
from howdah.hadoop.configuration.plan import Plan, Quarters, Spot
from howdah.host import Host
from howdah.host.over import over

MOST_NODES = 20

Open = Callable[[str], Host]
"""Function that opens a channel to the host of this name."""

Wait = Callable[[str], None]
"""Function that gets the reason why hosts are not there yet, again and again. Raises when nobody wants them any
more."""


def patient(why: str) -> None:
    """Wait as long as it takes."""


class Holding:
    """Hosts by `names`, in the order of their use; `open_host` opens them. `Allocation` says when to call each public
    part."""

    def __init__(self, names: Sequence[str], open_host: Open) -> None:
        self._names = names
        self._open_host = open_host
        self._hosts: dict[str, Host] = {}
        self._reservation = Reservation()

    @property
    def hosts(self) -> Mapping[str, Host]:
        return self._hosts

    @property
    def usual_nodes(self) -> int:
        return len(self._names)

    def open(self, names: Iterable[str]) -> None:
        """Open channels to these hosts, all at once; a repeated name is one host. Raises HostProblem; `release` closes
        the channels that were opened."""
        found = {name: name for name in names}

        def one(name: str) -> None:
            self._hosts[name] = self._open_host(name)

        over(found, one)
        self._hosts = {name: self._hosts[name] for name in found}

    @property
    def names(self) -> Sequence[str]:
        return self._names

    def add(self, host: str) -> None:
        self._hosts = {**self._hosts, host: self._open_host(host)}

    def drop(self, host: str) -> None:
        kept = dict(self._hosts)
        gone = kept.pop(host)
        self._hosts = kept
        gone.close()

    def stand(self, host: str, plan: Plan, home: Quarters) -> tuple[Spot, Quarters]:  # noqa: ARG002
        raise UsageError(f"{host} was no host of the cluster when it came up, and cannot become one here")

    def describe(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def check_fault(self, fault: HostFault) -> None:
        if self._names:  # Those of a batch job are not known before it runs.
            check_host(fault, self._names)
        check_device(fault, self.describe())

    def disturb(self, fault: HostFault) -> None:
        self.check_fault(fault)

    def rejoin(self) -> None: ...

    @property
    def leash(self) -> Host | None:
        return None

    def seconds_left(self) -> float | None:
        return None

    def release(self) -> None:
        hosts, self._hosts = self._hosts, {}
        close_hosts(hosts)
        self._reservation.release()


def close_hosts(hosts: Mapping[str, Host]) -> None:
    """Close all channels at once."""
    over(hosts, lambda host: host.close())
