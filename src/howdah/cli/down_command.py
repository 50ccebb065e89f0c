"""howdah down"""

from __future__ import annotations

import time

import click

from howdah.cli.options import name_option


@click.command()
@name_option
@click.option("--all", "every", is_flag=True, help="Every cluster of this user on this machine.")
def down(name: str, every: bool) -> None:
    """End a cluster and remove its data; the logs stay. Nothing is left running when this returns."""
    from howdah.cluster.client import Ended, take_down
    from howdah.cluster.state import cluster_directory, known_clusters

    names = [one.name for one in known_clusters() if one.is_held()] if every else [name]
    if not names:
        click.echo("No cluster is up.")
    for one in names:
        began = time.monotonic()
        found = take_down(one)
        if found is Ended.UP:
            logs = cluster_directory(one).logs
            click.echo(f"Cluster {one} is down after {time.monotonic() - began:.1f} s. Its logs: {logs}")
        elif found is Ended.LEFTOVERS:
            click.echo(f"Cluster {one} was not up; what it had left on the disk is removed.")
        else:
            click.echo(f"No cluster called {one} is up.")
