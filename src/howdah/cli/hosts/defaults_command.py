"""howdah defaults"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from howdah.cli.columns import say
from howdah.cli.options import json_option
from howdah.hadoop.distribution.lock import PRIMARY

if TYPE_CHECKING:
    from howdah.hadoop.configuration.keys import Key
    from howdah.hadoop.configuration.tuning import Tuning, TuningFacts

_UNSET = "–"
_WIDE = 10_000
"""Columns of a line in a pipe. A reader of a pipe wants the flags whole."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A key, its value by a tuned default on this machine, and its stock value.

    `where` says where the value holds, if not everywhere.
    """

    key: str
    value: str
    stock: str | None
    where: str = ""


@click.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--nodes", metavar="N", type=click.IntRange(1, 20), default=1, show_default=True, help="Nodes of the cluster."
)
@click.option("--hadoop", metavar="VERSION", default=PRIMARY, show_default=True, help="A managed version.")
@json_option
def defaults(names: tuple[str, ...], nodes: int, hadoop: str, as_json: bool) -> None:
    """Show the settings of the tuned defaults on this machine, the stock values they replace, and the reasons.

    NAME is a tuned default, as in `howdah up --without NAME`. Without a NAME, all are shown.

    \b
    Examples:
      howdah defaults --nodes 3
      howdah defaults sort-buffer reduce-memory
    """
    from howdah.cli.columns import in_columns
    from howdah.cli.hosts.fetching import fetch_managed
    from howdah.cli.reporting import width
    from howdah.hadoop.configuration.keys import known_keys
    from howdah.hadoop.configuration.tuning import TUNINGS, select
    from howdah.report.render.text import wrapped

    select(stock=False, without=names)  # Refuses what is unknown.
    facts = _facts(nodes, hadoop)
    known = known_keys(fetch_managed(hadoop, offline=False, quiet=as_json))
    shown = [(one, list(_rows(one, facts, known))) for one in TUNINGS if not names or one.name in names]
    if as_json:
        click.echo(json.dumps([_record(one, rows) for one, rows in shown], indent=1))
        return
    columns = width()
    for one, rows in shown:
        click.secho(one.name, bold=True)
        click.echo(wrapped(f"{one.why[:1].upper()}{one.why[1:]}.", columns))
        click.echo(wrapped(f"Changes no results: {one.results[:1].lower()}{one.results[1:]}.", columns))
        cells = [(row.key, _UNSET if row.stock is None else row.stock or '""', _value(row)) for row in rows]
        for line in in_columns(("", "STOCK", "HERE"), cells, columns if sys.stdout.isatty() else _WIDE):
            click.echo(line)
        click.echo()
    say("`howdah up --without NAME` leaves one out, `--defaults stock` all; `--conf KEY=VALUE` wins over all.")


def _facts(nodes: int, hadoop: str) -> TuningFacts:
    """Return the facts that tuned defaults depend on, for a cluster started now. Raises HostProblem."""
    from howdah.cluster.deployment.sizes import size_of
    from howdah.hadoop.configuration.tuning import TuningFacts
    from howdah.hadoop.distribution.jdk import choose_jdk, find_jdks
    from howdah.host import operations
    from howdah.host.channel import this_host
    from howdah.store import howdah_home

    with this_host() as host:
        jdk = choose_jdk(find_jdks(host), hadoop)
        sizing = size_of(host, nodes, operations.space(host, str(howdah_home())).free)
    return TuningFacts(sizing, jdk, "ARCHIVE")


def _rows(one: Tuning, facts: TuningFacts, known: Mapping[str, Key]) -> Iterator[_Row]:
    from howdah.hadoop.configuration.roles import NAMENODE

    for key, value in one.settings(facts).items():
        yield _Row(key, value, _stock(key, known))
    for key, value in one.workloads(facts.sizing).items():
        yield _Row(key, value, _stock(key, known), "Howdah's workloads only")
    flags = {
        "tasks": one.task_flags(facts),
        "application masters": one.master_flags(facts),
        "daemons": one.daemon_flags(facts, NAMENODE),
        "clients": one.client_flags(facts),
    }
    for who, found in flags.items():
        if found:
            yield _Row(f"JVM flags of {who}", " ".join(found), None)


def _stock(key: str, known: Mapping[str, Key]) -> str | None:
    return known[key].default if key in known else None


def _value(row: _Row) -> str:
    return f"{row.value}  ({row.where})" if row.where else row.value


def _record(one: Tuning, rows: list[_Row]) -> dict[str, Any]:
    return {
        "name": one.name,
        "why": one.why,
        "results": one.results,
        "settings": [
            {"key": row.key, "value": row.value, "stock": row.stock, **({"where": row.where} if row.where else {})}
            for row in rows
        ],
    }
