"""Hosts from a list that somebody wrote, reached by ssh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from howdah.cluster.allocation.holding import MOST_NODES, Holding, Open, Wait, patient
from howdah.cluster.allocation.ports import COPYING, FIRST_PORT, LAST_PORT, PROBED, STEP
from howdah.cluster.request import Links
from howdah.errors import HostProblem, UsageError
from howdah.hadoop.configuration.plan import Plan, Quarters, Spot, lay_out, ports_needed, spread
from howdah.host import Host, operations
from howdah.host.channel import Channel, this_host
from howdah.host.launch.ssh import SshLauncher
from howdah.host.operations import Identity
from howdah.host.over import over
from howdah.spec.hosts import BRIDGES, ListedHost, check_network, is_on_network, read_hosts

_REACH_SECONDS = 3.0
_LISTEN_SECONDS = 15.0

Target = tuple[str, int]
Missed = Sequence[tuple[str, int, str]]
"""Targets that cannot be reached, with the reason."""


class ListedAllocation(Holding):
    """See `howdah.cluster.allocation.Allocation`. All daemons of a host share its address, and have ports of their
    own."""

    def __init__(
        self,
        listed: Sequence[ListedHost],
        description: Mapping[str, Any],
        open_host: Open,
        from_here: Callable[[Sequence[Target]], Missed] | None = None,
    ) -> None:
        """`description` is the result of `describe`; `from_here` returns the targets that this machine does not
        reach."""
        self._listed = {host.name: host for host in listed}
        super().__init__(tuple(self._listed), open_host)
        self._description = description
        self._from_here = from_here or _from_here

    @property
    def is_here(self) -> bool:
        return False

    def acquire(self, name: str, nodes: int, home: Quarters, wait: Wait = patient) -> Plan:  # noqa: ARG002
        masters, workers = (
            [name for name, host in self._listed.items() if role in host.roles] for role in ("masters", "nodes")
        )
        used = list(spread(self._names, nodes, masters, workers))
        most = max(Counter(used[1:]).values())
        if most > MOST_NODES:
            what = f"{nodes} nodes on {len(set(used[1:]))} hosts are more than the {MOST_NODES} on each"
            raise UsageError(f"{what} that are possible")
        self.open(used)
        found = over(self._hosts, operations.identity)
        _refuse_twins(found)
        addresses = {host: self._address(host, one) for host, one in found.items()}
        quarters = {host: self._quarters(name, host, one) for host, one in found.items()}
        first = self._first_port(addresses, ports_needed(most))
        self._check_reach(addresses, first + PROBED)
        spots = [Spot(host, addresses[host], self._listed[host].rack) for host in used]
        plan = lay_out(name, spots, quarters, first_port=first, apart=True)
        return replace(plan, copy_port=first + COPYING)

    def stand(self, host: str, plan: Plan, home: Quarters) -> tuple[Spot, Quarters]:  # noqa: ARG002
        if "nodes" not in self._listed[host].roles:
            raise UsageError(f"{host} is listed for {' and '.join(self._listed[host].roles)}, not for nodes")
        found = over(self._hosts, operations.identity)
        _refuse_twins(found)
        address = self._address(host, found[host])
        assert plan.copy_port is not None
        others = {place.host: place.address for place in plan.places if place.host in self._hosts}
        self._check_reach({**others, host: address}, plan.copy_port - COPYING + PROBED)
        return Spot(host, address, self._listed[host].rack), self._quarters(plan.name, host, found[host])

    @property
    def usual_nodes(self) -> int:
        return sum("nodes" in host.roles for host in self._listed.values())

    def describe(self) -> Mapping[str, Any]:
        return self._description

    def _address(self, name: str, found: Identity) -> str:
        """Return the address by which other hosts reach this one: the address in the list, or the only possible one.
        Raises HostProblem."""
        written, network, there = self._listed[name].address, self._listed[name].network, found.addresses
        if written is not None:
            if written in there.values():
                return written
            raise HostProblem(f"{written} is none of its addresses, which are {_words(there)}", host=name)
        possible = {
            interface: address
            for interface, address in there.items()
            if not address.startswith("127.") and (network is not None or not interface.startswith(BRIDGES))
        }
        if network is not None:
            possible = {interface: at for interface, at in possible.items() if is_on_network(network, interface, at)}
            if not possible:
                raise HostProblem(f"no address on the network {network}; it has {_words(there)}", host=name)
        if len(possible) != 1:
            what = f"which network is it? It has {_words(possible)}" if possible else "it has no address but its own"
            hint = "Say which: --network 10.1.0.0/16, or --network ib0; or `address` in a file, and `--on hosts:FILE`."
            raise HostProblem(what, host=name, hint=hint)
        return next(iter(possible.values()))

    def _quarters(self, cluster: str, name: str, found: Identity) -> Quarters:
        own = f"{self._listed[name].scratch.rstrip('/')}/howdah-{found.user}"
        # Hosts may have one scratch directory together, with one store.
        listed, below = self._listed[name], f"howdah-{found.user}/{cluster}-{name}"
        root = f"{listed.scratch.rstrip('/')}/{below}"
        disks = tuple(f"{disk.rstrip('/')}/{below}" for disk in listed.disks)
        places = (root, f"{root}/conf", f"{root}/logs", f"{own}/store")
        return Quarters(name, *places, disks, listed.java, found.name)

    def _first_port(self, addresses: Mapping[str, str], needed: int) -> int:
        """Return the first port of a block that is free on every host. Raises HostProblem."""
        for first in range(FIRST_PORT, LAST_PORT - needed, STEP):
            if self._reservation.take(first):
                ports = [*range(first, first + needed), first + COPYING, first + PROBED]
                free = over(self._hosts, lambda host: operations.free_ports(host, addresses[host.name], ports))  # noqa: B023
                if all(found == ports for found in free.values()):
                    return first
        raise HostProblem(f"no block of {needed} ports between {FIRST_PORT} and {LAST_PORT} is free on every host")

    def _check_reach(self, addresses: Mapping[str, str], port: int) -> None:
        """Raise HostProblem unless every host, and this machine, reaches every host."""
        over(self._hosts, lambda host: operations.listen(host, addresses[host.name], port, seconds=_LISTEN_SECONDS))
        targets = [(address, port) for address in addresses.values()]

        def missed(host: Host) -> Missed:
            return operations.unreachable(host, targets, timeout=_REACH_SECONDS)

        found = {"this machine": self._from_here(targets), **over(self._hosts, missed)}
        names = {address: name for name, address in addresses.items()}
        lines = [
            f"{source} does not reach {names[address]} at {address}:{at} ({why})"
            for source, failed in found.items()
            for address, at, why in failed
        ]
        if lines:
            hint = f"Is there a firewall? Daemons use ports {FIRST_PORT} to {LAST_PORT} on every host."
            raise HostProblem("\n".join(lines), hint=hint)


def _from_here(targets: Sequence[Target]) -> Missed:
    with this_host() as here:
        return operations.unreachable(here, targets, timeout=_REACH_SECONDS)


def _words(addresses: Mapping[str, str]) -> str:
    return ", ".join(f"{address} ({interface})" for interface, address in addresses.items()) or "none"


def _refuse_twins(found: Mapping[str, Identity]) -> None:
    """Raise UsageError if two names are one host."""
    seen: dict[tuple[str, str], str] = {}
    for name, one in found.items():
        other = seen.setdefault((one.boot, one.network), name)
        if other != name:
            raise UsageError(
                f"{other} and {name} are one host, which calls itself {one.name}", hint="Name each host once."
            )


def hosts(argument: str | None, links: Links) -> ListedAllocation:
    """Return the hosts of `--on hosts:ARGUMENT`. Raises UsageError."""
    if not argument:
        raise UsageError("--on hosts: names none", hint="Write --on hosts:node1,node2, or --on hosts:FILE.")
    listed = read_hosts(argument)
    if links.network is not None:
        check_network(links.network)
        listed = tuple(replace(host, network=links.network) for host in listed)
    described = {"kind": "hosts", "listed": [host.to_json() for host in listed], "silence": links.silence}
    return ListedAllocation(listed, described, open_described(described))


def open_described(described: Mapping[str, Any]) -> Open:
    """Return a function that opens a channel to a host by its name, from the description of its allocation."""
    listed = {one["name"]: ListedHost(**one) for one in described["listed"]}

    def open_listed(name: str) -> Channel:
        one = listed[name]
        target = one.name if one.user is None else f"{one.user}@{one.name}"
        return Channel(one.name, SshLauncher(target, one.port, one.python), silence=described["silence"])

    return open_listed
