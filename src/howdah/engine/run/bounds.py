"""What machines, and the cards and disks of simulated hosts, reached in this session: the bounds of every use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.evidence import metrics
from howdah.host import Host, operations
from howdah.host.over import over
from howdah.model.sample import DISKS, MACHINE, Moment, Sample

_PHASE = "calibration"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What each machine reached in a short calibration of this session, by its name; empty when not made."""

    machines: Mapping[str, Mapping[str, Any]]

    def samples(self, cluster: LiveCluster, moment: Moment) -> list[Sample]:
        """The samples of a run that began at `moment`: those of machines, and what simulated hosts were found to have
        when they started."""
        found = [
            (host, role, bounds)
            for host, measured in self.machines.items()
            for role, bounds in ((MACHINE, _of_machine(cluster, measured)), *_of_disks(measured["places"]))
        ]
        here = cluster.client.name
        found += [(here, card, {metrics.BOUND_NETWORK.name: rate}) for card, rate in cluster.card_rates.items()]
        reading, writing = metrics.BOUND_DISK_READ.name, metrics.BOUND_DISK_WRITE.name
        found += [(here, disk, {reading: read, writing: write}) for disk, (read, write) in cluster.disk_rates.items()]
        return [
            Sample(metric.name, bounds[metric.name], metric.unit, "measured", _PHASE, host, role, _PHASE, moment)
            for host, role, bounds in found
            for metric in metrics.BOUNDS
            if bounds.get(metric.name) is not None
        ]


def calibrate(cluster: LiveCluster) -> Bounds:
    """Measures processors, loopback and the disks that hold data of jobs on every machine: some three seconds, and one
    more for every disk after the first."""

    def measure(host: Host) -> Mapping[str, Any]:
        return operations.calibrate(host, cluster.data_directories(host.name), only_disks=True)

    return Bounds(over(cluster.machines, measure))


def _of_machine(cluster: LiveCluster, measured: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was measured of a machine, of whose processors simulated hosts may have a part."""
    name, cores = metrics.BOUND_CPU.name, cluster.cores
    return measured if cores is None or name not in measured else {**measured, name: min(cores, measured[name])}


def _of_disks(places: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What was measured of disks, and of which: of all together where that is not known."""
    for place in places:
        yield DISKS.join(place["disks"] or [MACHINE]), place
