"""The findings of an experiment so far."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Collection, Sequence

from howdah.engine.evidence.acceleration import is_accelerated
from howdah.engine.experiment.choice import Choice
from howdah.engine.experiment.exploration import best
from howdah.engine.experiment.likeness import Likeness
from howdah.engine.experiment.pairs import pairs_of, with_simple_effects
from howdah.engine.experiment.plan import ExperimentPlan
from howdah.engine.experiment.results import TOGETHER, Done, arm_terms, finished, metric_of, observations, terms
from howdah.engine.experiment.trials import block_slots, next_slot
from howdah.model.accelerator import NONE
from howdah.model.comparison import Verdict
from howdah.model.environment import Difference
from howdah.model.experiment import Effect, Finding, Findings, Interaction, Result
from howdah.model.metric import Better
from howdah.stats.blocks import with_interactions
from howdah.stats.compare import direction
from howdah.stats.order import outlying, relative, trend
from howdah.stats.power import LEVEL
from howdah.store import ExperimentDirectory, read_run
from howdah.workload import measured_phases
from howdah.workload.registry import find_workload

_ACCELERATOR = "accelerator"
"""The factor whose levels must show in the counters of the jobs."""


def find(plan: ExperimentPlan, directory: ExperimentDirectory) -> Findings:
    """Return the findings of the finished runs, those of an unfinished block included."""
    done = finished(plan, directory)
    if plan.experiment.design == "search":
        return _explored(plan, directory, done)
    ended = {one.slot for one in done}
    blocks = sum(ended.issuperset(block_slots(plan, block)) for block in {slot.block for slot in ended})
    # Three runs in a row are no ground for a verdict, whatever they say.
    enough = blocks >= plan.experiment.stop.least and plan.experiment.design != "cic-2014"
    metric = metric_of(plan)
    pairs = pairs_of(plan)
    numbers = [(one, other) for one, other, _ in pairs]
    effects, together = with_interactions(observations(plan, done), numbers, plan.experiment.stop.least)
    likeness = Likeness.of(plan, directory, done)
    valid = [one for one in done if one.value is not None]
    arms, values = [one.slot.arm for one in valid], [one.value for one in valid if one.value is not None]
    unserved = _unserved(plan, directory, done)
    findings = _findings(plan, {one.term: one for one in effects}, likeness, unserved, done, enough=enough)
    refused = {(one.factor, one.level) for one in findings if one.verdict == "not comparable"}
    interactions = []
    for one in sorted(together, key=_size):
        first, second, mixed = pairs[one.term]
        names = (terms(plan)[first], terms(plan)[second])
        told = _can_tell(*_with_both(plan, valid, first, second))
        verdict = _verdict(one, "neither", enough=enough and told) if refused.isdisjoint(names) else "not comparable"
        interactions.append(Interaction(names, one, verdict, mixed))
    choice = Choice(plan, findings, interactions, done)
    return Findings(
        experiment=plan.experiment,
        title=plan.title,
        phase=plan.primary.partition("/")[0],
        metric=metric,
        arms=plan.arms,
        blocks=blocks,
        findings=findings,
        candidate=choice.candidate,
        interactions=with_simple_effects(plan, interactions, done),
        aliases=plan.aliases,
        trend=trend(arms, values),
        results=_results(done, relative(arms, values)),
        changed=likeness.changed,
        simulated=directory.synthetic is not None,
        ended=next_slot(plan, done) is None,
        unserved=tuple(one.run.id for one in unserved),
        measured=_measured(plan),
        runner_up=choice.runner_up,
        on_simulated_hosts=any(one.run.on_simulated_hosts for one in done),
    )


def _explored(plan: ExperimentPlan, directory: ExperimentDirectory, done: Sequence[Done]) -> Findings:
    """Return the findings of a search: the levels that look best, and every run. Single levels have no findings, since
    they were not tried at random."""
    metric = metric_of(plan)
    values = [one.value for one in done if one.value is not None]
    mean = statistics.geometric_mean(values) if values else 1.0
    return Findings(
        experiment=plan.experiment,
        title=plan.title,
        phase=plan.primary.partition("/")[0],
        metric=metric,
        arms=tuple(plan.arms),
        blocks=len(done),
        findings=(),
        candidate=best(plan, done, metric.better),
        interactions=(),
        aliases=(),
        trend=None,
        results=tuple(
            Result(
                *(one.run.id, one.slot.block, one.slot.arm, one.run.outcome, one.value),
                relative=None if one.value is None else one.value / mean,
                outlying=False,
            )
            for one in done
        ),
        changed=Likeness.of(plan, directory, done).unexplained,
        simulated=directory.synthetic is not None,
        ended=next_slot(plan, done) is None,
        unserved=tuple(one.run.id for one in _unserved(plan, directory, done)),
        measured=_measured(plan),
        on_simulated_hosts=any(one.run.on_simulated_hosts for one in done),
    )


def _unserved(plan: ExperimentPlan, directory: ExperimentDirectory, done: Sequence[Done]) -> list[Done]:
    """Return the valid runs whose accelerator did not serve all of the measured phases."""
    asked = (one for one in done if one.value is not None and one.run.trial.accelerator != NONE)
    return [one for one in asked if not is_accelerated(read_run(directory.runs / one.run.id), _measured(plan))]


def _measured(plan: ExperimentPlan) -> tuple[str, ...]:
    return measured_phases(find_workload(plan.experiment.workload))


def _findings(
    plan: ExperimentPlan,
    effects: dict[int, Effect],
    likeness: Likeness,
    unserved: Sequence[Done],
    done: Sequence[Done],
    *,
    enough: bool,
) -> tuple[Finding, ...]:
    """Return the findings: the largest effects first, unknown effects last. A level that is an accelerator, or is
    compared with one, has no verdict if that accelerator did not serve a run."""
    better = metric_of(plan).better
    idle = {plan.arms[one.slot.arm].get(_ACCELERATOR) for one in unserved}
    valid = Counter(one.slot.arm for one in done if one.value is not None)
    baseline = {factor.name: factor.levels[0] for factor in plan.experiment.varied}
    held = [frozenset(arm_terms(plan, arm)) for arm in range(len(plan.arms))]
    found = []
    for number, (factor, level) in enumerate(terms(plan)):
        effect, unlike = effects.get(number), likeness.unlike(number)
        having, without = _arms_of(number, held, {at for at, (name, _) in enumerate(terms(plan)) if name == factor})
        told = _can_tell(sum(valid[arm] for arm in having), sum(valid[arm] for arm in without))
        verdict = _verdict(effect, better, enough=enough and told, unlike=unlike)
        compared = {plan.arms[arm].get(_ACCELERATOR) for arm in (*having, *without)}
        if _ACCELERATOR in factor.split(TOGETHER) and not idle.isdisjoint(compared):
            verdict = "not comparable"
        against = baseline.get(factor, TOGETHER.join(baseline.values()))
        outcomes = dict(Counter[str](one.run.outcome.kind for one in done if one.slot.arm in having))
        found.append(Finding(factor, level, against, effect, verdict, unlike, outcomes))
    return tuple(sorted(found, key=lambda one: 1.0 if one.effect is None else _size(one.effect)))


def _arms_of(term: int, held: Sequence[frozenset[int]], own: Collection[int]) -> tuple[set[int], set[int]]:
    """Return the arms that have a term, and the arms that they are compared with: the same but for the term.

    If the design has no such arms, the comparison is with arms that have the baseline's level of the term's factor.
    `held` are the terms of each arm, `own` the terms of the factor.
    """
    having = {arm for arm, some in enumerate(held) if term in some}
    without = {held[arm] - {term} for arm in having}
    same = {arm for arm, some in enumerate(held) if some in without}
    return having, same or {arm for arm, some in enumerate(held) if some.isdisjoint(own)}


def _with_both(plan: ExperimentPlan, valid: Sequence[Done], one: int, other: int) -> tuple[int, int]:
    """Return how many valid runs have both terms, and how many do not."""
    having = sum({one, other} <= set(arm_terms(plan, run.slot.arm)) for run in valid)
    return having, len(valid) - having


def _can_tell(having: int, without: int) -> bool:
    """Return whether so many runs, each on a cluster of its own, could show anything.

    With all runs of one level above all of the other, the exact rank test must reach the level (Lehmann,
    Nonparametrics, chapter 1). Four runs against four could, three against three could not.
    """
    return 2 / math.comb(having + without, having) < LEVEL


def _size(effect: Effect) -> float:
    """Return a sort key that puts the largest effect first."""
    return -max(effect.ratio, 1 / effect.ratio)


def _verdict(effect: Effect | None, better: Better, *, enough: bool, unlike: Sequence[Difference] = ()) -> Verdict:
    if unlike:
        return "not comparable"
    if effect is None or not enough:
        return "not enough data"
    if effect.p_family >= LEVEL:
        return "no difference shown"
    return direction(math.log(effect.ratio), better)


def _results(done: Sequence[Done], relatives: Sequence[float]) -> tuple[Result, ...]:
    """Return the results of `done`. `relatives` are those of the valid runs."""
    shares = iter(zip(relatives, outlying(relatives), strict=True))
    found = []
    for one in done:
        share, far = (None, False) if one.value is None else next(shares)
        found.append(Result(one.run.id, one.slot.block, one.slot.arm, one.run.outcome, one.value, share, far))
    return tuple(found)
