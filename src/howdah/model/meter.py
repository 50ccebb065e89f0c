"""What the readings of a meter are: of what, on which side of the power supply, by which clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from howdah.model.sample import Quality

Domain = Literal["package", "dram", "psu", "node", "pdu", "rack"]
"""Of a processor's package or its memory, a power supply, a host, a distribution unit, a rack."""
Side = Literal["chip", "dc", "ac"]
Reading = Literal["instant", "mean", "counter"]
Clock = Literal["host", "here", "meter"]
"""Whose time a reading has: its host's, that of the machine where Howdah was typed, its own."""

POWER = "power"
"""The kind of its points, and their role."""
WATTS, JOULES = "watts", "joules"
"""The column of a point: joules of a counter, which does not fall."""


@dataclass(frozen=True, slots=True)
class Meter:
    """What the header of `series/power-NAME.jsonl` says. `interval_seconds` is between two readings; `accuracy` is the
    limit of the relative error, None where nobody says; `resolution` is the step of values, in watts or joules;
    `offset_error` is the limit of what its clock is off by, in seconds, None where nothing is known; `covers` are names
    of hosts."""

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

    @property
    def column(self) -> str:
        """What its points have."""
        return JOULES if self.reading == "counter" else WATTS


AROUND = 150.0
"""Seconds before and after a run whose readings are kept, too: a clock is looked for so far."""
_ABOUT = ("name", "domain", "side", "reading", "accuracy", "resolution", "clock", "offset_error", "covers")
SERIES = "power-"
"""What the names of series of meters begin with."""


def encode_meter(meter: Meter) -> dict[str, Any]:
    """The header of its series."""
    kind = "counter" if meter.reading == "counter" else "gauge"
    unit = "J" if meter.reading == "counter" else "W"
    column = {"unit": unit, "quality": meter.quality, "type": kind}
    given = asdict(meter)
    about = {name: given[name] for name in _ABOUT}
    return {
        "schema": 1,
        "host": meter.covers[0],
        "source": meter.source,
        "interval_seconds": meter.interval_seconds,
        "kinds": {POWER: {"columns": {meter.column: column}}},
        "meter": {**about, "covers": list(meter.covers)},
    }


def decode_meter(header: Mapping[str, Any]) -> Meter:
    """The meter of a series with this header. Raises KeyError and TypeError for what is none."""
    about = header["meter"]
    [column] = header["kinds"][POWER]["columns"].values()
    given = {name: about[name] for name in _ABOUT}
    return Meter(
        source=header["source"],
        interval_seconds=float(header["interval_seconds"]),
        quality=column["quality"],
        **{**given, "covers": tuple(about["covers"])},
    )
