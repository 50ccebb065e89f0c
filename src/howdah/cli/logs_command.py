"""howdah logs"""

from __future__ import annotations

from pathlib import Path

import click

from howdah.cli.options import name_option
from howdah.errors import UsageError


@click.command()
@name_option
@click.argument("daemon", required=False)
@click.option("-n", "--lines", default=50, show_default=True, type=click.IntRange(1), help="How many last lines.")
def logs(name: str, daemon: str | None, lines: int) -> None:
    """Show the end of a daemon's log, or list the logs. They stay after the cluster is down.

    \b
    Example:  howdah logs datanode-node2
    """
    from howdah.cluster.state import cluster_directory

    directory = cluster_directory(name).logs
    files = {file.stem: file for file in sorted(directory.glob("*.log"))}
    if not files:
        raise UsageError(f"cluster {name!r} has no logs in {directory}")
    if daemon is None:
        for stem, file in files.items():
            click.echo(f"{stem:24} {file.stat().st_size:>10} B  {file}")
        return
    if daemon not in files:
        raise UsageError(f"no log called {daemon!r}", hint=f"There are: {', '.join(files)}.")
    for line in _last_lines(files[daemon], lines):
        click.echo(line)


def _last_lines(file: Path, count: int) -> list[str]:
    return file.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
