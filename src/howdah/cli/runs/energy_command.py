"""howdah energy"""

from __future__ import annotations

from pathlib import Path

import click

from howdah.cli.options import json_option, runs_option
from howdah.errors import UsageError


@click.command()
@click.argument("run", default="latest")
@click.option("--meters", metavar="FILE", type=click.Path(), help="Add what these have of the time of the run.")
@runs_option
@json_option
def energy(run: str, meters: str | None, root: str | None, as_json: bool) -> None:
    """Show the energy of a run, how sure it is, and by which meters.

    RUN is an id, the start of one, a path, or 'latest'. With --meters, readings of a monitoring system or a CSV file
    are added first, for the time of the run. Meters that know only the present are for `howdah run --meters`.

    \b
    Examples:
      howdah energy
      howdah energy 20261129 --meters pdu.yaml
    """
    from howdah.cli.reporting import load_runs, width
    from howdah.report.page.energy import energy_report
    from howdah.report.render.json import render_json
    from howdah.report.render.text import render_text

    found = load_runs([run], root)[0]
    if meters is not None:
        from howdah.engine.energy.later import add_energy
        from howdah.spec.meters import read_meters

        add_energy(found.path, read_meters(Path(meters)))
        found = load_runs([str(found.path)], root)[0]
    report = energy_report(found)
    if report is None:
        raise UsageError(
            f"nothing measured the power of {found.run.id}",
            hint="`howdah run --meters` measures it; `howdah energy --meters FILE` adds what others have measured.",
        )
    click.echo(render_json(report) if as_json else render_text(report, width()))
