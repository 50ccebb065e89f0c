"""A report as Markdown, for reviews and issues. It has the same facts as the page; figures become sentences."""

from __future__ import annotations

from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Code, Figure, Report, Table, Text

MARK = "<!-- A page of Howdah. -->"
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>|#"})


def render_markdown(report: Report) -> str:
    """Return CommonMark with GitHub's tables; folds are `<details>`."""
    badge = report.glance.badge
    tiles = (f"{_escaped(tile.name)} **{_escaped(tile.value)}**" for tile in report.glance.tiles)
    parts = [
        f"# {_escaped(report.title)}",
        f"**{_escaped(report.headline)}**",
        " · ".join((_escaped(f"{badge.sign} {badge.word}"), *tiles)),
    ]
    for section in report.sections:
        parts.append(f"## {_escaped(section.title)}")
        parts.extend(_block(block) for block in section.blocks)
    return "\n\n".join((*parts, MARK)) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return _escaped(block.text)
    if isinstance(block, Code):
        return f"```sh\n{block.text}\n```"
    if isinstance(block, Caveat):
        about = "" if block.about == "run" else f" ({_escaped(block.about)})"
        return f"> **Caveat**{about}: {_escaped(block.text)}"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return f"**{_escaped(block.title)}.** {_escaped(block.alternative)}"
    inner = "\n\n".join(_block(part) for part in block.blocks)
    return f"<details><summary>{_escaped(block.summary)}</summary>\n\n{inner}\n\n</details>"


def _table(table: Table) -> str:
    lines = [
        "| " + " | ".join(_cell(column.name) for column in table.columns) + " |",
        "|" + "|".join("---:" if column.number else "---" for column in table.columns) + "|",
        *("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows),
    ]
    return f"{_escaped(table.caption)}:\n\n" + "\n".join(lines)


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split())) or " "


def _escaped(text: str) -> str:
    return text.translate(_SPECIAL)
