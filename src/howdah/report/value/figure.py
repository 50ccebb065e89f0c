"""A derived number with its formula, its inputs and its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from howdah.model.comparison import Interval, Summary
from howdah.report.document.wording import centre


@dataclass(frozen=True, slots=True)
class FigureOfMerit:
    """`value` in `unit`; `inputs` explains the letters of `formula` in words.

    `interval` is None if the value is exact, or if the runs are too few for an interval.
    """

    name: str
    value: float
    unit: str
    formula: str
    inputs: Mapping[str, str]
    interval: Interval | None = None


def of_runs(summary: Summary, of: Callable[[float], float]) -> tuple[float, Interval | None]:
    """Return a monotonic function of the runs' result, at its centre and at the ends of its interval."""
    value, span = of(centre(summary)), summary.interval
    if span is None:
        return value, None
    ends = sorted((of(span.low), of(span.high)))
    return value, Interval(ends[0], ends[1])
