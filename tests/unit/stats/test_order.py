"""Trends over an experiment, and runs that lie far out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from howdah.stats.order import outlying, relative, trend


def runs(
    drift: float, *, arms: int = 2, count: int = 40, noise: float = 0.05, seed: int = 1
) -> tuple[list[int], list[float]]:
    """`count` runs of `arms` that differ, in blocks; by `drift` as a logarithm, the last has more than the first."""
    random = np.random.default_rng(seed)
    order = np.concatenate([random.permutation(arms) for _ in range(count // arms)])
    logs = 0.3 * order + drift * np.arange(count) / (count - 1) + random.normal(0, noise, count)
    return order.tolist(), np.exp(logs).tolist()


def test_without_noise_it_is_the_drift_itself() -> None:
    found = trend(*runs(math.log(1.1), noise=0.0))
    assert found is not None
    assert found.ratio == pytest.approx(1.1)
    assert found.interval.low == pytest.approx(1.1)
    assert found.p == 0.0


def test_it_is_least_squares_with_a_mean_for_each_arm() -> None:
    arms, values = runs(0.05, arms=4)
    design = np.zeros((40, 5))
    design[np.arange(40), arms] = 1
    design[:, 4] = np.arange(40)
    known, squares, rank, _ = np.linalg.lstsq(design, np.log(values), rcond=None)
    found = trend(arms, values)
    assert found is not None
    assert math.log(found.ratio) == pytest.approx(39 * known[4])
    error = math.sqrt(squares[0] / (40 - rank) * np.linalg.inv(design.T @ design)[4, 4])
    assert math.log(found.interval.high / found.ratio) == pytest.approx(39 * error * 2.0301, rel=1e-4)


def test_too_few_runs_cannot_tell() -> None:
    assert trend([], []) is None
    assert trend([0, 1], [1.0, 2.0]) is None
    assert trend([0, 0], [1.0, 2.0]) is None
    assert trend([0, 1, 2, 3], [1.0, 2.0, 3.0, 4.0]) is None


@pytest.mark.promise("A drift of 10 % over 40 runs is found nine times out of ten", "statistics")
def test_a_drift_of_ten_percent_is_seen_nine_times_out_of_ten_and_none_seldom() -> None:
    def share(drift: float) -> float:
        found = [trend(*runs(drift, seed=seed)) for seed in range(400)]
        return sum(one is not None and one.p < 0.05 for one in found) / 400

    assert share(math.log(1.1)) > 0.88
    assert share(0.0) < 0.09


def test_values_are_taken_relative_to_their_arm() -> None:
    assert relative([0, 1, 0, 1], [2.0, 5.0, 8.0, 5.0]) == pytest.approx([0.5, 1.0, 2.0, 1.0])
    assert relative([], []) == []


def test_a_run_far_out_is_seen() -> None:
    arms, values = runs(0.0)
    shares = relative(arms, values)
    assert sum(outlying(shares)) <= 1
    shares[7] *= 1.5
    assert outlying(shares)[7]
    assert outlying([1.0, 1.0, 1.0]) == [False] * 3
    assert outlying([]) == []
