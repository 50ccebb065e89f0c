"""The meters of a run: their readings, whether these can be believed, and the clock that they follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from howdah.model.meter import SERIES, Meter, decode_meter
from howdah.stats.energy import Readings
from howdah.stats.lag import Lag, lag_of
from howdah.store import StoredRun

_BUSY = ("cpu_user", "cpu_nice", "cpu_system", "cpu_irq", "cpu_softirq")
_FEWEST = 2
_REFRESHES = 5
"""The refresh periods for which a reading may stay unchanged while the load changes."""
_CHANGED = 0.5
"""The share of a run's range of load from which the load counts as changed."""
_UNKNOWN = 1.0
"""The assumed limit, in seconds, of a clock's offset that nobody states and that correlation does not show; a meter's
interval if that is longer."""


@dataclass(frozen=True, slots=True)
class Metered:
    """A meter with its `readings`, by the clock of the host. `readings` is None if there are too few or if they cannot
    be believed; `problem` has the reason. `lag` is how far the meter's clock was found to be ahead. `faults` counts
    points without a reading.
    """

    meter: Meter
    readings: Readings | None
    count: int
    faults: int
    lag: Lag | None = None
    problem: str | None = None


def metered(run: StoredRun) -> list[Metered]:
    """Return every meter of a run."""
    series = dict(run.series())
    busy = {
        lines[0].get("host", name): _busy(lines[1:])
        for name, lines in series.items()
        if lines and "kinds" in lines[0] and "meter" not in lines[0]
    }
    return [
        _metered(decode_meter(lines[0]), lines[1:], busy)
        for name, lines in sorted(series.items())
        if name.startswith(SERIES) and lines and "meter" in lines[0]
    ]


def _metered(
    meter: Meter, points: Sequence[Mapping[str, Any]], busy: Mapping[str, tuple[np.ndarray, np.ndarray]]
) -> Metered:
    known = [(point["utc"], point[meter.column]) for point in points if meter.column in point]
    faults = sum("fault" in point for point in points)
    if len(known) < _FEWEST:
        return Metered(meter, None, len(known), faults, problem=f"{len(known)} readings")
    times, values = (np.array(column, dtype=float) for column in zip(*sorted(known), strict=True))
    new = np.concatenate(([True], np.diff(times) > 0))
    times, values = times[new], values[new]
    interval = float(np.median(np.diff(times)))
    error = meter.offset_error or 0.0
    readings = Readings(meter.reading, times, values, interval, meter.accuracy, meter.resolution, error)
    load = busy.get(meter.covers[0]) if len(meter.covers) == 1 else None
    stuck = _stuck(readings, load)
    if stuck is not None:
        return Metered(meter, None, len(known), faults, problem=stuck)
    if meter.offset_error is not None:
        return Metered(meter, readings, len(known), faults)
    lag = None if load is None else lag_of(readings, *load)
    if lag is None:
        return Metered(meter, replace(readings, offset_error=max(_UNKNOWN, interval)), len(known), faults)
    moved = replace(readings, times=readings.times - lag.seconds, offset_error=lag.error)
    return Metered(meter, moved, len(known), faults, lag)


def _stuck(readings: Readings, load: tuple[np.ndarray, np.ndarray] | None) -> str | None:
    """Return why a meter cannot be believed: its reading does not change while the load does. None if there is no such
    reason."""
    if load is None or load[0].size < _FEWEST:
        return None
    changed = np.concatenate(([True], np.diff(readings.values) != 0))
    starts = readings.times[changed]
    ends = np.append(readings.times[np.flatnonzero(changed)[1:] - 1], readings.times[-1])
    # Many BMCs measure more seldom than they are asked.
    refresh = float(np.median(np.diff(starts))) if starts.size > _FEWEST else 0.0
    longest = int(np.argmax(ends - starts))
    start, end = float(starts[longest]), float(ends[longest])
    if end - start <= _REFRESHES * max(readings.interval, refresh):
        return None
    rates, within = (_rates(load, *span) for span in ((readings.times[0], readings.times[-1]), (start, end)))
    if not rates.size or not within.size or np.ptp(rates) == 0 or np.ptp(within) < _CHANGED * np.ptp(rates):
        return None
    return f"its reading did not change for {end - start:.0f} s while the load did"


def _rates(load: tuple[np.ndarray, np.ndarray], start: float, end: float) -> np.ndarray:
    """Return the busy processors in five-second steps between two moments."""
    at = np.arange(start, end, 5.0)
    at = at[(at >= load[0][0]) & (at <= load[0][-1])]
    return np.asarray(np.diff(np.interp(at, *load)) / 5.0)


def _busy(points: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Return moments, and the processor seconds until each moment."""
    machine = [point for point in points if point.get("kind") == "machine"]
    times = np.array([point["utc"] for point in machine], dtype=float)
    return times, np.array([sum(point.get(name, 0.0) for name in _BUSY) for point in machine], dtype=float)
