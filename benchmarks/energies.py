"""What energies and clock offsets are worth: stated intervals against the truth of synthetic curves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.curves import Curve, Kind, Read, draw, read
from howdah.stats.energy import Readings, energy, unwrapped
from howdah.stats.lag import lag_of

CURVES = 2000
KINDS: tuple[Kind, ...] = ("instant", "mean", "counter")


@dataclass(frozen=True, slots=True)
class Judged:
    """One curve: relative error and half-width of its energy, None where none was given; what its clock was found to
    be ahead by, against the truth, and the limit that was stated, None where it was declined or not looked for."""

    error: float | None
    half_width: float | None
    lag_error: float | None
    lag_limit: float | None
    interval: float
    looked: bool
    clear: bool


def judge(kind: Kind, seed: int) -> Judged:
    """Estimates one synthetic curve."""
    rng = np.random.default_rng((seed, KINDS.index(kind)))
    curve = draw(rng)
    said = read(rng, curve, kind)
    values = said.values if said.wrap is None else unwrapped(said.values, said.wrap)
    raw = Readings(kind, said.times, values, said.interval, said.accuracy, said.resolution, said.offset_error or 0.0)
    if said.offset_error is not None:
        return _judged(raw, curve, said, None, None)
    busy = np.concatenate(([0.0], np.cumsum(curve.use)))
    lag = lag_of(raw, np.arange(busy.size, dtype=float), busy)
    if lag is None:
        return Judged(None, None, None, None, said.interval, True, curve.clear)
    moved = Readings(kind, said.times - lag.seconds, values, said.interval, said.accuracy, said.resolution, lag.error)
    return _judged(moved, curve, said, lag.seconds - said.ahead, lag.error)


def _judged(readings: Readings, curve: Curve, said: Read, lag: float | None, limit: float | None) -> Judged:
    found = energy(readings, curve.start, curve.end)
    looked = said.offset_error is None
    if isinstance(found, str):
        return Judged(None, None, lag, limit, said.interval, looked, curve.clear)
    truth = curve.energy(curve.start, curve.end)
    error, width = (found.joules - truth) / truth, found.half_width / truth
    return Judged(error, width, lag, limit, said.interval, looked, curve.clear)


def noise_is_declined(kind: Kind, curves: int) -> float:
    """The share of curves whose processors say nothing about their power, for which no offset was found."""
    declined = 0
    for seed in range(curves):
        rng = np.random.default_rng((seed, KINDS.index(kind), 1))
        said = read(rng, curve := draw(rng), kind)
        values = said.values if said.wrap is None else unwrapped(said.values, said.wrap)
        noise = np.concatenate(([0.0], np.cumsum(rng.uniform(0, 1, curve.use.size))))
        raw = Readings(kind, said.times, values, said.interval)
        declined += lag_of(raw, np.arange(noise.size, dtype=float), noise) is None
    return declined / curves


def measure(curves: int = CURVES) -> Iterator[str]:
    """A line of the table for each kind of reading."""
    yield f"{curves} curves for each kind."
    yield ""
    yield "| readings | energies | covered | half-width ÷ 95 % quantile | offsets found | right | noise declined |"
    yield "|---|---|---|---|---|---|---|"
    for kind in KINDS:
        judged = [judge(kind, seed) for seed in range(curves)]
        errors = np.array([abs(one.error) for one in judged if one.error is not None])
        widths = np.array([one.half_width for one in judged if one.half_width is not None])
        looked = [one for one in judged if one.looked]
        found = [one for one in looked if one.lag_error is not None]
        right = np.mean([abs(one.lag_error or 0.0) <= max(1.0, one.interval / 2) for one in found])
        ratio = widths.mean() / np.quantile(errors, 0.95)
        yield (
            f"| {kind} | {errors.size} | {np.mean(errors <= widths):.1%} | {ratio:.2f} | "
            f"{len(found)} of {len(looked)} | {right:.1%} | {noise_is_declined(kind, curves // 10):.1%} |"
        )
