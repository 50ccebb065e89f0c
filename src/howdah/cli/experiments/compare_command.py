"""howdah compare"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howdah.cli.options import json_option, runs_option
from howdah.cli.runs.value_options import check_alone, value_options, valued

if TYPE_CHECKING:
    from howdah.report import Report


@click.command()
@click.argument("baseline")
@click.argument("contenders", nargs=-1, required=True, metavar="CONTENDER...")
@click.option("--metric", metavar="PHASE/METRIC", help="The metric. [default: the workload's primary metric]")
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write a page too: .html, .md, .json or .csv")
@runs_option
@value_options(demanded=False)
@click.option("-v", "--verbose", is_flag=True, help="Everything that the page has.")
@click.option("--fail-if", metavar="RULE", help="Exit with 1 if this is shown: 'slower > 5%', faster, different.")
@json_option
def compare(
    baseline: str,
    contenders: tuple[str, ...],
    metric: str | None,
    output: str | None,
    root: str | None,
    verbose: bool,
    fail_if: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare runs: effect, 95 % interval, verdict.

    BASELINE and each CONTENDER are runs separated by commas (ids, starts of ids, paths), or KEY=VALUE for all runs with
    that label, or else with that setting. Several contenders are each compared with the baseline; their intervals hold
    together. `howdah ab` makes the runs of two settings, in turn. With --prices, pages and -v also show the cost of
    both.

    \b
    Examples:
      howdah compare heap=default heap=small
      howdah compare heap=default heap=small -o page.html --fail-if 'slower > 5%'
      howdah compare heap=1g heap=2g heap=3g heap=4g -o heaps.csv
    """
    from howdah.cli.experiments.comparison_table import check_fails, print_comparison, print_many
    from howdah.cli.reporting import load_side, side_name, width, write_page
    from howdah.report import build_comparison, build_many, render_json, render_text

    several = len(contenders) > 1
    usual = [f"contender {place}" for place in range(1, len(contenders) + 1)] if several else ["contender"]
    names = [side_name(text, name) for text, name in zip((baseline, *contenders), ("baseline", *usual), strict=True)]
    check_alone(options)
    sides = [load_side(text, root) for text in (baseline, *contenders)]
    if several:
        many = build_many(sides[0], sides[1:], names, metric)
        found: Report = many
        show, compared = partial(print_many, many), many.comparisons
    else:
        two = build_comparison(sides[0], sides[1], metric, (names[0], names[1]))
        found, show, compared = two, partial(print_comparison, two), (two,)
    if options["prices"] is not None:
        from howdah.report.value.section import with_value

        found = with_value(found, valued(list(zip(names, sides, strict=True)), options))
    if output is not None:
        write_page(found, Path(output))
    if as_json:
        click.echo(render_json(found), nl=False)
    elif verbose:
        click.echo(render_text(found, width()), nl=False)
    else:
        show(width())
        click.echo(f"\nMore: -v{'' if output is None else f', or {output}'}")
    if fail_if is not None:
        for one in compared:
            check_fails(one, fail_if)
