"""The energy of all hosts of a run in a stretch of time, by domain: chips, hosts, distribution units."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from howdah.engine.energy.readings import Metered
from howdah.model.meter import Domain, Side
from howdah.model.sample import Quality
from howdah.stats.energy import ENOUGH, Energy, energy, expanded

DOMAINS: tuple[Domain, ...] = ("package", "psu", "node", "pdu", "rack")
"""The domains that a sum may have; memory counts with the packages."""


@dataclass(frozen=True, slots=True)
class EnergyPart:
    """The energy of one meter, and its highest power in watts."""

    metered: Metered
    energy: Energy
    peak: float


@dataclass(frozen=True, slots=True)
class Supply:
    """The energy that some hosts got: by one meter, or by one meter on each of their feeds."""

    parts: tuple[EnergyPart, ...]

    @property
    def name(self) -> str:
        return " and ".join(part.metered.meter.name for part in self.parts)

    @property
    def hosts(self) -> tuple[str, ...]:
        return self.parts[0].metered.meter.covers

    @property
    def joules(self) -> float:
        return sum(part.energy.joules for part in self.parts)

    @property
    def half_width(self) -> float:
        return math.hypot(*(part.energy.half_width for part in self.parts))

    @property
    def simulated(self) -> bool:
        return any(part.metered.meter.quality == "simulated" for part in self.parts)


@dataclass(frozen=True, slots=True)
class Total:
    """The energy of those hosts that are covered. `budget` has standard uncertainties in joules; `half_width` is that
    of a 95 % interval."""

    domain: Domain
    side: Side
    hosts: tuple[str, ...]
    parts: tuple[EnergyPart, ...]
    joules: float
    half_width: float
    budget: Mapping[str, float]
    peak_watts: float
    quality: Quality

    @property
    def readings(self) -> int:
        """The readings of the meter that has the fewest."""
        return min(part.energy.readings for part in self.parts)


def parts_of(
    meters: Sequence[Metered], start: float, end: float, enough: int = ENOUGH
) -> tuple[list[EnergyPart], dict[str, str]]:
    """Return the energy between two moments of every meter with `enough` readings. Also return, by name, why other
    meters have none. Meters of feeds are returned only if all feeds of their hosts have an energy."""
    parts, missing = list[EnergyPart](), dict[str, str]()
    for one in meters:
        if one.readings is None:
            missing[one.meter.name] = one.problem or "no readings"
            continue
        found = energy(one.readings, start, end, enough=enough)
        if isinstance(found, str):
            missing[one.meter.name] = found
        else:
            parts.append(EnergyPart(one, found, float(_power(one, _grid(one, start, end)).max())))
    fed = list[EnergyPart]()
    for supply in supplies(parts):
        _, feeds = supply.parts[0].metered.meter.feed or (1, 1)
        if len(supply.parts) == feeds:
            fed += supply.parts
        else:
            words = f"of {feeds} feeds, {len(supply.parts)} {'has' if len(supply.parts) == 1 else 'have'} an energy"
            missing |= dict.fromkeys((part.metered.meter.name for part in supply.parts), words)
    return fed, missing


def supplies(parts: Sequence[EnergyPart]) -> list[Supply]:
    """Return the supplies of all hosts: meters of several feeds of the same hosts together, others alone."""
    groups: dict[object, list[EnergyPart]] = {}
    for part in parts:
        meter = part.metered.meter
        key = meter.name if meter.feed is None else (meter.domain, tuple(sorted(meter.covers)))
        groups.setdefault(key, []).append(part)
    return [Supply(tuple(group)) for group in groups.values()]


def totals(parts: Sequence[EnergyPart], start: float, end: float) -> list[Total]:
    """Return the sums of `parts`, which are of one stretch. If several meters measure the same hosts, the surest meter
    counts."""
    found = []
    for domain in DOMAINS:
        own = [part for part in parts if _domain(part) == domain]
        chosen = own if domain in ("package", "psu") else [part for one in _surest(own) for part in one.parts]
        if chosen:
            found.append(_total(domain, chosen, start, end))
    return found


def _domain(part: EnergyPart) -> Domain:
    domain = part.metered.meter.domain
    return "package" if domain == "dram" else domain


def _surest(parts: Sequence[EnergyPart]) -> list[Supply]:
    """Return supplies that count no host twice, the surest first. Simulated ones come last."""
    chosen, covered = list[Supply](), set[str]()
    for one in sorted(supplies(parts), key=lambda one: (one.simulated, one.half_width)):
        if covered.isdisjoint(one.hosts):
            chosen.append(one)
            covered.update(one.hosts)
    return chosen


def _total(domain: Domain, parts: Sequence[EnergyPart], start: float, end: float) -> Total:
    hosts = sorted({host for part in parts for host in part.metered.meter.covers})
    names = {name for part in parts for name in part.energy.budget}
    # Errors of different meters are taken for independent, of one kind, too (EE HPC WG methodology: ÷ √N).
    budget = {name: math.hypot(*(part.energy.budget.get(name, 0.0) for part in parts)) for name in sorted(names)}
    width = parts[0].energy.half_width if len(parts) == 1 else expanded(0.0, math.hypot(*budget.values()))
    grid = np.arange(start, end, 1.0)
    together = sum((_power(part.metered, grid) for part in parts), np.zeros(grid.size))
    qualities = {part.metered.meter.quality for part in parts}
    sides = [part.metered.meter.side for part in parts]
    return Total(
        domain,
        max(set(sides), key=sides.count),
        tuple(hosts),
        tuple(parts),
        sum(part.energy.joules for part in parts),
        width,
        budget,
        max(part.peak for part in parts) if len(parts) == 1 else float(together.max()),
        qualities.pop() if len(qualities) == 1 else "estimated" if "estimated" in qualities else "simulated",
    )


def _grid(one: Metered, start: float, end: float) -> np.ndarray:
    assert one.readings is not None
    times = one.readings.times
    inside = times[(times > start) & (times <= end)]
    return inside if inside.size else np.array([end])


def _power(one: Metered, moments: np.ndarray) -> np.ndarray:
    """Return the watts at moments within the readings."""
    readings = one.readings
    assert readings is not None
    if readings.kind == "instant":
        return np.asarray(np.interp(moments, readings.times, readings.values), dtype=float)
    means = readings.means
    at = np.clip(np.searchsorted(readings.times, moments, "left") - 1, 0, means.size - 1)
    return np.asarray(means[at], dtype=float)
