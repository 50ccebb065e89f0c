"""howdah down"""

from __future__ import annotations

import time

import click

from howdah.cli.columns import say
from howdah.cli.options import name_option
from howdah.errors import HowdahError, UsageError


@click.command()
@name_option
@click.option("--all", "every", is_flag=True, help="Every cluster of this user on this machine.")
@click.option(
    "--forget", "forgotten", is_flag=True, help="Forget a cluster whose host is gone, whatever it left there."
)
def down(name: str, every: bool, forgotten: bool) -> None:
    """Shut down a cluster and remove its data. The logs stay. Nothing is left running when this returns.

    \b
    Examples:
      howdah down
      howdah down --all
    """
    from howdah.cluster.state import known_clusters
    from howdah.cluster.supervision.client import forget

    if every and forgotten:
        raise UsageError("--all and --forget do not go together", hint="Forget one by one, with --name.")
    if forgotten:
        found = forget(name)
        say(f"Cluster {name} is forgotten." if found else f"No cluster called {name} is up.")
        return
    names = [name]
    if every:
        up = {one.name: one.elsewhere() for one in known_clusters() if one.is_held()}
        names = [one for one, host in up.items() if host is None]
        for one, host in up.items():
            if host is not None:
                click.echo(f"Cluster {one} is of {host} and stays up there.")
    if not names:
        click.echo("No cluster is up.")
    problems = []
    for each in names:
        try:
            _end(each)
        except HowdahError as problem:  # The others are to be ended all the same.
            problems.append(problem)
    for other in problems[1:]:
        click.secho(f"howdah: {other.message}", fg="red", err=True)
    if problems:
        raise problems[0]


def _end(name: str) -> None:
    from howdah.cluster.state import cluster_directory
    from howdah.cluster.supervision.client import Ended, take_down

    began = time.monotonic()
    directory = cluster_directory(name)
    manifest = directory.read() if directory.is_held() and directory.elsewhere() is None else None
    if manifest is not None and manifest.state == "up" and manifest.taken is not None:
        click.echo(f"The hosts are taken away ({manifest.taken}): the cluster ends once its results are copied.")
    found = take_down(name)
    if found is Ended.UP:
        logs = directory.logs
        say(f"Cluster {name} is down after {time.monotonic() - began:.1f} s. Its logs: {logs}")
    elif found is Ended.LEFTOVERS:
        say(f"Cluster {name} was not up; what it had left on the disk is removed.")
    else:
        click.echo(f"No cluster called {name} is up.")
