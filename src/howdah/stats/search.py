"""A search for the best combination of levels with few noisy runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from howdah.stats.surrogate import Surrogate, condition, fit

Point = tuple[int, ...]
"""A level of every factor, by its number."""

_WHOLE_GRID = 4096
"""The most combinations that are all looked at before each run. Beyond that number, a sample is looked at."""

_REFIT = 1.15
"""The growth of the number of runs after which the surface's shape is estimated again."""

_SETTLING = 0.7
"""The share of the runs after which no combination is tried for being new: later runs separate the best ones."""

_NEIGHBOURS_OF = 10


class Search:
    """The next combination to run, and the best one. The answers depend on the runs so far alone: an interrupted search
    goes on as if it had not been interrupted."""

    def __init__(self, levels: Sequence[int], runs: int, seed: int, starts: Sequence[Point] = ()) -> None:
        """`levels` are how many levels each factor has; `starts` are run first; `runs` is how many runs there will
        be."""
        self._levels = tuple(levels)
        self._runs = runs
        self._seed = seed
        self._first = self._opening(starts)
        self._fitted: dict[int, Surrogate] = {}

    def next(self, points: Sequence[Point], values: Sequence[float]) -> Point:
        """Return the combination to run after `points`, whose metrics have the logarithms `values`, less being better.

        It has the largest expected improvement (Jones, Schonlau and Welch, Journal of Global Optimization 13:455, 1998)
        over the best mean so far. At first it is a new combination each time.
        """
        if len(points) < len(self._first):
            return self._first[len(points)]
        surface = self._surface(points, values)
        candidates = self._candidates(points, surface)
        mean, deviation = surface.at(candidates)
        best = float(surface.at(np.array(points))[0].min())
        gain = (best - mean) / np.maximum(deviation, 1e-12)
        improvement = deviation * (gain * norm.cdf(gain) + norm.pdf(gain))
        if len(points) < _SETTLING * self._runs:
            seen = set(points)
            fresh = np.array([tuple(row) not in seen for row in candidates.tolist()])
            if fresh.any():
                improvement = np.where(fresh, improvement, -1.0)
        return tuple(candidates[int(np.argmax(improvement))].tolist())

    def best(self, points: Sequence[Point], values: Sequence[float]) -> Point:
        """Return the combination with the least mean on the surface, among those that were run."""
        mean, _ = self._surface(points, values).at(np.array(points))
        return points[int(np.argmin(mean))]

    def _opening(self, starts: Sequence[Point]) -> tuple[Point, ...]:
        """Return `starts`, and then rows in which every level of every factor comes equally often (a Latin
        square's)."""
        count = max(len(self._levels) + 1, min(4 * len(self._levels), self._runs // 4))
        draw = np.random.default_rng((self._seed, 1))
        columns = [draw.permutation(np.arange(count) % levels) for levels in self._levels]
        rows = [tuple(map(int, row)) for row in zip(*columns, strict=True)]
        return tuple(dict.fromkeys((*starts, *rows)))

    def _surface(self, points: Sequence[Point], values: Sequence[float]) -> Surrogate:
        count = len(self._first)
        while math.ceil(count * _REFIT) <= len(points):
            count = math.ceil(count * _REFIT)
        count = min(count, len(points))
        rows, logs = np.array(points), np.array(values)
        if count not in self._fitted:
            self._fitted[count] = fit(rows[:count], logs[:count])
        return condition(self._fitted[count], rows, logs)

    def _candidates(self, points: Sequence[Point], surface: Surrogate) -> np.ndarray:
        if math.prod(self._levels) <= _WHOLE_GRID:
            return np.array(list(itertools.product(*map(range, self._levels))))
        draw = np.random.default_rng((self._seed, 2, len(points)))
        sample = np.column_stack([draw.integers(levels, size=_WHOLE_GRID) for levels in self._levels])
        mean, _ = surface.at(np.array(points))
        leading = [points[at] for at in np.argsort(mean, kind="stable")[:_NEIGHBOURS_OF]]
        near = [
            (*point[:at], level, *point[at + 1 :])
            for point in leading
            for at, levels in enumerate(self._levels)
            for level in range(levels)
        ]
        return np.unique(np.vstack([sample, np.array(near)]), axis=0)
