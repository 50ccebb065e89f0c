"""The runs that a comparison needs, and the smallest difference that it could have shown."""

from __future__ import annotations

import math

from howdah.stats.summary import CONFIDENCE, t_quantile

POWER = 0.8
LEVEL = 1 - CONFIDENCE
MOST_RUNS = 1000

_BOTH_TESTS, _FEW_RUNS = 1.035, 9.5
"""Factors of the detectable difference. One is for the agreement of the interval and the exact rank test, the other for
the rank test's coarseness with few runs. Both are fitted to simulations of the whole rule on normal data with 4 to 20
runs per side. tests/unit/stats/test_power.py repeats these simulations.
"""


def smallest_p(first: int, second: int) -> float:
    """Return the two-sided p of the exact rank test if `first` and `second` runs are perfectly separated: 2 / C(n+m,
    n)."""
    return min(1.0, 2 / math.comb(first + second, first))


def fewest_runs(level: float = LEVEL) -> int:
    """Return the least number of runs per side with which the exact rank test can show anything at all at this
    level."""
    return next(n for n in range(1, MOST_RUNS) if smallest_p(n, n) < level)


def detectable_log_ratio(spread: float, first: int, second: int, level: float = LEVEL) -> float:
    """Return the smallest |ln ratio| that `first` against `second` runs show with a power of 0.8.

    The formula is `(t(1 − level/2, f) + t(0.8, f)) · spread · √((1/n + 1/m) · π/3) · (1.035 + 9.5/h³)`, with f = n + m
    − 2 and h the harmonic mean of n and m. `spread` is the standard deviation of the logarithms within a group.

    The first part is Bloom's minimum detectable effect (Evaluation Review 19:547, 1995). The price of the rank test on
    normal data is π/3 (Lehmann, Nonparametrics, 1975). Needs three runs or more in all.
    """
    freedom = first + second - 2
    factor = t_quantile(1 - level / 2, freedom) + t_quantile(POWER, freedom)
    error = spread * math.sqrt((1 / first + 1 / second) * math.pi / 3)
    harmonic = 2 / (1 / first + 1 / second)
    return factor * error * (_BOTH_TESTS + _FEW_RUNS / harmonic**3)


def runs_needed(spread: float, log_ratio: float, level: float = LEVEL) -> int | None:
    """Return the least runs per side with which `log_ratio` is detectable; None above `MOST_RUNS`."""
    low, high = fewest_runs(level), MOST_RUNS
    if detectable_log_ratio(spread, high, high, level) > abs(log_ratio):
        return None
    while low < high:
        middle = (low + high) // 2
        if detectable_log_ratio(spread, middle, middle, level) <= abs(log_ratio):
            high = middle
        else:
            low = middle + 1
    return low
