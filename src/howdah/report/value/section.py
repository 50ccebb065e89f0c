"""The value of systems in words: the section of a report, and the facts for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from howdah.model.run import Caveat
from howdah.report.document.blocks import Block, Fold, Report, Section, Table, Text, columns
from howdah.report.document.wording import MISSING, percent, plain, quantity
from howdah.report.value.economy import figures_of
from howdah.report.value.equivalence import Equivalence
from howdah.report.value.figure import FigureOfMerit
from howdah.report.value.system import System
from howdah.spec.prices import PriceList, Rack

_SMALL = 0.01

Page = TypeVar("Page", bound=Report)


@dataclass(frozen=True, slots=True)
class SystemsValue:
    """The value of `systems` by one price list: the figures of each, and equal work of the others and the first."""

    prices: PriceList
    systems: Sequence[System]
    figures: Sequence[Sequence[FigureOfMerit]]
    equal: Sequence[Equivalence]


def value_of(
    prices: PriceList, rack: Rack | None, systems: Sequence[System], equal: Sequence[Equivalence]
) -> SystemsValue:
    """Return the figures of `systems`. Raises UsageError if the list makes no sense for one of them."""
    return SystemsValue(prices, systems, [figures_of(one, prices, rack) for one in systems], equal)


def with_value(report: Page, value: SystemsValue) -> Page:
    """Return `report` with a section about the value of its systems."""
    section = Section("value", "What it costs", tuple(_blocks(value)))
    return replace(report, sections=(*report.sections, section), facts={**report.facts, "value": value_facts(value)})


def _blocks(value: SystemsValue) -> Iterator[Block]:
    systems = value.systems
    yield Text(
        "; ".join(
            f"{one.name}: {one.count} server{'' if one.count == 1 else 's'} {one.server.name}, {one.workload}"
            for one in systems
        )
        + "."
    )
    known = [{figure.name: figure for figure in figures} for figures in value.figures]
    rows = []
    for name in dict.fromkeys(name for figures in known for name in figures):
        cells = [
            cell
            for figures in known
            for cell in ((amount(figures[name]), span(figures[name])) if name in figures else (MISSING, MISSING))
        ]
        rows.append((name, *cells))
    heads = [head for one in systems for head in (f"#{one.name}", "#95 %")]
    yield Table("Figures", columns("Figure", *heads), tuple(rows))
    for one in value.equal:
        yield Text(equal_words(one))
    for words in wrong_sums(value):
        yield Caveat("run", words)
    yield Text(source_words(value), small=True)
    for system, figures in zip(systems, value.figures, strict=True):
        formulas = tuple(
            (figure.name, figure.formula, ", ".join(f"{letter}: {words}" for letter, words in figure.inputs.items()))
            for figure in figures
        )
        table = Table("Every figure, its formula and its inputs", columns("Figure", "Formula", "Inputs"), formulas)
        yield Fold(f"Arithmetic of {system.name}", (table,))


def amount(figure: FigureOfMerit) -> str:
    """Return the value with its unit."""
    if figure.unit and figure.value and abs(figure.value) < _SMALL:
        return f"{figure.value:.3g} {figure.unit}"
    return quantity(figure.value, figure.unit)


def span(figure: FigureOfMerit) -> str:
    """Return the interval, or a dash."""
    if figure.interval is None:
        return MISSING
    ends = (figure.interval.low, figure.interval.high)
    return " to ".join(f"{end:.3g}" if abs(end) < _SMALL else plain(end) for end in ends)


def equal_words(one: Equivalence) -> str:
    """Return a sentence on the numbers of servers that do equal work, and their savings."""
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


def source_words(value: SystemsValue) -> str:
    """Return the source of the prices, and the note that nobody measured the power."""
    prices = value.prices
    return (
        f"Prices in {prices.currency} of {prices.date}: {prices.source}. Power is the list's: nobody measured it here."
    )


def wrong_sums(value: SystemsValue) -> Iterator[str]:
    """Yield a sentence for each server whose parts do not add up to the sum that its source prints."""
    for name in dict.fromkeys(one.server.name for one in value.systems):
        one = value.prices.servers[name]
        if one.printed is not None and abs(one.printed - one.price) > 0.005:
            apart = one.price - one.printed
            yield (
                f"The parts of {name} add up to {one.price:,.2f} {value.prices.currency}; its source prints "
                f"{one.printed:,.2f}, {abs(apart):,.2f} {'less' if apart > 0 else 'more'}."
            )


def value_facts(value: SystemsValue) -> dict[str, Any]:
    """Return the same facts for programs."""
    prices = value.prices
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
            for system, found in zip(value.systems, value.figures, strict=True)
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
            for one in value.equal
        ],
        "wrong_sums": list(wrong_sums(value)),
    }
