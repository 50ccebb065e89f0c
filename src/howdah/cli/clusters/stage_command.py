"""howdah stage"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from howdah.cli.options import json_option, name_option

if TYPE_CHECKING:
    from howdah.engine.observer import JobProgress

_PLAIN_SECONDS = 10.0


@click.group()
def stage() -> None:
    """Copy between HDFS and a file system that all hosts see, with many maps. Copies are resumed and verified."""


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    maps = click.option(
        "--maps", metavar="N", type=click.IntRange(1), default=None, help="Maps. [default: one for each task slot]"
    )
    for option in (name_option, maps, json_option):
        command = option(command)
    return command


@stage.command("in")
@click.argument("source", metavar="DIR|FILE", type=click.Path())
@click.argument("target", metavar="HDFS-PATH")
@click.option(
    "--replication", metavar="N", type=click.IntRange(1), default=None, help="Replicas. [default: the cluster's]"
)
@_options
def stage_in(source: str, target: str, replication: int | None, **options: Any) -> None:
    """Copy files that all hosts see into HDFS.

    \b
    Example:
      howdah stage in /lustre/ann/data /data
    """
    from pathlib import Path

    _stage("in", str(Path(source).absolute()), _hdfs(target), replication, **options)


@stage.command("out")
@click.argument("source", metavar="HDFS-PATH")
@click.argument("target", metavar="DIR|FILE", type=click.Path())
@_options
def stage_out(source: str, target: str, **options: Any) -> None:
    """Copy files from HDFS to a file system that all hosts see.

    \b
    Example:
      howdah stage out /results /lustre/ann/results
    """
    from pathlib import Path

    _stage("out", _hdfs(source), str(Path(target).absolute()), None, **options)


def _hdfs(path: str) -> str:
    from howdah.errors import UsageError

    plain = path.removeprefix("hdfs://")
    if not plain.startswith("/") or (plain != path and "//" in path.removeprefix("hdfs:///")):
        raise UsageError(f"{path!r} is no absolute path of HDFS", hint="Write /data, or hdfs:///data.")
    return plain.rstrip("/") or "/"


def _stage(
    way: str, source: str, target: str, replication: int | None, *, name: str, maps: int | None, as_json: bool
) -> None:
    from howdah.cluster.deployment.persistence import formatted
    from howdah.cluster.live.managed import open_managed
    from howdah.cluster.supervision.client import find_cluster, wait_until_taken
    from howdah.cluster.supervision.stageout import LAST
    from howdah.engine.staging.stage import Stage, Wish, claimed
    from howdah.errors import HostsTaken, UsageError
    from howdah.model.quantity import format_bytes

    manifest = find_cluster(name)
    if manifest.taken is not None and LAST not in os.environ:
        # A script that ends now would end its job, and what is copied out of HDFS meanwhile.
        wait_until_taken(name)
        raise HostsTaken(f"the hosts were taken away: {manifest.taken}")
    if not manifest.plan.storages.hdfs:
        raise UsageError(f"the cluster {name!r} has no HDFS")
    cluster = open_managed(manifest)
    with claimed(cluster):
        slots = manifest.sizing["slots"] * len(manifest.plan.nodes)
        persist = manifest.plan.persist
        hdfs = f"{name}, {manifest.started}" if persist is None else f"{persist}, {formatted(persist, cluster.hosts)}"
        one = Stage(cluster, Wish(way, source, target, maps or slots, replication), hdfs)
        with _shown(quiet=as_json) as progress:
            done = one.run(progress)
    if as_json:
        click.echo(json.dumps({**asdict(done), "bytes": done.bytes, "ledger": str(one.file)}, indent=1))
        return
    assert done.seconds is not None
    rates = f"{format_bytes(done.copied / done.seconds)}/s by the clock"
    if done.rate is not None:
        rates += f", {format_bytes(done.rate)}/s between the first and the last byte"
    how = "unverified: there is no checksum to compare" if done.verified is None else f"verified by {done.verified}"
    before = done.bytes - done.copied
    there = f" ({format_bytes(before)} were there already)" if before else ""
    click.echo(f"{len(done.files)} files, {format_bytes(done.bytes)}{there} in {done.seconds:.1f} s: {rates}; {how}.")
    click.echo(f"Manifest: {one.file}")


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[JobProgress, int], None]]:
    """Yield the function that shows progress: one live line in a terminal, a line now and then elsewhere."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from howdah.model.quantity import format_bytes

    console, last, began = Console(highlight=False), [0.0], time.monotonic()

    def words(seen: JobProgress, whole: int) -> str:
        elapsed = time.monotonic() - began
        moved = seen.bytes_written or 0
        if not moved:
            return f"  {elapsed:6.1f} s  starting to copy {format_bytes(whole)}"
        rate = moved / elapsed
        left = max(0.0, whole - moved) / rate
        so_far = f"{format_bytes(moved)} of {format_bytes(whole)}, {format_bytes(rate)}/s"
        return f"  {elapsed:6.1f} s  {so_far}, {left:.0f} s left"

    if quiet:
        yield lambda *_: None
    elif console.is_terminal:
        with Live(console=console, refresh_per_second=4, transient=True) as live:
            yield lambda seen, whole: live.update(Text(words(seen, whole), style="dim"))
    else:

        def now_and_then(seen: JobProgress, whole: int) -> None:
            if time.monotonic() > last[-1] + _PLAIN_SECONDS:
                last.append(time.monotonic())
                click.echo(words(seen, whole))

        yield now_and_then
