"""A report as one page: no script, no address outside of the page, light and dark, screen and paper."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from howdah.report.document.blocks import Figure, Report
from howdah.report.document.theme import css_variables
from howdah.report.figures.picture import WIDTHS, picture

_CARDS = 60
"""The number of rows up to which a table is a list of cards on a phone. Every cell repeats its column's name."""
_UNIT = re.compile(r"(?<=[\d+]) (?=(?:s|ms|min|h|cores|runs?|nodes?|[kMGTP]?B(?:/s)?)\b|%|\+ \d|\d)")
_INTERVAL = re.compile(r"(?<=\d)–(?=\d)")


def render_html(report: Report) -> str:
    """Return the whole page. The same report gives the same bytes."""
    template = _environment().get_template("report.html.j2")
    style = Markup(css_variables() + _template("report.css"))  # noqa: S704 (both are files of this package)
    return template.render(report=report, style=style, own=_Own())


class _Own:
    """A function that makes the names of regions unique, so that people who hear a page can distinguish them.

    Several trials have the same tables.
    """

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def __call__(self, name: str) -> str:
        self._seen[name] += 1
        return name if self._seen[name] == 1 else f"{name}, {self._seen[name]}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["of_kind"] = lambda block, name: type(block).__name__ == name
    environment.filters["unbroken"] = _unbroken
    environment.globals["pictures"] = _pictures
    environment.globals["most_cards"] = _CARDS
    return environment


def _unbroken(text: str) -> str:
    """Return `text` without line breaks between a number and its unit, or inside an interval."""
    return _INTERVAL.sub("\u2060–\u2060", _UNIT.sub("\u00a0", text))


def _template(name: str) -> str:
    return (resources.files("howdah.report.render") / "templates" / name).read_text(encoding="utf-8")


def _pictures(figure: Figure) -> dict[str, Markup]:
    # ElementTree wrote the SVG, and escaped every text and attribute in it.
    return {size: Markup(picture(figure, size)) for size in WIDTHS}  # noqa: S704
