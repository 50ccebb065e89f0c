"""howdah report"""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from howdah.cli.options import json_option


@click.command()
@click.argument("runs", nargs=-1, required=True)
@click.option("-o", "--output", type=click.Path(), default="report.html", show_default=True, help=".html, .md or .json")
@click.option("--out", "root", type=click.Path(), default=None, help="Where the run directories are. [~/.howdah/runs]")
@click.option(
    "--format",
    "form",
    type=click.Choice(["page", "hibench"]),
    default="page",
    show_default=True,
    help="hibench: lines of HiBench's hibench.report, on standard output.",
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@json_option
def report(runs: tuple[str, ...], output: str, root: str | None, form: str, force: bool, as_json: bool) -> None:
    """Make a report of RUNS: ids, starts of ids, paths, or 'latest'. Reads run directories only."""
    from howdah.cli.reporting import load_runs, write_report

    if form == "hibench":
        given = click.get_current_context().get_parameter_source("output")
        if as_json or given is not ParameterSource.DEFAULT:
            raise click.UsageError("--format hibench writes lines on standard output: neither --json nor -o.")
        from howdah.report import render_hibench

        click.echo(render_hibench(load_runs(runs, root)), nl=False)
        return
    if as_json:
        from howdah.report import build_report, render_json

        click.echo(render_json(build_report(load_runs(runs, root))), nl=False)
        return
    click.echo(f"Report: {write_report(load_runs(runs, root), Path(output), force=force)}")
