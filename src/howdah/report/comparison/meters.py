"""The meters behind two sides of a comparison of energy: an error that they do not share is one of the ratio."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from howdah.report.document.results import Measure
from howdah.report.document.wording import listing, percent
from howdah.store import StoredRun


@dataclass(frozen=True, slots=True)
class Gauged:
    """The meters of one side, and the largest standard uncertainty of an energy by their accuracy, as a share; None if
    the accuracy of one is not known."""

    meters: frozenset[str]
    error: float | None


def meters_apart(
    baseline: Sequence[StoredRun], contender: Sequence[StoredRun], measure: Measure
) -> tuple[float, str | None]:
    """Return the standard uncertainty of the logarithm of a ratio of energies by different meters, and a sentence about
    them. With the same meters on both sides, their error is the same in both: 0 and None, as for other metrics."""
    left, right = _gauged(baseline, measure), _gauged(contender, measure)
    if left is None or right is None or left.meters == right.meters:
        return 0.0, None
    words = f"Different meters measured the two: {listing(sorted(left.meters))}; {listing(sorted(right.meters))}."
    if left.error is None or right.error is None:
        return 0.0, f"{words} The accuracy of some is not known, and not in the interval."
    error = math.hypot(left.error, right.error)
    return error, f"{words} The interval has their errors, too: {percent(error)} of the ratio (standard uncertainty)."


def _gauged(runs: Sequence[StoredRun], measure: Measure) -> Gauged | None:
    """Return the meters of a measure's energy in these runs; None if it is no energy, or not measured."""
    totals = [total for run in runs for total in _totals(run, measure)]
    if not totals:
        return None
    shares = [total["budget"]["meter"] / total["joules"] if "meter" in total["budget"] else None for total in totals]
    known = [share for share in shares if share is not None]
    meters = frozenset(name for total in totals for name in total["meters"])
    return Gauged(meters, max(known) if len(known) == len(shares) else None)


def _totals(run: StoredRun, measure: Measure) -> Iterator[Mapping[str, Any]]:
    """Yield the sums of a run's energy from which the measure's samples come."""
    for stretch in (run.energy() or {}).get("stretches", []):
        if (stretch["phase"] or "") == measure.phase:
            yield from (total for total in stretch["totals"] if total["domain"] == measure.role)
