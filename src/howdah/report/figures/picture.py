"""Draw figures: Altair charts, turned into static SVG.

Every figure is drawn at two widths, and the page shows the one that fits. Charts have the colours of `theme.stand_in`.
"""

from __future__ import annotations

from typing import Any

from howdah.report.document.blocks import Figure
from howdah.report.document.drawing import Arms, Bars, Dots, Drawing, Order, Ratios
from howdah.report.figures.svg import fit

WIDTHS = {"wide": 960, "narrow": 340}
"""Widths in CSS pixels."""


def picture(figure: Figure, size: str) -> str:
    """Return `figure` as SVG for the page, at one of `WIDTHS`."""
    import altair as alt  # late, here and in `charts`: half a second
    import vl_convert
    from altair.utils.schemapi import debug_mode

    from howdah.report.figures.charts import configured

    # Altair's validation of every part takes longer than the drawing; the tests draw every kind of figure with it.
    with debug_mode(False):
        specification = configured(chart(figure.drawing, WIDTHS[size]))
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    svg = vl_convert.vegalite_to_svg(specification, vl_version=version)
    return fit(svg, prefix=f"{figure.id}-{size}-", label=f"{figure.title}. {figure.alternative}")


def chart(drawing: Drawing, width: int) -> Any:
    """Return the Altair chart of a drawing."""
    from howdah.report.figures import charts_order, charts_rows, charts_time

    if isinstance(drawing, Dots):
        return charts_rows.dots(drawing, width)
    if isinstance(drawing, Arms):
        return charts_rows.arms(drawing, width)
    if isinstance(drawing, Bars):
        return charts_rows.bars(drawing, width)
    if isinstance(drawing, Ratios):
        return charts_rows.ratios(drawing, width)
    if isinstance(drawing, Order):
        return charts_order.order(drawing, width)
    return charts_time.timeline(drawing, width)
