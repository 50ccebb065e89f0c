"""The number of servers of one kind that do the work of a number of another kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from howdah.errors import UsageError
from howdah.model.comparison import Comparison
from howdah.report.value.system import System, power

_HAIR = 1e-9


@dataclass(frozen=True, slots=True)
class Equivalence:
    """`count` servers of `first` do the work of `fewest` to `most` servers of `second`.

    The range follows from the interval of the ratio. It is one number if the runs are too few for an interval.
    `saved_power` is the least and the most power that the second saves, as a share; below 0, it needs more.
    """

    first: System
    second: System
    count: int
    fewest: int
    most: int
    formula: str
    inputs: Mapping[str, str]
    saved_power: tuple[float, float] | None
    saved_price: tuple[float, float] | None


def equal_work(first: System, second: System, compared: Comparison, count: int) -> Equivalence:
    """Return how many servers of `second` do the work of `count` of `first`, if servers add up.

    `compared` has the times of the second against those of the first. Raises UsageError.
    """
    if count < 1:
        raise UsageError(f"{count} servers do no work")
    # So many of the second does one server of the first outdo, where both clusters take the same time.
    scale = second.count / first.count
    span = compared.interval
    ratios = (compared.ratio, compared.ratio) if span is None else (span.low, span.high)
    fewest, most = (max(1, math.ceil(count * ratio * scale - _HAIR)) for ratio in ratios)
    drawn = power(first.server, of_rack=False), power(second.server, of_rack=False)
    saved = None
    if drawn[0] is not None and drawn[1] is not None and drawn[0][0] == drawn[1][0]:
        saved = _saved(count * drawn[0][1], drawn[1][1], fewest, most)
    price = None
    if first.server.price:
        price = _saved(count * first.server.price, second.server.price, fewest, most)
    words = "no interval" if span is None else f"{ratios[0]:.4g} to {ratios[1]:.4g}"
    inputs = {
        "m": f"{count} servers of {first.name}",
        "q": f"{compared.ratio:.4g} ({words}), time of {second.name} ÷ time of {first.name}",
        "b": f"{second.count} servers of {second.name} in its runs",
        "a": f"{first.count} servers of {first.name} in its runs",
    }
    return Equivalence(first, second, count, fewest, most, "⌈m·q·b ÷ a⌉", inputs, saved, price)


def _saved(whole: float, each: float, fewest: int, most: int) -> tuple[float, float]:
    return 1 - most * each / whole, 1 - fewest * each / whole
