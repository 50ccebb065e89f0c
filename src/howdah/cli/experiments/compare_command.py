"""howdah compare"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from howdah.cli.options import json_option
from howdah.cli.runs.value_options import check_alone, value_options, valued


@click.command()
@click.argument("baseline")
@click.argument("contender")
@click.option("--metric", metavar="PHASE/METRIC", help="What is compared. [the workload's primary metric]")
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write a page too: .html, .md or .json")
@click.option("--out", "root", type=click.Path(), metavar="DIR", help="Where the run directories are. [~/.howdah/runs]")
@value_options(demanded=False)
@click.option("-v", "--verbose", is_flag=True, help="Everything that the page has.")
@click.option("--fail-if", metavar="RULE", help="Exit with 1 if this is shown: 'slower > 5%', faster, different.")
@json_option
def compare(
    baseline: str,
    contender: str,
    metric: str | None,
    output: str | None,
    root: str | None,
    verbose: bool,
    fail_if: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compare runs: effect, 95 % interval, verdict.

    BASELINE and CONTENDER are each one or several runs separated by commas (ids, starts of ids, paths), or KEY=VALUE
    for all runs with that label. `howdah ab` makes the runs of both, in turn. With --prices, -v and pages also say what
    both cost.

    \b
    Examples:  howdah compare heap=default heap=small
               howdah compare heap=default heap=small -o page.html --fail-if 'slower > 5%'
    """
    from howdah.cli.experiments.comparison_table import check_fails, print_comparison
    from howdah.cli.reporting import load_side, side_name, width, write_page
    from howdah.report import build_comparison, render_json, render_text

    names = side_name(baseline, "baseline"), side_name(contender, "contender")
    check_alone(options)
    sides = load_side(baseline, root), load_side(contender, root)
    found = build_comparison(*sides, metric, names)
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
        print_comparison(found, width())
        click.echo(f"\nMore: -v{'' if output is None else f', or {output}'}")
    if fail_if is not None:
        check_fails(found, fail_if)
