"""howdah fault"""

from __future__ import annotations

import click

from howdah.cli.options import name_option
from howdah.errors import ClusterProblem, UsageError


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
             cut, join or slow: its network (of simulated hosts).

    \b
    Examples:  howdah fault kill sim2 --daemon datanode
               howdah fault slow sim3 --rate 10mbit
    """
    from howdah.cluster.control import ControlClient
    from howdah.cluster.faults import CABLES
    from howdah.cluster.state import cluster_directory
    from howdah.spec.simulation import parse_rate

    control = ControlClient(cluster_directory(name))
    try:
        asked = {"kind": kind, "host": host, "role": daemon, "rate": None if rate is None else parse_rate(rate)}
        answer = control.ask("fault", **asked)
    finally:
        control.close()
    if "error" in answer:
        kind_of = UsageError if answer["code"] == UsageError.exit_code else ClusterProblem
        raise kind_of(answer["error"], hint=answer["hint"])
    what = "its daemons" if daemon is None else daemon
    if kind in CABLES:
        what = "its network"
    click.echo(f"{host}: {kind}, {what}.")
