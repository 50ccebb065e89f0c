"""What repeated measurements say: one group of runs, and two groups against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["faster", "slower", "different", "no difference shown", "not enough data", "not comparable"]
"""`faster` and `slower` follow the metric's better direction; `different` is for metrics that have none. What is `not
comparable` differs in something else than what was varied."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Summary:
    """`n` values of one metric, one per run, in the metric's unit.

    `geometric_mean` is None where a value is not positive; `interval` (of the geometric mean) also where there are too
    few values, and `cv` (sample standard deviation ÷ mean) where there is one alone.
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
    """Contender against baseline. `ratio` is the contender's geometric mean ÷ the baseline's. `level` is the chance of
    a false alarm that the verdict allows: 5 %, or a part of it for one of several contenders.

    `p` is of the exact rank test, `smallest_p` the smallest that these numbers of runs could reach. The rest is None
    where a group has one run, so that the spread is unknown: `interval` of the ratio; `detectable`, the smallest
    ratio above 1 that these runs could have shown; `runs_for_observed` and `runs_for_five_percent`, the runs per side
    that would show a difference of the observed size, or of 5 %, four times out of five. Those two are also None
    where that takes more runs than anybody makes (`howdah.stats.power.MOST_RUNS`).
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
