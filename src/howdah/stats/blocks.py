"""Arms against a baseline, in blocks: how large each effect is, and when there are enough blocks."""

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
    """The primary metric of one valid run, a positive number. Arm 0 is the baseline."""

    block: int
    arm: int
    value: float


@dataclass(frozen=True, slots=True)
class Effect:
    """One arm ÷ the baseline. `interval` holds by itself with 95 %; `p_family` is for the whole family of effects
    (Holm), and `half_width` that of the interval in which all effects of the family lie at once (Bonferroni), as a
    share of the ratio."""

    arm: int
    ratio: float
    interval: Interval
    p: float
    p_family: float
    half_width: float


def effects(observations: Sequence[Observation]) -> tuple[Effect, ...]:
    """The effect of every arm that shares blocks with others, in the order of arms; none where the runs leave no degree
    of freedom to judge noise by.

    The model is log(value) = block + arm + noise, one noise for all (Montgomery, Design and Analysis of Experiments,
    chapter 4), fitted by least squares, so that blocks may lack arms or have some twice. Block means are taken off
    first (Frisch and Waugh, Econometrica 1:387, 1933).
    """
    arms = sorted({one.arm for one in observations} - {0})
    blocks = {block: at for at, block in enumerate(sorted({one.block for one in observations}))}
    freedom = len(observations) - len(blocks) - len(arms)
    if not arms or freedom < 1 or all(one.arm for one in observations):
        return ()
    columns = {arm: at for at, arm in enumerate(arms)}
    table = np.zeros((len(observations), 1 + len(arms)))
    place = np.array([blocks[one.block] for one in observations])
    table[:, 0] = [math.log(one.value) for one in observations]
    for row, one in enumerate(observations):
        if one.arm:
            table[row, 1 + columns[one.arm]] = 1.0
    sums = np.zeros((len(blocks), table.shape[1]))
    np.add.at(sums, place, table)
    table -= (sums / np.bincount(place)[:, None])[place]
    values, design = table[:, 0], table[:, 1:]
    normal = design.T @ design
    if np.linalg.matrix_rank(normal) < len(arms):
        return ()
    inverse = np.linalg.inv(normal)
    found = inverse @ (design.T @ values)
    residual = values - design @ found
    errors = np.sqrt(np.diag(inverse) * float(residual @ residual) / freedom)
    return _judged(arms, found.tolist(), errors.tolist(), freedom)


def _judged(arms: Sequence[int], logs: Sequence[float], errors: Sequence[float], freedom: int) -> tuple[Effect, ...]:
    alone = t_quantile(0.5 + CONFIDENCE / 2, freedom)
    together = t_quantile(1 - (1 - CONFIDENCE) / 2 / len(arms), freedom)
    ps = [_p(log, error, freedom) for log, error in zip(logs, errors, strict=True)]
    family = _holm(ps)
    return tuple(
        Effect(
            arm=arm,
            ratio=math.exp(log),
            interval=Interval(math.exp(log - alone * error), math.exp(log + alone * error)),
            p=p,
            p_family=adjusted,
            half_width=math.expm1(together * error),
        )
        for arm, log, error, p, adjusted in zip(arms, logs, errors, ps, family, strict=True)
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
