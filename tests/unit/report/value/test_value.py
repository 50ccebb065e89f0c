"""Prices, racks and equal work, against arithmetic by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.model.comparison import Comparison, Interval
from howdah.report import build_report, render_json, render_text
from howdah.report.value import FigureOfMerit, System, equal_work, figures_of, system_of
from howdah.report.value.section import value_of, with_value
from howdah.report.value.system import racked
from howdah.spec.prices import PriceList, Rack, Rates, Server, Switch
from howdah.stats import compare, summarise
from tests.unit.report.example_runs import Example, write_example

SERVER = Server("s", 10_000.0, {}, 2, {"mean": 300.0, "p99": 400.0}, 4.0, 1000.0, 1300.0)
RACK = Rack("r", 38, 11.6, 2500.0)
PRICES = PriceList(
    *("USD", "2026-11-28", "here", {}, {"s": SERVER}, Switch(12_000.0, 48, 200.0), {"r": RACK}),
    Rates(3.0, 0.8, 0.14, 1.4, 300.0, 15.0),
)
TIMES = (100.0, 101.0, 99.0, 100.5, 99.5)


def system(times: tuple[float, ...] = TIMES, *, server: Server = SERVER, count: int = 3, name: str = "a") -> System:
    rates = summarise([1e9 / time for time in times])
    return System(name, server, count, (), "TeraSort, sort", summarise(times), rates)


def by_name(figures: list[FigureOfMerit]) -> dict[str, FigureOfMerit]:
    return {figure.name: figure for figure in figures}


def test_every_figure_is_what_its_formula_says() -> None:
    found = by_name(figures_of(system(), PRICES, RACK))
    purchase = 3 * 10_000 + 12_000 + 2500
    assert found["Purchase"].value == purchase
    kilowatts = (3 * 300 + 200) / 1000
    yearly = 3 * 1000 + 3 * 2 * 15 * 12 + kilowatts * 8760 * 0.8 * 1.4 * 0.14
    total = purchase + 3 * yearly
    assert found["Cost of 3 years"].value == pytest.approx(total)
    time = math.exp(sum(map(math.log, TIMES)) / 5)
    assert found["Jobs an hour"].value == pytest.approx(3600 / time)
    assert found["Cost of a job"].value == pytest.approx(total * time / (3 * 8760 * 3600 * 0.8))
    assert found["Energy of a job"].value == pytest.approx(1000 * kilowatts * time / 3600)
    carbon = time * (kilowatts * 1.4 * 300 / 3600 + 1000 * 3 * 1300 / (4 * 8760 * 3600))
    assert found["Carbon of a job"].value == pytest.approx(carbon)
    rate = 1e9 / time
    assert found["Work for the price"].value == pytest.approx(rate / 1e6 / (purchase / 1000))
    assert found["Work for the power"].value == pytest.approx(rate / 1e6 / (1000 * kilowatts))
    assert found["Servers in a rack, by height"].value == 19
    assert found["Power of a full rack"].value == pytest.approx(19 * 0.4)
    assert found["Work of a rack, if servers add up"].value == pytest.approx(rate / 1e6 * 19 / 3)


@pytest.mark.promise("Every figure has a formula, its inputs, and an interval where runs are behind it", "how-to/value")
def test_formulas_name_all_their_inputs_and_intervals_contain_the_value() -> None:
    for figure in figures_of(system(), PRICES, RACK):
        letters = {letter for letter in figure.formula if letter.isalpha()} - set("min")
        assert letters <= set(figure.inputs) | {"o", "y"}, figure.name
        if figure.interval is not None:
            assert figure.interval.low < figure.value < figure.interval.high
    exact = {one.name for one in figures_of(system(), PRICES, RACK) if one.interval is None}
    assert exact == {"Purchase", "Cost of 3 years", "Servers in a rack, by height", "Power of a full rack"}
    few = figures_of(system((100.0, 101.0)), PRICES, RACK)
    assert not [figure for figure in few if figure.interval is not None], "two runs have no interval"


LISTS = st.builds(
    lambda price, mean, peak, height, switch, pue, kwh: replace(
        PRICES,
        servers={"s": replace(SERVER, price=price, watts={"mean": mean, "p99": mean + peak}, height=height)},
        switch=Switch(switch, 48, 100.0),
        rates=replace(PRICES.rates, pue=pue, kwh=kwh),
    ),
    *(st.floats(100, 1e6), st.floats(50, 900), st.floats(0, 500), st.integers(1, 8), st.floats(0, 1e5)),
    *(st.floats(1, 3), st.floats(0, 2)),
)


@pytest.mark.promise("A higher price never improves the value", "how-to/value")
@settings(max_examples=1000, deadline=None)
@given(LISTS, st.integers(1, 60))
def test_prices_and_servers_go_the_way_they_must(prices: PriceList, count: int) -> None:
    server = prices.servers["s"]
    dearer = replace(prices, servers={"s": replace(server, price=2 * server.price)})
    cheap, dear = (
        by_name(figures_of(system(server=one.servers["s"], count=count), one, RACK)) for one in (prices, dearer)
    )
    assert dear["Work for the price"].value < cheap["Work for the price"].value
    for name in ("Purchase", "Cost of 3 years", "Cost of a job"):
        assert dear[name].value > cheap[name].value
    assert dear["Energy of a job"].value == cheap["Energy of a job"].value, "a price draws no power"
    fits, _ = racked(server, RACK, prices)
    assert fits * server.watts["p99"] <= 1000 * 11.6 * (1 + 1e-9)
    more, _ = racked(server, replace(RACK, height=60, kilowatts=20.0), prices)
    assert more >= fits
    assert more * server.watts["p99"] >= fits * server.watts["p99"]


def test_a_rack_says_what_limits_it_and_that_it_holds_no_server() -> None:
    without = replace(PRICES, switch=None)
    assert racked(SERVER, RACK, without) == (19, "height")
    assert racked(SERVER, replace(RACK, kilowatts=2.0), without) == (5, "power (p99)")
    assert racked(SERVER, RACK, replace(PRICES, switch=Switch(1.0, 8))) == (8, "ports of its switch")
    assert racked(replace(SERVER, watts={"mean": 0.1 * 3}), Rack("r", None, 0.0003 * 10), without)[0] == 10, "no hair"
    with pytest.raises(UsageError, match=r"the rack r holds not one server s: its power \(p99\) is too little"):
        racked(SERVER, replace(RACK, kilowatts=0.3), without)
    with pytest.raises(UsageError, match="has no `height`"):
        racked(replace(SERVER, height=None), RACK, without)
    with pytest.raises(UsageError, match="has no `watts`"):
        racked(replace(SERVER, watts={}), RACK, without)


def test_what_costs_nothing_has_no_value_for_its_price() -> None:
    free = replace(PRICES, switch=None)
    with pytest.raises(UsageError, match="the system a costs nothing"):
        figures_of(system(server=replace(SERVER, price=0.0)), free, None)


def test_what_the_list_does_not_say_is_absent() -> None:
    bare = PriceList("USD", "2026-11-28", "here", {}, {}, None, {}, Rates())
    names = [one.name for one in figures_of(system(server=Server("s", 10.0, {})), bare, None)]
    assert names == ["Purchase", "Cost of 3 years", "Jobs an hour", "Cost of a job", "Work for the price"]
    alone = by_name(figures_of(system(server=replace(SERVER, embodied=None)), PRICES, None))
    assert "Carbon of a job, by power alone" in alone


def against(ratio: float, low: float, high: float) -> Comparison:
    return replace(compare([1.0, 2.0], [1.0, 2.0], "lower"), ratio=ratio, interval=Interval(low, high))


@pytest.mark.promise("Servers for equal work are a set where the interval leaves several", "how-to/value")
def test_servers_for_equal_work() -> None:
    quick = system(server=replace(SERVER, watts={"mean": 150.0}, price=5000.0), name="b")
    found = equal_work(system(), quick, against(0.5, 0.45, 0.55), 20)
    assert (found.fewest, found.most) == (9, 11)
    assert found.saved_power is not None
    assert found.saved_power == pytest.approx((1 - 11 * 150 / (20 * 300), 1 - 9 * 150 / (20 * 300)))
    assert found.saved_price == pytest.approx((1 - 11 / 40, 1 - 9 / 40))
    exact = equal_work(system(), quick, replace(against(0.5, 1, 1), interval=None), 20)
    assert (exact.fewest, exact.most) == (10, 10)
    twice = equal_work(system(count=3), system(count=6, name="b"), against(0.5, 0.5, 0.5), 20)
    assert twice.fewest == 20, "twice as fast on twice as many"
    other = equal_work(system(), replace(quick, server=replace(quick.server, watts={"p99": 1.0})), against(1, 1, 1), 2)
    assert other.saved_power is None, "a mean and a peak are not compared"


@given(st.integers(1, 500), st.floats(0.05, 20), st.floats(1.0, 1.5))
def test_more_work_never_takes_fewer_servers(count: int, ratio: float, spread: float) -> None:
    found = equal_work(system(), system(name="b"), against(ratio, ratio / spread, ratio * spread), count)
    after = equal_work(system(), system(name="b"), against(ratio, ratio / spread, ratio * spread), count + 1)
    assert 1 <= found.fewest <= found.most
    assert (after.fewest, after.most) >= (found.fewest, found.most)
    assert found.most >= count * ratio - 1e-6


def test_the_system_of_runs(tmp_path: Path) -> None:
    runs = [write_example(tmp_path, Example(f"r{n}", n, series=False)) for n in range(5)]
    found = system_of("mine", runs, SERVER, None)
    assert found.count == 1
    assert found.seconds.n == 5
    assert found.rate is not None
    assert found.workload == "TeraSort, sort"
    assert system_of("mine", runs, SERVER, 7).count == 7
    others = [replace(run, run=replace(run.run, primary="sort/cpu_seconds")) for run in runs]
    others = [replace(run, run=replace(run.run, primary="sort/cpu_seconds")) for run in runs]
    with pytest.raises(UsageError, match="mine: its runs have no time in common"):
        system_of("mine", others, SERVER, 1)


@pytest.mark.promise("A report and a comparison say what their runs cost, with every formula", "how-to/value")
def test_a_section_of_a_page(tmp_path: Path) -> None:
    runs = [write_example(tmp_path, Example(f"run-{number}", number)) for number in range(4)]
    page = with_value(build_report(runs), value_of(PRICES, RACK, [system(), system(name="b")], []))
    assert page.sections[-1].id == "value"
    text = render_text(page)
    assert "Cost of 3 years" in text
    assert "P + y·(n·m + n·h·12·u + W·8760·a·f·e)" in text
    assert "nobody measured it here" in text
    assert [one["name"] for one in page.facts["value"]["systems"]] == ["a", "b"]
    json.loads(render_json(page))
