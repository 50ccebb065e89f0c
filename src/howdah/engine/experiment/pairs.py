"""Interactions: the joint effects of levels of two factors that neither level has alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from howdah.engine.experiment.plan import ExperimentPlan
from howdah.engine.experiment.results import Done, metric_of, observations, terms
from howdah.model.experiment import Interaction, Level, SimpleEffect
from howdah.stats.blocks import Model, holm
from howdah.stats.compare import direction
from howdah.stats.design import seen_pairs
from howdah.stats.power import LEVEL


def pairs_of(plan: ExperimentPlan) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return pairs of terms, by their numbers, whose interaction the design can see, and the aliases of each pair."""
    seen = seen_pairs(plan.experiment.design, plan.experiment.varied)
    return [
        (one, other, seen[first, second])
        for (one, (first, _)), (other, (second, _)) in itertools.combinations(enumerate(terms(plan)), 2)
        if (first, second) in seen
    ]


def is_told(one: Interaction) -> bool:
    """Return whether an interaction is shown and has no alias that could explain it."""
    return one.verdict == "different" and not one.aliases


def model_of(plan: ExperimentPlan, shown: Sequence[Interaction], done: Sequence[Done]) -> Model:
    """Return the model of the single effects and of the interactions `shown` alone. Raises ValueError if the runs
    cannot tell them apart."""
    numbers = {term: at for at, term in enumerate(terms(plan))}
    pairs = [(numbers[first], numbers[second]) for first, second in (one.names for one in shown)]
    return Model(observations(plan, done), pairs, plan.experiment.stop.least)


def with_simple_effects(
    plan: ExperimentPlan, interactions: Sequence[Interaction], done: Sequence[Done]
) -> tuple[Interaction, ...]:
    """Return `interactions`, with simple effects for those that are shown and have no alias. Verdicts are at 5 % for
    all simple effects together."""
    told = [one for one in interactions if is_told(one)]
    if not told:
        return tuple(interactions)
    model, numbers = model_of(plan, told, done), {term: at for at, term in enumerate(terms(plan))}
    baseline = plan.arms[0]
    asked: list[tuple[Interaction, Level, Level]] = []
    for one in told:
        for level, other in (one.names, one.names[::-1]):
            asked += [(one, level, (other[0], baseline[other[0]])), (one, level, other)]

    def number(level: Level) -> set[int]:
        return {numbers[level]} if level in numbers else set()

    contrasts = [model.contrast(number(given) | number(level), number(given)) for _, level, given in asked]
    found: dict[tuple[Level, Level], list[SimpleEffect]] = {}
    for (one, level, given), contrast, p in zip(asked, contrasts, holm([one.p for one in contrasts]), strict=True):
        better = metric_of(plan).better
        verdict = direction(math.log(contrast.ratio), better) if p < LEVEL else "no difference shown"
        simple = SimpleEffect(level, given, contrast.ratio, contrast.interval, verdict)
        found.setdefault(one.names, []).append(simple)
    return tuple(replace(one, simple=tuple(found.get(one.names, ()))) for one in interactions)
