"""howdah logs"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

from howdah.cli.columns import say
from howdah.cli.options import name_option
from howdah.errors import UsageError
from howdah.model.quantity import format_bytes

if TYPE_CHECKING:
    from howdah.cluster.logs import Log
    from howdah.cluster.state import ClusterDirectory

_ID = re.compile(r"(?:job|application|container(?:_e\d+)?)_(\d+_\d+)(?:_.*)?")


@click.command()
@name_option
@click.argument("what", required=False, metavar="[DAEMON|JOB|CONTAINER]")
@click.option("-n", "--lines", metavar="N", default=50, show_default=True, type=click.IntRange(1), help="Last lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on with new lines, until Ctrl-C.")
def logs(name: str, what: str | None, lines: int, follow: bool) -> None:
    """Show the end of a log, or list the logs: of daemons, or of the containers of a job.

    Logs of daemons stay after the cluster is down. Every run keeps the logs of its own containers.

    \b
    Examples:
      howdah logs
      howdah logs datanode-node2 -f
      howdah logs job_1795174471348_0002
      howdah logs container_1795174471348_0002_01_000002
    """
    from howdah.cluster.logs import logs_of
    from howdah.cluster.state import cluster_directory

    directory = cluster_directory(name)
    match = None if what is None else _ID.fullmatch(what)
    if what is not None and match is not None:
        _of_containers(directory, what, f"application_{match[1]}", lines, follow=follow)
        return
    found = logs_of(directory)
    if not found:
        raise UsageError(f"cluster {name!r} has no logs in {directory.logs}")
    if what is None:
        for one, log in found.items():
            click.echo(f"{one:24} {log.place}")
        return
    if what not in found:
        raise UsageError(f"no log called {what!r}", hint=f"There are: {', '.join(found)}.")
    _show(found[what], lines, follow=follow)


def _of_containers(directory: ClusterDirectory, what: str, application: str, lines: int, *, follow: bool) -> None:
    """List the logs of an application's containers, or show those of one container."""
    from howdah.cluster.logs import container_logs

    found = container_logs(directory, application)
    if not found:
        raise UsageError(
            f"no node has logs of {what}", hint="`howdah show RUN` names the directory of a run, which has its logs."
        )
    if not what.startswith("container_"):
        for one in found:
            say(f"{one.container}  {one.node}  {one.file} {format_bytes(one.size)}")
        return
    own = [one for one in found if one.container == what and one.size]
    if follow and len(own) != 1:
        files = ", ".join(one.file for one in own) or "none"
        raise UsageError(f"{what} has several logs or none ({files}): only one can be followed")
    for one in own:
        click.secho(f"{one.file} of {one.container} on {one.node or 'a node that is gone'}", bold=True)
        _show(one.log, lines, follow=follow)


def _show(log: Log, lines: int, *, follow: bool) -> None:
    if not follow:
        for line in log.read().splitlines()[-lines:]:
            click.echo(line)
        return
    first = True
    for text in log.follow():
        click.echo("".join(text.splitlines(keepends=True)[-lines:]) if first else text, nl=False)
        sys.stdout.flush()
        first = False
