"""The meaning of a meter's readings: the measured part, the side of the power supply, the clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from howdah.model.sample import Quality

Domain = Literal["package", "dram", "psu", "node", "pdu", "rack"]
"""The part measured: a processor's package or its memory, a power supply, a host, a distribution unit, a rack."""
Side = Literal["chip", "dc", "ac"]
Reading = Literal["instant", "mean", "counter"]
Clock = Literal["host", "here", "meter"]
"""The clock of a reading: that of its host, of the machine where Howdah was typed, or of the meter."""

POWER = "power"
"""The kind and the role of a meter's points."""
WATTS, JOULES = "watts", "joules"
"""The column of a point. Joules are those of a counter, which does not fall."""


@dataclass(frozen=True, slots=True)
class Meter:
    """The contents of the header of `series/power-NAME.jsonl`.

    `interval_seconds` is the time between two readings. `accuracy` is the limit of the relative error, None if nobody
    states it. `resolution` is the step of values, in watts or joules. `offset_error` is the limit of the clock's error
    in seconds, None if unknown. `covers` are names of hosts. Hosts with several power supplies may have several feeds:
    `feed` is the number of the feed that the meter measures, and the number of all feeds.
    """

    name: str
    source: str
    domain: Domain
    side: Side
    reading: Reading
    interval_seconds: float
    accuracy: float | None
    resolution: float
    clock: Clock
    offset_error: float | None
    covers: tuple[str, ...]
    quality: Quality
    feed: tuple[int, int] | None = None

    @property
    def column(self) -> str:
        """The column that the meter's points have."""
        return JOULES if self.reading == "counter" else WATTS


AROUND = 150.0
"""Seconds before and after a run whose readings are kept, too. The search for a clock's offset reaches that far."""
_ABOUT = ("name", "domain", "side", "reading", "accuracy", "resolution", "clock", "offset_error", "covers")
SERIES = "power-"
"""The prefix of the names of series of meters."""


def encode_meter(meter: Meter) -> dict[str, Any]:
    """Return the header of the meter's series."""
    kind = "counter" if meter.reading == "counter" else "gauge"
    unit = "J" if meter.reading == "counter" else "W"
    column = {"unit": unit, "quality": meter.quality, "type": kind}
    given = asdict(meter)
    about = {name: given[name] for name in _ABOUT}
    if meter.feed is not None:
        about["feed"] = list(meter.feed)
    return {
        "schema": 1,
        "host": meter.covers[0],
        "source": meter.source,
        "interval_seconds": meter.interval_seconds,
        "kinds": {POWER: {"columns": {meter.column: column}}},
        "meter": {**about, "covers": list(meter.covers)},
    }


def decode_meter(header: Mapping[str, Any]) -> Meter:
    """Return the meter of a series with this header. Raises KeyError and TypeError for a header of no meter."""
    about = header["meter"]
    [column] = header["kinds"][POWER]["columns"].values()
    given = {name: about[name] for name in _ABOUT}
    return Meter(
        source=header["source"],
        interval_seconds=float(header["interval_seconds"]),
        quality=column["quality"],
        feed=tuple(about["feed"]) if "feed" in about else None,
        **{**given, "covers": tuple(about["covers"])},
    )
