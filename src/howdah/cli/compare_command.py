"""howdah compare"""

from __future__ import annotations

from pathlib import Path

import click

from howdah.cli.options import json_option


@click.command()
@click.argument("baseline")
@click.argument("contender")
@click.option("--metric", default=None, help="phase/metric; the workload's primary metric if not given.")
@click.option("-o", "--output", type=click.Path(), default=None, help="Write a page too: .html or .md")
@click.option("--out", "root", type=click.Path(), default=None, help="Where the run directories are. [~/.howdah/runs]")
@json_option
def compare(
    baseline: str, contender: str, metric: str | None, output: str | None, root: str | None, as_json: bool
) -> None:
    """Compare runs: effect, 95 % interval, verdict.

    BASELINE and CONTENDER are each one or several runs separated by commas (ids, starts of ids, paths), or KEY=VALUE
    for all runs with that label.
    """
    from howdah.cli.reporting import load_side, width, write_page
    from howdah.report import build_comparison, render_json, render_text

    found = build_comparison(load_side(baseline, root), load_side(contender, root), metric)
    if output is not None:
        write_page(found, Path(output))
    click.echo(render_json(found) if as_json else render_text(found, width()))
