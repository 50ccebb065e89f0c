"""howdah shrink, howdah grow"""

from __future__ import annotations

import time

import click

from howdah.cli.options import name_option

_LOOK_SECONDS = 0.5


@click.command()
@click.argument("hosts", metavar="HOST…", nargs=-1, required=True)
@name_option
@click.option(
    "--timeout", metavar="TIME", default="10m", show_default=True, help="How long to wait for blocks, and for jobs."
)
def shrink(hosts: tuple[str, ...], name: str, timeout: str) -> None:
    """Take hosts out of a cluster that goes on, without losing data.

    HDFS copies their blocks to other hosts, and YARN lets jobs end that have run there. Then their daemons stop, and
    nothing of the cluster is left there.

    \b
    Example:
      howdah shrink node3 node4
    """
    from howdah.spec.experiment import parse_duration

    _resize("shrink", hosts, name, parse_duration(timeout))


@click.command()
@click.argument("hosts", metavar="HOST…", nargs=-1, required=True)
@name_option
def grow(hosts: tuple[str, ...], name: str) -> None:
    """Take hosts into a cluster that runs: those that have left it, or that `howdah up --nodes N` has not used.

    \b
    Example:
      howdah up --on hosts:node1,node2,node3,node4 --nodes 2
      howdah grow node4
    """
    _resize("grow", hosts, name, 0.0)


def _resize(kind: str, hosts: tuple[str, ...], name: str, seconds: float) -> None:
    from howdah.cluster.control import ControlClient, raise_problem
    from howdah.cluster.state import cluster_directory
    from howdah.cluster.supervision.client import find_cluster

    find_cluster(name)
    control = ControlClient(cluster_directory(name))
    try:
        begun = control.ask("resize", kind=kind, hosts=list(dict.fromkeys(hosts)), seconds=seconds)
        raise_problem(begun)
        said = 0
        while True:
            seen = control.ask("resized", change=begun["change"])
            for line in seen["said"][said:]:
                click.echo(f"{line}.")
            said = len(seen["said"])
            if not seen["runs"]:
                break
            time.sleep(_LOOK_SECONDS)
        raise_problem(seen)
    except KeyboardInterrupt:
        click.echo(f"The change goes on; `howdah status --name {name}` shows the hosts.", err=True)
        raise
    finally:
        control.close()
