"""howdah fault"""

from __future__ import annotations

import click

from howdah.cli.options import name_option


@click.command()
@click.argument("kind")
@click.argument("host")
@name_option
@click.option("--daemon", metavar="ROLE", help="Only this daemon of the host: datanode, nodemanager, … [all it has]")
@click.option("--rate", metavar="RATE", help="Of a slow card: 10mbit.")
def fault(kind: str, host: str, name: str, daemon: str | None, rate: str | None) -> None:
    """Let something go wrong on HOST, to see what a cluster makes of it.

    \b
    KIND is  kill, stop or continue: its daemons;
             cut, join, slow or restore: its network (of simulated hosts);
             disk: its last disk (of simulated hosts that have some).

    \b
    Examples:  howdah fault kill sim2 --daemon datanode
               howdah fault slow sim3 --rate 10mbit
    """
    from howdah.cluster.control import ControlClient, ask_fault
    from howdah.cluster.faults import DEVICES, HostFault
    from howdah.cluster.state import cluster_directory
    from howdah.spec.simulation import parse_rate

    asked = HostFault(kind, host, daemon, None if rate is None else parse_rate(rate))
    control = ControlClient(cluster_directory(name))
    try:
        ask_fault(control.ask, asked)
    finally:
        control.close()
    what = DEVICES.get(kind) or daemon or "daemons"
    click.echo(f"{host}: {kind}, its {what}.")
