"""Energy from readings of meters, by the kind of reading, with an uncertainty budget.

There are three kinds of readings. An instant is the power at a moment. A mean is the power over the interval that its
time ends. A counter is the joules since some moment. The energy of a stretch is the trapezoid of instants, or the sum
of means over the part of their intervals that is inside. For counters it is the difference, linear between readings.

The sampling part of the budget is Matheron's estimation variance (The Theory of Regionalized Variables, 1971) of evenly
spaced readings. Their own variogram γ is taken for that of a process that steps at random, γ(h) = σ²·(1 − rʰ) with h in
intervals. The mean of an interval then has the variance `σ²·((1 + r) ÷ (1 − r) + 2 ÷ ln r)` about its readings. It is
γ(1) for white noise, and γ(1) ÷ 6 if power steps seldom.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize, stats

Kind = Literal["instant", "mean", "counter"]

ENOUGH = 10
"""Readings that a stretch needs for an energy (EE HPC WG power measurement methodology, aspect 1c)."""
WIDEST = 0.10
"""The share of the stretch that may lie between two readings (the same methodology, aspect 1a)."""
_COVERAGE = 0.95
_FACTOR = 1.959964


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings of one meter. `times` are growing seconds. `values` are watts, or joules that never fall if `kind`
    is counter. A mean is over the time since the reading before it, or over `interval`, the usual seconds between two
    readings, if that reading is more than 1.5 times `interval` away.

    `accuracy` is the limit of the meter's relative error, None if it is not known. `resolution` is the smallest step of
    values. `offset_error` is the limit of the clock's offset, in seconds.
    """

    kind: Kind
    times: np.ndarray
    values: np.ndarray
    interval: float
    accuracy: float | None = None
    resolution: float = 0.0
    offset_error: float = 0.0

    @property
    def means(self) -> np.ndarray:
        """The watts between every two readings, for means and counters."""
        return np.diff(self.values) / np.diff(self.times) if self.kind == "counter" else self.values[1:]


@dataclass(frozen=True, slots=True)
class Energy:
    """`joules` ± `half_width`, which covers the truth in 95 % of cases. `budget` has the standard uncertainties behind
    it, in joules: `sampling`, `resolution`, `offset`, and `meter` if the accuracy is known."""

    joules: float
    half_width: float
    readings: int
    budget: Mapping[str, float]


def unwrapped(counter: np.ndarray, wrap: float) -> np.ndarray:
    """Return a counter that begins again at `wrap` as one that does not. It may wrap once between two readings."""
    return np.concatenate((counter[:1], counter[0] + np.cumsum(np.mod(np.diff(counter), wrap))))


def energy(readings: Readings, start: float, end: float, *, enough: int = ENOUGH) -> Energy | str:
    """Return the energy between two moments, or why there is none, in a few words. If fewer than ten readings are
    `enough` (three at least), they may be any distance apart."""
    inside = int(np.count_nonzero((readings.times >= start) & (readings.times <= end)))
    if inside < enough:
        return f"{inside} readings, and {enough} are needed"
    if readings.times[0] > start or readings.times[-1] < end:
        return "the readings do not cover it"
    edges = np.concatenate(([start], readings.times[(readings.times > start) & (readings.times < end)], [end]))
    if enough >= ENOUGH and (widest := float(np.diff(edges).max())) > WIDEST * (end - start):
        return f"no reading for {widest:.3g} s of {end - start:.3g} s"
    joules = integral(readings, start, end)
    budget = {
        "sampling": math.sqrt(_sampling(readings, start, end)),
        "resolution": _resolution(readings, start, end),
        "offset": _offset(readings, start, end, joules),
    }
    normal = math.hypot(*budget.values())
    limit = 0.0
    if readings.accuracy is not None:
        limit = readings.accuracy * joules
        budget["meter"] = limit / math.sqrt(3)  # Limits without a distribution: rectangular (GUM 4.3.7).
    return Energy(joules, expanded(limit, normal, inside / 2), inside, budget)


def integral(readings: Readings, start: float, end: float) -> float:
    """Return the joules between two moments within the readings."""
    times, watts = readings.times, readings.values
    if readings.kind == "instant":
        inner = (times > start) & (times < end)
        at = np.concatenate(([start], times[inner], [end]))
        return float(np.trapezoid(np.interp(at, times, watts), at))
    means = _means(readings)
    total = np.concatenate(([0.0], np.cumsum(np.diff(means.edges) * means.watts)))
    within = float(np.diff(np.interp([start, end], means.edges, total))[0])
    return within + sum(_steps(means, start, end))


@dataclass(frozen=True, slots=True)
class _Means:
    """Mean power between neighbouring `edges`. A `gap` is a stretch without a reading, bridged by its neighbours."""

    edges: np.ndarray
    watts: np.ndarray
    gap: np.ndarray


def _means(readings: Readings) -> _Means:
    times, values = readings.times, readings.values
    if readings.kind == "counter":
        return _Means(times, readings.means, np.zeros(times.size - 1, dtype=bool))
    edges, means, gap = [float(times[0])], list[float](), list[bool]()
    for before, time, lower, value in zip(times, times[1:], values, values[1:], strict=False):
        if time - before > 1.5 * readings.interval:
            edges.append(float(time - readings.interval))
            means.append(float(lower + value) / 2)
            gap.append(True)
        edges.append(float(time))
        means.append(float(value))
        gap.append(False)
    return _Means(np.array(edges), np.array(means), np.array(gap))


