"""Readings that another program has written to a CSV file; a file of meters declares its columns."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast
from zoneinfo import ZoneInfo

from howdah.model.meter import AROUND, POWER, SERIES, Domain, Meter, Reading, Side, encode_meter
from howdah.probe import Sink
from howdah.spec.meters import UNITS, Source


class _Unusable(Exception):
    """A line that cannot be used; the text says which line, and why."""


class Imported:
    """A file that is read when the run has ended, or later."""

    def __init__(self, source: Source, sink: Sink, absent: Callable[[str], None]) -> None:
        self._source, self._sink, self._absent = source, sink, absent
        self._begun = 0.0

    def start(self) -> None:
        self._begun = time.time()

    def stop(self) -> None:
        self.collect(self._begun - AROUND, time.time() + AROUND)

    def collect(self, start: float, end: float) -> None:
        """Take the readings in the file between two moments."""
        name = self._source.name or "csv"
        try:
            readings = [(utc, value) for utc, value in self._readings() if start <= utc <= end]
        except (_Unusable, OSError, UnicodeDecodeError, csv.Error) as why:
            self._absent(f"{name}: {why}")
            return
        if not readings:
            self._absent(f"{name}: {self._source.settings['file']} has no reading of the time of the run")
            return
        meter = self._meter(name)
        ahead = time.time() - time.monotonic()
        self._sink(SERIES + name, encode_meter(meter))
        for utc, value in sorted(readings):
            point = {meter.column: value} if value > 0 else {"fault": f"{value:g}"}
            self._sink(SERIES + name, {"kind": POWER, "role": POWER, "utc": utc, "monotonic": utc - ahead, **point})

    def _meter(self, name: str) -> Meter:
        source, given = self._source, self._source.settings
        return Meter(
            name=name,
            source=f"{Path(given['file']).name}, column {given['value']}",
            domain=cast("Domain", given.get("domain", "node")),
            side=cast("Side", given.get("side", "ac")),
            reading=cast("Reading", given["reading"]),
            interval_seconds=source.interval,
            accuracy=source.accuracy,
            resolution=float(given.get("resolution", 0)),
            clock="meter",
            offset_error=float(given["clock"]) if "clock" in given else None,
            covers=source.covers or (),
            quality="imported",
        )

    def _readings(self) -> Iterator[tuple[float, float]]:
        given = self._source.settings
        wanted = {key.removeprefix("where "): value for key, value in given.items() if key.startswith("where ")}
        columns = given["time"].split("+")
        with Path(given["file"]).open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            missing = {*columns, given["value"], *wanted} - set(rows.fieldnames or ())
            if missing:
                raise _Unusable(f"{given['file']} has no column {', '.join(sorted(missing))}")
            for row in rows:
                if any(row[column] != value for column, value in wanted.items()):
                    continue
                text = (row[given["value"]] or "").strip()
                if text:
                    words = " ".join((row[column] or "").strip() for column in columns)
                    yield self._moment(words, rows.line_num), self._value(text, rows.line_num)

    def _value(self, text: str, line: int) -> float:
        try:
            return float(text.replace(",", "")) * UNITS[self._source.settings["unit"]]
        except ValueError:
            raise _Unusable(f"line {line}: {text!r} is no number") from None

    def _moment(self, text: str, line: int) -> float:
        given = self._source.settings
        try:
            parsed = datetime.strptime(text, given["format"])
        except ValueError:
            raise _Unusable(f"line {line}: {text!r} is not written as {given['format']}") from None
        if parsed.tzinfo is not None:
            return parsed.timestamp()
        zone = ZoneInfo(given["zone"])
        first, second = (parsed.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
        if first.utcoffset() != second.utcoffset():
            there = first.utcoffset() or timedelta()
            words = "is there twice" if there > (second.utcoffset() or timedelta()) else "is not there"
            raise _Unusable(f"line {line}: {text} {words} in {given['zone']}, as clocks were changed: export it in UTC")
        return first.timestamp()
