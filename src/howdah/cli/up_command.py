"""howdah up"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Any

import click

from howdah.cli.options import conf_option, json_option, making_options, name_option, parse_conf
from howdah.cli.request import cluster_request

_STEPS = {
    "allocation": "host and ports",
    "hadoop": "Hadoop, JDK, class archive",
    "configuration": "configuration written",
    "format": "file system formatted",
    "start": "daemons started",
    "hdfs": "HDFS: DataNodes live, out of safe mode",
    "yarn": "YARN: NodeManagers registered",
    "history": "job history server answers",
    "file": "a file was written and read back",
}


@click.command()
@name_option
@making_options
@conf_option
@json_option
def up(name: str, conf: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Start a Hadoop cluster on this machine: real daemons, each its own process, healthy when this returns.

    \b
    Example:  howdah up --nodes 3
    """
    from howdah.cli.fetching import ensure_hadoop
    from howdah.cluster.client import StartedCluster
    from howdah.engine.measurement.preflight import check_keys

    request = cluster_request(name, parse_conf(conf), options)
    distribution = ensure_hadoop(request, quiet=as_json)
    check_keys(request.settings, distribution)
    began = time.monotonic()
    started = StartedCluster(request)

    def announce(step: str) -> None:
        if not as_json:
            click.echo(f"  {time.monotonic() - began:5.1f} s  {_STEPS.get(step, step)}")

    try:
        manifest = started.wait_until_up(announce)
        started.detach()
    except BaseException:
        started.end()
        raise
    if as_json:
        from howdah.host.users import other_users

        seconds = time.monotonic() - began
        click.echo(json.dumps({**asdict(manifest), "seconds": seconds, "other_users": other_users()}, indent=1))
        return
    from howdah.cli.status_command import show_cluster

    click.echo(f"Cluster {name} is up after {time.monotonic() - began:.1f} s.\n")
    show_cluster(manifest, ports=False)
    suffix = "" if name == "default" else f" --name {name}"
    click.echo("\nNext:")
    click.echo(f"  howdah exec{suffix} -- hdfs dfs -ls /")
    click.echo(f"  howdah run terasort --size 1G --cluster {name}")
    click.echo(f"  howdah down{suffix}")
