"""Charts of rows: runs as dots, bars in pieces, ratios with their intervals."""

from __future__ import annotations

import altair as alt

from howdah.report.document.drawing import Arms, Bars, DotGroup, Dots, Ratios
from howdah.report.document.theme import stand_in
from howdah.report.document.wording import quantity, ratio, ratio_interval, scale, shortened
from howdah.report.figures.charts import FONT, Chart, Row, across, colours, data, rows_down, rule

_SIDES = 26
"""Pixels to the left and the right of a chart, for the labels at the ends of its axis."""
_DOTS_HEIGHT = 320
_BAR_ROW, _RATIO_ROW = 44, 38
_ROOMY = 500
"""The width in pixels from which a name precedes its number. On a phone, the number must not be cut off."""


def dots(drawing: Dots, width: int) -> Chart:
    """Return a chart with a row per run, in the order made, over a band for the interval of their mean."""
    numbers = [dot.value for group in drawing.groups for dot in group.dots]
    numbers += [edge for g in drawing.groups if g.interval for edge in (g.interval.low, g.interval.high)]
    divisor, unit = scale(drawing.unit, max(numbers))
    low, high = min(numbers) / divisor, max(numbers) / divisor
    margin = 0.06 * (high - low) or 0.05 * high
    charts = []
    for place, group in enumerate(drawing.groups):
        last = place == len(drawing.groups) - 1
        title = f"{drawing.axis}, {unit}" if last else None
        x = across("value", low - margin, high + margin, width, title=title, labels=last)
        charts.append(_dot_group(group, x, divisor, width - _SIDES, "circle" if place == 0 else "diamond"))
    if len(charts) == 1:
        return charts[0]
    titled = [
        chart.properties(title=alt.TitleParams(group.name, anchor="start", fontSize=FONT, color=stand_in("ink")))
        for chart, group in zip(charts, drawing.groups, strict=True)
    ]
    return alt.vconcat(*titled, spacing=12)


def _dot_group(group: DotGroup, x: alt.X, divisor: float, width: int, shape: str) -> Chart:
    count = len(group.dots)
    height = max(3.0, min(18.0, _DOTS_HEIGHT / max(count, 1)))
    colour = stand_in(group.colour)
    rows = [{"value": dot.value / divisor, "row": row, "title": dot.title} for row, dot in enumerate(group.dots)]
    layers = []
    if group.interval is not None:
        band = data([{"value": group.interval.low / divisor, "to": group.interval.high / divisor}])
        layers.append(alt.Chart(band).mark_rect(color=colour, opacity=0.14).encode(x=x, x2="to:Q"))
    if group.mean is not None and count > 1:
        layers.append(rule("value", group.mean / divisor, x, color=colour, size=2))
    size = max(18.0, min(110.0, height**2 * 0.4))
    marks = alt.Chart(data(rows)).mark_point(
        aria=True, shape=shape, filled=True, opacity=1, size=size, color=colour, stroke=stand_in("paper"), strokeWidth=1
    )
    layers.append(marks.encode(x=x, y=rows_down("row", count, start=-0.5), description="title:N"))
    return alt.layer(*layers).properties(width=width, height=max(40.0, count * height))


def arms(drawing: Arms, width: int) -> Chart:
    """Return a chart with a bar for each arm, its name above, its interval over the bar, and a tick for every run."""
    inner = width - _SIDES
    divisor, unit = scale(drawing.unit, max(value for arm in drawing.arms for value in arm.values))
    bars, ticks = list[Row](), list[Row]()
    wide, short = width >= _ROOMY, shortened([arm.name for arm in drawing.arms])
    for row, arm in enumerate(drawing.arms):
        low, high = (arm.interval.low, arm.interval.high) if arm.interval else (arm.mean, arm.mean)
        value = quantity(arm.mean, drawing.unit)
        bars.append(
            {
                "row": row,
                "zero": 0.0,
                "mean": arm.mean / divisor,
                "low": low / divisor,
                "high": high / divisor,
                "name": f"{arm.name}: {value}" if wide else f"{value}  {short[row]}",
                "colour": arm.colour,
                "title": arm.title,
            }
        )
        ticks += [{"row": row, "value": one / divisor} for one in arm.values]
    ends = [arm.interval.high for arm in drawing.arms if arm.interval]
    reach = 1.04 * max(ends + [value for arm in drawing.arms for value in arm.values]) / divisor
    title, y = f"{drawing.axis}, {unit}", rows_down("row", len(bars), start=-0.5)
    zero, place, low_end = (across(field, 0, reach, width, title=title) for field in ("zero", "value", "low"))
    base, ink = alt.Chart(data(bars)), stand_in("ink")
    solid = base.mark_bar(aria=True, height=14, yOffset=9, opacity=0.75)
    thin = alt.Chart(data(ticks)).mark_tick(color=ink, height=14, thickness=1, opacity=0.45, yOffset=9)
    spans = base.mark_rule(color=ink, size=2, yOffset=9)
    layers = (
        solid.encode(x=zero, x2="mean:Q", y=y, color=colours(bars), description="title:N"),
        thin.encode(x=place, y=y),
        spans.encode(x=low_end, x2="high:Q", y=y),
        *_names(base, y, inner),
    )
    return alt.layer(*layers).properties(width=inner, height=len(bars) * _RATIO_ROW)


