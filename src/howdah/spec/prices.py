"""Price lists that people write: the price and power of servers, the limits of a rack, the price of energy.

```yaml
currency: USD              # one for all prices
date: 2014-08-01           # of the prices
source: MSRP, section 3.5
parts:
  cpu: { price: 3720, embodied: 14.3 }                  # embodied: kg of CO2e of its making
servers:
  big: { parts: { cpu: 2 }, height: 2, watts: { mean: 350, p99: 410, nameplate: 750 }, life: 4, maintenance: 12% }
  small: { price: 9000, height: 1, watts: { nameplate: 500 } }
switch: { price: 12000, ports: 48, watts: 180 }
racks:
  usual: { height: 42, reserved_height: 4, kilowatts: 12, reserved_kilowatts: 0.4, price: 2500 }
rates: { years: 3, utilisation: 80%, kwh: 0.14, pue: 1.4, grid: 300, unit_month: 15 }
```
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from howdah.errors import UsageError
from howdah.spec.document import Value, read_document
from howdah.spec.slips import did_you_mean

_TOP = ("currency", "date", "source", "parts", "servers", "switch", "racks", "rates")
_NEEDED = ("currency", "date", "source", "servers")
_PART = ("price", "embodied", "currency")
_SERVER = ("price", "parts", "height", "watts", "life", "maintenance", "embodied", "printed", "currency")
_SWITCH = ("price", "ports", "watts", "currency")
_RACK = ("height", "reserved_height", "kilowatts", "reserved_kilowatts", "price", "currency")
_RATES = ("years", "utilisation", "kwh", "pue", "grid", "unit_month", "currency")
WATTS = ("mean", "p99", "nameplate")
"""Figures of a server's power: the mean, the 99th percentile of one-minute means, the value on its nameplate."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a server. `embodied` is in kg of CO2e."""

    price: float
    embodied: float | None = None


