"""howdah store"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from howdah.cli.options import confirm_removal, json_option, on_option, reach_options
from howdah.model.quantity import format_bytes

if TYPE_CHECKING:
    from howdah.cluster.software.stores import HostStore
    from howdah.host.operations import Kept


@click.group()
def store() -> None:
    """Show and clean the software and class archives that hosts keep for the next cluster."""


@store.command("ls")
@on_option
@reach_options
@json_option
def list_stores(on: str, silence: float, network: str | None, site: str | None, as_json: bool) -> None:
    """List the contents of the store of each host.

    \b
    Example:
      howdah store ls --on hosts:hosts.yaml
    """
    from howdah.cli.columns import print_columns
    from howdah.cli.reporting import width
    from howdah.cluster.request import Links
    from howdah.cluster.software.stores import open_stores

    with open_stores(on, Links(silence, network, site)) as stores:
        if as_json:
            click.echo(json.dumps([_record(one) for one in stores], indent=2))
            return
        for number, one in enumerate(stores):
            if number:
                click.echo()
            whose = ", ".join((one.host.name, *one.others))
            click.echo(f"{whose}: {one.path}, {format_bytes(sum(kept.bytes for kept in one.contents))}")
            rows = [(format_bytes(kept.bytes), _used(kept), kept.name) for kept in one.contents]
            if rows:
                print_columns(("SIZE", "LAST USED", "WHAT"), rows, width(), right={0})


@store.command("gc")
@on_option
@reach_options
@click.option(
    "--older-than",
    metavar="DURATION",
    default="30d",
    show_default=True,
    help="Entries that nobody has used for so long: 12h, 30d.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def collect(on: str, silence: float, network: str | None, site: str | None, older_than: str, yes: bool) -> None:
    """Remove entries that no cluster has used for a while.

    Each host has a store. The entries are listed first. Entries that a running cluster uses stay. Removed entries that
    are needed again are sent or made again.

    \b
    Example:
      howdah store gc --on hosts:hosts.yaml --older-than 7d
    """
    from howdah.cluster.request import Links
    from howdah.cluster.software.stores import open_stores
    from howdah.spec.experiment import parse_duration

    age = parse_duration(older_than)
    with open_stores(on, Links(silence, network, site)) as stores:
        going = [(one, one.unused(age)) for one in stores]
        _discard([(one, kept) for one, kept in going if kept], yes=yes)


def _discard(going: Sequence[tuple[HostStore, Sequence[Kept]]], *, yes: bool) -> None:
    if not going:
        click.echo("Nothing is unused.")
        return
    size = 0
    for one, kept in going:
        for entry in kept:
            size += entry.bytes
            click.echo(f"{one.host.name}: {entry.name}  {format_bytes(entry.bytes)}, last used {_used(entry)}")
    confirm_removal(format_bytes(size), yes=yes)
    for one, kept in going:
        one.discard(kept)
    click.echo(f"{sum(len(kept) for _, kept in going)} removed, {format_bytes(size)}.")


def _used(kept: Kept) -> str:
    if kept.busy:
        return "now"
    days = (time.time() - kept.used) / 86400
    return "today" if days < 1 else f"{days:.0f} days ago"


def _record(one: HostStore) -> dict[str, Any]:
    contents = [{"name": kept.name, "bytes": kept.bytes, "used": kept.used, "busy": kept.busy} for kept in one.contents]
    return {"hosts": [one.host.name, *one.others], "path": one.path, "contents": contents}
