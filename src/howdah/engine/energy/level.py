"""The level of the EE HPC WG's power measurement methodology (the Green500's) that a run reaches, and what limits it.

Version 3.0 of the methodology, aspects 1a (sampling), 1b (time), 1c (readings and idle power), 2 (part measured), 3
(subsystems), 4 (place) and 4b (accuracy).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from howdah.engine.energy.readings import Metered

_MINUTE = 60.0
_ENOUGH = 10


def level_of(
    meters: Sequence[Metered],
    whole: Mapping[str, Any] | None,
    hosts: Sequence[str],
    *,
    idle: bool,
    others: float | None,
) -> dict[str, Any]:
    """Return `level`, 0 to 3, and `limit`: the first aspect, in words, that keeps the run from the next level."""
    best = None if whole is None else _widest(whole["totals"])
    if whole is None or best is None:
        return {"level": 0, "limit": "nothing was measured"}
    used = [one for one in meters if one.meter.name in best["meters"] and one.readings is not None]
    counters = all(one.meter.reading == "counter" for one in used)
    sampled = counters or max(one.readings.interval for one in used if one.readings) <= 1.05
    known = [one.meter.accuracy for one in used]
    accuracy = None if any(one is None for one in known) else max(one or 0.0 for one in known)
    feeds_all = best["domain"] in ("pdu", "rack")
    aspects = (
        (1, "simulated readings measure nothing", best["quality"] != "simulated"),
        (1, "1a: a reading a second, at least", sampled),
        (1, "1b: a minute, at least", whole["end"] - whole["start"] >= _MINUTE),
        (1, f"2: {len(best['hosts'])} of {len(hosts)} hosts were measured", set(best["hosts"]) == set(hosts)),
        (1, "3: the network is neither measured nor estimated (`others`)", feeds_all or others is not None),
        (1, "4: measured behind the conversion of power", best["side"] == "ac"),
        (1, "4b: the accuracy of the meter is not known", accuracy is not None),
        (1, "4b: a meter of 5 %, at least", (accuracy or 0.0) <= 0.05),
        (2, "1c: idle power was not measured", idle),
        (2, f"1c: {_ENOUGH} readings, at least", best["readings"] >= _ENOUGH),
        (2, "4b: a meter of 2 %, at least", (accuracy or 0.0) <= 0.02),
        (3, "1a: energy that the meter itself integrates", counters),
        (3, "3: everything measured, nothing estimated", feeds_all),
        (3, "4b: a meter of 1 %, at least", (accuracy or 0.0) <= 0.01),
    )
    for level, words, reached in aspects:
        if not reached:
            return {"level": level - 1, "limit": words}
    return {"level": 3, "limit": None}


def _widest(totals: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the total with the most hosts. Among equals, hosts and what feeds them come first: chips are only a part
    of what draws power."""
    order = ("rack", "pdu", "node", "psu", "package")
    return min(totals, key=lambda one: (-len(one["hosts"]), order.index(one["domain"])), default=None)
