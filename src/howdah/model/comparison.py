"""The results of repeated measurements: one group of runs, and two groups against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["faster", "slower", "different", "no difference shown", "not enough data", "not comparable"]
"""`faster` and `slower` follow the metric's better direction; `different` is for metrics without a direction.

Runs are `not comparable` if they differ in more than the varied setting.
"""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Summary:
    """`n` values of one metric, one per run, in the metric's unit.

    `geometric_mean` is None if a value is not positive. `interval` (of the geometric mean) is also None if there are
    too few values. `cv` (sample standard deviation ÷ mean) is None for a single value.
    """

    n: int
    median: float
    minimum: float
    maximum: float
    geometric_mean: float | None
    interval: Interval | None
    cv: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Contender against baseline. `ratio` is the contender's geometric mean ÷ the baseline's.

    `level` is the chance of a false alarm that the verdict allows: 5 %, or a part of it for one of several contenders.
    `p` is of the exact rank test. `smallest_p` is the smallest p that these numbers of runs could reach.

    The other fields are None if a group has one run, because the spread is unknown. `interval` is that of the ratio.
    `detectable` is the smallest ratio above 1 that these runs could have shown. `runs_for_observed` and
    `runs_for_five_percent` are the runs per side that would show a difference, four times out of five. The first is for
    the observed difference, the second for one of 5 %. Both are also None above `howdah.stats.power.MOST_RUNS` runs.
    """

    baseline: Summary
    contender: Summary
    ratio: float
    interval: Interval | None
    p: float
    smallest_p: float
    level: float
    verdict: Verdict
    detectable: float | None
    fewest_runs: int
    runs_for_observed: int | None
    runs_for_five_percent: int | None
