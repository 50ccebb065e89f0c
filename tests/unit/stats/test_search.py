"""Looking for the best combination, on surfaces that are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from howdah.stats.search import Point, Search
from howdah.stats.surrogate import _cost, _usual, fit


def valley(point: Point) -> float:
    """The logarithm of a time whose best is (2, 1, 3), with another low place at (0, 3, 0)."""
    near = sum((one - other) ** 2 for one, other in zip(point, (2, 1, 3), strict=True))
    far = sum((one - other) ** 2 for one, other in zip(point, (0, 3, 0), strict=True))
    return float(-0.4 * np.exp(-near / 3) - 0.3 * np.exp(-far / 3))


def searched(runs: int, seed: int, stops: tuple[int, ...] = ()) -> list[Point]:
    """What is run, in its order; after each of `stops` runs, by another object that knows the runs alone."""
    noise = np.random.default_rng(seed)
    points: list[Point] = []
    values: list[float] = []
    search = Search((4, 4, 4), runs, seed, [(0, 0, 0)])
    for place in range(runs):
        if place in stops:
            search = Search((4, 4, 4), runs, seed, [(0, 0, 0)])
        points.append(search.next(points, values))
        values.append(valley(points[-1]) + 0.03 * float(noise.standard_normal()))
    return [*points, search.best(points, values)]


@pytest.mark.promise("A search finds the lower of two low places", "statistics")
@pytest.mark.parametrize("seed", range(4))
def test_it_finds_the_best_among_two_low_places(seed: int) -> None:
    *points, best = searched(45, seed)
    assert points[0] == (0, 0, 0)
    assert valley(best) < -0.35


def test_an_interrupted_search_goes_on_as_if_it_had_not_been() -> None:
    assert searched(30, 1, stops=(3, 14, 22)) == searched(30, 1)


@pytest.mark.promise("Before the last 30 % of the runs, no combination is run twice", "how-to/tune")
def test_nothing_is_run_twice_before_it_settles() -> None:
    *points, _ = searched(40, 2)
    early = points[: int(0.7 * 40)]
    assert len(set(early)) == len(early)


@pytest.mark.promise("A search begins with the tuned defaults, and every level comes early", "how-to/tune")
def test_every_level_comes_early() -> None:
    points = searched(40, 3)[:12]
    assert all({point[at] for point in points} == set(range(4)) for at in range(3))


def test_of_many_combinations_a_sample_is_looked_at() -> None:
    search = Search((10,) * 6, 30, 1)
    points: list[Point] = []
    values: list[float] = []
    for _ in range(30):
        points.append(search.next(points, values))
        values.append(float(sum(points[-1])) / 20)
    assert sum(search.best(points, values)) < 10


def test_the_gradient_of_the_likelihood_is_right() -> None:
    draw = np.random.default_rng(1)
    points, values = draw.integers(0, 4, size=(12, 2)), draw.normal(size=12)
    distances = [np.abs(points[:, at, None] - points[None, :, at]).astype(float) for at in range(2)]
    logs = _usual(2)[0] + 0.3
    _, gradient = _cost(logs, distances, values)
    for at in range(4):
        step = np.eye(4)[at] * 1e-6
        slope = (_cost(logs + step, distances, values)[0] - _cost(logs - step, distances, values)[0]) / 2e-6
        assert gradient[at] == pytest.approx(slope, rel=1e-4)


def test_a_surface_goes_through_runs_without_noise() -> None:
    points = np.array(list(itertools.product(range(4), repeat=2)))
    values = np.array([0.2 * one + 0.1 * other for one, other in points])
    surface = fit(points, values)
    mean, deviation = surface.at(points)
    assert mean == pytest.approx(values, abs=0.03)
    assert deviation.max() < 0.05
