"""A report as plain text for a terminal or a log."""

from __future__ import annotations

import textwrap

from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Code, Figure, Report, Table, Text

WIDTH = 100


def render_text(report: Report) -> str:
    """Headline, then every section; figures as the sentence that stands for them, tables in columns."""
    parts = [_wrapped(report.headline)]
    for section in report.sections:
        parts.append(section.title.upper())
        parts.extend(_block(block) for block in section.blocks)
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return _wrapped(block.text)
    if isinstance(block, Code):
        return f"    {block.text}"
    if isinstance(block, Caveat):
        about = "" if block.about == "run" else f" ({block.about})"
        return _wrapped(f"Caveat{about}: {block.text}", "  ! ")
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return _wrapped(f"{block.title}: {block.alternative}")
    return "\n\n".join(_block(inner) for inner in block.blocks)


def _wrapped(text: str, first: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first), break_long_words=False)


def _table(table: Table) -> str:
    rows = [tuple(column.name for column in table.columns), *table.rows]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.columns))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column.number else cell.ljust(width)
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join([table.caption, *(line for line in lines if line)])
