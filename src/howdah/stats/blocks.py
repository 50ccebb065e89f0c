"""Levels against the baseline's, in blocks: how large each effect is, and when there are enough blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from howdah.model.comparison import Interval
from howdah.model.experiment import StopRule
from howdah.stats.summary import CONFIDENCE, t_quantile

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Observation:
    """The primary metric of one valid run, a positive number. `terms` are those levels of the run, by number, that are
    not the baseline's."""

    block: int
    terms: tuple[int, ...]
    value: float


@dataclass(frozen=True, slots=True)
class Effect:
    """One level ÷ the baseline's. `interval` holds by itself with 95 %; `p_family` is for the whole family of effects
    (Holm), and `half_width` that of the interval in which all effects of the family lie at once (Bonferroni), as a
    share of the ratio."""

    term: int
    ratio: float
    interval: Interval
    p: float
    p_family: float
    half_width: float


def effects(observations: Sequence[Observation]) -> tuple[Effect, ...]:
    """The effect of every term, in their order; none where the runs cannot tell them apart, or leave no degree of
    freedom to judge noise by.

    The model is log(value) = block + Σ terms + noise, one noise for all (Montgomery, Design and Analysis of
    Experiments, chapter 4), fitted by least squares, so that blocks may lack runs or have some twice. Block means are
    taken off first (Frisch and Waugh, Econometrica 1:387, 1933). Where several factors are changed at once, effects are
    taken to multiply.
    """
    terms = sorted({term for one in observations for term in one.terms})
    blocks = {block: at for at, block in enumerate(sorted({one.block for one in observations}))}
    freedom = len(observations) - len(blocks) - len(terms)
    if not terms or freedom < 1:
        return ()
    columns = {term: at for at, term in enumerate(terms, start=1)}
    table = np.zeros((len(observations), 1 + len(terms)))
    place = np.array([blocks[one.block] for one in observations])
    table[:, 0] = [math.log(one.value) for one in observations]
    for row, one in enumerate(observations):
        table[row, [columns[term] for term in one.terms]] = 1.0
    sums = np.zeros((len(blocks), table.shape[1]))
    np.add.at(sums, place, table)
    table -= (sums / np.bincount(place)[:, None])[place]
    values, design = table[:, 0], table[:, 1:]
    normal = design.T @ design
    if np.linalg.matrix_rank(normal) < len(terms):
        return ()
    inverse = np.linalg.inv(normal)
    found = inverse @ (design.T @ values)
    residual = values - design @ found
    errors = np.sqrt(np.diag(inverse) * float(residual @ residual) / freedom)
    return _judged(terms, found.tolist(), errors.tolist(), freedom)


def _judged(terms: Sequence[int], logs: Sequence[float], errors: Sequence[float], freedom: int) -> tuple[Effect, ...]:
    alone = t_quantile(0.5 + CONFIDENCE / 2, freedom)
    together = t_quantile(1 - (1 - CONFIDENCE) / 2 / len(terms), freedom)
    ps = [_p(log, error, freedom) for log, error in zip(logs, errors, strict=True)]
    family = _holm(ps)
    return tuple(
        Effect(
            term=term,
            ratio=math.exp(log),
            interval=Interval(math.exp(log - alone * error), math.exp(log + alone * error)),
            p=p,
            p_family=adjusted,
            half_width=math.expm1(together * error),
        )
        for term, log, error, p, adjusted in zip(terms, logs, errors, ps, family, strict=True)
    )


def _p(log: float, error: float, freedom: int) -> float:
    """Two-sided, by Student's t."""
    from scipy.special import stdtr  # late: the import takes a good part of a second

    if error < _ROUNDING:  # Runs that agree to the last digit.
        return 1.0 if abs(log) < _ROUNDING else 0.0
    return float(2 * stdtr(freedom, -abs(log) / error))


def _holm(ps: Sequence[float]) -> list[float]:
    """Holm, Scandinavian Journal of Statistics 6:65 (1979)."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[at]))
        adjusted[at] = largest
    return adjusted


def enough(found: Sequence[Effect], rule: StopRule, blocks: int) -> bool:
    """Whether `blocks` complete blocks, which gave the effects `found`, satisfy `rule`. The time budget is not looked
    at. The rule looks at widths alone, never at the effects, so that it does not stop where one happens to look large.
    """
    if blocks >= rule.most:
        return True
    return blocks >= rule.least and bool(found) and all(one.half_width <= rule.half_width for one in found)
