"""The common parts of all figures: sizes, axes, colours by name, the look of a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

from howdah.report.document.theme import stand_in

FONT = 12
Chart = Any
"""An Altair chart of any kind. The chart classes have no common base with the methods used here."""

Row = dict[str, Any]


def data(rows: Iterable[Row]) -> alt.InlineData:
    return alt.InlineData(values=list(rows))


def colours(rows: Iterable[Mapping[str, Any]]) -> alt.Color:
    """Return the field `colour`, whose values are names of `theme.COLOURS`. The page has the legend."""
    domain = sorted({row["colour"] for row in rows})
    scale = alt.Scale(domain=domain, range=[stand_in(name) for name in domain])
    return alt.Color("colour:N", scale=scale, legend=None)


def across(field: str, low: float, high: float, width: int, **axis: Any) -> alt.X:
    """Return the horizontal axis from `low` to `high`."""
    options = {"title": None, "tickCount": max(3, width // 110), "grid": True, "domain": False, "ticks": False}
    shown = alt.Axis(**{**options, "labelFlush": False, **axis})
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[low, high], nice=False), axis=shown)


def rows_down(field: str, count: float, *, start: float = 0.0) -> alt.Y:
    """Return a vertical axis of rows from `start`, top to bottom, that is not drawn."""
    return alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(domain=[start, start + count], reverse=True, nice=False))


def rule(field: str, value: float, axis: alt.X | alt.Y, **mark: Any) -> Chart:
    """Return a line across the chart at `value` of `field`, which is the field of `axis`."""
    return alt.Chart(data([{field: value}])).mark_rule(**mark).encode(axis)


def configured(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification of `chart` in the look of the page."""
    axis = {
        "labelFontSize": FONT,
        "titleFontSize": FONT,
        "titleFontWeight": "normal",
        "labelColor": stand_in("muted"),
        "titleColor": stand_in("muted"),
        "gridColor": stand_in("grid"),
        "domainColor": stand_in("axis"),
        "labelPadding": 5,
        "titlePadding": 8,
    }
    config = {
        "font": "system-ui",
        "view": {"stroke": None},
        "axis": axis,
        "mark": {"aria": False},
        "text": {"fontSize": FONT, "color": stand_in("ink")},
        "background": "transparent",
        "padding": {"left": 2, "right": 10, "top": 4, "bottom": 2},
    }
    specification: dict[str, Any] = chart.to_dict(validate=False)
    return {**specification, "config": config}