def bars(drawing: Bars, width: int) -> Chart:
    """Return a chart of bars. Each name is above its bar, so that long names need no margin."""
    pieces: list[Row] = []
    ends: list[Row] = []
    for row, bar in enumerate(drawing.bars):
        at = 0.0
        for part in bar.parts:
            title = f"{bar.name}, {part.name}: {quantity(part.value, drawing.unit)}"
            if part.value > 0:
                pieces.append({"row": row, "from": at, "to": at + part.value, "colour": part.colour, "title": title})
            at += part.value
        ends.append({"row": row, "from": at, "name": bar.name, "text": quantity(at, drawing.unit)})
    inner = width - _SIDES
    longest = max(end["from"] for end in ends) or 1.0
    room = 64  # pixels for the number at the end of the longest bar
    x = across("from", 0, longest * inner / (inner - room), width, title=drawing.axis)
    y = rows_down("row", len(drawing.bars), start=-0.5)
    marks = (
        alt.Chart(data(pieces))
        .mark_bar(aria=True, height=16, stroke=stand_in("paper"), strokeWidth=0.7, yOffset=8)
        .encode(x=x, x2="to:Q", y=y, color=colours(pieces), description="title:N")
    )
    named = alt.Chart(data(ends))
    names = named.mark_text(align="left", baseline="bottom", dy=-3, fontWeight=600, limit=inner)
    numbers = named.mark_text(align="left", dx=6, dy=8)
    layers = (
        marks,
        names.encode(x=alt.value(0), y=y, text="name:N"),
        numbers.encode(x=x, y=y, text="text:N"),
    )
    return alt.layer(*layers).properties(width=inner, height=len(drawing.bars) * _BAR_ROW)


def ratios(drawing: Ratios, width: int) -> Chart:
    """Return a chart of ratios with intervals around 1. The logarithmic axis reaches equally far to both sides."""
    edges = [row.ratio for row in drawing.rows]
    edges += [edge for row in drawing.rows if row.interval for edge in (row.interval.low, row.interval.high)]
    reach = max(1.1, *edges, *(1 / edge for edge in edges)) * 1.05
    wide = width >= _ROOMY
    short = shortened([row.name for row in drawing.rows])
    rows = [
        {
            "row": place,
            "name": f"{row.name}  {ratio(row.ratio)} ({ratio_interval(row.interval)})"
            if wide
            else f"{ratio(row.ratio)}  {short[place]}",
            "ratio": row.ratio,
            "low": row.interval.low if row.interval else row.ratio,
            "high": row.interval.high if row.interval else row.ratio,
            "colour": row.colour,
            "title": row.title,
        }
        for place, row in enumerate(drawing.rows)
    ]
    marks = _ratio_marks(reach, few=not wide)
    axis = alt.Axis(title=drawing.axis, grid=True, domain=False, ticks=False, values=marks, labelFlush=False)
    x = alt.X("low:Q", scale=alt.Scale(type="log", domain=[1 / reach, reach], nice=False), axis=axis)
    y, colour = rows_down("row", len(rows), start=-0.5), colours(rows)
    base = alt.Chart(data(rows))
    spans = base.mark_rule(size=3, yOffset=9).encode(x=x, x2="high:Q", y=y, color=colour)
    points = base.mark_point(aria=True, shape="diamond", filled=True, size=80, opacity=1, yOffset=9)
    layers = (
        rule("low", 1.0, x, color=stand_in("ink"), size=1),
        spans,
        points.encode(x="ratio:Q", y=y, color=colour, description="title:N"),
        *_names(base, y, width - _SIDES),
    )
    return alt.layer(*layers).properties(width=width - _SIDES, height=_RATIO_ROW * len(rows))


def _names(base: Chart, y: alt.Y, width: int) -> list[Chart]:
    """Return the names above rows, on a ground of the paper's colour that hides the lines behind them."""
    place = {"align": "left", "baseline": "bottom", "dy": -2, "limit": width}
    ground = base.mark_text(**place, stroke=stand_in("paper"), strokeWidth=4, strokeJoin="round", aria=False)
    return [one.encode(x=alt.value(0), y=y, text="name:N") for one in (ground, base.mark_text(**place))]


def _ratio_marks(reach: float, *, few: bool) -> list[float]:
    """Return round ratios up to `reach` on both sides of 1."""
    above = [step for step in (1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100) if step <= reach]
    below = [
        step for step in (0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01) if step * reach >= 1
    ]
    most = 1 if few else 3
    return sorted({1.0, *above[-most:], *below[-most:]})
