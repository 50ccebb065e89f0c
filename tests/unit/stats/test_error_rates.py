"""How often differences are declared where there are none, on noise whose truth is known: 400 experiments per cell.

At an error rate of 5 %, 9 % or more in 400 comes once in several thousand times.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from howdah.model.experiment import Effect, StopRule
from howdah.stats.blocks import Observation, effects, enough

EXPERIMENTS = 400
CV = 0.05
RULE = StopRule()
Noise = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def lognormal(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return random.normal(0, math.sqrt(math.log1p(CV**2)), shape)


def outliers(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return lognormal(random, shape) + (random.random(shape) < 0.05) * random.exponential(0.3, shape)


def drift(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return lognormal(random, shape) + np.linspace(0, 0.1, shape[0] * shape[1]).reshape(shape)


def first_is_faster(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    noise = lognormal(random, shape)
    noise[:, 0] -= 0.05
    return noise


def experiment(random: np.random.Generator, noise: Noise, truth: float = 0.0) -> tuple[Effect, ...]:
    """One experiment of two arms under the default rule. Columns of the noise are places, not arms."""
    logs, seen = noise(random, (RULE.most, 2)), []
    for block in range(RULE.most):
        for place, arm in enumerate(random.permutation(2)):
            seen.append(Observation(block, (1,) if arm else (), math.exp(logs[block, place] + truth * arm)))
        if block + 1 >= RULE.least and enough(found := effects(seen, RULE.least), RULE, block + 1):
            return found
    raise AssertionError("the rule has a most")


@pytest.mark.parametrize("noise", [lognormal, outliers, drift, first_is_faster])
def test_stopping_early_declares_no_differences_that_are_not_there(noise: Noise) -> None:
    random = np.random.default_rng(2026)
    found = [experiment(random, noise) for _ in range(EXPERIMENTS)]
    assert sum(effect.p_family < 0.05 for [effect] in found) / EXPERIMENTS < 0.09
    covered = sum(effect.interval.low <= 1 <= effect.interval.high for [effect] in found)
    assert covered / EXPERIMENTS > 0.91


def test_a_tenth_less_is_found() -> None:
    random = np.random.default_rng(2027)
    found = [experiment(random, lognormal, math.log(0.9)) for _ in range(EXPERIMENTS)]
    assert sum(effect.p_family < 0.05 and effect.ratio < 1 for [effect] in found) / EXPERIMENTS > 0.95
