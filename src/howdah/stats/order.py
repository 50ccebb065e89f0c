"""The effect of the order of the runs: a trend over the whole experiment, and runs that lie far out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

from howdah.model.comparison import Interval
from howdah.model.experiment import Trend
from howdah.stats.blocks import two_sided_p
from howdah.stats.summary import CONFIDENCE, t_quantile

_FAR = 3.5
"""The modified z-score of an outlier: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993)."""

_SIGMA = 0.6745
"""The median absolute deviation of a normal variable with standard deviation 1."""


def relative(arms: Sequence[int], values: Sequence[float]) -> list[float]:
    """Return every value, one per run, ÷ the geometric mean of its arm."""
    means = {
        arm: statistics.geometric_mean([value for own, value in zip(arms, values, strict=True) if own == arm])
        for arm in set(arms)
    }
    return [value / means[arm] for arm, value in zip(arms, values, strict=True)]


def trend(arms: Sequence[int], values: Sequence[float]) -> Trend | None:
    """Return how much the last run differs from the first by the order alone; None if too few runs can tell.

    The model is log(value) = arm + slope · place + noise, by least squares, arm means taken off first. It leaves blocks
    out: they would hide the trend. `values` are positive, in the order of the runs.
    """
    freedom = len(values) - len(set(arms)) - 1
    if freedom < 1:
        return None
    table = np.column_stack([np.log(values), np.arange(len(values), dtype=float)])
    for arm in set(arms):
        own = np.array(arms) == arm
        table[own] -= table[own].mean(axis=0)
    logs, places = table[:, 0], table[:, 1]
    squares = float(places @ places)
    if squares == 0:
        return None
    slope = float(places @ logs) / squares
    residual = logs - slope * places
    error = math.sqrt(float(residual @ residual) / freedom / squares)
    whole = len(values) - 1
    half = t_quantile(0.5 + CONFIDENCE / 2, freedom) * error * whole
    log = slope * whole
    return Trend(
        math.exp(log), Interval(math.exp(log - half), math.exp(log + half)), two_sided_p(slope, error, freedom)
    )


def outlying(relatives: Sequence[float]) -> list[bool]:
    """Return which of the values ÷ their arms' means lie far from the others, on a logarithmic scale."""
    logs = [math.log(value) for value in relatives]
    if not logs:
        return []
    centre = statistics.median(logs)
    deviation = statistics.median(abs(log - centre) for log in logs)
    return [deviation > 0 and _SIGMA * abs(log - centre) / deviation > _FAR for log in logs]
