"""howdah logs"""

from __future__ import annotations

import click

from howdah.cli.options import name_option
from howdah.errors import UsageError


@click.command()
@name_option
@click.argument("daemon", required=False)
@click.option("-n", "--lines", default=50, show_default=True, type=click.IntRange(1), help="How many last lines.")
def logs(name: str, daemon: str | None, lines: int) -> None:
    """Show the end of a daemon's log, or list the logs. Logs stay after the cluster is down.

    \b
    Example:
      howdah logs datanode-node2
    """
    from howdah.cluster.logs import logs_of
    from howdah.cluster.state import cluster_directory

    directory = cluster_directory(name)
    found = logs_of(directory)
    if not found:
        raise UsageError(f"cluster {name!r} has no logs in {directory.logs}")
    if daemon is None:
        for one, log in found.items():
            click.echo(f"{one:24} {log.place}")
        return
    if daemon not in found:
        raise UsageError(f"no log called {daemon!r}", hint=f"There are: {', '.join(found)}.")
    for line in found[daemon].read().splitlines()[-lines:]:
        click.echo(line)