def _steps(means: _Means, start: float, end: float) -> tuple[float, float]:
    """Return the joules that the intervals at both ends hold beyond their shares. If such a mean lies between those of
    its neighbours, power stepped from one to the other within the interval, and the mean says when."""
    first = int(np.searchsorted(means.edges, start, "right")) - 1
    last = int(np.searchsorted(means.edges, end, "left")) - 1

    def beyond(at: int, outer: int, inner: int, inside: float) -> float:
        if not 0 <= outer < means.watts.size:
            return 0.0
        low, mean, high = (float(means.watts[one]) for one in (outer, at, inner))
        if not min(low, high) < mean < max(low, high):
            return 0.0
        after = (mean - low) / (high - low) * float(means.edges[at + 1] - means.edges[at])
        return high * min(after, inside) + low * max(0.0, inside - after) - mean * inside

    return (
        beyond(first, first - 1, first + 1, float(means.edges[first + 1]) - start),
        beyond(last, last + 1, last - 1, end - float(means.edges[last])),
    )


def _sampling(readings: Readings, start: float, end: float) -> float:
    """Return the variance of an integral due to the power between the readings."""
    if readings.kind != "instant":
        return _sampling_of_means(_means(readings), start, end)
    times = readings.times
    first, last = int(np.searchsorted(times, start, "right")), int(np.searchsorted(times, end, "left"))
    watts = readings.values[first - 1 : last + 1]
    inside = np.minimum(times[first : last + 1], end) - np.maximum(times[first - 1 : last], start)
    shares = inside / np.diff(times)[first - 1 : last]
    # A phase begins and ends with what it does, so power may have stepped at the end of it rather than around.
    ends = (np.diff(watts) * inside * shares / 2)[[0, -1]]
    return _between_instants(watts) * float(np.sum(inside**2)) + float(np.sum(ends**2))


def _between_instants(watts: np.ndarray) -> float:
    """Return the variance of an interval's mean by the trapezoid, in W², if power steps at random."""
    near, far = (float(np.mean((watts[lag:] - watts[:-lag]) ** 2)) / 2 for lag in (1, 2))
    if near == 0:
        return 0.0
    # γ(h) = σ²·(1 − rʰ), so r = γ(2) ÷ γ(1) − 1; less its standard error, as what is not known may be white noise.
    r = min(far / near - 1 - 1 / math.sqrt(watts.size), 0.99)
    if r <= 0:
        return near
    return near / (1 - r) * ((1 + r) / (1 - r) + 2 / math.log(r))


def _sampling_of_means(means: _Means, start: float, end: float) -> float:
    first = int(np.searchsorted(means.edges, start, "right")) - 1
    last = int(np.searchsorted(means.edges, end, "left")) - 1
    lengths = np.diff(means.edges)
    read = means.watts[first : last + 1][~means.gap[first : last + 1]]
    near = float(np.mean(np.diff(read) ** 2)) / 2
    variance = sum((step / 2) ** 2 for step in _steps(means, start, end))
    for at, inside in ((first, float(means.edges[first + 1]) - start), (last, end - float(means.edges[last]))):
        # Means of a Brownian motion of variance v a second differ by v·h·2/3, and a part f of one is known of the whole
        # but for v·h³·f²(1 − f)²/3.
        share = inside / float(lengths[at])
        variance += near * float(lengths[at]) ** 2 * share**2 * (1 - share) ** 2
    gaps = lengths[first : last + 1][means.gap[first : last + 1]]
    return variance + near * float(np.sum(gaps**2))


def _resolution(readings: Readings, start: float, end: float) -> float:
    """Return the uncertainty due to rounding. Equal readings in a row are rounded by the same, so their errors add
    up."""
    step = readings.resolution / math.sqrt(12)
    if readings.kind == "counter":
        return step * math.sqrt(2)
    inside = (readings.times > start) & (readings.times <= end)
    row = np.cumsum(np.diff(readings.values[inside], prepend=math.nan) != 0)
    lengths = np.bincount(row, np.diff(readings.times[inside], prepend=start))
    return step * math.sqrt(float(np.sum(lengths**2)))


def _offset(readings: Readings, start: float, end: float, joules: float) -> float:
    """Return the uncertainty of the energy due to the clock's offset, which is uniform within its limits."""
    if readings.offset_error == 0:
        return 0.0
    low, high = float(readings.times[0]), float(readings.times[-1])
    squares = [
        (integral(readings, max(low, start + by), min(high, end + by)) - joules) ** 2
        for by in (-readings.offset_error, readings.offset_error)
    ]
    return math.sqrt(sum(squares) / 2 / 3)


def expanded(limit: float, normal: float, freedom: float = math.inf) -> float:
    """Return the half-width that the sum of two errors exceeds in one case of twenty. One error is uniform within ±
    `limit`. The other is normal with the standard uncertainty `normal`, of `freedom` degrees of freedom."""
    factor = float(stats.t.ppf((1 + _COVERAGE) / 2, freedom))
    spread = normal * factor / _FACTOR
    if limit == 0 or spread == 0:
        return _COVERAGE * limit + _FACTOR * spread

    def exceeded(width: float) -> float:
        # P(|u + z| ≤ width), u even in ± limit: the mean over u of Φ((width − u) ÷ s) − Φ((−width − u) ÷ s).
        high, low = (width + limit) / spread, (width - limit) / spread
        return spread / limit * (_integral(high) - _integral(low)) - 1 - _COVERAGE

    return float(optimize.brentq(exceeded, 0, limit + 6 * spread))


def _integral(x: float) -> float:
    """Return the integral of the normal distribution function up to x."""
    return x * float(stats.norm.cdf(x)) + float(stats.norm.pdf(x))
