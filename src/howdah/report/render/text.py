"""A report as plain text for a terminal or a log."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace

from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Code, Figure, Report, Table, Text

WIDTH = 100
_GAP = "  "


def render_text(report: Report, width: int = WIDTH) -> str:
    """Return the headline, then every section; figures become sentences, and tables become columns.

    Lines are no longer than `width`, except commands and single words.
    """
    parts = [wrapped(report.headline, width)]
    for section in report.sections:
        parts.append(section.title.upper())
        parts.extend(_block(block, width, section.title) for block in section.blocks)
    return "\n\n".join(parts) + "\n"


def _block(block: Block, width: int, title: str) -> str:
    if isinstance(block, Text):
        return wrapped(block.text, width)
    if isinstance(block, Code):
        return f"    {block.text}"
    if isinstance(block, Caveat):
        about = "" if block.about == "run" else f" ({block.about})"
        return wrapped(f"Caveat{about}: {block.text}", width, "  ! ")
    if isinstance(block, Table):
        return "\n".join(_table(block, width, title))
    if isinstance(block, Figure):
        return wrapped(f"{block.title}: {block.alternative}", width)
    return "\n\n".join(_block(inner, width, title) for inner in block.blocks)


def wrapped(text: str, width: int, first: str = "") -> str:
    """Return `text` in lines of `width`, after `first`; words are not split."""
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=" " * len(first), break_long_words=False)


def _table(table: Table, width: int, title: str) -> Iterator[str]:
    """Yield the caption, unless it repeats the section's title, and the rows.

    If the rows are too wide, the widest column of words is wrapped. If that is not enough, the columns at the right
    follow below, after a repetition of the columns that identify a row.
    """
    if table.caption != title:
        yield table.caption
    rows = [tuple(column.name for column in table.columns), *table.rows]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.columns))]
    words = [place for place, column in enumerate(table.columns) if not column.number]
    over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    if over > 0 and words:
        widest = max(words, key=lambda place: widths[place])
        longest = max(len(word) for row in rows for word in row[widest].split() or [""])
        widths[widest] = max(widths[widest] - over, longest)
    keys = _keys(table)
    fitting = max(_fitting(widths, width), keys + 1)
    yield from _rows(table, rows, widths[:fitting])
    if fitting < len(widths):
        yield ""
        rest = (*range(keys), *range(fitting, len(widths)))
        columns = tuple(table.columns[place] for place in rest)
        below = replace(table, columns=columns, rows=tuple(tuple(row[place] for place in rest) for row in table.rows))
        yield from _table(below, width, table.caption)


def _keys(table: Table) -> int:
    """Return how many of the first columns tell rows apart; one if all columns do not."""
    counts = range(1, len(table.columns))
    return next((count for count in counts if len({row[:count] for row in table.rows}) == len(table.rows)), 1)


def _fitting(widths: Sequence[int], width: int) -> int:
    """Return how many columns fit."""
    ends = itertools.accumulate(widths, lambda end, size: end + len(_GAP) + size)
    return sum(end <= width for end in ends)


def _rows(table: Table, rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    for row in rows:
        cells = [
            textwrap.wrap(cell, max(size, 1), break_long_words=False) or [""]
            for cell, size in zip(row, widths, strict=False)
        ]
        for line in range(max(map(len, cells))):
            parts = (cell[line] if line < len(cell) else "" for cell in cells)
            shown = (
                part.rjust(size) if column.number else part.ljust(size)
                for part, size, column in zip(parts, widths, table.columns, strict=False)
            )
            if text := _GAP.join(shown).rstrip():
                yield text
