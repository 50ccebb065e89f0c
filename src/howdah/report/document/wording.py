"""Format numbers for readers: enough digits to compare, and the unit."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from howdah.model.comparison import Interval, Summary
from howdah.model.experiment import Trend
from howdah.model.quantity import format_bytes

MISSING = "–"

_PROPERTY = re.compile(r"(?<![\w./-])[a-z][\w-]*(?:\.[a-z][\w-]*){2,}(?![\w./])")
"""The name of a property with three parts or more."""

BETTER = {"lower": "Lower is better.", "higher": "Higher is better.", "neither": "No direction is better."}
"""Sentences about a metric's direction."""


def quantity(value: float | None, unit: str) -> str:
    """Return `value` with its unit: 24.3 s, 41.2 MB/s, 12,345; a dash for None."""
    if value is None:
        return MISSING
    if unit == "B":
        return format_bytes(value)
    if unit == "B/s":
        return f"{format_bytes(value)}/s"
    return f"{plain(value)} {unit}".rstrip()


def plain(value: float) -> str:
    """Return a bare number with three or four significant digits, whole numbers in full."""
    size = abs(value)
    if size >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    if size >= 0.0995:
        return f"{value:.2f}"
    return f"{value:.2g}"


def scale(unit: str, peak: float) -> tuple[float, str]:
    """Return the divisor for values up to `peak`, and their unit after division: bytes become kB, MB, GB or TB."""
    if unit in ("B", "B/s"):
        for power, prefix in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
            if peak >= 0.9995 * 10**power:
                return float(10**power), f"{prefix}{unit}"
    return 1.0, unit


def interval(span: Interval | None, unit: str) -> str:
    """Return an interval with its unit once: 23.1–25.6 s."""
    if span is None:
        return MISSING
    divisor, shown = scale(unit, span.high)
    low, high = span.low / divisor, span.high / divisor
    digits = 0 if high >= 1000 else 1 if high >= 9.995 else 2 if high >= 0.0995 else 4
    return f"{low:,.{digits}f}–{high:,.{digits}f} {shown}".rstrip()


def ratio(value: float) -> str:
    """Return a ratio with enough digits to distinguish it from 1."""
    return f"{value:.3f}" if 0.0095 <= value < 10 else plain(value)


def ratio_interval(span: Interval | None) -> str:
    return MISSING if span is None else f"{ratio(span.low)}–{ratio(span.high)}"


def percent(share: float | None) -> str:
    """Return a share as a percentage: 2.4 %, 96 %."""
    if share is None:
        return MISSING
    if share == 0 or abs(share) >= 0.0995:
        return f"{share * 100:.0f} %"
    return f"{share * 100:.1f} %" if abs(share) >= 0.0005 else "< 0.1 %"


def change(value: float) -> str:
    """Return a ratio as a change: +12 %, −4.1 %."""
    return f"{'+' if value >= 1 else '−'}{percent(abs(value - 1))}"


def direction(ratio: float, *, is_time: bool) -> str:
    """Return the direction of a ratio of a metric's values: more time, lower."""
    words = ("less time", "more time") if is_time else ("lower", "higher")
    return words[ratio > 1]


def more_or_less(ratio: float, *, is_time: bool) -> str:
    """Return a ratio of a metric's values in words: 12 % more time, 4.1 % lower."""
    return f"{percent(abs(ratio - 1))} {direction(ratio, is_time=is_time)}"


def times(value: float) -> str:
    """Return a ratio as a factor: 1.41×."""
    return f"{value:.2f}×" if value < 10 else f"{value:.0f}×"


def probability(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "< 0.001"


def probability_words(p: float) -> str:
    """Return the text after the letter p: = 0.012, < 0.001."""
    return probability(p) if p < 0.001 else f"= {probability(p)}"


def centre(summary: Summary) -> float:
    """Return the geometric mean, or the median if a value is not positive."""
    return summary.median if summary.geometric_mean is None else summary.geometric_mean


def centre_words(summary: Summary, unit: str) -> str:
    """Return `centre` as a quantity, named if it is not the geometric mean."""
    return quantity(centre(summary), unit) + (" (median)" if summary.geometric_mean is None else "")


def drift(trend: Trend) -> str:
    """Return a sentence about a trend."""
    return (
        f"The runs drifted: by their order alone the last is {ratio(trend.ratio)} of the first "
        f"({ratio_interval(trend.interval)})."
    )


def count(number: int, thing: str) -> str:
    """Return `number` with the thing in singular or plural: 1 run, 5 runs."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def listing(things: Sequence[str], most: int = 5) -> str:
    """Return the things as a list: a, b and c; with more than `most`: a, b, c, d, e and 7 more."""
    if len(things) > most:
        return f"{', '.join(things[:most])} and {len(things) - most} more"
    return " and ".join(filter(None, (", ".join(things[:-1]), *things[-1:])))


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return each of `names` shortened to the last parts that distinguish it from the others, two parts at least."""
    found = {}
    for name in names:
        parts = name.split(".")
        others = [other for other in names if other != name]
        keep = next(
            kept
            for kept in range(min(2, len(parts)), len(parts) + 1)
            if kept == len(parts) or not any(other.endswith("." + ".".join(parts[-kept:])) for other in others)
        )
        found[name] = ".".join(parts[-keep:])
    return found


def shortened(texts: Sequence[str]) -> list[str]:
    """Return the texts with the names of properties in them shortened, as `short_names` does."""
    names = short_names(sorted({name for text in texts for name in _PROPERTY.findall(text)}))
    return [_PROPERTY.sub(lambda found: names[found[0]], text) for text in texts]


def sentence(text: str) -> str:
    """Return `text` with a capital letter and a full stop. A name such as cpu_seconds keeps its first letter."""
    text = text.strip()
    name = re.match(r"\S*[_/]", text) is not None
    return (text if name else text[:1].upper() + text[1:]) + ("" if re.search(r"[.!?:]$", text) else ".")


def moment(utc: float) -> str:
    """Return a time as text: 2026-03-01 12:00:05 UTC."""
    return datetime.datetime.fromtimestamp(utc, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
