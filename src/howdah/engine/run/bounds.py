"""Bounds: the rates that machines, and the cards and disks of simulated hosts, reached in this session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.live.network import NO_WAYS, SLOW, Ways
from howdah.engine.evidence import metrics
from howdah.errors import HostProblem
from howdah.host import Host, operations
from howdah.host.over import over
from howdah.model.quantity import format_bytes
from howdah.model.sample import DISKS, MACHINE, Moment, Sample

_PHASE = "calibration"
_SHOWN = 3
_LEAST = 3
"""Hosts from which on one of them can be unusual: with two, it may be either."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The rates that each machine reached in a short calibration of this session, by its name. `ways` are the rates of
    the network between machines, and `problem` is why there are none. Empty without a calibration."""

    machines: Mapping[str, Mapping[str, Any]]
    ways: Ways = NO_WAYS
    problem: str | None = None

    def caveats(self) -> list[str]:
        """Return sentences that a reader must know: disks of machines, and ways between machines, that are much slower
        than others."""
        if self.problem is not None:
            return [*self._slow_disks(), f"what the network brings is not known: {self.problem}"]
        hosts, ways = self.ways.slow_hosts(), self.ways.slow()
        usual = f"; the median here is {_rate(self.ways.usual)}"
        whole = [f"{host} {_rate(rate)}" for host, rate in hosts.items()]
        single = [
            f"{source} to {target} {_rate(rate)}"
            for (source, target), rate in ways.items()
            if source not in hosts and target not in hosts
        ]
        return [
            *self._slow_disks(),
            *([f"the network of some hosts is slow: {_first(whole)}{usual}"] if whole else []),
            *([f"the network is slow: {_first(single)}{usual}"] if single else []),
        ]

    def _slow_disks(self) -> Iterator[str]:
        for done, metric in (("read", metrics.BOUND_DISK_READ), ("written", metrics.BOUND_DISK_WRITE)):
            rates = {
                host: min(found)
                for host, measured in self.machines.items()
                if (found := [place[metric.name] for place in measured["places"] if place.get(metric.name)])
            }
            if len(rates) < _LEAST:
                continue
            usual = median(rates.values())
            slow = sorted((rate, host) for host, rate in rates.items() if rate < SLOW * usual)
            if slow:
                named = _first([f"{host} {_rate(rate)}" for rate, host in slow])
                yield f"a disk of some hosts is slow when it is {done}: {named}; the median here is {_rate(usual)}"

    def samples(self, cluster: LiveCluster, moment: Moment) -> list[Sample]:
        """Return the samples of a run that began at `moment`. They are the bounds of machines, and the resources that
        simulated hosts were found to have when they started."""
        found = [
            (host, role, bounds)
            for host, measured in self.machines.items()
            for role, bounds in (
                (MACHINE, {**measured, metrics.BOUND_NETWORK.name: self.ways.of(host)}),
                *_of_disks(measured["places"]),
            )
        ]
        here, parts = cluster.client.name, cluster.parts
        found += [(here, card, {metrics.BOUND_NETWORK.name: rate}) for card, rate in parts.card_rates.items()]
        reading, writing = metrics.BOUND_DISK_READ.name, metrics.BOUND_DISK_WRITE.name
        found += [(here, disk, {reading: read, writing: write}) for disk, (read, write) in parts.disk_rates.items()]
        way, share = metrics.NETWORK_WAY, metrics.BOUND_CPU
        return [
            *(
                Sample(share.name, cores, share.unit, "derived", "its control group", here, host, _PHASE, moment)
                for host, cores in parts.cores.items()
            ),
            *(
                Sample(metric.name, bounds[metric.name], metric.unit, "measured", _PHASE, host, role, _PHASE, moment)
                for host, role, bounds in found
                for metric in metrics.BOUNDS
                if bounds.get(metric.name) is not None
            ),
            *(
                Sample(way.name, rate, way.unit, "measured", _PHASE, source, f"to {target}", _PHASE, moment)
                for (source, target), rate in self.ways.rates.items()
            ),
        ]


def _rate(rate: float) -> str:
    return f"{format_bytes(round(rate))}/s"


def _first(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{', '.join(texts[:_SHOWN])}{more}"


def calibrate(cluster: LiveCluster) -> Bounds:
    """Measure processors, loopback and the disks with data of jobs on every machine, and the network between machines.

    Takes some three seconds, and one more for every disk after the first. The network adds a second for every machine
    after the first, at most seven.
    """

    def measure(host: Host) -> Mapping[str, Any]:
        return operations.calibrate(host, cluster.data_directories(host.name), only_disks=True)

    machines = over(cluster.machines, measure)
    try:
        return Bounds(machines, cluster.measure_network())
    except HostProblem as problem:
        return Bounds(machines, problem=problem.message)


def _of_disks(places: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (disk names, bounds) per calibrated place; the role is `machine` if the disks are unknown."""
    for place in places:
        yield DISKS.join(place["disks"] or [MACHINE]), place
