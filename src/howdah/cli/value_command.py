"""howdah value"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howdah.cli.options import json_option
from howdah.errors import UsageError

if TYPE_CHECKING:
    from howdah.report.value import Equivalence, Figure, System
    from howdah.spec.prices import PriceList, Server


@click.command()
@click.argument("systems", nargs=-1, required=True)
@click.option("--prices", "file", metavar="FILE", required=True, type=click.Path(), help="The price list.")
@click.option(
    "--server", "servers", multiple=True, metavar="NAME", help="The server of a system; one for all, or one for each."
)
@click.option(
    "--servers",
    "counts",
    multiple=True,
    metavar="N",
    type=click.IntRange(1),
    help="How many servers a system has; one for all, or one for each. [the machines that were observed]",
)
@click.option("--rack", metavar="NAME", help="The rack, where the list has several.")
@click.option("--equal-to", metavar="N", type=click.IntRange(1), help="Servers of the first. [a full rack, or its own]")
@click.option("--explain", is_flag=True, help="Print the formula and the inputs of every figure.")
@click.option("--out", "root", type=click.Path(), metavar="DIR", help="Where the run directories are. [~/.howdah/runs]")
@json_option
def value(
    systems: tuple[str, ...],
    file: str,
    servers: tuple[str, ...],
    counts: tuple[int, ...],
    rack: str | None,
    equal_to: int | None,
    explain: bool,
    root: str | None,
    as_json: bool,
) -> None:
    """What runs cost: price, power, racks, carbon, and how many servers do equal work.

    SYSTEMS are each one or several runs separated by commas, or KEY=VALUE for all runs with that label. Prices and
    power are those of the list; nobody has measured them here.

    \b
    Examples:  howdah value latest --prices prices.yaml
               howdah value on=old on=new --prices prices.yaml --server old --server new --explain
    """
    from howdah.cli.reporting import load_side, side_name
    from howdah.report import build_comparison
    from howdah.report.value import equal_work, figures_of, system_of
    from howdah.report.value.system import racked
    from howdah.spec.prices import find_rack, find_server, read_prices

    prices = read_prices(Path(file))
    found = [
        system_of(side_name(text, f"system {number}"), load_side(text, root), find_server(prices, server), count)
        for number, (text, server, count) in enumerate(
            zip(systems, _each(servers, systems, "--server"), _each(counts, systems, "--servers"), strict=True), start=1
        )
    ]
    chosen = find_rack(prices, rack)
    figures = [figures_of(one, prices, chosen) for one in found]
    first = found[0]
    whole = equal_to or (first.count if chosen is None else racked(first.server, chosen, prices)[0])
    equal = []
    for other in found[1:]:
        times = build_comparison(first.runs, other.runs, names=(first.name, other.name)).comparison
        equal.append(equal_work(first, other, times, whole))
    if as_json:
        click.echo(json.dumps(_record(prices, found, figures, equal), indent=2))
        return
    _print(prices, found, figures, equal, explain=explain)


def _each(given: Sequence[Any], systems: Sequence[str], option: str) -> Sequence[Any]:
    """One for each system, of one for all or none."""
    if len(given) < 2:
        return [given[0] if given else None] * len(systems)
    if len(given) != len(systems):
        raise UsageError(f"{option} is given {len(given)} times, for {len(systems)} systems")
    return given


def _print(
    prices: PriceList,
    systems: Sequence[System],
    figures: Sequence[Sequence[Figure]],
    equal: Sequence[Equivalence],
    *,
    explain: bool,
) -> None:
    from howdah.cli.columns import print_columns
    from howdah.cli.reporting import width

    for system, found in zip(systems, figures, strict=True):
        many = "" if system.count == 1 else "s"
        click.secho(f"{system.name}: {system.count} server{many} {system.server.name}, {system.workload}", bold=True)
        rows = [(figure.name, _amount(figure), _span(figure)) for figure in found]
        print_columns(("FIGURE", "VALUE", "95 % INTERVAL"), rows, width(), right={1})
        if explain:
            for figure in found:
                click.echo(f"\n  {figure.name}", nl=False)
                _explain(figure)
        click.echo()
    for one in equal:
        click.echo(textwrap.fill(_sentence(one), width()))
        if explain:
            click.echo(" ", nl=False)
            _explain(one)
    for line in _wrong_sums(prices, [system.server for system in systems]):
        click.secho(line, fg="yellow")
    said = (
        f"Prices in {prices.currency} of {prices.date}: {prices.source}. Power is the list's: nobody measured it here."
    )
    click.echo(textwrap.fill(said, width()))


def _explain(one: Figure | Equivalence) -> None:
    click.echo(f" = {one.formula}")
    for letter, words in one.inputs.items():
        click.echo(f"    {letter}: {words}")


def _amount(figure: Figure) -> str:
    from howdah.report.document.wording import quantity

    if figure.unit and figure.value and abs(figure.value) < 0.01:
        return f"{figure.value:.3g} {figure.unit}"
    return quantity(figure.value, figure.unit)


def _span(figure: Figure) -> str:
    from howdah.report.document.wording import plain

    if figure.interval is None:
        return "–"
    ends = (figure.interval.low, figure.interval.high)
    return " to ".join(f"{end:.3g}" if abs(end) < 0.01 else plain(end) for end in ends)


def _sentence(one: Equivalence) -> str:
    from howdah.report.document.wording import percent

    servers = f"{one.fewest}" if one.fewest == one.most else f"{one.fewest} to {one.most}"
    text = f"{servers} of {one.second.name} do the work of {one.count} of {one.first.name}, if servers add up"
    for saved, what in ((one.saved_power, "power"), (one.saved_price, "price")):
        if saved is not None:
            ends = list(dict.fromkeys(percent(abs(share)) for share in saved))
            if min(saved) >= 0 or max(saved) <= 0:
                text += f"; {'less' if max(saved) > 0 else 'more'} {what} by {' to '.join(ends)}"
            else:
                text += f"; {what} from {percent(-saved[0])} more to {percent(saved[1])} less"
    return f"{text}."


def _wrong_sums(prices: PriceList, servers: Sequence[Server]) -> Iterator[str]:
    for server in dict.fromkeys(server.name for server in servers):
        one = prices.servers[server]
        if one.printed is not None and abs(one.printed - one.price) > 0.005:
            apart = one.price - one.printed
            yield (
                f"The parts of {server} add up to {one.price:,.2f} {prices.currency}; its source prints "
                f"{one.printed:,.2f}, {abs(apart):,.2f} {'less' if apart > 0 else 'more'}."
            )


def _record(
    prices: PriceList, systems: Sequence[System], figures: Sequence[Sequence[Figure]], equal: Sequence[Equivalence]
) -> dict[str, Any]:
    return {
        "prices": {"currency": prices.currency, "date": prices.date, "source": prices.source},
        "systems": [
            {
                "name": system.name,
                "server": system.server.name,
                "servers": system.count,
                "runs": [run.run.id for run in system.runs],
                "figures": [asdict(figure) for figure in found],
            }
            for system, found in zip(systems, figures, strict=True)
        ],
        "equal_work": [
            {
                "first": one.first.name,
                "second": one.second.name,
                "servers_of_first": one.count,
                "servers_of_second": [one.fewest, one.most],
                "saved_power": one.saved_power,
                "saved_price": one.saved_price,
                "formula": one.formula,
                "inputs": dict(one.inputs),
            }
            for one in equal
        ],
        "wrong_sums": list(_wrong_sums(prices, [system.server for system in systems])),
    }
