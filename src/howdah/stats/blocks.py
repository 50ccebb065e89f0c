"""Levels against the baseline, in blocks: the size of each effect, and whether there are enough blocks."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from howdah.model.comparison import Interval
from howdah.model.experiment import Effect, StopRule
from howdah.stats.power import POWER
from howdah.stats.summary import CONFIDENCE, t_quantile

_ROUNDING = 1e-12
_UNKNOWN = math.log(1e8)


@dataclass(frozen=True, slots=True)
class Observation:
    """The primary metric of one valid run, a positive number. `terms` are the numbers of those levels of the run that
    are not the baseline's."""

    block: int
    terms: tuple[int, ...]
    value: float


@dataclass(frozen=True, slots=True)
class _Fit:
    """A fit: the logarithms of the ratios by term, and their covariances, in the order of the terms, as multiples of
    the noise's variance. `variance` is that of the noise, `freedom` its degrees of freedom."""

    logs: Mapping[int, float]
    covariance: np.ndarray
    variance: float
    freedom: int


def effects(observations: Sequence[Observation], pilot: int) -> tuple[Effect, ...]:
    """Return the effect of every term, in their order. Empty if the runs cannot tell the terms apart, or leave no
    degree of freedom to estimate the noise.

    The model is log(value) = block + Σ terms + noise, with one noise for all (Montgomery, Design and Analysis of
    Experiments, chapter 4). It is fitted by least squares, so that blocks may lack runs or have some twice. If several
    factors change at once, their effects are taken to multiply.

    The noise is estimated twice: by all runs, and by those of the first `pilot` blocks, which no rule could choose. The
    less certain estimate holds. With normal noise, means are independent of all estimates of its variance. The second
    estimate is therefore right however many blocks a rule on widths has asked for (Stein, Annals of Mathematical
    Statistics 16:243, 1945). The first alone would stop where the noise happens to look small.
    """
    fits = _fits(observations, pilot)
    if not fits:
        return ()
    whole, noises = fits[0], [(fit.variance, fit.freedom) for fit in fits]
    ps, widths, power = [], [], []
    for log, share in zip(whole.logs.values(), np.diag(whole.covariance).tolist(), strict=True):
        errors = [(math.sqrt(share * variance), freedom) for variance, freedom in noises]
        ps.append(max(two_sided_p(log, error, freedom) for error, freedom in errors))
        widths.append([max(t_quantile(at, freedom) * error for error, freedom in errors) for at in _levels(whole)])
        power.append(max(t_quantile(POWER, freedom) * error for error, freedom in errors))
    # What may be a hundred million times more or less is not known.
    return tuple(
        Effect(
            term=term,
            ratio=math.exp(log),
            interval=Interval(math.exp(log - alone), math.exp(log + alone)),
            p=p,
            p_family=adjusted,
            half_width=math.expm1(together),
            detectable=math.exp(together + seen),
        )
        for (term, log), (alone, together), seen, p, adjusted in zip(
            whole.logs.items(), widths, power, ps, holm(ps), strict=True
        )
        if together + seen < _UNKNOWN
    )


def with_interactions(
    observations: Sequence[Observation], pairs: Sequence[tuple[int, int]], pilot: int
) -> tuple[tuple[Effect, ...], tuple[Effect, ...]]:
    """Return the effect of every term, and of every pair of terms: both together ÷ the product of their effects. A pair
    has the number of its place in `pairs`. `p_family` is for all effects together.

    Effects of single terms are those of `effects`, means over what else varies. No pair has an effect if the runs
    cannot tell all effects apart.
    """
    alone = effects(observations, pilot)
    extended, _ = _extended(observations, pairs)
    found = [one for one in reversed(effects(extended, pilot)) if one.term < 0] if pairs else []
    adjusted = holm([one.p for one in (*alone, *found)])
    both = [
        replace(one, p_family=p, term=-1 - one.term if one.term < 0 else one.term)
        for one, p in zip((*alone, *found), adjusted, strict=True)
    ]
    return tuple(both[: len(alone)]), tuple(both[len(alone) :])


@dataclass(frozen=True, slots=True)
class Contrast:
    """One combination of terms ÷ another: the ratio, its 95 % interval by itself, and the p of equality."""

    ratio: float
    interval: Interval
    p: float


