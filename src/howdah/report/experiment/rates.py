"""Time, energy and price of each arm of an experiment, if the power and price of its cluster are known."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, replace

from howdah.model.experiment import Findings
from howdah.model.metric import ELAPSED
from howdah.report.document.blocks import Block, Table, Text, columns
from howdah.report.document.wording import MISSING, quantity
from howdah.report.experiment.runs import MOST_ARMS, arm_words
from howdah.stats.pareto import on_front

HOUR = 3600


@dataclass(frozen=True, slots=True)
class Bill:
    """The bill of one arm: geometric mean of its times in seconds, energy in watt hours and price of one run.

    A value is None if its rate is not known. `best` says that no arm is as good in all of these and better in one.
    """

    arm: int
    seconds: float
    watt_hours: float | None
    price: float | None
    best: bool


def bills(found: Findings) -> list[Bill]:
    """Return the bill of every arm with a valid run, fastest first; none without a rate or if the metric is no time."""
    watts, price = found.experiment.watts, found.experiment.price
    if (watts is None and price is None) or found.metric.name not in ELAPSED:
        return []
    values: dict[int, list[float]] = {}
    for one in found.results:
        if one.value is not None:
            values.setdefault(one.arm, []).append(one.value)
    made = []
    for arm, times in sorted(values.items()):
        seconds = statistics.geometric_mean(times)
        spent = [None if rate is None else rate.of(found.arms[arm]) * seconds / HOUR for rate in (watts, price)]
        made.append(Bill(arm, seconds, spent[0], spent[1], best=False))
    points = [[one for one in (bill.seconds, bill.watt_hours, bill.price) if one is not None] for bill in made]
    judged = (replace(bill, best=best) for bill, best in zip(made, on_front(points), strict=True))
    return sorted(judged, key=lambda bill: bill.seconds)


def economy(found: Findings) -> Iterator[Block]:
    """Yield the time, energy and price of the arms, and which of the arms are on the Pareto front."""
    made = bills(found)
    if not made:
        if found.experiment.watts is not None or found.experiment.price is not None:
            yield Text(f"The rates say nothing of {found.metric.name}: it is not the time that a run took.", small=True)
        return
    rows = tuple(
        (
            arm_words(found, bill.arm),
            quantity(bill.seconds, "s"),
            MISSING if bill.watt_hours is None else f"{bill.watt_hours:.3g} Wh",
            MISSING if bill.price is None else f"{bill.price:.3g}",
            "yes" if bill.best else "no",
        )
        for bill in made[:MOST_ARMS]
    )
    heads = columns("Arm", "#Time", "#Energy", "#Price", "On the Pareto front")
    which = "" if len(made) <= MOST_ARMS else f": {MOST_ARMS} of {len(made)} arms"
    yield Table(f"Time, energy and price of {found.phase}, fastest first{which}", heads, rows)
    yield Text(
        "Geometric means of the runs × the rates in the experiment file, which nobody measured here. On the Pareto "
        "front are the arms that no other one equals in all of these and beats in one; the runs' noise is not in it.",
        small=True,
    )
