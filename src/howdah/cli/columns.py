"""Rows as columns that fit the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

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