class Model:
    """The effect of any combination of terms, by single effects and by the interactions of some pairs alone."""

    def __init__(self, observations: Sequence[Observation], pairs: Sequence[tuple[int, int]], pilot: int) -> None:
        """Raises ValueError if the runs cannot tell these effects apart. `pilot` is as for `effects`."""
        extended, self._numbers = _extended(observations, pairs)
        self._fits = _fits(extended, pilot)
        if not self._fits:
            raise ValueError("the runs cannot tell the effects apart")

    def log(self, having: Collection[int]) -> float:
        """Return the logarithm of the ratio to the baseline of a run with the terms `having`."""
        return float(self._vector(having) @ list(self._fits[0].logs.values()))

    def contrast(self, one: Collection[int], other: Collection[int]) -> Contrast:
        """Return the contrast of a run with the terms `one` ÷ a run with the terms `other`. The less certain of the two
        estimates of the noise holds."""
        vector, covariance = self._vector(one) - self._vector(other), self._fits[0].covariance
        share, log = float(vector @ covariance @ vector), self.log(one) - self.log(other)
        errors = [(math.sqrt(share * fit.variance), fit.freedom) for fit in self._fits]
        quantile = 1 - (1 - CONFIDENCE) / 2
        width = max(t_quantile(quantile, freedom) * error for error, freedom in errors)
        return Contrast(
            math.exp(log),
            Interval(math.exp(min(log - width, _UNKNOWN)), math.exp(min(log + width, _UNKNOWN))),
            max(two_sided_p(log, error, freedom) for error, freedom in errors),
        )

    def _vector(self, having: Collection[int]) -> np.ndarray:
        terms = {*having, *_both(having, self._numbers)}
        return np.array([float(term in terms) for term in self._fits[0].logs])


def _extended(
    observations: Sequence[Observation], pairs: Sequence[tuple[int, int]]
) -> tuple[list[Observation], dict[tuple[int, int], int]]:
    """Return the runs with one more term for every pair that they have, and the numbers of these terms: -1 and
    below."""
    numbers = {pair: -1 - place for place, pair in enumerate(pairs)}
    return [replace(one, terms=(*one.terms, *_both(one.terms, numbers))) for one in observations], numbers


def _both(having: Collection[int], numbers: Mapping[tuple[int, int], int]) -> Iterator[int]:
    return (number for (one, other), number in numbers.items() if one in having and other in having)


def _levels(fit: _Fit) -> tuple[float, float]:
    """Return the quantiles of an interval by itself, and of an interval in a family (Bonferroni)."""
    outside = (1 - CONFIDENCE) / 2
    return 1 - outside, 1 - outside / len(fit.logs)


def _fits(observations: Sequence[Observation], pilot: int) -> list[_Fit]:
    """Return the fit of all runs, and that of the first `pilot` blocks, or of as many more blocks as a fit needs. The
    number of blocks depends on which runs there are, not on their values. Empty if all runs together have no fit."""
    whole = _fit(observations)
    if whole is None:
        return []
    for blocks in range(pilot, max(one.block for one in observations) + 1):
        first = _fit([one for one in observations if one.block < blocks])
        if first is not None:
            return [whole, first]
    return [whole]


def _fit(observations: Sequence[Observation]) -> _Fit | None:
    """Return the fit by least squares; None if there is none. Block means are taken off first (Frisch and Waugh,
    Econometrica 1:387, 1933)."""
    terms = sorted({term for one in observations for term in one.terms})
    blocks = {block: at for at, block in enumerate(sorted({one.block for one in observations}))}
    freedom = len(observations) - len(blocks) - len(terms)
    if not terms or freedom < 1:
        return None
    columns = {term: at for at, term in enumerate(terms, start=1)}
    table = np.zeros((len(observations), 1 + len(terms)))
    place = np.array([blocks[one.block] for one in observations])
    table[:, 0] = np.log([one.value for one in observations])
    rows = np.repeat(np.arange(len(observations)), [len(one.terms) for one in observations])
    table[rows, [columns[term] for one in observations for term in one.terms]] = 1.0
    sums = np.zeros((len(blocks), table.shape[1]))
    np.add.at(sums, place, table)
    table -= (sums / np.bincount(place)[:, None])[place]
    values, design = table[:, 0], table[:, 1:]
    normal = design.T @ design
    if np.linalg.matrix_rank(normal) < len(terms):
        return None
    inverse = np.linalg.inv(normal)
    found = inverse @ (design.T @ values)
    residual = values - design @ found
    return _Fit(
        dict(zip(terms, found.tolist(), strict=True)),
        inverse,
        float(residual @ residual) / freedom,
        freedom,
    )


def two_sided_p(log: float, error: float, freedom: int) -> float:
    """Return the two-sided p of `log` with the standard error `error`, by Student's t."""
    from scipy.special import stdtr  # late: the import takes a good part of a second

    if error < _ROUNDING:  # Runs that agree to the last digit.
        return 1.0 if abs(log) < _ROUNDING else 0.0
    return float(2 * stdtr(freedom, -abs(log) / error))


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p of each test, adjusted for all together: Holm, Scandinavian Journal of Statistics 6:65 (1979)."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[at]))
        adjusted[at] = largest
    return adjusted


def enough(found: Sequence[Effect], rule: StopRule, blocks: int) -> bool:
    """Return whether `blocks` complete blocks, which gave the effects `found`, satisfy `rule`, its time budget aside.
    The rule looks at widths alone, never at the effects: it does not stop because one happens to look large."""
    if blocks >= rule.most:
        return True
    return blocks >= rule.least and bool(found) and all(one.half_width <= rule.half_width for one in found)
