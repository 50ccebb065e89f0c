"""A report as blocks, before it becomes HTML, Markdown, text or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from howdah.model.comparison import Verdict
from howdah.model.run import Caveat
from howdah.report.document.drawing import Drawing


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph. `small` is for explanations that the result does not need."""

    text: str
    small: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A command for the reader to copy."""

    text: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. Numbers are aligned to the right."""

    name: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text, one cell per column."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Legend:
    """One line of a figure's legend: a colour of `theme.COLOURS` and its meaning."""

    colour: str
    name: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing. `alternative` describes it in words, for readers who do not see it; `note` stands below it."""

    id: str
    title: str
    alternative: str
    keys: tuple[Legend, ...]
    drawing: Drawing
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that the reader can unfold."""

    summary: str
    blocks: tuple[Block, ...]


Block = Text | Code | Caveat | Table | Figure | Fold


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a title. `id` is unique in the report."""

    id: str
    title: str
    blocks: tuple[Block, ...]


Kind = Literal["good", "bad", "differs", "same", "unsure", "simulated"]
"""The meaning of a badge. Each kind has a colour and a sign."""


KINDS: Mapping[Verdict, Kind] = {
    "faster": "good",
    "slower": "bad",
    "different": "differs",
    "no difference shown": "same",
    "not enough data": "unsure",
    "not comparable": "unsure",
}


@dataclass(frozen=True, slots=True)
class Badge:
    """The verdict in one or two words."""

    kind: Kind
    word: str

    @property
    def sign(self) -> str:
        """The sign that repeats the meaning of the colour."""
        return {"good": "✓", "bad": "✕", "differs": "≠", "same": "=", "unsure": "?", "simulated": "▨"}[self.kind]


@dataclass(frozen=True, slots=True)
class Tile:
    """One number of the answer: its name, its value, and a note for the reader."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Glance:
    """The top of a report: the verdict, at most four numbers, and the number of caveats."""

    badge: Badge
    tiles: tuple[Tile, ...]
    caveats: int


@dataclass(frozen=True, slots=True)
class Report:
    """A document built from run directories.

    `headline` is the result in words, `glance` the top of the page. `facts` are the same as JSON values.
    """

    title: str
    headline: str
    glance: Glance
    sections: tuple[Section, ...]
    facts: Mapping[str, Any]


def columns(*names: str) -> tuple[Column, ...]:
    """Return columns by name; those whose name starts with `#` hold numbers."""
    return tuple(Column(name.removeprefix("#"), name.startswith("#")) for name in names)
