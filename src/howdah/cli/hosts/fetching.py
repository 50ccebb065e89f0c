"""Fetch Hadoop with a progress bar, before the first command that needs it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from howdah.cluster.request import ClusterRequest
from howdah.hadoop.distribution.distribution import Distribution, from_home, managed
from howdah.hadoop.distribution.fetch import Progress, fetch
from howdah.host.channel import this_host
from howdah.model.quantity import format_bytes
from howdah.store import howdah_home


def ensure_hadoop(request: ClusterRequest, *, quiet: bool) -> Distribution:
    """Return the distribution of `request`; fetch it if it is managed and not in the cache yet. Raises HowdahError."""
    if request.hadoop_home is not None:
        return from_home(Path(request.hadoop_home))
    return fetch_managed(request.hadoop, offline=request.offline, quiet=quiet)


def fetch_managed(version: str, *, offline: bool, quiet: bool) -> Distribution:
    """Return the managed release `version`, with a progress bar on a terminal and a line at the start otherwise."""
    from howdah.errors import HostProblem

    cache = howdah_home() / "cache"
    try:
        return managed(version, cache)
    except HostProblem:
        pass  # Not there or not whole: fetch says which, and does something about it.
    with this_host() as host:
        if quiet or not sys.stderr.isatty():
            click.echo(f"Fetching Hadoop {version} into {cache}", err=True)
            return fetch(host, version, cache, offline=offline, progress=lambda _: None)
        from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn
        from rich.progress import Progress as Bar

        columns = (f"Hadoop {version}", BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        with Bar(*columns, transient=True) as bar:
            task = bar.add_task("fetch", total=None)

            def show(progress: Progress) -> None:
                bar.update(task, completed=progress.done, total=progress.total)

            distribution = fetch(host, version, cache, offline=offline, progress=show)
        size = sum(jar.stat().st_size for jar in distribution.jars)
        click.echo(f"Hadoop {version} is in {cache} ({len(distribution.jars)} jars, {format_bytes(size)}).", err=True)
        return distribution
