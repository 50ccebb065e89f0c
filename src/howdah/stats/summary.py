"""The summary of one group of values: centre, spread and the uncertainty of the centre."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Sequence

from howdah.model.comparison import Interval, Summary

CONFIDENCE = 0.95

FEWEST = 4
"""The least values that have an interval. With two or three values, t(0.975) is 12.7 or 4.3. The interval would be many
times as wide as the range of the values, and tell the reader nothing."""


def summarise(values: Sequence[float]) -> Summary:
    """Return the summary of `values`, one per run.

    The interval, of `FEWEST` values or more, is Student's t on the logarithms, exp(mean ± t(0.975, n−1)·s/√n). Times
    are skewed to the right, and their ratios are compared, not their differences.

    Raises:
        ValueError: no values.
    """
    if not values:
        raise ValueError("no values to summarise")
    n = len(values)
    positive = min(values) > 0
    mean = statistics.fmean(values)
    return Summary(
        n=n,
        median=statistics.median(values),
        minimum=min(values),
        maximum=max(values),
        geometric_mean=_geometric_mean(values) if positive else None,
        interval=_interval(values) if positive and n >= FEWEST else None,
        cv=statistics.stdev(values) / mean if n > 1 and mean > 0 else None,
    )


def pooled_spread(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the pooled standard deviation within groups; None if no group has two values."""
    groups = [group for group in groups if len(group) > 1]
    if not groups:
        return None
    squares = sum(statistics.variance(group) * (len(group) - 1) for group in groups)
    return math.sqrt(squares / sum(len(group) - 1 for group in groups))


def _geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, exact if all values are equal: logarithms would give 17.999… for 18."""
    return float(values[0]) if min(values) == max(values) else statistics.geometric_mean(values)


@functools.lru_cache(maxsize=4096)
def t_quantile(probability: float, freedom: float) -> float:
    """Return Student's t: the value that a t variable with `freedom` degrees of freedom stays below with
    `probability`."""
    from scipy.special import stdtrit  # late: the import takes a good part of a second

    return float(stdtrit(freedom, probability))


def _interval(values: Sequence[float]) -> Interval:
    logs = [math.log(value) for value in values]
    centre = statistics.fmean(logs)
    half = t_quantile(0.5 + CONFIDENCE / 2, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return Interval(math.exp(centre - half), math.exp(centre + half))
