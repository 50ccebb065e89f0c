"""Readings that another program has written to a CSV file; a file of meters declares its columns."""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

from howdah.model.meter import AROUND, POWER, SERIES, Domain, Meter, Reading, Side, encode_meter
from howdah.probe import Sink
from howdah.spec.meters import UNITS, MeterSource


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a file. The `time` is in several of them, if it has `+`."""

    time: str
    format: str
    value: str
    unit: str
    reading: Reading


_DCM = (
    _Columns("Date+Time", "%d-%b-%y %H:%M", "IT Equipment Power", "W", "mean"),
    _Columns("Time", "%Y/%m/%d %H:%M:%S", "IT Equipment Power", "W", "mean"),
)
"""The exports of Intel's Data Center Manager: with date and time apart, or in one column."""
_ENTITY = "Name"
"""The column with the host or group that a line of DCM is about."""


class _Unusable(Exception):
    """A line that cannot be used; the text says which line, and why."""


class Imported:
    """A file that is read when the run has ended, or later."""

    def __init__(self, source: MeterSource, sink: Sink, absent: Callable[[str], None]) -> None:
        self._source, self._sink, self._absent = source, sink, absent
        self._begun = 0.0

    def start(self) -> None:
        self._begun = time.time()

    def wait(self, seconds: float) -> None:
        """Readings from before the run are read, too: there is nothing to wait for."""

    def stop(self) -> None:
        self.collect(self._begun - AROUND, time.time() + AROUND)

    def collect(self, start: float, end: float) -> None:
        """Take the readings in the file between two moments."""
        name = self._source.name or "csv"
        try:
            columns = self._columns()
            readings = [(utc, value) for utc, value in self._readings(columns) if start <= utc <= end]
        except (_Unusable, OSError, UnicodeDecodeError, csv.Error) as why:
            self._absent(f"{name}: {why}")
            return
        if not readings:
            self._absent(f"{name}: {self._source.settings['file']} has no reading of the time of the run")
            return
        times = sorted({utc for utc, _ in readings})
        interval = statistics.median(b - a for a, b in pairwise(times)) if len(times) > 1 else self._source.interval
        meter = self._meter(name, columns, interval)
        ahead = time.time() - time.monotonic()
        self._sink(SERIES + name, encode_meter(meter))
        for utc, value in sorted(readings):
            point = {meter.column: value} if value > 0 else {"fault": f"{value:g}"}
            self._sink(SERIES + name, {"kind": POWER, "role": POWER, "utc": utc, "monotonic": utc - ahead, **point})

    def _columns(self) -> _Columns:
        """Return the columns as they were declared, or those of the layout that the file has."""
        given = self._source.settings
        if "layout" not in given:
            reading = cast("Reading", given["reading"])
            return _Columns(given["time"], given["format"], given["value"], given["unit"], reading)
        with Path(given["file"]).open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            heads = set(rows.fieldnames or ())
            entities = sorted({row[_ENTITY] or "" for row in rows}) if _ENTITY in heads else []
        found = next((one for one in _DCM if {*one.time.split("+"), one.value, _ENTITY} <= heads), None)
        if found is None:
            raise _Unusable(f"{given['file']} is no export of DCM: it has no {_ENTITY}, Time and {_DCM[0].value}")
        if len(entities) > 1 and f"where {_ENTITY}" not in given:
            raise _Unusable(f"{given['file']} is about {', '.join(entities)}: choose with where: {{{_ENTITY}: …}}")
        return found

    def _meter(self, name: str, columns: _Columns, interval: float) -> Meter:
        source, given = self._source, self._source.settings
        return Meter(
            name=name,
            source=f"{Path(given['file']).name}, column {columns.value}",
            domain=cast("Domain", given.get("domain", "node")),
            side=cast("Side", given.get("side", "ac")),
            reading=columns.reading,
            interval_seconds=interval,
            accuracy=source.accuracy,
            resolution=float(given.get("resolution", 0)),
            clock="meter",
            offset_error=float(given["clock"]) if "clock" in given else None,
            covers=source.covers or (),
            quality="imported",
            feed=source.feed,
        )

    def _readings(self, known: _Columns) -> Iterator[tuple[float, float]]:
        given = self._source.settings
        wanted = {key.removeprefix("where "): value for key, value in given.items() if key.startswith("where ")}
        columns = known.time.split("+")
        with Path(given["file"]).open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            missing = {*columns, known.value, *wanted} - set(rows.fieldnames or ())
            if missing:
                raise _Unusable(f"{given['file']} has no column {', '.join(sorted(missing))}")
            for row in rows:
                if any(row[column] != value for column, value in wanted.items()):
                    continue
                text = (row[known.value] or "").strip()
                if text:
                    words = " ".join((row[column] or "").strip() for column in columns)
                    yield self._moment(words, known.format, rows.line_num), _value(text, known.unit, rows.line_num)

    def _moment(self, text: str, form: str, line: int) -> float:
        given = self._source.settings
        try:
            parsed = datetime.strptime(text, form)
        except ValueError:
            raise _Unusable(f"line {line}: {text!r} is not written as {form}") from None
        if parsed.tzinfo is not None:
            return parsed.timestamp()
        zone = ZoneInfo(given["zone"])
        first, second = (parsed.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
        if first.utcoffset() != second.utcoffset():
            there = first.utcoffset() or timedelta()
            words = "is there twice" if there > (second.utcoffset() or timedelta()) else "is not there"
            raise _Unusable(f"line {line}: {text} {words} in {given['zone']}, as clocks were changed: export it in UTC")
        return first.timestamp()


def _value(text: str, unit: str, line: int) -> float:
    try:
        return float(text.replace(",", "")) * UNITS[unit]
    except ValueError:
        raise _Unusable(f"line {line}: {text!r} is no number") from None