@dataclass(frozen=True, slots=True)
class Server:
    """A server. Its price is its own or that of its `parts`, which are numbers by name.

    `maintenance` is an amount a year, `height` is in rack units, `watts` are by their kind. `life` is in years,
    `embodied` in kg of CO2e. `printed` is the sum of the parts that a source prints.
    """

    name: str
    price: float
    parts: Mapping[str, int]
    height: int | None = None
    watts: Mapping[str, float] = field(default_factory=dict)
    life: float | None = None
    maintenance: float = 0.0
    embodied: float | None = None
    printed: float | None = None


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch for every `ports` servers."""

    price: float
    ports: int
    watts: float = 0.0


@dataclass(frozen=True, slots=True)
class Rack:
    """The rack units and kilowatts that a rack has for servers; None if there is no limit."""

    name: str
    height: int | None = None
    kilowatts: float | None = None
    price: float = 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """The `years` that a system is used, and its `utilisation`, the share of time at work.

    `kwh` is the price of a kWh. `pue` is the power of a building ÷ that of its machines. `grid` is the grams of CO2e of
    a kWh. `unit_month` is the price of a rack unit for a month.
    """

    years: float = 3.0
    utilisation: float = 1.0
    kwh: float | None = None
    pue: float = 1.0
    grid: float | None = None
    unit_month: float = 0.0


@dataclass(frozen=True, slots=True)
class PriceList:
    """A price list in one currency, with the date and the source of the prices."""

    currency: str
    date: str
    source: str
    parts: Mapping[str, Part]
    servers: Mapping[str, Server]
    switch: Switch | None
    racks: Mapping[str, Rack]
    rates: Rates


def read_prices(file: Path) -> PriceList:
    """Return the price list in `file`. Raises UsageError with the line of a mistake."""
    document = read_document(file, "a price list")
    given = document.mapping(_TOP)
    for name in _NEEDED:
        if name not in given:
            raise document.problem(f"a price list has no `{name}`")
    currency = given["currency"].text()
    parts = {name: _part(value, currency) for name, value in _named(given.get("parts"))}
    servers = {name: _server(name, value, parts, currency) for name, value in _named(given["servers"])}
    if not servers:
        raise given["servers"].problem("there is no server")
    return PriceList(
        currency=currency,
        date=_date(given["date"]),
        source=given["source"].text(),
        parts=parts,
        servers=servers,
        switch=_switch(given["switch"], currency) if "switch" in given else None,
        racks={name: _rack(name, value, currency) for name, value in _named(given.get("racks"))},
        rates=_rates(given["rates"], currency) if "rates" in given else Rates(),
    )


def _named(value: Value | None) -> list[tuple[str, Value]]:
    return [] if value is None else list(value.mapping().items())


def _fields(value: Value, known: tuple[str, ...], currency: str) -> dict[str, Value]:
    given = value.mapping(known)
    other = given.pop("currency", None)
    if other is not None and other.text() != currency:
        raise other.problem(
            f"its currency is {other.text()}, and the list's {currency}", hint="Convert it: a list has one currency."
        )
    return given


def _part(value: Value, currency: str) -> Part:
    given = _fields(value, _PART, currency)
    if "price" not in given:
        raise value.problem("it has no `price`")
    return Part(_number(given["price"]), _optional(given, "embodied"))


def _server(name: str, value: Value, known: Mapping[str, Part], currency: str) -> Server:
    given = _fields(value, _SERVER, currency)
    if ("price" in given) == ("parts" in given):
        raise value.problem(f"the server {name} needs either a `price` or `parts`")
    parts: dict[str, int] = {}
    for part, count in _named(given.get("parts")):
        if part not in known:
            raise count.problem(f"there is no part {part!r}", hint=did_you_mean(part, known))
        parts[part] = _whole(count)
    price = _number(given["price"]) if "price" in given else sum(known[one].price * n for one, n in parts.items())
    embodied = _optional(given, "embodied")
    if embodied is None and parts and all(known[one].embodied is not None for one in parts):
        embodied = sum((known[one].embodied or 0.0) * count for one, count in parts.items())
    watts = given["watts"].mapping(WATTS) if "watts" in given else {}
    return Server(
        name=name,
        price=price,
        parts=parts,
        height=_whole(given["height"]) if "height" in given else None,
        watts={kind: _positive(one) for kind, one in watts.items()},
        life=_positive(given["life"]) if "life" in given else None,
        maintenance=_share_or_amount(given["maintenance"], price) if "maintenance" in given else 0.0,
        embodied=embodied,
        printed=_optional(given, "printed"),
    )


def _switch(value: Value, currency: str) -> Switch:
    given = _fields(value, _SWITCH, currency)
    for name in ("price", "ports"):
        if name not in given:
            raise value.problem(f"the switch has no `{name}`")
    return Switch(_number(given["price"]), _whole(given["ports"]), _optional(given, "watts") or 0.0)


def _rack(name: str, value: Value, currency: str) -> Rack:
    given = _fields(value, _RACK, currency)
    height = None if "height" not in given else _whole(given["height"])
    kilowatts = None if "kilowatts" not in given else _positive(given["kilowatts"])
    if height is None and kilowatts is None:
        raise value.problem(f"nothing limits the rack {name}", hint="Say `height`, `kilowatts` or both.")
    taken = _optional(given, "reserved_height") or 0.0
    drawn = _optional(given, "reserved_kilowatts") or 0.0
    if (height is not None and taken >= height) or (kilowatts is not None and drawn >= kilowatts):
        raise value.problem(f"all of the rack {name} is reserved")
    return Rack(
        name,
        None if height is None else height - round(taken),
        None if kilowatts is None else kilowatts - drawn,
        _optional(given, "price") or 0.0,
    )


def _rates(value: Value, currency: str) -> Rates:
    given = _fields(value, _RATES, currency)
    usual = Rates()
    share = _share(given["utilisation"]) if "utilisation" in given else usual.utilisation
    if "pue" in given and _number(given["pue"]) < 1:
        raise given["pue"].problem("pue is at least 1: the building draws what its machines draw, and more")
    return Rates(
        years=_positive(given["years"]) if "years" in given else usual.years,
        utilisation=share,
        kwh=_optional(given, "kwh"),
        pue=_number(given["pue"]) if "pue" in given else usual.pue,
        grid=_optional(given, "grid"),
        unit_month=_optional(given, "unit_month") or 0.0,
    )


def _date(value: Value) -> str:
    text = value.text()
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise value.problem(f"date is {text!r}, which is no date", hint="Write 2026-11-28.") from None


def _optional(given: Mapping[str, Value], name: str) -> float | None:
    return _number(given[name]) if name in given else None


def _number(value: Value) -> float:
    """Return a number of at least 0."""
    text = value.text()
    if not re.fullmatch(r"\d{1,12}(\.\d{1,9})?", text, re.ASCII):
        raise value.problem(f"{text!r} is no number of at least 0", hint="Write 1234.56, without separators or units.")
    return float(text)


def _positive(value: Value) -> float:
    number = _number(value)
    if number == 0:
        raise value.problem("it must be more than 0")
    return number


def _whole(value: Value) -> int:
    number = _positive(value)
    if not number.is_integer():
        raise value.problem(f"{value.text()!r} is no whole number")
    return int(number)


def _share(value: Value) -> float:
    text = value.text()
    match = re.fullmatch(r"(\d{1,3}(?:\.\d{1,3})?)\s*%", text, re.ASCII)
    if match is None or not 0 < float(match[1]) <= 100:
        raise value.problem(f"{text!r} is no share", hint="Write 80%.")
    return float(match[1]) / 100


def _share_or_amount(value: Value, price: float) -> float:
    return _share(value) * price if "%" in value.text() else _number(value)


def find_server(prices: PriceList, name: str | None) -> Server:
    """Return the server called `name`, or the only one. Raises UsageError."""
    if name is None:
        if len(prices.servers) > 1:
            raise UsageError(f"which server is it? There are {', '.join(prices.servers)}", hint="Say it with --server.")
        return next(iter(prices.servers.values()))
    if name not in prices.servers:
        raise UsageError(f"the price list has no server {name!r}", hint=did_you_mean(name, prices.servers))
    return prices.servers[name]


def find_rack(prices: PriceList, name: str | None) -> Rack | None:
    """Return the rack called `name`, or the only one; None if there is none. Raises UsageError."""
    if name is None:
        if len(prices.racks) > 1:
            raise UsageError(f"which rack is it? There are {', '.join(prices.racks)}", hint="Say it with --rack.")
        return next(iter(prices.racks.values()), None)
    if name not in prices.racks:
        raise UsageError(f"the price list has no rack {name!r}", hint=did_you_mean(name, prices.racks))
    return prices.racks[name]
