"""Experiments of design `search`: the next combination of levels, and the best one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from howdah.engine.experiment.plan import ExperimentPlan
from howdah.errors import UsageError
from howdah.model.metric import Better
from howdah.model.quantity import parse_bytes
from howdah.stats.design import Slot

if TYPE_CHECKING:
    from howdah.engine.experiment.results import Done
    from howdah.stats.search import Point, Search


def propose(plan: ExperimentPlan, done: Sequence[Done], better: Better) -> Slot | None:
    """Return the run after `done`; None once there are as many runs as allowed. Every run is a block of its own."""
    if len(done) >= plan.experiment.stop.most:
        return None
    points, values = _seen(plan, done, better)
    return Slot(len(done), 0, _number(plan, _search(plan).next(points, values)))


def best(plan: ExperimentPlan, done: Sequence[Done], better: Better) -> dict[str, str]:
    """Return the levels that look best: the baseline's while no run was valid."""
    if all(one.value is None for one in done):
        return dict(plan.arms[0])
    # A valid run whose metric could not be had says nothing. What to run next takes it for the worst all the same: it
    # would be run again and again.
    told = [one for one in done if one.value is not None or one.run.outcome.kind != "valid"]
    points, values = _seen(plan, told, better)
    return dict(plan.arms[_number(plan, _search(plan).best(points, values))])


def _seen(plan: ExperimentPlan, done: Sequence[Done], better: Better) -> tuple[list[Point], list[float]]:
    """Return the points that ran, and the log of each metric, signed so that lower is better. Failed or stopped runs
    get the worst value seen."""
    sign = -1.0 if better == "higher" else 1.0
    logs = [None if one.value is None else sign * math.log(one.value) for one in done]
    worst = max((log for log in logs if log is not None), default=0.0)
    return [_point(plan, one.slot.arm) for one in done], [worst if log is None else log for log in logs]


def _search(plan: ExperimentPlan) -> Search:
    from howdah.stats.search import Search

    factors, stop, orders = plan.experiment.varied, plan.experiment.stop, _orders(plan)
    starts = [
        tuple(order.index(start.get(one.name, one.levels[0])) for one, order in zip(factors, orders, strict=True))
        for start in ({}, *plan.experiment.starts)
    ]
    return Search([len(one.levels) for one in factors], stop.most, plan.experiment.seed, starts)


def _orders(plan: ExperimentPlan) -> list[tuple[str, ...]]:
    """Return the levels of each factor, with neighbours next to each other: numbers by size, words in the order
    given."""
    found = []
    for one in plan.experiment.varied:
        try:
            found.append(tuple(sorted(one.levels, key=_size)))
        except ValueError:
            found.append(one.levels)
    return found


def _size(level: str) -> float:
    """Return `64`, `0.5` or `1G` as a number. Raises ValueError for a word."""
    try:
        return float(level)
    except ValueError:
        try:
            return float(parse_bytes(level))
        except UsageError:
            raise ValueError(level) from None


def _number(plan: ExperimentPlan, point: Point) -> int:
    """Return the number of the arm with the levels `point`: arms are in the order of their product."""
    number = 0
    for factor, order, at in zip(plan.experiment.varied, _orders(plan), point, strict=True):
        number = number * len(factor.levels) + factor.levels.index(order[at])
    return number


def _point(plan: ExperimentPlan, number: int) -> Point:
    arm = plan.arms[number]
    return tuple(
        order.index(arm[factor.name]) for factor, order in zip(plan.experiment.varied, _orders(plan), strict=True)
    )
