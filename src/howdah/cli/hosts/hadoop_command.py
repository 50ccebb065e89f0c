"""howdah hadoop"""

from __future__ import annotations

import click

from howdah.hadoop.distribution.lock import PRIMARY
from howdah.store import howdah_home


@click.group()
def hadoop() -> None:
    """Fetch and verify the managed Hadoop."""


@hadoop.command()
@click.argument("version", default=PRIMARY)
def fetch(version: str) -> None:
    """Fetch VERSION into the cache.

    Everything works offline afterwards. An interrupted fetch continues.

    \b
    Example:
      howdah hadoop fetch 3.4.2
    """
    from howdah.cli.hosts.fetching import fetch_managed

    distribution = fetch_managed(version, offline=False, quiet=False)
    click.echo(f"Hadoop {version}: {len(distribution.jars)} jars in {distribution.home}")


@hadoop.command()
@click.argument("version", default=PRIMARY)
def verify(version: str) -> None:
    """Hash every jar of VERSION in the cache and compare with the lock.

    \b
    Example:
      howdah hadoop verify 3.4.2
    """
    from howdah.hadoop.distribution.distribution import managed

    distribution = managed(version, howdah_home() / "cache", verify=True)
    jars = len(distribution.jars) + len(distribution.tool_jars)
    click.echo(f"Hadoop {version}: all {jars} jars in {distribution.home} are what the lock says.")


@hadoop.command("list")
def list_versions() -> None:
    """List the managed versions and whether each is in the cache.

    \b
    Example:
      howdah hadoop list
    """
    from howdah.errors import HostProblem
    from howdah.hadoop.distribution.distribution import managed
    from howdah.hadoop.distribution.lock import managed_versions

    for version in managed_versions():
        try:
            managed(version, howdah_home() / "cache")
            state = "in the cache"
        except HostProblem as error:
            state = error.message
        click.echo(f"{version}  {state}")
