"""The costs of a system and of its work: purchase, years, a job, a rack, carbon."""

from __future__ import annotations

from collections.abc import Iterator

from howdah.errors import UsageError
from howdah.report.document.wording import centre
from howdah.report.value.figure import FigureOfMerit, of_runs
from howdah.report.value.system import System, listed, power, racked, switches
from howdah.spec.prices import PriceList, Rack

_HOURS = 8760
"""Hours of a year, as in TPC's pricing."""
_SECONDS = 3600


def figures_of(system: System, prices: PriceList, rack: Rack | None) -> list[FigureOfMerit]:
    """Return every figure that the price list has inputs for. Raises UsageError if the list makes no sense for it."""
    purchase, total = _purchase(system, prices, rack), _total(system, prices, rack)
    if purchase.value == 0:
        raise UsageError(f"the system {system.name} costs nothing", hint="Nothing can be said per price: see `prices`.")
    return [
        purchase,
        total,
        *_of_job(system, prices, total),
        *_of_work(system, prices, purchase),
        *([] if rack is None else _of_rack(system, prices, rack)),
    ]


def _racks(system: System, prices: PriceList, rack: Rack | None) -> int:
    return 0 if rack is None else -(-system.count // racked(system.server, rack, prices)[0])


def _purchase(system: System, prices: PriceList, rack: Rack | None) -> FigureOfMerit:
    n, p = system.count, system.server.price
    s, sp = switches(system, prices), 0.0 if prices.switch is None else prices.switch.price
    r, rp = _racks(system, prices, rack), 0.0 if rack is None else rack.price
    unit = prices.currency
    inputs = listed({"n": n, "p": p, "s": s, "q": sp, "r": r, "k": rp}, {"p": unit, "q": unit, "k": unit})
    words = {"n": "servers", "p": "each", "s": "switches", "q": "each", "r": "racks", "k": "each"}
    named = {name: f"{inputs[name]} {words[name]}" for name in inputs}
    return FigureOfMerit("Purchase", n * p + s * sp + r * rp, unit, "n·p + s·q + r·k", named)


def _kilowatts(system: System, prices: PriceList) -> tuple[str, float] | None:
    """Return the kind of the servers' power figure, and the whole system's power at work in kW; None without one."""
    drawn = power(system.server, of_rack=False)
    if drawn is None:
        return None
    of_switches = 0.0 if prices.switch is None else switches(system, prices) * prices.switch.watts
    return drawn[0], (system.count * drawn[1] + of_switches) / 1000


def _total(system: System, prices: PriceList, rack: Rack | None) -> FigureOfMerit:
    rates, n = prices.rates, system.count
    yearly = n * system.server.maintenance + n * (system.server.height or 0) * rates.unit_month * 12
    formula, inputs = (
        "P + y·(n·m + n·h·12·u)",
        {
            "P": f"{_purchase(system, prices, rack).value:,.10g} {prices.currency}",
            "y": f"{rates.years:g} years",
            **listed(
                {"n": n, "m": system.server.maintenance, "h": system.server.height or 0, "u": rates.unit_month}, {}
            ),
        },
    )
    drawn = _kilowatts(system, prices)
    if drawn is not None and rates.kwh is not None:
        yearly += drawn[1] * _HOURS * rates.utilisation * rates.pue * rates.kwh
        formula = "P + y·(n·m + n·h·12·u + W·8760·a·f·e)"
        inputs |= {
            "W": f"{drawn[1]:.6g} kW at work ({drawn[0]})",
            "a": f"{rates.utilisation:g} of the time at work",
            "f": f"{rates.pue:g} (PUE)",
            "e": f"{rates.kwh:g} {prices.currency}/kWh",
        }
    value = _purchase(system, prices, rack).value + rates.years * yearly
    return FigureOfMerit(f"Cost of {rates.years:g} years", value, prices.currency, formula, inputs)


def _of_job(system: System, prices: PriceList, total: FigureOfMerit) -> Iterator[FigureOfMerit]:
    rates = prices.rates
    seconds = {"T": f"{centre(system.seconds):.6g} s a job, of {system.seconds.n} runs"}
    value, span = of_runs(system.seconds, lambda time: _SECONDS / time)
    yield FigureOfMerit("Jobs an hour", value, "", "3600 ÷ T", seconds, span)
    life = rates.years * _HOURS * _SECONDS * rates.utilisation
    value, span = of_runs(system.seconds, lambda time: total.value * time / life)
    spent = {
        "C": f"{total.value:,.10g} {prices.currency}",
        "y": f"{rates.years:g} years",
        "a": f"{rates.utilisation:g}",
    }
    yield FigureOfMerit("Cost of a job", value, prices.currency, "C·T ÷ (y·8760·3600·a)", {**spent, **seconds}, span)
    drawn = _kilowatts(system, prices)
    if drawn is None:
        return
    kilowatts = drawn[1]
    watts = {"W": f"{kilowatts:.6g} kW ({drawn[0]})"}
    value, span = of_runs(system.seconds, lambda time: 1000 * kilowatts * time / _SECONDS)
    yield FigureOfMerit("Energy of a job", value, "Wh", "1000·W·T ÷ 3600", {**watts, **seconds}, span)
    if rates.grid is not None:
        yield _carbon(system, prices, drawn)


def _carbon(system: System, prices: PriceList, drawn: tuple[str, float]) -> FigureOfMerit:
    """Return the grams of CO2e of a job: of its energy, and of its part of making the servers if the list has it."""
    rates, server = prices.rates, system.server
    assert rates.grid is not None
    each_second = drawn[1] * rates.pue * rates.grid / _SECONDS
    name, formula = "Carbon of a job, by power alone", "T·W·f·g ÷ 3600"
    inputs = {
        "T": f"{centre(system.seconds):.6g} s a job",
        "W": f"{drawn[1]:.6g} kW ({drawn[0]})",
        "f": f"{rates.pue:g} (PUE)",
        "g": f"{rates.grid:g} g/kWh",
    }
    if server.embodied is not None:
        life = server.life or rates.years
        each_second += 1000 * system.count * server.embodied / (life * _HOURS * _SECONDS)
        name, formula = "Carbon of a job", f"{formula} + T·1000·n·b ÷ (l·8760·3600)"
        inputs |= {
            "n": f"{system.count} servers",
            "b": f"{server.embodied:g} kg of CO2e each",
            "l": f"{life:g} years of life",
        }
    value, span = of_runs(system.seconds, lambda time: time * each_second)
    return FigureOfMerit(name, value, "g CO2e", formula, inputs, span)


def _of_work(system: System, prices: PriceList, purchase: FigureOfMerit) -> Iterator[FigureOfMerit]:
    """Yield the work for the price and for the power: bytes if the job moves some, otherwise jobs."""
    drawn = _kilowatts(system, prices)
    if system.rate is not None:
        moved = {"R": f"{centre(system.rate):.6g} B/s, of {system.rate.n} runs"}
        price = {"P": f"{purchase.value:,.10g} {prices.currency}"}
        value, span = of_runs(system.rate, lambda rate: rate / 1e6 / (purchase.value / 1000))
        unit = f"MB/s for 1,000 {prices.currency}"
        yield FigureOfMerit("Work for the price", value, unit, "(R ÷ 10⁶) ÷ (P ÷ 1000)", {**moved, **price}, span)
        if drawn is not None:
            watts = 1000 * drawn[1]
            value, span = of_runs(system.rate, lambda rate: rate / 1e6 / watts)
            yield FigureOfMerit(
                "Work for the power",
                value,
                "MB/J",
                "(R ÷ 10⁶) ÷ (1000·W)",
                {**moved, "W": f"{drawn[1]:.6g} kW ({drawn[0]})"},
                span,
            )
        return
    value, span = of_runs(system.seconds, lambda time: _SECONDS / time / (purchase.value / 1000))
    inputs = {"T": f"{centre(system.seconds):.6g} s a job", "P": f"{purchase.value:,.10g} {prices.currency}"}
    unit = f"jobs an hour for 1,000 {prices.currency}"
    yield FigureOfMerit("Work for the price", value, unit, "(3600 ÷ T) ÷ (P ÷ 1000)", inputs, span)


def _of_rack(system: System, prices: PriceList, rack: Rack) -> Iterator[FigureOfMerit]:
    server = system.server
    count, limit = racked(server, rack, prices)
    drawn = power(server, of_rack=True)
    inputs = {
        **({} if rack.height is None else {"H": f"{rack.height} rack units", "h": f"{server.height} each"}),
        **({} if rack.kilowatts is None or drawn is None else {"K": f"{rack.kilowatts:g} kW", "w": f"{drawn[1]:g} W"}),
        **({} if prices.switch is None else {"o": f"{prices.switch.ports} ports"}),
        "limited by": limit,
    }
    terms = [
        *([] if rack.height is None else ["⌊H ÷ h⌋"]),
        *([] if rack.kilowatts is None else ["⌊1000·K ÷ w⌋"]),
        *([] if prices.switch is None else ["o"]),
    ]
    yield FigureOfMerit(f"Servers in a rack, by {limit}", count, "", f"min({', '.join(terms)})", inputs)
    if drawn is not None:
        inputs = {"c": f"{count} servers", "w": f"{drawn[1]:g} W ({drawn[0]})"}
        yield FigureOfMerit("Power of a full rack", count * drawn[1] / 1000, "kW", "c·w ÷ 1000", inputs)
    if system.rate is not None:
        value, span = of_runs(system.rate, lambda rate: rate / 1e6 * count / system.count)
        inputs = {
            "R": f"{centre(system.rate):.6g} B/s",
            "c": f"{count} servers",
            "n": f"{system.count} servers, on which R was measured",
        }
        name = "Work of a rack" if count == system.count else "Work of a rack, if servers add up"
        yield FigureOfMerit(name, value, "MB/s", "(R ÷ 10⁶)·c ÷ n", inputs, span)
