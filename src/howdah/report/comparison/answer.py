"""The answer of a comparison in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from howdah.model.comparison import Comparison, Interval
from howdah.model.metric import Metric
from howdah.report.document.blocks import KINDS, Badge, Glance, Tile
from howdah.report.document.labels import Label
from howdah.report.document.wording import (
    centre,
    change,
    interval,
    more_or_less,
    percent,
    probability,
    probability_words,
    quantity,
    times,
)
from howdah.stats.power import MOST_RUNS

NAMES = ("baseline", "contender")
"""The default names of the sides."""


def spoken(name: str) -> str:
    """Return the name of a side in a sentence."""
    return f"the {name}" if name in NAMES else name


@dataclass(frozen=True, slots=True)
class ComparisonSubject:
    """The subject of a comparison: the `measure` of workload `title`, and the names of baseline and contender."""

    title: str
    measure: str
    metric: Metric
    names: tuple[str, str]


def headline(found: Comparison, subject: ComparisonSubject, label: Label) -> str:
    """Return a sentence with the verdict, its size with an interval, and both values."""
    first, second = (spoken(name) for name in subject.names)
    unit, verdict = subject.metric.unit, found.verdict
    prefix = f"{label.prefix}{verdict[:1].upper()}{verdict[1:]}: "
    values = [quantity(centre(side), unit) for side in (found.contender, found.baseline)]
    both = " against ".join(values)
    runs = f"{found.baseline.n} + {found.contender.n} runs"
    if verdict == "not enough data":
        each = f"{values[0]} with {second} and {values[1]} with {first}"
        return f"{prefix}{subject.measure} is {each}, but {runs} cannot show a difference."
    spread = f"{runs}, rank test p {probability_words(found.p)}"
    span = found.interval
    if span is not None and verdict == "faster" and subject.metric.is_time:
        low, high = 1 / span.high, 1 / span.low
        size = f"{subject.title} is {times(1 / found.ratio)} as fast with {second} as with {first}"
        return f"{prefix}{size} (95 % interval {low:.2f}–{high:.2f}): {subject.measure} {both} ({spread})."
    timed = subject.metric.is_time
    begin = f"{subject.title} takes" if timed else f"{subject.measure} of {subject.title} is"
    size = f"{begin} {more_or_less(found.ratio, is_time=timed)} with {second} than with {first}"
    what = f"{subject.measure} {both}" if timed else both
    return f"{prefix}{size} (95 % interval {span_words(span)}): {what} ({spread})."


def enough(found: Comparison) -> Iterator[str]:
    """Yield sentences about the differences that these runs could show, and the runs needed to show more."""
    n, m, fewest = found.baseline.n, found.contender.n, found.fewest_runs
    if found.smallest_p >= found.level or found.interval is None:
        what = f"the exact rank test of {n} + {m} runs has p = {probability(found.smallest_p)} at best"
        more = f"{max(fewest - n, 0)} + {max(fewest - m, 0)}"
        yield f"Too few runs: {what}. {fewest} + {fewest} can show a difference: make {more} more."
    if found.detectable is None:
        return
    most = f"more than {MOST_RUNS:,}"
    observed = most if found.runs_for_observed is None else str(found.runs_for_observed)
    five = most if found.runs_for_five_percent is None else str(found.runs_for_five_percent)
    missed = (
        f"differences below {percent(found.detectable - 1)} are likely to be missed; "
        if found.smallest_p < found.level
        else ""
    )
    size = percent(abs(found.ratio - 1))
    yield (
        f"At this spread, {missed}a difference of 5 % needs {five} runs a side. The observed one of {size} needs "
        f"{observed}."
    )


def span_words(found: Interval | None) -> str:
    """Return the interval of a ratio as changes."""
    return "–" if found is None else f"{change(found.low)} to {change(found.high)}"


def glance(found: Comparison, subject: ComparisonSubject, caveats: int, label: Label) -> Glance:
    """Return the verdict, the size of the effect, both values, and the numbers of runs."""
    badge = label.on(Badge(KINDS[found.verdict], found.verdict))
    span = f"95 %: {span_words(found.interval)}" if found.interval else "no interval"
    unit = subject.metric.unit
    sides = [
        Tile(name, quantity(centre(side), unit), f"95 %: {interval(side.interval, unit)}" if side.interval else "")
        for name, side in zip(subject.names, (found.baseline, found.contender), strict=True)
    ]
    size = Tile(f"{subject.names[1]} ÷ {subject.names[0]}", change(found.ratio), span)
    runs = Tile("runs", f"{found.baseline.n} + {found.contender.n}", f"rank test p {probability_words(found.p)}")
    return Glance(badge, (size, *sides, runs), caveats)
