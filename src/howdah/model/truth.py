"""What a synthetic cluster does: times whose causes and noise are known, to try commands and to test statistics on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Noise:
    """What disturbs a run, all at once. Shares and coefficients of variation are 0.05 for 5 %.

    `cv` is that of every run by itself, log-normal; `restart_cv` of every start of the cluster; `autocorrelation` is
    the part of a run's own noise that the next one inherits (AR 1); `drift` is what the run `drift_runs` after another
    has more than it, as a share, less where it is negative; of all runs, the part `outliers` takes `outlier_ratio`
    times as long.
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
"""Noise as real clusters had it, by what ran on them: `make bench ROW=same`, see docs/statistics.md."""


@dataclass(frozen=True, slots=True)
class Truth:
    """`value` is the primary metric where nothing is set; `effects` the ratio of every level of every factor to it, and
    `together` the ratios of combinations of levels, on top of those. The part `failing` of all runs fails."""

    value: float
    effects: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    together: tuple[tuple[Mapping[str, str], float], ...] = ()
    noise: Noise = Noise()
    failing: float = 0.0
    seed: int = 1

    def of(self, settings: Mapping[str, str]) -> float:
        """The value with `settings`, without noise. Raises KeyError(factor, level) for what it says nothing of."""
        value = self.value
        for factor, level in settings.items():
            if level not in self.effects.get(factor, {}):
                raise KeyError(factor, level)
            value *= self.effects[factor][level]
        for levels, ratio in self.together:
            if levels.items() <= settings.items():
                value *= ratio
        return value
