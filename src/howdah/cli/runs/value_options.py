"""The options for the cost of runs, and the figures that result from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from howdah.errors import UsageError

if TYPE_CHECKING:
    from howdah.report.value.section import SystemsValue
    from howdah.store import StoredRun

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--server",
        "servers",
        multiple=True,
        metavar="NAME",
        help="The server of a system; one for all, or one for each.",
    ),
    click.option(
        "--servers",
        "counts",
        multiple=True,
        metavar="N",
        type=click.IntRange(1),
        help="How many servers a system has; one for all, or one for each. [default: the machines that were observed]",
    ),
    click.option("--rack", metavar="NAME", help="The rack, where the list has several."),
)


def value_options(*, demanded: bool) -> Callable[[Command], Command]:
    """Return a decorator that adds `--prices`, which may be `demanded`, and the options that go with it."""

    def add(command: Command) -> Command:
        prices = click.option(
            "--prices",
            metavar="FILE",
            required=demanded,
            type=click.Path(),
            help="A price list (docs/how-to/value.md).",
        )
        for option in reversed((prices, *_OPTIONS)):
            command = option(command)
        return command

    return add


def valued(
    sides: Sequence[tuple[str, Sequence[StoredRun]]], options: Mapping[str, Any], equal_to: int | None = None
) -> SystemsValue:
    """Return the figures of the runs of each side, by its name and the options. Raises UsageError."""
    from howdah.report import build_comparison
    from howdah.report.value import equal_work, system_of
    from howdah.report.value.section import value_of
    from howdah.report.value.system import racked
    from howdah.spec.prices import find_rack, find_server, read_prices

    prices = read_prices(Path(options["prices"]))
    servers, counts = (_each(options[name], sides, f"--{option}") for name, option in _NAMES)
    systems = [
        system_of(name, runs, find_server(prices, server), count)
        for (name, runs), server, count in zip(sides, servers, counts, strict=True)
    ]
    chosen = find_rack(prices, options["rack"])
    first = systems[0]
    whole = equal_to or (first.count if chosen is None else racked(first.server, chosen, prices)[0])
    equal = []
    for other in systems[1:]:
        times = build_comparison(first.runs, other.runs, names=(first.name, other.name)).comparison
        equal.append(equal_work(first, other, times, whole))
    return value_of(prices, chosen, systems, equal)


def check_alone(options: Mapping[str, Any]) -> None:
    """Raise UsageError if there are options for a price list, but no price list."""
    for name, option in (*_NAMES, ("rack", "rack")):
        if options["prices"] is None and options[name]:
            raise UsageError(f"--{option} goes with --prices")


_NAMES = (("servers", "server"), ("counts", "servers"))


def _each(given: Sequence[Any], sides: Sequence[Any], option: str) -> Sequence[Any]:
    """Return one value for each side, from one value for all sides or none. Raises UsageError for any other number."""
    if len(given) < 2:
        return [given[0] if given else None] * len(sides)
    if len(given) != len(sides):
        raise UsageError(f"{option} is given {len(given)} times, for {len(sides)} systems")
    return given
