"""This machine as an allocation: as one host or as several, each with an agent of its own."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from howdah.cluster.allocation.holding import MOST_NODES, Holding, Open, Wait, patient
from howdah.cluster.allocation.ports import FIRST_PORT, LAST_PORT, STEP
from howdah.cluster.request import Links
from howdah.errors import HostProblem, UsageError
from howdah.hadoop.configuration.plan import Plan, Quarters, Spot, lay_out, ports_needed, spread
from howdah.host import operations
from howdah.host.channel import Channel, open_local
from howdah.host.launch.process import ProcessLauncher

_MOST_CHANNELS = 64


class HereAllocation(Holding):
    """See `howdah.cluster.allocation.Allocation`. Every node has a loopback address and ports of its own."""

    def __init__(self, names: Sequence[str], description: Mapping[str, Any], open_host: Open = open_local) -> None:
        """`description` is the result of `describe`."""
        super().__init__(names, open_host)
        self._description = description

    @property
    def is_here(self) -> bool:
        return True

    def acquire(self, name: str, nodes: int, home: Quarters, wait: Wait = patient) -> Plan:  # noqa: ARG002
        if nodes > MOST_NODES:
            raise UsageError(f"{nodes} nodes on one machine are more than the {MOST_NODES} that are possible")
        used = list(spread(self._names, nodes))
        self.open(used)
        quarters = self._quarters(home)
        needed = ports_needed(nodes)
        probe = self._hosts[used[0]]
        for block, first in enumerate(range(FIRST_PORT, LAST_PORT - needed, STEP)):
            # The network of a block is its own, so that clusters side by side share no address.
            spots = [Spot(host, f"127.77.{block}.{number}") for number, host in enumerate(used, start=1)]
            ports = list(range(first, first + needed))
            if not self._reservation.take(first):
                continue
            free = operations.free_ports(probe, spots[0].address, ports)
            if list(free) == ports:
                return lay_out(name, spots, quarters, first_port=first)
        raise HostProblem(
            f"no block of {needed} free ports between {FIRST_PORT} and {LAST_PORT}",
            host=probe.name,
            hint="`howdah status` lists clusters that are up; `howdah down --name NAME` ends one.",
        )

    def stand(self, host: str, plan: Plan, home: Quarters) -> tuple[Spot, Quarters]:
        network, _, _ = plan.masters.address.rpartition(".")
        taken = {place.address for place in plan.places}
        free = [one for number in range(1, MOST_NODES + 2) if (one := f"{network}.{number}") not in taken]
        if not free:
            raise UsageError(f"more than the {MOST_NODES} nodes that are possible on one machine")
        return Spot(host, free[0]), self._quarters(home)[host]

    def describe(self) -> Mapping[str, Any]:
        return self._description

    def _quarters(self, home: Quarters) -> Mapping[str, Quarters]:
        """Return the quarters of each host: a single host uses `home`, several hosts have separate directories."""
        if tuple(self._names) == (home.machine,):
            return {home.machine: home}
        found = {}
        for name in self._names:
            root = f"{home.root}-{name}"
            found[name] = Quarters(home.machine, root, f"{root}/conf", f"{root}/logs", f"{home.store}/hosts/{name}")
        return found


def local(argument: str | None, links: Links, open_host: Open = open_local) -> HereAllocation:
    """Return this machine as one host, under its own name. Silence has no meaning here, because a pipe to a local
    process is never cut. Raises UsageError for an argument."""
    _refuse_network("local", links)
    if argument is not None:
        raise UsageError(f"--on local takes no argument, and {argument!r} was given")
    return HereAllocation((platform.node(),), {"kind": "local"}, open_host)


def channels(argument: str | None, links: Links) -> HereAllocation:
    """Return this machine as several hosts: each has an agent, a name and directories of its own. Raises UsageError."""
    _refuse_network("channels", links)
    count = int(argument) if argument is not None and argument.isdecimal() and len(argument) < 5 else 0
    if not 1 <= count <= _MOST_CHANNELS:
        given = "nothing" if argument is None else repr(argument)
        raise UsageError(
            f"--on channels:N takes a number of hosts from 1 to {_MOST_CHANNELS}, and {given} was given",
            hint="For example `howdah up --on channels:3`.",
        )
    names = tuple(f"channel{number}" for number in range(1, count + 1))
    described = {"kind": "channels", "hosts": count, "silence": links.silence}
    return HereAllocation(names, described, open_channel(described))


def _refuse_network(kind: str, links: Links) -> None:
    if links.network is not None:
        raise UsageError(f"--network is for hosts:, and --on {kind} has loopback addresses alone")


def open_channel(described: Mapping[str, Any]) -> Open:
    """Return a function that opens a channel to a host of `channels`, from the description of the allocation."""
    return lambda name: Channel(name, ProcessLauncher(), silence=described["silence"])
