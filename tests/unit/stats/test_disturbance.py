"""Noise is what its file says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from howdah.model.truth import Noise
from howdah.stats.disturbance import disturbances, failures


def test_none_is_none() -> None:
    assert not disturbances(Noise(), 1, 3, 5).any()


def test_spread_is_the_coefficient_of_variation() -> None:
    values = np.exp(disturbances(Noise(cv=0.2), 1, 200, 500))
    assert np.median(values) == pytest.approx(1.0, abs=0.01)
    assert values.std() / values.mean() == pytest.approx(0.2, rel=0.03)
    both = disturbances(Noise(cv=0.03, restart_cv=0.04), 1, 200, 500)
    assert both.std() == pytest.approx(0.05, rel=0.03)


def test_drift_is_reached_after_so_many_runs() -> None:
    [logs] = disturbances(Noise(drift=0.1, drift_runs=40), 1, 1, 81)
    assert np.exp(logs[[0, 40, 80]]) == pytest.approx([1.0, 1.1, 1.21])


def test_neighbours_are_as_alike_as_asked() -> None:
    logs = disturbances(Noise(cv=0.1, autocorrelation=0.6), 1, 400, 200)
    assert np.corrcoef(logs[:, :-1].ravel(), logs[:, 1:].ravel())[0, 1] == pytest.approx(0.6, abs=0.02)
    assert logs.std() == pytest.approx(math.sqrt(math.log1p(0.01)), rel=0.02)


def test_outliers_are_as_many_and_as_far_as_asked() -> None:
    logs = disturbances(Noise(outliers=0.05, outlier_ratio=2.0), 1, 100, 200)
    assert set(np.unique(logs)) == {0.0, math.log(2)}
    assert (logs > 0).mean() == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("runs", [1, 7, 40])
def test_the_first_runs_do_not_depend_on_those_that_follow(runs: int) -> None:
    noise = Noise(0.05, 0.02, 0.5, 0.1, 40, 0.1, 1.5)
    longer, shorter = disturbances(noise, 3, 1, 50), disturbances(noise, 3, 1, runs)
    assert (longer[:, :runs] == shorter).all()
    assert (failures(0.5, 3, 50)[:runs] == failures(0.5, 3, runs)).all()


def test_failures_are_as_many_as_asked() -> None:
    assert failures(0.2, 1, 5000).mean() == pytest.approx(0.2, abs=0.02)
    assert not failures(0.0, 1, 100).any()
