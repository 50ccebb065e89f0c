"""Contradictions between the meters of a run: a part that takes more than the whole, a meter that is wrong."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence

from howdah.engine.energy.totals import EnergyPart, Supply, Total, supplies

_APART = 0.05
"""The relative difference above which a meter disagrees, provided that the known errors do not explain the
difference."""


def contradictions(parts: Sequence[EnergyPart], totals: Sequence[Total]) -> Iterator[str]:
    """Yield a sentence for each contradiction. `parts` and `totals` are of one stretch."""
    yield from _parts_beyond_wholes(totals)
    groups: dict[tuple[str, ...], list[Supply]] = {}
    for supply in supplies(parts):
        if supply.parts[0].metered.meter.domain in ("node", "pdu", "rack") and not supply.simulated:
            groups.setdefault(tuple(sorted(supply.hosts)), []).append(supply)
    for hosts, same in groups.items():
        yield from _disagreeing(", ".join(hosts), same)


def _parts_beyond_wholes(totals: Sequence[Total]) -> Iterator[str]:
    """Yield a sentence for each part that has more energy than its whole. A package takes no more than its host, a host
    no more than what feeds it."""
    order = {"package": 0, "node": 1, "pdu": 2, "rack": 3}
    known = sorted((one for one in totals if one.domain in order), key=lambda one: order[one.domain])
    for at, inner in enumerate(known):
        for outer in known[at + 1 :]:
            margin = math.hypot(inner.half_width, outer.half_width)
            if inner.hosts == outer.hosts and inner.joules > outer.joules + margin:
                yield (
                    f"{inner.domain} has more than {outer.domain}, of which it is a part: "
                    f"{inner.joules:.4g} J and {outer.joules:.4g} J"
                )


def _disagreeing(hosts: str, same: Sequence[Supply]) -> Iterator[str]:
    """Yield a sentence about meters of the same hosts that disagree. Two meters are both named; among three or more,
    each meter is named that the others do not support."""
    if len(same) < 2:
        return
    middle = statistics.median(one.joules for one in same)
    if len(same) == 2:
        first, second = same
        if _differ(first, second.joules, second.half_width):
            names = f"{first.name} and {second.name}"
            yield f"{names} disagree about {hosts}: {first.joules:.4g} J and {second.joules:.4g} J"
        return
    nearest = min(same, key=lambda one: abs(one.joules - middle))
    for one in same:
        if one is not nearest and _differ(one, middle, nearest.half_width):
            yield (
                f"{one.name} is {one.joules / middle - 1:+.1%} off the median of {len(same)} meters of {hosts}, "
                f"more than their errors"
            )


def _differ(one: Supply, joules: float, half_width: float) -> bool:
    gap = abs(one.joules - joules)
    return gap > _APART * joules and gap > math.hypot(one.half_width, half_width)
