"""howdah show"""

from __future__ import annotations

import click

from howdah.cli.options import json_option, runs_option


@click.command()
@click.argument("run", default="latest")
@runs_option
@json_option
def show(run: str, root: str | None, as_json: bool) -> None:
    """Show one run: RUN is an id, the start of one, a path, or 'latest'.

    \b
    Examples:
      howdah show latest
      howdah show 20261130-0213 --json
    """
    from howdah.cli.reporting import load_runs, width
    from howdah.report.page.describe import describe_run
    from howdah.report.render.json import render_json
    from howdah.report.render.text import render_text

    found = load_runs([run], root)[0]
    description = describe_run(found)
    if as_json:
        click.echo(render_json(description))
        return
    click.echo(render_text(description, width()))
    page = found.path / "report.html"
    click.echo(f"Report: {page}" if page.exists() else f"Next:   howdah report {found.run.id}")
