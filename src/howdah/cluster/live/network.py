"""Network rates between the hosts of a cluster: every pair of a few hosts, a ring of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from howdah.errors import HostProblem
from howdah.host import Host, operations
from howdah.host.over import over

MOST_PAIRED = 8
"""Up to this many hosts, every pair is measured; with more, each host with the next one."""

SLOW = 0.5
"""A way is slow if its rate is below this part of the usual one."""

_SECONDS = 0.9
_AHEAD_BYTES = 4 << 20

Way = tuple[str, str]
"""Direction from one host to another."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Bytes per second of one TCP stream, by way, while the other hosts are busy with each other."""

    rates: Mapping[Way, float]

    def of(self, host: str) -> float | None:
        """Return the highest rate out of `host` or into it; None if unknown."""
        return max((rate for way, rate in self.rates.items() if host in way), default=None)

    @property
    def usual(self) -> float:
        """The median over hosts of the highest rate of each: one slow host slows most ways of a few, and all are its
        ways. 0 if nothing was measured."""
        best = [self.of(host) or 0.0 for host in {host for way in self.rates for host in way}]
        return median(best) if best else 0.0

    def slow(self) -> dict[Way, float]:
        """Return the ways that are much slower than usual, slowest first."""
        found = {way: rate for way, rate in self.rates.items() if rate < SLOW * self.usual}
        return dict(sorted(found.items(), key=lambda item: item[1]))

    def slow_hosts(self) -> dict[str, float]:
        """Return the hosts of which every way is slow, with their highest rate, slowest first."""
        found = {host: self.of(host) or 0.0 for way in self.slow() for host in way}
        slow = {host: rate for host, rate in found.items() if rate < SLOW * self.usual}
        return dict(sorted(slow.items(), key=lambda item: item[1]))


NO_WAYS = Ways({})


def measure_ways(hosts: Mapping[str, Host], addresses: Mapping[str, str], ports: Mapping[str, Sequence[int]]) -> Ways:
    """Measure the rates, for a second in each round of `rounds`. `ports` are ports that daemons leave free, by host.

    Raises HostProblem if a host has no free port, or does not reach another host.
    """
    names = {name: name for name in hosts}
    free = over(names, lambda name: operations.free_ports(hosts[name], addresses[name], ports[name]))
    if full := [name for name, found in free.items() if not found]:
        raise HostProblem(f"no port is free between {ports[full[0]][0]} and {ports[full[0]][-1]}", host=full[0])

    def take(name: str) -> None:
        operations.swallow(hosts[name], addresses[name], free[name][0], seconds=_SECONDS + 10)

    def send(way: Way) -> float:
        source, target = way
        port = free[target][0]
        return operations.payload_rate(hosts[source], addresses[target], port, seconds=_SECONDS, ahead=_AHEAD_BYTES) / 8

    rates: dict[Way, float] = {}
    for ways in rounds(list(hosts)):
        over({target: target for _, target in ways}, take)
        found = over({source: (source, target) for source, target in ways}, send)
        rates |= {way: found[way[0]] for way in ways}
    return Ways(rates)


def rounds(names: Sequence[str]) -> Iterator[list[Way]]:
    """Yield the ways to measure at once. In each round a host sends to at most one other host, and receives from one.
    With a few hosts, these are all ways between them; with many, the ways to the next host and back."""
    count = len(names)
    if count < 2:
        return
    steps = range(1, count) if count <= MOST_PAIRED else (1, count - 1)
    for step in steps:
        yield [(name, names[(place + step) % count]) for place, name in enumerate(names)]
