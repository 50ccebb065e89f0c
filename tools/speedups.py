"""The picture of the README: the speedups of jobs with Howdah, with intervals, from docs/performance.md.

.venv/bin/python -m tools.speedups    writes docs/images/speedups-light.svg and speedups-dark.svg
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE, IMAGES = ROOT / "docs" / "performance.md", ROOT / "docs" / "images"
WIDTH, ROW = 720, 40
INKS = {"light": ("#1c2024", "#5c656e", "#0072b2"), "dark": ("#e6e8ea", "#9aa4ae", "#4fa8e0")}
"""Ink, muted ink and bars, as in reports (`report/document/theme.py`)."""

ROWS = {
    "TeraSort 10 GB, one node": "TeraSort 10 GB: sort and shuffle, against tuned Hadoop",
    "the same on three nodes, over HTTP": "the same on three nodes",
    "the same on `posixfs:`, with Howdah's sort and shuffle": "the same on a mounted file system, against HDFS",
    "WordCount 2 GB with its combiner": "WordCount 2 GB: sort and shuffle, against tuned Hadoop",
    "the tuned defaults, TeraSort 2 GB": "TeraSort 2 GB: tuned defaults, against stock Hadoop",
}
"""Rows of the page's table, and their names in the picture."""

_FIGURE = re.compile(r"([\d.]+)(?: times faster)? \(([\d.]+)–([\d.]+)\)")


@dataclass(frozen=True, slots=True)
class Speedup:
    """A speedup, as a factor with a 95 % interval."""

    name: str
    times: float
    low: float
    high: float


def speedups(page: str) -> list[Speedup]:
    """Return the figures of `ROWS` in the table of the page. Raises ValueError if one is missing, or is no speedup."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:1] == "|"]
    table = {row[0]: row[2] for row in cells if len(row) == 4}
    found = []
    for row, name in ROWS.items():
        figure = _FIGURE.fullmatch(table.get(row, ""))
        if figure is None:
            raise ValueError(f"{PAGE.name} has no speed-up in its row {row!r}")
        found.append(Speedup(name, *map(float, figure.groups())))
    return found


def picture(found: Sequence[Speedup], ink: str, muted: str, colour: str) -> str:
    """Return a bar for each speedup from 0, a line at 1, which is equal speed, and the interval; as SVG."""
    import altair as alt
    import vl_convert

    rows = [{"row": place, "zero": 0, "label": f"{one.times:.1f}×", **asdict(one)} for place, one in enumerate(found)]
    scale = alt.Scale(domain=[0, 1.1 * max(one.high for one in found)], nice=False)
    title = "times as fast (line: 95 % interval)"
    axis = alt.Axis(title=title, grid=False, ticks=False, domain=False, values=[0, 1, 2, 3])
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[-0.5, len(rows) - 0.5], reverse=True, nice=False))
    base = alt.Chart(alt.InlineData(values=rows))

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    names = base.mark_text(align="left", baseline="bottom", dy=-3, color=ink, fontSize=13)
    labels = base.mark_text(align="left", dx=6, dy=8, color=ink, fontSize=13, fontWeight=600)
    one = alt.Chart(alt.InlineData(values=[{"zero": 1}])).mark_rule(color=muted, strokeDash=[4, 3])
    chart = alt.layer(
        base.mark_bar(height=14, yOffset=8, color=colour, opacity=0.8).encode(x=across("zero"), x2="times:Q", y=y),
        base.mark_rule(size=2, yOffset=8, color=ink).encode(x=across("low"), x2="high:Q", y=y),
        names.encode(x=alt.value(0), y=y, text="name:N"),
        labels.encode(x=across("high"), y=y, text="label:N"),
        one.encode(x=across("zero")),
    ).properties(width=WIDTH, height=ROW * len(rows))
    specification = chart.to_dict()
    looks = {"labelColor": muted, "titleColor": muted, "titleFontWeight": "normal", "labelFontSize": 12}
    specification |= {
        "background": "transparent",
        "config": {"axis": {**looks, "titleFontSize": 12}, "view": {"stroke": None}, "font": "sans-serif"},
    }
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    return str(vl_convert.vegalite_to_svg(specification, vl_version=version)) + "\n"


def pictures() -> dict[Path, str]:
    """Return the files and their contents."""
    found = speedups(PAGE.read_text(encoding="utf-8"))
    return {IMAGES / f"speedups-{name}.svg": picture(found, *inks) for name, inks in INKS.items()}


if __name__ == "__main__":
    for file, content in pictures().items():
        file.write_text(content, encoding="utf-8")
