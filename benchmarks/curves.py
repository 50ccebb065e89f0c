"""Synthetic curves of power whose energy is known, and what a meter with known faults says of them.

The truth is a host that idles, works in a phase, and idles again: levels that step, a square wave, spikes, drift. It is
drawn every twentieth of a second; its energy is exact. A meter reads it as instants, as means over its interval or as
a counter, with a gain error within its accuracy, rounded to its resolution, with gaps, wraps, and a clock that is off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["instant", "mean", "counter"]

STEP = 0.05
"""Seconds between the points of the truth."""
QUIET = 240.0
"""Seconds before and after the phase: more than any clock is off by, and a correlation is searched in."""
WRAP = 262_143.328850
"""Joules at which RAPL's counters begin again on many processors (`max_energy_range_uj`)."""


@dataclass(frozen=True, slots=True)
class Curve:
    """`power` in watts every STEP seconds from 0 on; the phase is from `start` to `end`. `use` are the busy processors
    of the host once a second, or None where they say nothing about its power."""

    power: np.ndarray
    start: float
    end: float
    use: np.ndarray
    clear: bool

    def energy(self, start: float, end: float) -> float:
        """Joules between two moments."""
        return float(np.diff(np.interp([start, end], self._times, self.total))[0])

    @property
    def total(self) -> np.ndarray:
        """Joules from 0 until each point."""
        return np.concatenate(([0.0], np.cumsum(self.power) * STEP))

    @property
    def _times(self) -> np.ndarray:
        return np.arange(self.power.size + 1) * STEP


@dataclass(frozen=True, slots=True)
class Read:
    """What a meter has said: `times` by its clock, of a mean the end of its interval; `values` in watts, or joules of a
    counter, which wraps at `wrap`. `accuracy` is a share. Its clock is `ahead` by so many seconds, which nobody knows;
    known is that it is less than `offset_error`, or nothing (None)."""

    kind: Kind
    times: np.ndarray
    values: np.ndarray
    interval: float
    accuracy: float
    resolution: float
    wrap: float | None
    offset_error: float | None
    ahead: float


def draw(rng: np.random.Generator) -> Curve:
    """One truth."""
    length = float(rng.choice([120.0, 300.0, 600.0, 1200.0]) * rng.uniform(0.8, 1.2))
    start = QUIET + rng.uniform(0, 10)
    end = start + length
    times = np.arange(0.0, end + QUIET, STEP) + STEP / 2
    inside = (times >= start) & (times < end)
    activity = np.where(inside, _levels(rng, times, length), 0.03)
    idle, busy = rng.uniform(60, 150), rng.uniform(150, 600)
    power = idle + (busy - idle) * activity
    if rng.random() < 0.5:
        power = power * (1 + rng.uniform(-0.03, 0.03) * (times - start) / length)
    if rng.random() < 0.5:
        for begin in rng.uniform(start, end, rng.poisson(length / 60)):
            power = power + busy * rng.uniform(0.2, 0.6) * ((times >= begin) & (times < begin + rng.uniform(0.2, 3)))
    power = power + rng.normal(0, 0.005 * busy, times.size)
    seconds = np.floor(times).astype(int)
    clear = bool(rng.random() < 0.5)
    mean = np.bincount(seconds, activity) / np.bincount(seconds)
    noise = rng.normal(0, 0.02, mean.size) if clear else rng.uniform(0, 1, mean.size)
    return Curve(power, start, end, mean + noise if clear else noise, clear)


def _levels(rng: np.random.Generator, times: np.ndarray, length: float) -> np.ndarray:
    """How busy the host is in its phase: levels for random times, on top of which there may be a square wave."""
    stay = float(rng.choice([length / 4, 30.0, 10.0, 4.0]))
    changes = np.cumsum(rng.exponential(stay, math.ceil(4 * (times[-1] / stay + 4))))
    level = rng.uniform(0.2, 1.0, changes.size)[np.searchsorted(changes, times)]
    if rng.random() < 0.4:
        period = float(np.exp(rng.uniform(np.log(0.4), np.log(40.0))))
        level = level * np.where(
            (times / period + rng.random()) % 1 < rng.uniform(0.3, 0.7), 1.0, rng.uniform(0.4, 0.9)
        )
    if rng.random() < 0.3:  # A job that begins and ends gently.
        level = level * np.clip((times - times[0] - QUIET) / (0.2 * length), 0.2, 1.0)
    return level


def read(rng: np.random.Generator, curve: Curve, kind: Kind) -> Read:
    """What one meter says of a curve: at least ten readings of its phase."""
    length = curve.end - curve.start
    intervals = [one for one in (1.0, 2.0, 5.0, 10.0, 30.0, 60.0) if length / one >= 12]
    interval = float(rng.choice(intervals))
    accuracy = float(rng.choice([0.005, 0.01, 0.02, 0.05]))
    gain = 1 + rng.uniform(-accuracy, accuracy)
    last = curve.power.size * STEP
    moments = np.arange(rng.uniform(0, interval), last, interval)
    moments = np.clip(moments + rng.uniform(-0.05, 0.05, moments.size) * interval, 0, last)
    at = np.arange(curve.power.size + 1) * STEP
    energy = np.interp(moments, at, curve.total)
    wrap = None
    if kind == "counter":
        resolution, wrap = (1e-3, WRAP) if rng.random() < 0.5 else (float(rng.choice([1.0, 3600.0 / 10])), None)
        values = energy * gain
    elif kind == "mean":
        resolution = float(rng.choice([0.1, 1.0, 8.0]))
        values = np.diff(energy) / np.diff(moments) * gain
        moments = moments[1:]
    else:
        resolution = float(rng.choice([0.1, 1.0, 8.0]))
        values = curve.power[np.minimum((moments / STEP).astype(int), curve.power.size - 1)] * gain
    values = np.round(values / resolution) * resolution
    if wrap is not None:
        values = np.mod(values + rng.uniform(0, wrap), wrap)
    known = not curve.clear
    error = float(rng.choice([0.0, 0.2, 1.0])) if known else None
    ahead = float(rng.uniform(-90, 90)) if error is None else float(rng.uniform(-error, error))
    kept = _without_gaps(rng, moments, curve, interval)
    return Read(kind, moments[kept] + ahead, values[kept], interval, accuracy, resolution, wrap, error, ahead)


def _without_gaps(rng: np.random.Generator, moments: np.ndarray, curve: Curve, interval: float) -> np.ndarray:
    """Which readings arrive: in three of ten, one gap is in the phase, of 5 % of it at most."""
    kept = np.ones(moments.size, dtype=bool)
    most = int(0.05 * (curve.end - curve.start) / interval)
    if most >= 1 and rng.random() < 0.3:
        first = int(np.searchsorted(moments, rng.uniform(curve.start, curve.end)))
        kept[first : first + int(rng.integers(1, most + 1))] = False
    return kept
