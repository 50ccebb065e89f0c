"""The comparison of two groups of runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from howdah.model.comparison import Comparison, Interval, Verdict
from howdah.model.metric import Better
from howdah.stats.power import LEVEL, detectable_log_ratio, fewest_runs, runs_needed, smallest_p
from howdah.stats.summary import pooled_spread, summarise, t_quantile

FIVE_PERCENT = math.log(1.05)
_MOST_EXACT = 10_000


def compare(
    baseline: Sequence[float], contender: Sequence[float], better: Better, of: int = 1, systematic: float = 0.0
) -> Comparison:
    """Compare `contender` with `baseline`, one positive value per run. `of` is how many contenders are compared with
    the baseline. `systematic` is the standard uncertainty of the logarithm of the ratio that repeating does not show,
    such as that of two meters; it widens the interval (GUM, 5.1.2).

    A difference is declared only if two conditions hold. The interval of the ratio (Welch's t on the logarithms) leaves
    1 out, and the exact two-sided rank test (Mann and Whitney) has p < 0.05. The rank test makes no correction for
    ties, which as a rule makes its p larger. Each of several contenders has an equal part of the 5 % (Bonferroni): all
    intervals together hold in at least 95 % of cases.

    Raises:
        ValueError: an empty group, or a value that is not positive: it has no ratio.
    """
    if not baseline or not contender or min(*baseline, *contender) <= 0:
        raise ValueError("a comparison needs positive values on both sides")
    left, right = [math.log(value) for value in baseline], [math.log(value) for value in contender]
    effect = statistics.fmean(right) - statistics.fmean(left)
    spread = _spread(left, right)
    level = LEVEL / of
    interval = _welch(left, right, level, systematic)
    p = rank_test(baseline, contender)
    lowest = smallest_p(len(left), len(right))
    return Comparison(
        baseline=summarise(baseline),
        contender=summarise(contender),
        ratio=math.exp(effect),
        interval=interval,
        p=p,
        smallest_p=lowest,
        level=level,
        verdict=_verdict(effect, interval, p, lowest, better, level),
        detectable=None if spread is None else math.exp(detectable_log_ratio(spread, len(left), len(right), level)),
        fewest_runs=fewest_runs(level),
        runs_for_observed=None if spread is None else runs_needed(spread, effect, level),
        runs_for_five_percent=None if spread is None else runs_needed(spread, FIVE_PERCENT, level),
    )


def _verdict(
    effect: float, interval: Interval | None, p: float, lowest: float, better: Better, level: float
) -> Verdict:
    if lowest >= level or interval is None:
        return "not enough data"
    if interval.low <= 1 <= interval.high or p >= level:
        return "no difference shown"
    return direction(effect, better)


def direction(log_ratio: float, better: Better) -> Verdict:
    """Return the verdict on a difference that is shown. `log_ratio` is the logarithm of contender ÷ baseline."""
    if better == "neither":
        return "different"
    return "faster" if (log_ratio < 0) == (better == "lower") else "slower"


def _spread(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return the pooled standard deviation of the logarithms; None if a group has one run."""
    if min(len(left), len(right)) < 2:
        return None
    return pooled_spread((left, right))


def _welch(left: Sequence[float], right: Sequence[float], level: float, systematic: float) -> Interval | None:
    """Return the interval of the ratio: Welch, Biometrika 34:28 (1947), on logarithms; None if a group has one run."""
    apart = statistics.NormalDist().inv_cdf(1 - level / 2) * systematic
    if min(len(left), len(right)) < 2:
        return None
    effect = statistics.fmean(right) - statistics.fmean(left)
    errors = [statistics.variance(group) / len(group) for group in (left, right)]
    if sum(errors) == 0:
        return Interval(math.exp(effect - apart), math.exp(effect + apart))
    freedom = sum(errors) ** 2 / sum(
        error**2 / (len(group) - 1) for error, group in zip(errors, (left, right), strict=True)
    )
    half = math.hypot(t_quantile(1 - level / 2, freedom) * math.sqrt(sum(errors)), apart)
    return Interval(math.exp(effect - half), math.exp(effect + half))


def rank_test(baseline: Sequence[float], contender: Sequence[float]) -> float:
    """Return the two-sided probability of the rank test of Mann and Whitney; 1 if all values are equal."""
    from scipy.stats import mannwhitneyu  # late: the import takes most of a second

    if len({*baseline, *contender}) == 1:
        return 1.0
    # Of many, the exact distribution has no place in a float; its limit is of Mann and Whitney, too (1947).
    if len(baseline) * len(contender) > _MOST_EXACT:
        return float(mannwhitneyu(baseline, contender, alternative="two-sided", method="asymptotic").pvalue)
    return float(mannwhitneyu(baseline, contender, alternative="two-sided", method="exact").pvalue)
