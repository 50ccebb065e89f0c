"""The settings that an experiment recommends, and the second-best ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from howdah.engine.experiment.pairs import is_told, model_of
from howdah.engine.experiment.plan import ExperimentPlan
from howdah.engine.experiment.results import Done, metric_of, terms
from howdah.model.experiment import Finding, Interaction, Level
from howdah.stats.blocks import Model
from howdah.stats.power import LEVEL

_MOST = 100_000
"""The most combinations of levels that are searched for the best: as many as a full design may have."""

Levels = dict[str, str]


class Choice:
    """The `candidate` of an experiment, and its `runner_up`. The candidate has the fewest changes of the baseline whose
    removal is shown to be worse. `runner_up` is None if the levels with shown effects have no other combination."""

    def __init__(
        self,
        plan: ExperimentPlan,
        findings: Sequence[Finding],
        interactions: Sequence[Interaction],
        done: Sequence[Done],
    ) -> None:
        self._plan = plan
        self._baseline: Levels = dict(plan.arms[0])
        self._numbers = {term: at for at, term in enumerate(terms(plan))}
        self._faster = [one for one in findings if one.verdict == "faster"]
        self.runner_up: Levels | None = None
        self.candidate = self._baseline
        if plan.experiment.design == "together":
            self.candidate = dict(plan.arms[1]) if self._faster else self._baseline
            return
        refused = {(one.factor, one.level) for one in findings if one.verdict == "not comparable"}
        shown = [one for one in interactions if is_told(one) and refused.isdisjoint(one.names)]
        if metric_of(plan).better == "neither" or not (self._faster or shown):
            return
        self._model: Model = model_of(plan, shown, done)
        self._paired = {level for one in shown for level in one.names}
        self.candidate = self._fewest(self._best())
        if self.candidate != self._baseline:
            self.runner_up = self._second()

    def _best(self) -> Levels:
        """Return the baseline with the largest effect of each factor that was shown to be better. If the pairs show
        that another combination of levels is better still, return that one. The test is at 5 %, for as many comparisons
        as there are combinations to choose from.
        """
        best = dict(self._baseline)
        for one in sorted(self._faster, key=self._size):
            best[one.factor] = one.level
        tied = {factor for factor, _ in self._paired}
        held = {(name, level) for name, level in best.items() if name not in tied}
        every = list(self._combinations(self._paired | set(best.items()), held))
        other = max(every, key=self._gain)
        contrast = self._contrast(other, best)
        return other if self._gain(other) > self._gain(best) and len(every) * contrast < LEVEL else best

    def _fewest(self, best: Levels) -> Levels:
        """Return `best` without the changes that pairs give no reason for: those whose removal is not shown to be
        worse. Changes in no pair were shown to be better by themselves, and stay."""
        while True:
            changes = [
                (name, level)
                for name, level in best.items()
                if (name, level) in self._paired and level != self._baseline[name]
            ]
            without = [{**best, name: self._baseline[name]} for name, _ in changes]
            idle = [one for one in without if not self._is_worse(one, best, len(changes))]
            if not idle:
                return best
            best = max(idle, key=self._gain)

    def _is_worse(self, one: Levels, other: Levels, comparisons: int) -> bool:
        return self._gain(one) < self._gain(other) and comparisons * self._contrast(one, other) < LEVEL

    def _second(self) -> Levels | None:
        """Return the combination that looks best besides the candidate, and better than the baseline; None if there is
        none."""
        worth = self._paired | {(one.factor, one.level) for one in self._faster}
        others = [one for one in self._combinations(worth) if one != self.candidate and self._gain(one) > 0]
        return max(others, key=self._gain, default=None)

    def _combinations(self, worth: Collection[Level], held: Collection[Level] = ()) -> Iterator[Levels]:
        """Return every combination of the baseline's levels and the levels of `worth`. Factors in `held` have that
        level alone."""
        kept = dict(held)
        choices = [
            [
                (one.name, level)
                for level in one.levels
                if kept.get(one.name, level) == level and (level == one.levels[0] or (one.name, level) in worth)
            ]
            for one in self._plan.experiment.factors
        ]
        return (dict(levels) for levels in itertools.islice(itertools.product(*choices), _MOST))

    def _gain(self, levels: Mapping[str, str]) -> float:
        log = self._model.log(self._terms(levels))
        return log if metric_of(self._plan).better == "higher" else -log

    def _contrast(self, one: Levels, other: Levels) -> float:
        return self._model.contrast(self._terms(one), self._terms(other)).p

    def _terms(self, levels: Mapping[str, str]) -> list[int]:
        return [self._numbers[one] for one in levels.items() if one in self._numbers]

    @staticmethod
    def _size(one: Finding) -> float:
        """Return a sort key that puts the largest effect last."""
        return 0.0 if one.effect is None else abs(math.log(one.effect.ratio))
