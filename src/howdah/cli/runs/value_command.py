"""howdah value"""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import click

from howdah.cli.options import json_option, runs_option
from howdah.cli.runs.value_options import value_options, valued

if TYPE_CHECKING:
    from howdah.report.value import Equivalence, FigureOfMerit
    from howdah.report.value.section import SystemsValue


@click.command()
@click.argument("systems", nargs=-1, required=True)
@value_options(demanded=True)
@click.option(
    "--equal-to", metavar="N", type=click.IntRange(1), help="Servers of the first. [default: a full rack, or its own]"
)
@click.option("--explain", is_flag=True, help="Print the formula and the inputs of every figure.")
@runs_option
@json_option
def value(
    systems: tuple[str, ...], equal_to: int | None, explain: bool, root: str | None, as_json: bool, **options: Any
) -> None:
    """Show the cost of runs: price, power, racks, carbon, and the number of servers that do equal work.

    SYSTEMS are each one or several runs separated by commas, or KEY=VALUE for all runs with that label. Prices and
    power come from the price list; Howdah does not measure them.

    \b
    Examples:
      howdah value latest --prices prices.yaml
      howdah value on=old on=new --prices prices.yaml --explain
    """
    from howdah.cli.reporting import load_side, side_name
    from howdah.report.value.section import value_facts

    sides = [(side_name(text, f"system {number}"), load_side(text, root)) for number, text in enumerate(systems, 1)]
    found = valued(sides, options, equal_to)
    if as_json:
        click.echo(json.dumps(value_facts(found), indent=2))
        return
    _print(found, explain=explain)


def _print(value: SystemsValue, *, explain: bool) -> None:
    from howdah.cli.columns import print_columns
    from howdah.cli.reporting import width
    from howdah.report.value.section import amount, equal_words, source_words, span, wrong_sums

    for system, found in zip(value.systems, value.figures, strict=True):
        many = "" if system.count == 1 else "s"
        click.secho(f"{system.name}: {system.count} server{many} {system.server.name}, {system.workload}", bold=True)
        rows = [(figure.name, amount(figure), span(figure)) for figure in found]
        print_columns(("FIGURE", "VALUE", "95 % INTERVAL"), rows, width(), right={1})
        if explain:
            for figure in found:
                click.echo(f"\n  {figure.name}", nl=False)
                _explain(figure)
        click.echo()
    for one in value.equal:
        click.echo(textwrap.fill(equal_words(one), width()))
        if explain:
            click.echo(" ", nl=False)
            _explain(one)
    for line in wrong_sums(value):
        click.secho(line, fg="yellow")
    click.echo(textwrap.fill(source_words(value), width()))


def _explain(one: FigureOfMerit | Equivalence) -> None:
    click.echo(f" = {one.formula}")
    for letter, words in one.inputs.items():
        click.echo(f"    {letter}: {words}")
