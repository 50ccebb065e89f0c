"""How far a meter's clock is ahead: found where it shows, declined otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from howdah.stats.energy import Kind, Readings
from howdah.stats.lag import Lag, lag_of

SECONDS = np.arange(0.0, 601.0)


def load(seed: int) -> np.ndarray:
    """Busy processors, second by second: levels for some seconds each."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.uniform(0, 2, 100), rng.integers(3, 12, 100))[:600]


def metered(busy: np.ndarray, kind: Kind, ahead: float, interval: int) -> Readings:
    """A meter that follows the load, with a clock that is ahead."""
    watts = 100 + 80 * busy
    total = np.concatenate(([0.0], np.cumsum(watts)))
    times = SECONDS[::interval]
    if kind == "counter":
        return Readings(kind, times + ahead, total[::interval], float(interval))
    if kind == "mean":
        means = np.diff(total[::interval]) / interval
        return Readings(kind, times + ahead, np.concatenate(([means[0]], means)), float(interval))
    return Readings(kind, times[:-1] + 0.5 + ahead, watts[::interval][: times.size - 1], float(interval))


def found(busy: np.ndarray, readings: Readings) -> Lag | None:
    return lag_of(readings, SECONDS, np.concatenate(([0.0], np.cumsum(busy))))


@pytest.mark.parametrize("kind", ["instant", "mean", "counter"])
@pytest.mark.parametrize("ahead", [0.0, -88.0, 3.25, 71.5])
@pytest.mark.parametrize("interval", [1, 5])
def test_a_clock_that_is_ahead(kind: Kind, ahead: float, interval: int) -> None:
    busy = load(3)
    lag = found(busy, metered(busy, kind, ahead, interval))
    assert lag is not None
    assert abs(lag.seconds - ahead) <= lag.error + 1e-9
    assert lag.error <= max(1.0, interval / 2)
    assert lag.correlation > 0.6


def test_power_that_follows_something_else() -> None:
    assert found(load(3), metered(load(4), "mean", 0.0, 1)) is None


def test_a_load_that_repeats_itself_says_nothing() -> None:
    busy = np.tile(np.repeat([0.0, 2.0], 10), 30)
    assert found(busy, metered(busy, "mean", 15.0, 1)) is None, "20 s earlier or later fit as well"


def test_too_few_readings_say_nothing() -> None:
    busy = load(3)
    readings = metered(busy, "mean", 0.0, 1)
    few = Readings("mean", readings.times[100:112], readings.values[100:112], 1.0)
    assert found(busy, few) is None
