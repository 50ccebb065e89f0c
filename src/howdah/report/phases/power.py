"""The power of a run's hosts over time, from the meters of its energy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from howdah.report.phases.series import Counter
from howdah.store import StoredRun

DOMAINS = ("node", "pdu", "rack", "psu", "package")
"""Domains of energy, the preferred ones first."""


def total_of(stretch: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the preferred sum: that of the most hosts, then that of the first domain in `DOMAINS`."""
    totals: Sequence[Mapping[str, Any]] = stretch["totals"]
    return min(totals, key=lambda one: (-len(one["hosts"]), DOMAINS.index(one["domain"])), default=None)


def power_of(run: StoredRun) -> tuple[str, tuple[Counter, ...]]:
    """Return the name of the run's power, and joules over time of every meter in its energy, by the clock of the hosts.

    Both are empty if nothing was measured.
    """
    energy = run.energy()
    whole = None if energy is None else next((one for one in energy["stretches"] if one["phase"] is None), None)
    total = None if whole is None else total_of(whole)
    if energy is None or total is None:
        return "", ()
    name = "hosts" if total["domain"] == "node" else str(total["domain"])
    words = f"{name}, simulated" if total["quality"] == "simulated" else name
    return words, tuple(_counters(run, energy, total))


def _counters(run: StoredRun, energy: Mapping[str, Any], total: Mapping[str, Any]) -> Iterator[Counter]:
    ahead = {one["name"]: (one["ahead"] or {}).get("seconds", 0.0) for one in energy["meters"]}
    for _, lines in run.series():
        meter = lines[0].get("meter") if lines else None
        if meter is not None and meter["name"] in total["meters"]:
            yield _counter(lines, meter["reading"], ahead[meter["name"]])


def _counter(lines: Sequence[Mapping[str, Any]], reading: str, ahead: float) -> Counter:
    column = "joules" if reading == "counter" else "watts"
    points = [(one["utc"] - ahead, one[column]) for one in lines[1:] if column in one]
    interval = float(lines[0]["interval_seconds"])
    if reading == "counter":
        return Counter(tuple(time for time, _ in points), tuple(value for _, value in points), interval)
    total, totals = 0.0, [0.0]
    for (before, first), (time, second) in itertools.pairwise(points):
        total += (time - before) * (second if reading == "mean" else (first + second) / 2)
        totals.append(total)
    return Counter(tuple(time for time, _ in points), tuple(totals[: len(points)]), interval)
