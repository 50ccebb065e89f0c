from __future__ import annotations

from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.spec.prices import find_rack, find_server, read_prices

HEAD = "currency: USD\ndate: 2014-08-01\nsource: here\n"
ONE = f"{HEAD}servers: {{a: {{price: 1000}}}}\n"
SEED = Path(__file__).parents[3] / "docs" / "examples" / "prices-2014.yaml"


def read(tmp_path: Path, text: str):
    file = tmp_path / "prices.yaml"
    file.write_text(text, encoding="utf-8")
    return read_prices(file)


def test_parts_add_up_and_shares_are_of_the_price(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        f"{HEAD}parts: {{cpu: {{price: 100.5, embodied: 10}}, disk: {{price: 20, embodied: 1}}}}\n"
        "servers: {a: {parts: {cpu: 2, disk: 4}, maintenance: 10%, watts: {p99: 300}, height: 2}}\n"
        "racks: {r: {height: 42, reserved_height: 2, kilowatts: 12, reserved_kilowatts: 0.5}}\n"
        "rates: {utilisation: 80%, kwh: 0.14, pue: 1.4}\n",
    )
    server = find_server(found, None)
    assert (server.price, server.embodied) == (281.0, 24.0)
    assert server.maintenance == pytest.approx(28.1)
    rack = find_rack(found, None)
    assert rack is not None
    assert (rack.height, rack.kilowatts) == (40, 11.5)
    assert (found.rates.utilisation, found.rates.years, found.switch) == (0.8, 3.0, None)


@pytest.mark.promise("A price list with a mistake names the line and the mistake", "how-to/value")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("date: 2014-08-01\nsource: x\nservers: {a: {price: 1}}\n", "a price list has no `currency`"),
        ("currency: USD\nsource: x\nservers: {a: {price: 1}}\n", "a price list has no `date`"),
        ("currency: USD\ndate: 2014-08-01\nservers: {a: {price: 1}}\n", "a price list has no `source`"),
        (HEAD, "a price list has no `servers`"),
        (f"{HEAD}servers: {{}}\n", "line 4: there is no server"),
        (ONE.replace("2014-08-01", "August"), "line 2: date is 'August', which is no date"),
        (f"{HEAD}servers: {{a: {{price: 1, currency: EUR}}}}\n", "line 4: its currency is EUR, and the list's USD"),
        (f"{HEAD}servers: {{a: {{price: -1}}}}\n", "'-1' is no number of at least 0"),
        (f"{HEAD}servers: {{a: {{price: '1,000'}}}}\n", "'1,000' is no number of at least 0"),
        (f"{HEAD}servers: {{a: {{height: 2}}}}\n", "the server a needs either a `price` or `parts`"),
        (f"{HEAD}servers: {{a: {{price: 1, parts: {{}}}}}}\n", "the server a needs either a `price` or `parts`"),
        (
            f"{HEAD}parts: {{cpu: {{price: 1}}}}\nservers:\n  a: {{parts: {{cup: 2}}}}\n",
            "line 6: there is no part",
        ),
        (f"{HEAD}parts: {{cpu: {{}}}}\nservers: {{a: {{price: 1}}}}\n", "line 4: it has no `price`"),
        (f"{HEAD}servers: {{a: {{price: 1, watts: {{peak: 3}}}}}}\n", "unknown key 'peak' in watts"),
        (f"{HEAD}servers: {{a: {{price: 1, watts: {{mean: 0}}}}}}\n", "it must be more than 0"),
        (f"{HEAD}servers: {{a: {{price: 1, height: 1.5}}}}\n", "'1.5' is no whole number"),
        (f"{ONE}racks: {{r: {{price: 1}}}}\n", "line 5: nothing limits the rack r"),
        (f"{ONE}racks: {{r: {{height: 4, reserved_height: 4}}}}\n", "all of the rack r is reserved"),
        (f"{ONE}rates: {{pue: 0.9}}\n", "pue is at least 1"),
        (f"{ONE}rates: {{utilisation: 120%}}\n", "'120%' is no share"),
        (f"{ONE}rates: {{utilisation: 0.8}}\n", "'0.8' is no share"),
        (f"{ONE}switch: {{price: 1}}\n", "the switch has no `ports`"),
        (f"{ONE}price: 3\n", "unknown key 'price' in a price list"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert message in caught.value.message


def test_a_name_is_needed_where_there_are_several(tmp_path: Path) -> None:
    found = read(tmp_path, f"{HEAD}servers: {{a: {{price: 1}}, b: {{price: 2}}}}\n")
    with pytest.raises(UsageError, match="which server is it\\? There are a, b"):
        find_server(found, None)
    with pytest.raises(UsageError, match="no server 'c'"):
        find_server(found, "c")
    assert find_server(found, "b").price == 2
    assert find_rack(found, None) is None
    with pytest.raises(UsageError, match="no rack 'r'"):
        find_rack(found, "r")


@pytest.mark.promise("The price tables of the seed are re-added, and the one that does not is named", "how-to/value")
def test_the_servers_of_the_seed_cost_what_it_prints_but_for_one() -> None:
    servers = read_prices(SEED).servers
    apart = {name: round(one.price - (one.printed or 0), 2) for name, one in servers.items()}
    assert apart == {"e5-2695v2": 0, "e5-2660v2": 0, "e5-2643v2": 0, "e5-2667v2": 0, "e5-2690v2": -9.0}
    prices = [one.printed or 0 for one in servers.values()]
    assert round(100 * (1 - min(prices) / max(prices)), 1) == 10.4, "of the dearer one, which the seed does not say"
