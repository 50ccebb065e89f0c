"""Rows as columns, and sentences as lines, that fit the terminal."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import click

_GAP = "  "


def in_columns(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int, right: Collection[int] = ()
) -> Iterator[str]:
    """Yield a line of heads and one line per row. The columns `right` have numbers.

    The last column is cut with an ellipsis if the line would be longer than `width`.
    """
    widest = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads) - 1)]
    left = width - sum(widest) - len(_GAP) * len(widest)
    for row in (heads, *rows):
        cells = [
            cell.rjust(size) if at in right else cell.ljust(size)
            for at, (cell, size) in enumerate(zip(row[:-1], widest, strict=True))
        ]
        last = row[-1] if len(row[-1]) <= left else row[-1][: max(left - 1, 0)] + "…"
        yield _GAP.join((*cells, last)).rstrip()


def print_columns(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int, right: Collection[int] = ()) -> None:
    """Print the columns, with dimmed heads."""
    first, *others = in_columns(heads, rows, width, right)
    click.secho(first, dim=True)
    for line in others:
        click.echo(line)


def say(text: str, *, err: bool = False, hang: int = 0, **style: Any) -> None:
    """Print sentences, with click's `style`. In a terminal, no line breaks in the middle of a word; what follows is
    indented by `hang` columns more."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        columns = os.get_terminal_size(stream.fileno()).columns
        text = "\n".join(_filled(line, columns, hang) for line in text.split("\n"))
    click.secho(text, err=err, **style)


def _filled(line: str, columns: int, hang: int) -> str:
    """Return a line in as many as it needs, all indented as it is. Words that are longer than a line stay whole."""
    if len(line) <= columns:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(),
        columns,
        initial_indent=indent,
        subsequent_indent=indent + " " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
