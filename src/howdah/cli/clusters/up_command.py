"""howdah up"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click

from howdah.cli.options import conf_option, json_option, making_options, name_option, parse_conf
from howdah.cli.request import cluster_request
from howdah.hadoop.configuration.plan import NONE

_REALM, _DATA = "realm", "data"
_STEPS = {
    "allocation": "hosts and ports",
    "hadoop": "Hadoop, JDK, class archive (made once for each JDK)",
    _REALM: "Kerberos: the cluster's realm and keys",
    "configuration": "configuration written",
    "format": "file system formatted",
    _DATA: "file system found as it was left",
    "start": "daemons started",
    "hdfs": "HDFS: DataNodes live, out of safe mode",
    "yarn": "YARN: NodeManagers registered",
    "history": "job history server answers",
    "file": "a file was written and read back",
}
"""The steps in their order, each with its description."""

_INSTEAD = {_DATA: "format"}
"""Steps that replace other steps."""

_LONG_SECONDS = 5.0
"""Seconds after which the current step is named if there is no terminal."""


@click.command()
@name_option
@making_options
@conf_option
@click.option(
    "--persist",
    metavar="DIR",
    type=click.Path(),
    default=None,
    help="Keep the data of HDFS in this directory of the hosts, and use what is there.",
)
@click.option(
    "--stage-out",
    metavar="PATH=DIR",
    multiple=True,
    help="In a batch job: before its time is up, copy PATH of HDFS to DIR; may be repeated.",
)
@json_option
def up(
    name: str, conf: tuple[str, ...], persist: str | None, stage_out: tuple[str, ...], as_json: bool, **options: Any
) -> None:
    """Start a Hadoop cluster of real daemons, each its own process. All are healthy when this returns.

    \b
    Examples:
      howdah up --nodes 3
      howdah up --on hosts:node1,node2,node3
    """
    from howdah.cli.hosts.fetching import ensure_hadoop
    from howdah.cluster.supervision.client import StartedCluster
    from howdah.engine.measurement.preflight import check_keys

    request = cluster_request(name, parse_conf(conf), options, persist, stage_out)
    distribution = ensure_hadoop(request, quiet=as_json)
    check_keys(request.settings, distribution)
    began = time.monotonic()
    started = StartedCluster(request)
    try:
        left_out = {_DATA, *(() if request.security != NONE else (_REALM,))}
        steps = {step: done for step, done in _STEPS.items() if step not in left_out}
        with _steps(steps, began, quiet=as_json) as (announce, waiting):
            manifest = started.wait_until_up(announce, waiting)
        started.detach()
    except BaseException:
        started.end()
        raise
    if as_json:
        from howdah.host.users import other_users
        from howdah.model.redaction import redacted

        seconds = time.monotonic() - began
        click.echo(
            json.dumps({**redacted(asdict(manifest)), "seconds": seconds, "other_users": other_users()}, indent=1)
        )
        return
    from howdah.cli.clusters.status_command import show_cluster

    click.echo(f"Cluster {name} is up after {time.monotonic() - began:.1f} s.\n")
    show_cluster(manifest, ports=False)
    suffix = "" if name == "default" else f" --name {name}"
    click.echo("\nNext:")
    click.echo(f"  howdah exec{suffix} -- hdfs dfs -ls /")
    click.echo(f"  howdah run terasort --size 1G --cluster {name}")
    click.echo(f"  howdah down{suffix}")


@contextmanager
def _steps(
    left: dict[str, str], began: float, *, quiet: bool
) -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    """Yield two functions: one announces a step that is done, the other the reason why hosts are waited for.

    `left` has the steps that are not done. A terminal shows the current step with a clock. Elsewhere, a step is named
    when it takes long.
    """
    if quiet:
        yield lambda _: None, lambda _: None
        return
    from rich.console import Console
    from rich.live import Live

    from howdah.cli.progress import UnderWay

    console = Console(highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        yield from _plain_steps(left, began)
        return
    with Live(UnderWay(_next(left), began), console=console, refresh_per_second=4, transient=True) as live:

        def announce(step: str) -> None:
            left.pop(_INSTEAD.get(step, step), None)
            console.print(_done(began, step), soft_wrap=True)
            live.update(UnderWay(_next(left), began))

        yield announce, lambda why: live.update(UnderWay(why, began))


def _plain_steps(left: dict[str, str], began: float) -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    def wait() -> threading.Timer:
        timer = threading.Timer(_LONG_SECONDS, click.echo, (f"           under way: {_next(left)}",))
        timer.daemon = True
        timer.start()
        return timer

    timer = wait()

    def announce(step: str) -> None:
        nonlocal timer
        timer.cancel()
        left.pop(_INSTEAD.get(step, step), None)
        click.echo(_done(began, step))
        timer = wait()

    told = [""]

    def waiting(why: str) -> None:
        timer.cancel()
        if told[-1] != why:
            click.echo(f"  {time.monotonic() - began:5.1f} s  waiting: {why}")
            told.append(why)

    try:
        yield announce, waiting
    finally:
        timer.cancel()


def _next(left: Mapping[str, str]) -> str:
    """Return the first step that is not done. The steps of the daemons finish in any order."""
    return next(iter(left.values()), "ready")


def _done(began: float, step: str) -> str:
    return f"  {time.monotonic() - began:5.1f} s  {_STEPS.get(step, step)}"
