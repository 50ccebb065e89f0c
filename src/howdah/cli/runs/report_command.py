"""howdah report"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from howdah.cli.options import json_option, open_in_browser, runs_option
from howdah.cli.runs.value_options import check_alone, value_options, valued


@click.command()
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    default="report.html",
    show_default=True,
    help="The page: .html, .md or .json",
)
@runs_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["page", "hibench", "methods"]),
    default="page",
    show_default=True,
    help="On standard output: hibench, lines of HiBench's hibench.report; methods, a paragraph for a paper.",
)
@value_options(demanded=False)
@click.option("--open", "opened", is_flag=True, help="Open the page in a browser.")
@click.option("--force", is_flag=True, help="Replace a file that is no page of Howdah.")
@json_option
def report(
    runs: tuple[str, ...],
    output: str,
    root: str | None,
    form: str,
    opened: bool,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Make a report of RUNS: ids, starts of ids, paths, 'latest', or KEY=VALUE for all runs with that label or setting.

    It reads run directories only. With --prices, the report also has their cost.

    \b
    Examples:
      howdah report latest -o report.html --open
      howdah report heap=1g -o heap.html
      howdah report latest --format methods
    """
    from howdah.cli.reporting import load_sides, write_page

    check_alone(options)
    if opened and (as_json or form != "page" or Path(output).suffix != ".html"):
        raise click.UsageError("--open is for a page that ends in .html")
    if form != "page":
        given = click.get_current_context().get_parameter_source("output")
        if as_json or given is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--format {form} writes text on standard output: neither --json nor -o.")
        from howdah.report import methods, render_hibench

        made = {"hibench": render_hibench, "methods": methods}[form]
        click.echo(made(load_sides(runs, root)), nl=False)
        return
    from howdah.report import build_report, render_json
    from howdah.report.document.results import group

    found = load_sides(runs, root)
    page = build_report(found)
    if options["prices"] is not None:
        from howdah.report.value.section import with_value

        trials = group(found)
        names = [f"trial {number}" for number in range(1, len(trials) + 1)] if len(trials) > 1 else ["these runs"]
        page = with_value(page, valued([(name, one.runs) for name, one in zip(names, trials, strict=True)], options))
    if as_json:
        click.echo(render_json(page), nl=False)
        return
    written = write_page(page, Path(output), force=force)
    click.echo(f"Report: {written}")
    if opened and not open_in_browser(written.absolute().as_uri()):
        click.echo("There is no display to open it on.", err=True)
