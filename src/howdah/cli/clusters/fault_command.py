"""howdah fault"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from howdah.cli.options import name_option

if TYPE_CHECKING:
    from howdah.cluster.faults import HostFault


@click.command()
@click.argument("kind")
@click.argument("host")
@name_option
@click.option(
    "--daemon", metavar="ROLE", help="Only this daemon of the host: datanode, nodemanager, … [default: all it has]"
)
@click.option("--rate", metavar="RATE", help="For slow: 10mbit for its card, 10MB for its disks, 0.2cpus.")
@click.option("--at", metavar="PHASE:PERCENT", help="Once the run there has done so much of a phase. [default: now]")
def fault(kind: str, host: str, name: str, daemon: str | None, rate: str | None, at: str | None) -> None:
    """Inject a fault on HOST, to see how the cluster copes.

    \b
    KIND is  kill, stop or continue: its daemons;
             cut or join: the network of a simulated host;
             slow or restore: its network, disks or processors;
             disk: its last disk, if it has some.

    \b
    Examples:
      howdah fault kill sim2 --daemon datanode
      howdah fault slow sim3 --rate 10mbit
      howdah fault slow sim3 --rate 0.2cpus --at sort:50
      howdah fault disk sim2 --at sort:50
    """
    from howdah.cluster.control import ControlClient, ask_fault
    from howdah.cluster.faults import HostFault, check_fault
    from howdah.cluster.state import cluster_directory
    from howdah.spec.simulation import parse_slow_rate

    resource, slow = ("network", None) if rate is None else parse_slow_rate(rate)
    asked = HostFault(kind, host, daemon, slow, resource)
    check_fault(asked)
    if at is not None:
        _wait(name, asked, at)
    control = ControlClient(cluster_directory(name))
    try:
        ask_fault(control.ask, asked)
    finally:
        control.close()
    click.echo(asked.sentence)


def _wait(name: str, asked: HostFault, at: str) -> None:
    """Wait until the run on the cluster has done the given share of a phase."""
    from howdah.cluster.faults import check_host
    from howdah.cluster.live.managed import open_managed
    from howdah.cluster.supervision.client import find_cluster
    from howdah.engine.run.waiting import follow, parse_when, run_on, wait_until

    when = parse_when(at)
    cluster = open_managed(find_cluster(name))
    try:
        check_host(asked, cluster.hosts)
        click.echo(f"waiting for {when} of a run on {name!r}", err=True)
        run = wait_until(when, lambda: run_on(name), follow(cluster))
    finally:
        cluster.close()
    click.echo(f"{run.id}: {when} done", err=True)
