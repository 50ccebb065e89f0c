"""Figures: valid Vega-Lite, one SVG for light and dark, names for those who do not see them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from howdah.model.comparison import Interval
from howdah.report import build_comparison, build_report
from howdah.report.document.blocks import Figure, Report
from howdah.report.document.drawing import (
    Arm,
    Arms,
    Bars,
    Dot,
    DotGroup,
    Dots,
    Drawing,
    Order,
    Ratio,
    Ratios,
    Timeline,
    Turn,
)
from howdah.report.document.theme import COLOURS, STAND_INS, css_variables, stand_in
from howdah.report.figures.picture import WIDTHS, chart, picture
from howdah.report.figures.svg import fit
from howdah.store import StoredRun


def figures(report: Report) -> Iterator[Figure]:
    return (block for part in report.sections for block in part.blocks if isinstance(block, Figure))


@pytest.fixture(scope="module")
def drawn(group: list[StoredRun], faster: list[StoredRun]) -> list[Figure]:
    return [*figures(build_report(group)), *figures(build_comparison(group, faster))]


def test_every_kind_of_drawing_is_in_the_examples(drawn: list[Figure]) -> None:
    assert {type(figure.drawing) for figure in drawn} == {Dots, Bars, Timeline, Ratios}


@pytest.mark.parametrize("size", WIDTHS)
def test_every_chart_is_valid_vega_lite(drawn: list[Figure], size: str) -> None:
    for figure in drawn:
        chart(figure.drawing, WIDTHS[size]).to_dict(validate=True)


@pytest.mark.parametrize("size", WIDTHS)
def test_every_picture_has_the_asked_width_a_name_and_no_colour_of_its_own(drawn: list[Figure], size: str) -> None:
    for figure in drawn:
        svg = picture(figure, size)
        root = ElementTree.fromstring(svg)
        width = float(root.attrib["viewBox"].split()[2])
        assert WIDTHS[size] - 40 <= width <= WIDTHS[size] + 12, figure.id
        assert root.attrib["role"] == "img"
        assert figure.alternative in root.attrib["aria-label"]
        assert not re.search(r'(?:fill|stroke)="(?!none|transparent)', svg), figure.id
        assert set(re.findall(r'[" ][fs]-([a-z]+)', svg)) <= COLOURS.keys()


def test_marks_have_titles_and_scaffolding_has_none(drawn: list[Figure]) -> None:
    for figure in drawn:
        root = ElementTree.fromstring(picture(figure, "wide"))
        titles = [element.text or "" for element in root.iter("title")]
        assert titles, figure.id
        assert not any(re.match(r"(from|low|row|text):", title) for title in titles)


def test_the_charts_of_a_timeline_share_their_axis_of_time(drawn: list[Figure]) -> None:
    drawing = next(figure.drawing for figure in drawn if isinstance(figure.drawing, Timeline))
    parts = chart(drawing, 960).to_dict()["vconcat"]
    assert len(parts) == 4
    assert {part["width"] for part in parts} == {parts[0]["width"]}
    domains = {tuple(part["layer"][0]["encoding"]["x"]["scale"]["domain"]) for part in parts}
    assert domains == {(0, drawing.seconds)}


ONE = DotGroup("a", "baseline", (Dot(3.0, "a: 3 s"),), 3.0, None)
ROW = Ratio("x", 1.0, None, "x: 1", "contender")


@pytest.mark.parametrize(
    "drawing",
    [
        Dots("job_seconds", "s", (ONE,)),
        Dots("job_seconds", "s", (DotGroup("a", "baseline", (Dot(3.0, "r"),) * 100, 3.0, Interval(3.0, 3.0)),)),
        Arms("job_seconds", "s", (Arm("a", "baseline", (3.0,), 3.0, None, "a: 3 s"),)),
        Arms("job_seconds", "s", (Arm("a", "contender", (3.0, 4.0), 3.5, Interval(2.0, 5.0), "a: 3.5 s"),)),
        Ratios("÷ baseline", (ROW,)),
        Order("÷ mean", (Turn(1, 0.9, "baseline", False, "1"), Turn(2, 1.3, "contender", True, "2")), (0.9, 1.1)),
        Timeline(5.0, (), (), ()),
    ],
)
def test_the_least_there_can_be_to_draw(drawing: Drawing) -> None:
    svg = picture(Figure("f", "F", "Least.", (), drawing), "narrow")
    assert ElementTree.fromstring(svg).attrib["aria-label"] == "F. Least."


@pytest.mark.promise("The arms of an experiment have bars with intervals", "CHANGELOG")
def test_a_bar_for_each_arm_reaches_its_mean_and_every_run_has_a_tick() -> None:
    arms = (
        Arm("a", "baseline", (3.0, 4.0), 3.5, Interval(2.0, 5.0), "a"),
        Arm("b", "contender", (9.0,), 9.0, None, "b"),
    )
    drawn = chart(Arms("job_seconds", "s", arms), 960).to_dict()
    bars, ticks, spans, *_ = (
        drawn["datasets"][layer["data"]["name"]] if "datasets" in drawn else layer["data"]["values"]
        for layer in drawn["layer"]
    )
    assert [(row["mean"], row["name"]) for row in bars] == [(3.5, "a: 3.50 s"), (9.0, "b: 9 s")]
    assert [(row["row"], row["value"]) for row in ticks] == [(0, 3.0), (0, 4.0), (1, 9.0)]
    assert [(row["low"], row["high"]) for row in spans] == [(2.0, 5.0), (9.0, 9.0)]
    domains = {tuple(layer["encoding"]["x"]["scale"]["domain"]) for layer in drawn["layer"][:3]}
    assert domains == {(0, 1.04 * 9.0)}, "from 0, and the same for all"


def test_ids_get_a_prefix_and_so_do_references() -> None:
    path = f'<path d="M0,0h1" fill="{stand_in("map")}"/>'
    clip = '<defs><clipPath id="c0"><rect width="1"/></clipPath></defs>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{clip}<g clip-path="url(#c0)">{path}</g></svg>'
    out = fit(svg, prefix="one-", label='a "b" <c>')
    assert 'id="one-c0"' in out
    assert 'clip-path="url(#one-c0)"' in out
    assert 'class="f-map"' in out
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in out


def test_every_colour_has_a_light_and_a_dark_value_and_a_stand_in_of_its_own() -> None:
    assert len(STAND_INS) == len(COLOURS)
    css = css_variables()
    for name, (light, dark) in COLOURS.items():
        assert f"--{name}:{light};" in css
        assert f"--{name}:{dark};" in css
        assert f".f-{name}{{fill:var(--{name})}}" in css


def _luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("name", "least"), [("ink", 7), ("muted", 4.5), ("map", 3), ("reduce", 3), ("lost", 3)])
def test_contrast_with_the_page(name: str, least: float, side: int) -> None:
    """WCAG 2.2: 4.5 for text, 3 for parts of figures."""
    light, dark = sorted((_luminance(COLOURS[name][side]), _luminance(COLOURS["paper"][side])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= least
