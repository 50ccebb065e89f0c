"""howdah persist"""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import click

from howdah.cli.options import confirm_removal, json_option


@click.group()
def persist() -> None:
    """List, check and remove HDFS data that stayed when their cluster stopped (`howdah up --persist DIR`)."""


@persist.command("ls")
@json_option
def list_directories(as_json: bool) -> None:
    """List the data that clusters have left.

    The directories are those that this host can see.

    \b
    Example:
      howdah persist ls
    """
    from howdah.cli.columns import print_columns
    from howdah.cli.reporting import width
    from howdah.cluster.deployment.persistence import known_directories, look
    from howdah.host.channel import this_host

    with this_host() as host:
        found = {directory: look(directory, host) for directory in known_directories()}
    if as_json:
        click.echo(json.dumps({place: None if one is None else asdict(one) for place, one in found.items()}, indent=2))
        return
    if not found:
        click.echo("No cluster has left data. `howdah up --persist DIR` keeps them.")
        return
    rows = []
    for directory, one in found.items():
        if one is None:
            rows.append(("", "", "", "not seen from here", directory))
        else:
            used = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.record.used))
            by = "free" if one.owner is None and not one.unclear else "in use"
            rows.append((one.record.hadoop, str(one.record.nodes), used, by, directory))
    print_columns(("HADOOP", "NODES", "LAST USED", "STATE", "DIRECTORY"), rows, width(), right={1})


@persist.command("verify")
@click.argument("directory", type=click.Path())
def verify_directory(directory: str) -> None:
    """Check the parts of a file system that was left.

    All parts must exist and belong together, and the namespace must be undamaged. HDFS checks the blocks itself, once a
    cluster uses the data: `howdah exec -- hdfs fsck /`.

    \b
    Example:
      howdah persist verify /scratch/ann/hdfs
    """
    from pathlib import Path

    from howdah.cluster.deployment.persistence import verify
    from howdah.errors import Untrusted
    from howdah.host.channel import this_host

    place = str(Path(directory).absolute())
    with this_host() as host:
        found = verify(place, host)
    if found.problems:
        raise Untrusted(f"{place} is damaged:\n" + "\n".join(found.problems))
    if found.elsewhere:
        others = ", ".join(f"{name} on {there}" for name, there in found.elsewhere.items())
        click.echo(f"{place}: the parts on this host belong together. On disks of other hosts: {others}.")
    else:
        click.echo(f"{place}: every part is there, and they belong together.")


@persist.command("rm")
@click.argument("directory", type=click.Path())
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove_directory(directory: str, yes: bool) -> None:
    """Remove the data in DIRECTORY permanently.

    \b
    Example:
      howdah persist rm /scratch/ann/hdfs
    """
    from pathlib import Path

    from howdah.cluster.deployment.persistence import remove
    from howdah.host.channel import this_host

    place = str(Path(directory).absolute())
    with this_host() as host:
        remove(place, host, lambda: confirm_removal(f"all data of HDFS in {place}", yes=yes))
    click.echo(f"{place} is removed.")
