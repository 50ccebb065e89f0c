"""howdah site"""

from __future__ import annotations

import json
from pathlib import Path

import click

from howdah.cli.options import json_option


@click.group()
def site() -> None:
    """Check a site file, in which administrators describe their machines so that users need not."""


@site.command()
@click.argument("file", metavar="[FILE]", type=click.Path(), required=False)
@json_option
def check(file: str | None, as_json: bool) -> None:
    """Check a site file for the host where you type this.

    \b
    Example:
      srun -N1 howdah site check /etc/howdah/site.yaml
    """
    from howdah.cluster.allocation.site import check_site
    from howdah.errors import HostProblem, UsageError
    from howdah.host.channel import this_host
    from howdah.spec.site import find_site

    found = find_site(file)
    if found.file is None:
        raise UsageError(
            "there is no site file", hint="It is looked for at HOWDAH_SITE and /etc/howdah/site.yaml; or name one."
        )
    with this_host() as host:
        checks = check_site(found, host)
    wrong = [one for one in checks if one.problem is not None]
    if as_json:
        click.echo(json.dumps({one.what: one.problem for one in checks}, indent=2))
    else:
        click.echo(f"{Path(found.file)} on {host.name}")
        for one in checks:
            if one.problem is None:
                click.echo(f"  ok     {one.what}")
            else:
                click.secho(f"  wrong  {one.what}", fg="red", nl=False)
                click.echo(f": {one.problem}")
    if wrong:
        raise HostProblem(f"{len(wrong)} of {len(checks)} things are not as {found.file} says")
