"""A comparison on one screen."""

from __future__ import annotations

import re

import click

from howdah.errors import UsageError, WorkloadFailed
from howdah.model.comparison import Summary
from howdah.model.run import Caveat
from howdah.report import ComparisonReport, ManyReport
from howdah.report.comparison.compare import PROPERTIES
from howdah.report.document.wording import centre, count, interval, percent, quantity
from howdah.report.page.provenance import as_text
from howdah.report.render.text import wrapped

_COLOURS = {"faster": "green", "slower": "red", "different": "yellow"}
_PLOT = 24
"""The minimum number of columns of the plot. A narrower terminal shows no plot."""
_LONG = r"(?<=.{38}).+"
_MOST = 6
"""The maximum number of settings that are listed."""


def print_comparison(found: ComparisonReport, width: int) -> None:
    """Print the verdict with its size, the runs of both sides on one scale, the changed settings and the caveats."""
    colour = _COLOURS.get(found.comparison.verdict)
    click.secho(wrapped(found.headline, width), bold=True, fg=colour)
    click.echo()
    for line in _sides(found, width):
        click.echo(line)
    click.echo()
    for one in found.settings[:_MOST]:
        name = one.path.removeprefix(PROPERTIES)
        click.echo(wrapped(f"Changed  {name}: {as_text(one.left)} → {as_text(one.right)}", width))
    if len(found.settings) > _MOST:
        click.echo(f"         and {count(len(found.settings) - _MOST, 'setting')} more")
    for caveat in found.caveats:
        click.echo(wrapped(caveat.text, width, "!  "))
    for text in found.enough:
        click.echo(wrapped(text, width))


def print_many(found: ManyReport, width: int) -> None:
    """Print a line with the verdict of each contender, then the caveats."""
    click.secho(wrapped(found.headline, width), bold=True)
    click.echo()
    rows = [
        (f"  {re.sub(_LONG, '…', name)}", value, size, span, verdict)
        for name, _, value, size, span, verdict in found.rows
    ]
    sizes = [max(len(row[at]) for row in rows) for at in range(5)]
    for row in rows:
        cells = (row[0].ljust(sizes[0]), *(cell.rjust(size) for cell, size in zip(row[1:4], sizes[1:4], strict=True)))
        click.secho(f"{'  '.join(cells)}  ", nl=False)
        click.secho(row[4], fg=_COLOURS.get(row[4]))
    click.echo()
    click.echo(
        wrapped(f"Measured is {found.comparisons[0].measure}; all intervals together hold in 95 % of cases.", width)
    )
    for block in found.sections[0].blocks:
        if isinstance(block, Caveat):
            click.echo(wrapped(block.text, width, "!  "))


def _sides(found: ComparisonReport, width: int) -> list[str]:
    """Return a line per side (centre, interval, runs on one scale, number of runs), and the scale."""
    comparison, unit = found.comparison, found.metric.unit
    names = [re.sub(_LONG, "…", name) for name in found.names]
    rows = []
    for name, side in zip(names, (comparison.baseline, comparison.contender), strict=True):
        span = interval(side.interval, unit) if side.interval else _range(side, unit)
        rows.append((f"  {name}", quantity(centre(side), unit), span, f"{count(side.n, 'run')}, CV {percent(side.cv)}"))
    sizes = [max(len(row[at]) for row in rows) for at in range(4)]
    room = min(width - sum(sizes) - 8, 60)
    low, high = (edge(value for side in found.values for value in side) for edge in (min, max))
    plots = [_plot(side, low, high, room) for side in found.values] if room >= _PLOT and high > low else ["", ""]
    lines = [
        "  ".join((row[0].ljust(sizes[0]), row[1].rjust(sizes[1]), row[2].ljust(sizes[2]), plot, row[3])).rstrip()
        for row, plot in zip(rows, plots, strict=True)
    ]
    if plots[0]:
        left, right = quantity(low, unit), quantity(high, unit)
        before = sum(sizes[:3]) + 6
        lines.append(" " * before + left + right.rjust(room - len(left)))
    return lines


def _range(side: Summary, unit: str) -> str:
    return f"{quantity(side.minimum, unit)} to {quantity(side.maximum, unit)}"


def _plot(values: tuple[float, ...], low: float, high: float, room: int) -> str:
    """Return a plot with a dot at each place that has a run; the dot of two or more runs is thicker."""
    cells = [0] * room
    for value in values:
        cells[round((value - low) / (high - low) * (room - 1))] += 1
    return "".join("·" if number == 0 else "●" if number == 1 else "◉" for number in cells)


def check_fails(found: ComparisonReport, rule: str) -> None:
    """Raise WorkloadFailed if the verdict is that of `rule` and its size exceeds the percentage in `rule`.

    An example of a rule is `slower > 5%`. Raises UsageError for any other rule.
    """
    match = re.fullmatch(r"\s*(faster|slower|different)\s*(?:>\s*(\d{1,4}(?:\.\d+)?)\s*%\s*)?", rule, re.ASCII)
    if match is None:
        raise UsageError(f"{rule!r} is no rule", hint="Write --fail-if 'slower > 5%', or only slower.")
    size = abs(found.comparison.ratio - 1)
    if found.comparison.verdict == match[1] and size > float(match[2] or 0) / 100:
        rule = f"--fail-if {rule.strip()!r}"
        raise WorkloadFailed(f"{found.names[1]} is {match[1]} by {percent(size)}, which {rule} forbids")
