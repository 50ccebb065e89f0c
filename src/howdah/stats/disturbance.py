"""Noise whose properties are known."""

from __future__ import annotations

import math

import numpy as np

from howdah.model.truth import Noise


def disturbances(noise: Noise, seed: int, experiments: int, runs: int) -> np.ndarray:
    """Return the logarithms of the factors by which `noise` multiplies values, as a table of `experiments` × `runs`.
    Every run has a start of its own. For one experiment, the first runs are the same however many follow."""
    normal, outlier, start = (np.random.default_rng((seed, part)) for part in range(3))
    own = normal.standard_normal((experiments, runs))
    if noise.autocorrelation:
        fresh = math.sqrt(1 - noise.autocorrelation**2)
        for place in range(1, runs):
            own[:, place] = noise.autocorrelation * own[:, place - 1] + fresh * own[:, place]
    logs = _sigma(noise.cv) * own
    logs += _sigma(noise.restart_cv) * start.standard_normal((experiments, runs))
    logs += math.log1p(noise.drift) * np.arange(runs) / noise.drift_runs
    logs[outlier.random((experiments, runs)) < noise.outliers] += math.log(noise.outlier_ratio)
    return logs


def failures(share: float, seed: int, runs: int) -> np.ndarray:
    """Return which of `runs` runs fail, as booleans."""
    failing: np.ndarray = np.random.default_rng((seed, 3)).random(runs) < share
    return failing


def _sigma(cv: float) -> float:
    """Return the standard deviation of the logarithm of a log-normal variable."""
    return math.sqrt(math.log1p(cv**2))
