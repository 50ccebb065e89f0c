"""The timeline as a chart: lanes of attempts above, the hosts' small charts below, all on one axis of time."""

from __future__ import annotations

from typing import Any

import altair as alt

from howdah.report.document.drawing import Panel, Step, Strips, Timeline, Track
from howdah.report.document.theme import stand_in
from howdah.report.document.wording import quantity, scale
from howdah.report.figures.charts import FONT, Chart, Row, across, colours, data, rows_down

_TALLEST, _LANE, _THINNEST = 480.0, 20.0, 2.5
"""Pixels: the height of all lanes at most, of a lane if there are few, of a lane if there are many."""
_PANEL, _ROW = 64, 14
_LETTER = 6.7
"""Pixels of an average letter at the font size of the figures."""
_NEAR = 0.25
"""A bound is drawn if the highest value reaches this share of the bound. Otherwise it would flatten the curve."""


def timeline(drawing: Timeline, width: int) -> Chart:
    """Return lanes and panels below each other. Equal margins align their axes of time."""
    margin = 80 if width > 500 else 66
    inner = width - margin - 18
    parts = []
    charts: tuple[Panel | Strips, ...] = (*drawing.panels, *drawing.strips)
    for one in charts:
        x = _time(drawing, width, last=one == charts[-1])
        if isinstance(one, Panel):
            parts.append(_panel(one, x, drawing.seconds, inner, margin))
        else:
            parts.append(_each_host(one, x, drawing.seconds / inner, inner, margin))
    if drawing.stretches:
        parts.insert(0, _lanes(drawing, _time(drawing, width, last=not parts), inner))
    return alt.vconcat(*parts, bounds="flush", spacing=36).resolve_scale(color="independent")


