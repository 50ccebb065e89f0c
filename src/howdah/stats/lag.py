"""The lead of a meter's clock over a host's, by when power follows the host's processors."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from howdah.stats.energy import Readings

FARTHEST = 120.0
"""The largest lag that is tried, in seconds, both ways."""
CLEAR = 0.6
"""The least correlation that counts."""
_APART = 0.1
"""The least lead of the best lag's correlation over that of every lag that is not next to it."""
_FEWEST = 20
_SIGNIFICANT = 4.5
"""Standard errors of Fisher's z. The best of a thousand lags of noise exceeds this number in one case of a hundred."""
_STEP = 0.25


@dataclass(frozen=True, slots=True)
class Lag:
    """The meter's clock is ahead by `seconds`, ± `error` at most. `correlation` is that of the changes of power with
    those of processor use at that lag."""

    seconds: float
    error: float
    correlation: float


def lag_of(readings: Readings, times: np.ndarray, busy: np.ndarray) -> Lag | None:
    """Return the lag at which changes of power follow those of processor use best; None if it is not clear.

    `busy` are the processor seconds in all until `times`, which grow, by the host's clock.
    """
    lags = np.arange(-FARTHEST, FARTHEST + _STEP / 2, _STEP)
    ends = readings.times[:, None] - lags
    if readings.kind == "instant":
        # An instant is compared with the use around it, of as long as the use is resolved.
        half = float(np.median(np.diff(times))) / 2
        begins, ends, watts = ends - half, ends + half, readings.values
    else:
        begins, ends, watts = ends[:-1], ends[1:], readings.means
    use = (np.interp(ends, times, busy) - np.interp(begins, times, busy)) / (ends - begins)
    known = (begins >= times[0]) & (ends <= times[-1])
    found = np.array([_correlation(watts[seen], column[seen]) for column, seen in zip(use.T, known.T, strict=True)])
    best = int(np.argmax(found))
    width = max(1.0, readings.interval / 2)
    elsewhere = found[np.abs(lags - lags[best]) > max(2.0, 1.5 * readings.interval)]
    changes = int(np.count_nonzero(known[:, best])) - 1
    significant = math.atanh(min(float(found[best]), 0.999)) * math.sqrt(max(changes - 3, 0)) > _SIGNIFICANT
    if found[best] < CLEAR or not significant or (elsewhere.size and found[best] - elsewhere.max() < _APART):
        return None
    near = lags[found >= found[best] - _APART / 2]
    near = near[np.abs(near - lags[best]) <= width]
    return Lag(float(near.min() + near.max()) / 2, min(width, float(np.ptp(near)) / 2 + _STEP), float(found[best]))


def _correlation(watts: np.ndarray, use: np.ndarray) -> float:
    """Return the correlation of the changes; 0 if there are too few of them, or none."""
    if watts.size < _FEWEST:
        return 0.0
    first, second = np.diff(watts), np.diff(use)
    if not first.any() or not second.any():
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
