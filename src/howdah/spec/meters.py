"""Files that describe meters: `--meters FILE`.

```yaml
meters:
  - { kind: rapl }                            # on every host, if it has that
  - { kind: ipmi, interval: 5, accuracy: 3% } # its BMC, by ipmitool on the host (root)
  - { kind: snmp, name: pdu1, address: "10.0.0.9", oid: 1.3.6.1.4.1.318.1.1.26.4.3.1.5.1, scale: 10, covers: [node1] }
  - { kind: redfish, name: bmc1, url: "https://10.0.0.1", user: reader, password_file: ~/.bmc, covers: [node1] }
  - { kind: prometheus, name: pdu, url: "http://mon:9090", query: 'pdu_watts{rack="r1"}', domain: pdu, covers: [node1] }
  - { kind: csv, name: room, file: power.csv, time: Time, format: "%Y-%m-%d %H:%M:%S", zone: UTC, value: Power, unit: W,
      where: { Name: node1 }, reading: mean, interval: 180, covers: [node1] }
  - { kind: csv, name: dcm, file: export.csv, layout: dcm, zone: Europe/Berlin, covers: [node1] }
  - { kind: slurm }                           # of the job that the hosts are of, if Slurm counts energy
  - { kind: simulated, idle: 90, busy: 240 }
idle: 600                                     # seconds of quiet that are measured before each run
others: 180                                   # watts of what no meter covers, at most, from data sheets
```
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from howdah.errors import UsageError
from howdah.model.meter import Domain, Reading, Side
from howdah.spec.document import Value, read_document
from howdah.spec.slips import did_you_mean

_COMMON = ("kind", "name", "interval", "accuracy")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "rapl": (),
    "hwmon": (),
    "slurm": (),
    "ipmi": ("hosts", "address", "port", "user", "password_file", "covers"),
    "simulated": ("hosts", "idle", "busy"),
    "snmp": ("address", "oid", "scale", "reading", "domain", "side", "covers", "feed"),
    "redfish": ("url", "user", "password_file", "verify", "covers", "side", "place", "metric"),
    "prometheus": ("url", "query", "reading", "domain", "side", "covers", "feed", "resolution"),
    "csv": (
        *("file", "layout", "time", "format", "zone", "value", "unit", "where"),
        *("reading", "domain", "side", "covers", "feed", "resolution", "clock"),
    ),
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "simulated": ("idle", "busy"),
    "snmp": ("name", "address", "oid", "covers"),
    "redfish": ("name", "url", "covers"),
    "prometheus": ("name", "url", "query", "covers"),
    "csv": ("name", "file", "covers"),
}
COLUMNS = ("time", "format", "value", "unit", "reading")
"""The settings that say what the columns of a CSV file are. A `layout` sets them all."""
PAST = ("prometheus", "csv")
"""Kinds that can be read after a run has finished."""
UNITS: Mapping[str, float] = {"W": 1.0, "kW": 1e3, "J": 1.0, "Wh": 3.6e3, "kWh": 3.6e6}
"""Watts or joules of each unit that a file may be in."""
PLAIN = tuple(kind for kind in _KEYS if kind not in _NEEDED)
"""Kinds that need no settings: `--meters rapl,ipmi`."""
_INTERVALS = {"ipmi": 5.0, "snmp": 10.0, "redfish": 5.0, "prometheus": 15.0, "slurm": 10.0}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class MeterSource:
    """A source of readings. `hosts` are the hosts where it is read, None for all.

    `covers` are the hosts that it measures, None if each reads its own host. `settings` are those that its kind needs.
    `feed` is the feed that it measures and the number of feeds that these hosts have, None if it measures all.
    """

    kind: str
    name: str | None
    interval: float
    accuracy: float | None
    hosts: tuple[str, ...] | None
    covers: tuple[str, ...] | None
    settings: Mapping[str, str]
    feed: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Meters:
    """The sources of readings. `idle` is the seconds of quiet to measure before a run.

    `others` is the maximum power, in watts, of everything that no meter covers.
    """

    sources: tuple[MeterSource, ...] = ()
    idle: float = 0.0
    others: float | None = None


NO_METERS = Meters()


def meters_of(given: str) -> Meters:
    """Return the meters of `--meters`: kinds without settings, separated by commas, or a file. Raises UsageError."""
    kinds = given.split(",")
    if all(kind in PLAIN for kind in kinds):
        if len(set(kinds)) < len(kinds):
            raise UsageError(f"--meters {given}: a kind is there twice")
        return Meters(tuple(MeterSource(kind, None, _INTERVALS.get(kind, 1.0), None, None, None, {}) for kind in kinds))
    if not Path(given).exists():
        raise UsageError(
            f"--meters {given}: there is no such file, and it is no list of {', '.join(PLAIN)}",
            hint="docs/how-to/energy.md has a file to begin with.",
        )
    return read_meters(Path(given))


def read_meters(file: Path) -> Meters:
    """Return the meters that `file` names. Raises UsageError with the line of a mistake."""
    document = read_document(file, "a file of meters")
    given = document.mapping(("meters", "idle", "others"))
    if "meters" not in given:
        raise document.problem("a file of meters has no `meters`")
    sources = tuple(_source(value) for value in given["meters"].list())
    if not sources:
        raise given["meters"].problem("there is no meter")
    names = [source.name or source.kind for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise given["meters"].problem(f"two meters are called {name}", hint="Give one of them another `name`.")
    if (problem := _problem_of_feeds(sources)) is not None:
        raise given["meters"].problem(problem, hint="Each feed needs one meter, which covers the same hosts.")
    return Meters(
        sources,
        _number(given["idle"]) if "idle" in given else 0.0,
        _number(given["others"]) if "others" in given else None,
    )


def _problem_of_feeds(sources: Sequence[MeterSource]) -> str | None:
    """Return what is wrong with the feeds of the hosts; None if all of them are there once."""
    groups: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for one in sources:
        if one.feed is not None:
            groups.setdefault(tuple(sorted(one.covers or ())), []).append(one.feed)
    for hosts, feeds in groups.items():
        of = feeds[0][1]
        if sorted(feeds) != [(number, of) for number in range(1, of + 1)]:
            listed = ", ".join(f"{number}/{total}" for number, total in feeds)
            return f"the feeds of {', '.join(hosts)} are {listed}"
    return None


def _source(value: Value) -> MeterSource:
    kinds = value.mapping().get("kind")
    if kinds is None:
        raise value.problem("a meter has no `kind`", hint=f"Known: {', '.join(_KEYS)}.")
    kind = kinds.text()
    if kind not in _KEYS:
        raise kinds.problem(f"there is no kind of meter {kind!r}", hint=did_you_mean(kind, _KEYS))
    given = value.mapping((*_COMMON, *_KEYS[kind]))
    for name in _NEEDED.get(kind, ()):
        if name not in given:
            raise value.problem(f"a meter of kind {kind} needs `{name}`")
    if kind == "ipmi" and ("address" in given) != ("covers" in given):
        raise value.problem("an `address` of a BMC and the hosts that it `covers` go together")
    if "address" in given and "name" not in given:
        raise value.problem("a meter with an `address` needs a `name`")
    for name, known in (("domain", Domain), ("side", Side), ("reading", Reading)):
        if name in given and given[name].text() not in get_args(known):
            raise given[name].problem(f"{given[name].text()!r} is no {name}: {', '.join(get_args(known))}")
    called = given["name"].text() if "name" in given else None
    if called is not None and not _NAME.fullmatch(called):
        raise given["name"].problem(f"{called!r} is no name: letters, digits, `.`, `_` and `-`")
    return MeterSource(
        kind=kind,
        name=called,
        interval=_interval(given, kind),
        accuracy=_share(given["accuracy"]) if "accuracy" in given else None,
        hosts=_names(given, "hosts"),
        covers=_names(given, "covers"),
        settings=_settings(given),
        feed=_feed(given["feed"]) if "feed" in given else None,
    )


def _feed(value: Value) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9])/([2-9])", value.text(), re.ASCII)
    if match is None or int(match[1]) > int(match[2]):
        raise value.problem(f"{value.text()!r} is no feed", hint="Write 1/2 for the first of two.")
    return int(match[1]), int(match[2])


def _settings(given: Mapping[str, Value]) -> dict[str, str]:
    lists = ("hosts", "covers", "where", "feed")
    own = {name: one.text() for name, one in given.items() if name not in (*_COMMON, *lists)}
    if "where" in given:
        own |= {f"where {column}": one.text() for column, one in given["where"].mapping().items()}
    if "file" in own:
        _check_csv(given)
        own["file"] = str(Path(own["file"]).expanduser().absolute())
    for name in ("idle", "busy", "resolution", "scale"):
        if name in given:
            _number(given[name])
    if "idle" in own and float(own["busy"]) < float(own["idle"]):
        raise given["busy"].problem("a busy host draws no less than an idle one")
    if "oid" in own and not re.fullmatch(r"\.?\d+(\.\d+)+", own["oid"]):
        raise given["oid"].problem(f"{own['oid']!r} is no OID: write the numbers, 1.3.6.1.4.1.…")
    if own.get("address", "").startswith("-"):
        raise given["address"].problem(f"{own['address']!r} is no address")
    if "verify" in own and own["verify"] not in ("yes", "no"):
        raise given["verify"].problem(f"verify is {own['verify']!r}: write yes or no")
    if "url" in own and not re.match(r"https?://[^/\s]", own["url"]):
        raise given["url"].problem(f"{own['url']!r} is no address: write https://HOST")
    if "place" in own and not own["place"].startswith("/redfish/"):
        raise given["place"].problem(f"{own['place']!r} is no resource: write /redfish/v1/…")
    if "metric" in own and "place" not in own:
        raise given["metric"].problem("a `metric` needs the `place` of its report")
    if "password_file" in own:
        file = Path(own["password_file"]).expanduser()
        if not file.is_file():
            raise given["password_file"].problem(f"there is no file {file}")
        own["password_file"] = str(file.absolute())
    return own


def _check_csv(given: Mapping[str, Value]) -> None:
    if not (file := Path(given["file"].text()).expanduser()).is_file():
        raise given["file"].problem(f"there is no file {file}")
    _check_columns(given)
    if "zone" not in given and "%z" not in (given["format"].text() if "format" in given else ""):
        raise given["file"].problem(
            "times without a zone may be any: `zone` is missing", hint="Write zone: Europe/Berlin, or zone: UTC."
        )
    if "zone" in given:
        try:
            ZoneInfo(given["zone"].text())
        except (ValueError, ZoneInfoNotFoundError, IsADirectoryError):
            raise given["zone"].problem(f"there is no zone {given['zone'].text()!r}") from None
    if "clock" in given:
        _number(given["clock"])


def _check_columns(given: Mapping[str, Value]) -> None:
    if "layout" in given:
        if (layout := given["layout"].text()) != "dcm":
            raise given["layout"].problem(f"there is no layout {layout!r}", hint="Known: dcm. Or name the columns.")
        if both := [name for name in COLUMNS if name in given]:
            raise given["layout"].problem(f"a layout sets {' and '.join(f'`{name}`' for name in both)}, too")
        return
    for name in COLUMNS:
        if name not in given:
            raise given["file"].problem(f"a meter of kind csv needs `{name}`, or a `layout`")
    unit, reading = given["unit"].text(), given["reading"].text()
    if unit not in UNITS:
        raise given["unit"].problem(f"{unit!r} is no unit of power or energy: {', '.join(UNITS)}")
    if (reading == "counter") == unit.endswith("W"):
        raise given["unit"].problem(f"a {reading} is not in {unit}")


def _names(given: Mapping[str, Value], key: str) -> tuple[str, ...] | None:
    if key not in given:
        return None
    names = tuple(one.text() for one in given[key].list())
    if not names or len(set(names)) < len(names):
        raise given[key].problem(f"{key} names no host, or one twice")
    return names


def _interval(given: Mapping[str, Value], kind: str) -> float:
    if "interval" not in given:
        return _INTERVALS.get(kind, 1.0)
    interval = _number(given["interval"])
    if not 0.5 <= interval <= 600:
        raise given["interval"].problem("an interval is between 0.5 and 600 seconds")
    return interval


def _number(value: Value) -> float:
    text = value.text()
    if not re.fullmatch(r"\d{1,9}(\.\d{1,6})?", text, re.ASCII):
        raise value.problem(f"{text!r} is no number of at least 0", hint="Write 600, without a unit.")
    return float(text)


def _share(value: Value) -> float:
    text = value.text()
    match = re.fullmatch(r"(\d{1,2}(?:\.\d{1,3})?)\s*%", text, re.ASCII)
    if match is None or float(match[1]) == 0:
        raise value.problem(f"{text!r} is no accuracy", hint="Write 2%, as the data sheet has it.")
    return float(match[1]) / 100
