"""A chart of runs in their order."""

from __future__ import annotations

import altair as alt

from howdah.report.document.drawing import Order
from howdah.report.document.theme import stand_in
from howdah.report.figures.charts import Chart, across, colours, data, rule

_HEIGHT = 220
_AXIS = 46
"""Pixels for the labels of the vertical axis."""


def order(drawing: Order, width: int) -> Chart:
    """Return a chart with a dot per run, from the first to the last. Outlying runs are diamonds."""
    count = len(drawing.turns)
    edges = [turn.value for turn in drawing.turns] + list(drawing.line or ())
    low, high = min(edges), max(edges)
    margin = 0.08 * (high - low) or 0.05
    x = across("place", 0.5, count + 0.5, width, title="run", tickMinStep=1, format="d")
    axis = alt.Axis(title=drawing.axis, grid=True, domain=False, ticks=False, tickCount=5)
    y = alt.Y("value:Q", scale=alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False), axis=axis)
    rows = [
        {"place": turn.place, "value": turn.value, "colour": turn.colour, "title": turn.title, "far": turn.far}
        for turn in drawing.turns
    ]
    shape = alt.Shape("far:N", scale=alt.Scale(domain=[False, True], range=["circle", "diamond"]), legend=None)
    size = alt.Size("far:N", scale=alt.Scale(domain=[False, True], range=[46, 130]), legend=None)
    points = alt.Chart(data(rows)).mark_point(
        aria=True, filled=True, opacity=1, stroke=stand_in("paper"), strokeWidth=1
    )
    layers = [rule("value", 1.0, y, color=stand_in("axis"), size=1)]
    if drawing.line is not None:
        first, last = drawing.line
        ends = data([{"place": 1, "value": first, "to": last, "end": count}])
        line = alt.Chart(ends).mark_rule(color=stand_in("ink"), size=1.5, strokeDash=[5, 4])
        layers.append(line.encode(x=x, y=y, x2="end:Q", y2="to:Q"))
    layers.append(points.encode(x=x, y=y, color=colours(rows), shape=shape, size=size, description="title:N"))
    return alt.layer(*layers).properties(width=width - _AXIS, height=_HEIGHT)
