"""The behaviour of a synthetic cluster: times with known causes and noise, to try commands and to test statistics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of runs; all kinds act together. Shares and coefficients of variation are 0.05 for 5 %.

    `cv` is the coefficient of variation of every run by itself, log-normal. `restart_cv` is that of every start of the
    cluster. `autocorrelation` is the part of a run's own noise that the next run inherits (AR 1). `drift` is the
    relative increase of the value over `drift_runs` runs; a decrease is negative. The share `outliers` of all runs
    takes `outlier_ratio` times as long.
    """

    cv: float = 0.0
    restart_cv: float = 0.0
    autocorrelation: float = 0.0
    drift: float = 0.0
    drift_runs: int = 40
    outliers: float = 0.0
    outlier_ratio: float = 1.5


MEASURED: Mapping[str, Noise] = {
    "terasort-200M": Noise(cv=0.082, autocorrelation=0.16, drift=0.205, drift_runs=39),
}
"""The measured noise of real clusters, by workload: `make bench ROW=same`, see docs/statistics.md."""


@dataclass(frozen=True, slots=True)
class Truth:
    """A synthetic cluster: `value` is the primary metric without any setting.

    `effects` has the ratio of every level of every factor to `value`. `together` has the ratios of combinations of
    levels, on top of `effects`. The share `failing` of all runs fails.
    """

    value: float
    effects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    together: tuple[tuple[Mapping[str, str], float], ...] = ()
    noise: Noise = Noise()
    failing: float = 0.0
    seed: int = 1

    def of(self, settings: Mapping[str, str]) -> float:
        """Return the value with `settings`, without noise. Raises KeyError(factor, level) for an unknown level."""
        value = self.value
        for factor, level in settings.items():
            if level not in self.effects.get(factor, {}):
                raise KeyError(factor, level)
            value *= self.effects[factor][level]
        for levels, ratio in self.together:
            if levels.items() <= settings.items():
                value *= ratio
        return value
