"""What an experiment has found so far."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from howdah.engine import metrics
from howdah.engine.experiment import ExperimentPlan
from howdah.engine.trials import block_slots, finished, judge, terms
from howdah.model.comparison import Verdict
from howdah.model.metric import Better
from howdah.stats.blocks import Effect
from howdah.stats.compare import direction
from howdah.stats.power import LEVEL
from howdah.store import ExperimentDirectory
from howdah.workload.registry import find_workload


@dataclass(frozen=True, slots=True)
class Finding:
    """One level of one factor against the baseline's. `effect` is None where the runs cannot tell it."""

    factor: str
    level: str
    baseline: str
    effect: Effect | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Findings:
    """`outcomes` counts the runs that have ended, `blocks` the whole blocks. The largest effects are first."""

    question: str
    primary: str
    blocks: int
    outcomes: Mapping[str, int]
    findings: tuple[Finding, ...]


def find(plan: ExperimentPlan, directory: ExperimentDirectory) -> Findings:
    """The findings of the runs that have ended, those of an unfinished block included."""
    done = finished(plan, directory)
    ended = {one.slot for one in done}
    blocks = sum(ended.issuperset(block_slots(plan, block)) for block in {slot.block for slot in ended})
    effects = {effect.term: effect for effect in judge(plan, done)}
    baseline = {factor.name: factor.levels[0] for factor in plan.experiment.factors}
    better = _better(plan)
    findings = [
        Finding(
            factor,
            level,
            baseline[factor],
            effects.get(number),
            _verdict(effects.get(number), better, whole=blocks >= plan.experiment.stop.least),
        )
        for number, (factor, level) in enumerate(terms(plan))
    ]
    findings.sort(key=lambda one: 1.0 if one.effect is None else -max(one.effect.ratio, 1 / one.effect.ratio))
    return Findings(
        plan.experiment.question,
        plan.primary,
        blocks,
        dict(Counter(one.run.outcome.kind for one in done)),
        tuple(findings),
    )


def _better(plan: ExperimentPlan) -> Better:
    name = plan.primary.partition("/")[2]
    known = (*metrics.COMMON, *find_workload(plan.experiment.workload).metrics)
    return next(metric.better for metric in known if metric.name == name)


def _verdict(effect: Effect | None, better: Better, *, whole: bool) -> Verdict:
    if effect is None or not whole:
        return "not enough data"
    if effect.p_family >= LEVEL:
        return "no difference shown"
    return direction(math.log(effect.ratio), better)
