"""A surrogate for runs of settings that never ran: a Gaussian process over factors with ordered levels.

Settings whose levels are near each other are taken to be near in the logarithm of the metric too, factor by factor. The
kernel is a product of exponential kernels of the distance in ranks, a first-order Markov process on the levels. The
decays, the surface's deviation and the noise are those that make the runs most likely. The source is Rasmussen and
Williams, Gaussian Processes for Machine Learning, 2006, §2.2 and §5.4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize

_JITTER = 1e-9
# Bounds of the logarithms of: a factor's decay per rank, the surface's standard deviation, that of the noise.
_DECAY, _SIGNAL, _NOISE = (-4.0, 1.5), (-4.0, 0.7), (-5.0, -0.7)


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A surface of the logarithm of the metric, fitted to runs. `points` has one row of ranks for each run."""

    points: np.ndarray
    mean: float
    decays: np.ndarray
    signal: float
    noise: float
    _factor: np.ndarray
    _weights: np.ndarray

    def at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation of the surface at `points`, without noise."""
        cross = self.signal**2 * _kernel(points, self.points, self.decays)
        mean = self.mean + cross @ self._weights
        half = solve_triangular(self._factor, cross.T, lower=True)
        return mean, np.sqrt(np.maximum(self.signal**2 - np.sum(half**2, axis=0), 0.0))


def fit(points: np.ndarray, values: np.ndarray) -> Surrogate:
    """Return the most likely surface through `values`."""
    count = points.shape[1]
    distances = [np.abs(points[:, at, None] - points[None, :, at]).astype(float) for at in range(count)]
    found = minimize(
        _cost,
        _usual(count)[0],
        args=(distances, values),
        jac=True,
        bounds=[*[_DECAY] * count, _SIGNAL, _NOISE],
        method="L-BFGS-B",
        options={"maxiter": 40},
    )
    shape = np.exp(found.x)
    return _through(points, values, shape[:count], float(shape[-2]), float(shape[-1]))


def condition(surface: Surrogate, points: np.ndarray, values: np.ndarray) -> Surrogate:
    """Return a surface of the same shape through other runs."""
    return _through(points, values, surface.decays, surface.signal, surface.noise)


def _through(points: np.ndarray, values: np.ndarray, decays: np.ndarray, signal: float, noise: float) -> Surrogate:
    covariance = signal**2 * _kernel(points, points, decays)
    covariance[np.diag_indices_from(covariance)] += noise**2 + _JITTER
    factor, _ = cho_factor(covariance, lower=True)
    ones = cho_solve((factor, True), np.ones(len(values)))
    mean = float(ones @ values / ones.sum())
    return Surrogate(points, mean, decays, signal, noise, np.tril(factor), cho_solve((factor, True), values - mean))


def _kernel(left: np.ndarray, right: np.ndarray, decays: np.ndarray) -> np.ndarray:
    distance = sum(decay * np.abs(left[:, at, None] - right[None, :, at]) for at, decay in enumerate(decays))
    found: np.ndarray = np.exp(-distance)
    return found


def _cost(logs: np.ndarray, distances: list[np.ndarray], values: np.ndarray) -> tuple[float, np.ndarray]:
    """Return minus the logarithm of the likelihood, with the mean of the surface fitted, and its gradient. Parameters
    that few runs do not determine stay at their usual values."""
    count = len(distances)
    decays, signal, noise = np.exp(logs[:count]), np.exp(logs[-2]), np.exp(logs[-1])
    shape = signal**2 * np.exp(-sum(decay * one for decay, one in zip(decays, distances, strict=True)))
    covariance = shape.copy()
    covariance[np.diag_indices_from(covariance)] += noise**2 + _JITTER
    try:
        factor = cho_factor(covariance, lower=True)
    except np.linalg.LinAlgError:
        return 1e10, np.zeros_like(logs)
    inverse = cho_solve(factor, np.eye(len(values)))
    ones = inverse.sum(axis=0)
    rest = values - ones @ values / ones.sum()
    weights = inverse @ rest
    inner = inverse - np.outer(weights, weights)
    gradient = np.array(
        [
            *(0.5 * np.sum(inner * (-decay * one * shape)) for decay, one in zip(decays, distances, strict=True)),
            np.sum(inner * shape),
            noise**2 * np.trace(inner),
        ]
    )
    cost = 0.5 * rest @ weights + np.log(np.diag(factor[0])).sum()
    usual, width = _usual(count)
    far = (logs - usual) / width
    return float(cost + 0.5 * far @ far), gradient + far / width


def _usual(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the usual logarithms of decays, signal and noise before any run, and their standard deviations.
    Neighbouring levels resemble each other, settings change a job by some 20 %, runs scatter by some 5 %."""
    return np.array([*[-1.0] * count, -1.5, -3.0]), np.array([*[1.5] * count, 1.0, 1.0])