def _time(drawing: Timeline, width: int, *, last: bool) -> alt.X:
    title = "seconds since the job was submitted" if last else None
    return across("from", 0, drawing.seconds, width, title=title, labels=last, tickCount=max(4, width // 90))


def _lanes(drawing: Timeline, x: alt.X, inner: int) -> Chart:
    count = len(drawing.lanes)
    lane = max(_THINNEST, min(_LANE, _TALLEST / count))
    half = 0.38 if lane > 6 else 0.5
    rows: list[Row] = [
        {
            "from": piece.start,
            "to": piece.end,
            "top": piece.lane + 0.5 - piece.height * half,
            "bottom": piece.lane + 0.5 + piece.height * half,
            "middle": piece.lane + 0.5,
            "colour": piece.colour,
            "broken": piece.broken,
            "title": piece.title,
            "label": piece.label,
            "spare": (piece.end - piece.start) / drawing.seconds * inner - _LETTER * len(piece.label) - 6,
        }
        for piece in drawing.stretches
    ]
    y = rows_down("top", count)
    layers = [_pieces([row for row in rows if not row["broken"]], x, y, edged=lane > 6)]
    if broken := [row for row in rows if row["broken"]]:
        marks = alt.Chart(data(_slim(broken))).mark_rect(
            aria=True, filled=False, stroke=stand_in("lost"), strokeWidth=1.6, strokeDash=[4, 2]
        )
        layers.append(marks.encode(x=x, x2="to:Q", y=y, y2="bottom:Q", description="title:N"))
    fitting = [row for row in rows if row["label"] and row["spare"] > 0]
    layers.extend(_labels(fitting, x, rows_down("middle", count)))
    layers.extend(_node_names(drawing.lanes, lane, y))
    return alt.layer(*layers).properties(width=inner, height=count * lane)


def _pieces(rows: list[Row], x: alt.X, y: alt.Y, *, edged: bool) -> Chart:
    edge: dict[str, Any] = {"stroke": stand_in("paper"), "strokeWidth": 0.6} if edged else {}
    described = {"description": "title:N"} if any(row["title"] for row in rows) else {}
    marks = alt.Chart(data(_slim(rows))).mark_rect(aria=bool(described), **edge)
    return marks.encode(x=x, x2="to:Q", y=y, y2="bottom:Q", color=colours(rows), **described)


def _slim(rows: list[Row]) -> list[Row]:
    """Return rows without the fields that only the labels need. Thousands of rows go through the converter."""
    return [{name: row[name] for name in ("from", "to", "top", "bottom", "colour", "title")} for row in rows]


def _labels(rows: list[Row], x: alt.X, y: alt.Y) -> list[Chart]:
    layers = []
    for broken, colour in ((False, "paper"), (True, "lost")):
        if some := [row for row in rows if row["broken"] == broken]:
            marks = alt.Chart(data(some)).mark_text(align="left", dx=5, fontSize=10.5, color=stand_in(colour))
            layers.append(marks.encode(x=x, y=y, text="label:N"))
    return layers


def _node_names(lanes: tuple[str, ...], lane: float, y: alt.Y) -> list[Chart]:
    """Return node names next to the first lane of each node, if there is room, and lines between nodes."""
    names: list[Row] = []
    for row, name in enumerate(lanes):
        if name and (not names or (row - names[-1]["top"]) * lane >= FONT + 2):
            names.append({"top": row, "name": name})
    lines = data([{"top": row} for row, name in enumerate(lanes) if name and row])
    marks = alt.Chart(data(names)).mark_text(align="right", baseline="top", dx=-8, dy=3, color=stand_in("muted"))
    return [
        alt.Chart(lines).mark_rule(color=stand_in("axis"), size=1 if lane > 6 else 0.4).encode(y=y),
        marks.encode(x=alt.value(0), y=y, text="name:N"),
    ]


def _panel(panel: Panel, x: alt.X, seconds: float, inner: int, margin: int) -> Chart:
    peaks = [max(step.value for step in track.steps) for track in panel.tracks]
    highest = _stacked_peak(panel) if panel.stacked else max(peaks)
    bounds = [(track, track.bound, own) for track, own in zip(panel.tracks, peaks, strict=True) if track.bound]
    near = [(track, bound) for track, bound, own in bounds if own >= _NEAR * bound]
    peak = max([highest, *(bound for _, bound in near)]) or 1.0
    divisor, unit = scale(panel.unit, peak)
    axis = alt.Axis(title=None, tickCount=3, domain=False, ticks=False, minExtent=margin, maxExtent=margin)
    y = alt.Y("low:Q", axis=axis, scale=alt.Scale(domain=[0, peak / divisor * 1.05], nice=False))
    layers = [_areas(panel, divisor, x, y) if panel.stacked else _lines(panel, divisor, x, y)]
    for track, bound in near:
        line = data([{"low": bound / divisor}])
        colour = "ink" if panel.stacked else track.colour
        layers.append(alt.Chart(line).mark_rule(color=stand_in(colour), strokeDash=[3, 3], size=1.2).encode(y=y))
    layers.append(
        _heading(panel, unit, {track.name for track, _ in near}, x, seconds / inner, margin, narrow=inner < 500)
    )
    return alt.layer(*layers).resolve_scale(color="independent").properties(width=inner, height=_PANEL)


def _each_host(strips: Strips, x: alt.X, pixel: float, inner: int, margin: int) -> Chart:
    """Return a row for each host, darker where it used more. `pixel` is the size of a pixel in units of `x`."""
    rows: list[Row] = [
        {"from": step.start, "to": step.end, "top": place, "bottom": place + 0.9, "share": step.value / strips.peak}
        for place, (_, steps) in enumerate(strips.rows)
        for step in steps
    ]
    count = len(strips.rows)
    y = rows_down("top", count)
    cells = alt.Chart(data(rows)).mark_rect(fill=stand_in(strips.colour))
    names = data([{"middle": place + 0.5, "name": name} for place, (name, _) in enumerate(strips.rows)])
    named = alt.Chart(names).mark_text(align="right", dx=-8, color=stand_in("muted"))
    text = f"{strips.title}, darkest {quantity(strips.peak, strips.unit)}"
    heading = alt.Chart(data([{"from": -margin * pixel, "text": text}])).mark_text(align="left", fontSize=FONT - 0.5)
    layers = [
        cells.encode(x=x, x2="to:Q", y=y, y2="bottom:Q", fillOpacity=alt.FillOpacity("share:Q", scale=None)),
        named.encode(x=alt.value(0), y=rows_down("middle", count), text="name:N"),
        heading.encode(x=x, y=alt.value(-12), text="text:N"),
    ]
    return alt.layer(*layers).properties(width=inner, height=count * _ROW)


def _heading(panel: Panel, unit: str, near: set[str], x: alt.X, pixel: float, margin: int, *, narrow: bool) -> Chart:
    """Return the panel's heading: its title, and each track next to a mark in its colour, with its bound.

    `pixel` is the size of a pixel in units of `x`.
    """
    rows: list[Row] = []
    at = float(-margin)

    def put(text: str, colour: str, gap: float) -> None:
        nonlocal at
        rows.append({"from": at * pixel, "text": text, "colour": colour})
        at += _LETTER * len(text) + gap

    put(f"{panel.title}, {unit}", "ink", 12)
    for track in panel.tracks:
        bound = ""
        if track.bound is not None and not narrow:
            bound = (
                f" ({'dashed: ' if track.name in near else ''}{track.reached_by} {quantity(track.bound, panel.unit)})"
            )
        put("■", track.colour, 6)
        put(f"{track.name}{bound}", "muted", 12)
    marks = alt.Chart(data(rows)).mark_text(align="left", fontSize=FONT - 0.5)
    return marks.encode(x=x, y=alt.value(-12), text="text:N", color=colours(rows))


def _lines(panel: Panel, divisor: float, x: alt.X, y: alt.Y) -> Chart:
    rows = [row for track in panel.tracks for row in _corners(track, divisor)]
    marks = alt.Chart(data(rows)).mark_line(strokeWidth=1.6, strokeJoin="round")
    return marks.encode(x=x, y=y, color=colours(rows), detail="run:N", order="order:Q")


def _areas(panel: Panel, divisor: float, x: alt.X, y: alt.Y) -> Chart:
    """Return areas on top of each other."""
    below: dict[float, float] = {}
    rows: list[Row] = []
    for track in panel.tracks:
        lifted = tuple(Step(step.start, step.end, step.value + below.get(step.start, 0.0)) for step in track.steps)
        tops = _corners(Track(track.name, track.colour, lifted), divisor)
        floors = [below.get(step.start, 0.0) / divisor for step in track.steps for _ in range(2)]
        rows.extend({**top, "high": top["low"], "low": floor} for top, floor in zip(tops, floors, strict=True))
        below.update({step.start: step.value for step in lifted})
    marks = alt.Chart(data(rows)).mark_area(opacity=1)
    return marks.encode(x=x, y=y, y2="high:Q", color=colours(rows), detail="run:N")


def _corners(track: Track, divisor: float) -> list[Row]:
    """Return both ends of every step. `run` differs on the two sides of a gap."""
    rows: list[Row] = []
    run = 0
    for place, step in enumerate(track.steps):
        if place and step.start - track.steps[place - 1].end > 1e-6:
            run += 1
        for end, time in enumerate((step.start, step.end)):
            rows.append(
                {
                    "from": round(time, 3),
                    "low": step.value / divisor,
                    "colour": track.colour,
                    "run": f"{track.name} {run}",
                    "order": 2 * place + end,
                }
            )
    return rows


def _stacked_peak(panel: Panel) -> float:
    sums: dict[float, float] = {}
    for track in panel.tracks:
        for step in track.steps:
            sums[step.start] = sums.get(step.start, 0.0) + step.value
    return max(sums.values())
