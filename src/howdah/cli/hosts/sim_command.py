"""howdah sim"""

from __future__ import annotations

from collections.abc import Mapping

import click

name_option = click.option("--name", metavar="NAME", default="default", show_default=True, help="Which simulation.")


@click.group()
def sim() -> None:
    """Simulate hosts without a cluster on them (needs root). Each host has its own name, network and processes."""


@sim.command()
@click.argument("wish", metavar="N[,KEY=VALUE,…]")
@name_option
def up(wish: str, name: str) -> None:
    """Start N simulated hosts, which stay until `howdah sim down`. KEY is network, cpus, memory, disks or disk_rate.

    \b
    Examples:
      howdah sim up 3,network=100mbit
      howdah sim up 2,cpus=0.5,memory=4G,disks=2,disk_rate=50MB
    """
    from howdah.cluster.simulations import start_simulation

    found = start_simulation(name, wish)
    _show(name, found.addresses, found.network)
    first = next(iter(found.addresses))
    click.echo(f"\nNext:\n  ssh -F {found.config} {first}\n  howdah sim down{_named(name)}")


@sim.command()
@name_option
def down(name: str) -> None:
    """Stop simulated hosts, with everything that runs on them.

    \b
    Example:
      howdah sim down --name lab
    """
    from howdah.cluster.simulations import end_simulation

    ended = end_simulation(name)
    click.echo(f"Simulation {name} is down." if ended else f"No simulation called {name} is up.")


@sim.command()
def status() -> None:
    """List the simulated hosts that are up.

    \b
    Example:
      howdah sim status
    """
    from howdah.cluster.simulations import simulations

    found = simulations()
    if not found:
        click.echo("No hosts are simulated. `howdah sim up 3` starts some.")
    for name, one in found.items():
        _show(name, one.addresses, one.network)
        click.echo(f"  ssh -F {one.config} {next(iter(one.addresses))}")


def _show(name: str, addresses: Mapping[str, str], network: int | None) -> None:
    click.secho(name, bold=True, nl=False)
    rate = "no limit" if network is None else f"{network / 1e6:g} Mb/s"
    click.echo(f"  {len(addresses)} simulated hosts; network cards: {rate}")
    for host, address in addresses.items():
        click.echo(f"  {host:16} {address}")


def _named(name: str) -> str:
    return "" if name == "default" else f" --name {name}"
