"""Confirmation of the best settings of an experiment. They were picked because they looked best, and may never have run
as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from howdah.engine.experiment.factors import CONFIGURATION
from howdah.model.experiment import BASELINE, RUNNER_UP, Experiment, Factor, Findings, StopRule

_FOUND = "found"
MOST_BLOCKS = 20
"""The most blocks that confirm the result of a search. A search may have many more runs."""


def confirming(found: Findings) -> Experiment | None:
    """Return the experiment that runs the candidate of `found` again, against the baseline and against a runner-up that
    needs no change by hand.

    None if nothing was shown to be better, if the file wants no confirmation, or if `found` is such an experiment
    itself. The new experiment has no
    `watts` and no `price`: they are of levels that it may lack.
    """
    experiment = found.experiment
    if not experiment.confirm:
        return None
    if experiment.design == "search":
        return _after_a_search(found)
    changed = tuple(
        replace(one, levels=(one.levels[0], found.candidate[one.name]))
        for one in experiment.factors
        if found.candidate[one.name] != one.levels[0]
    )
    if not changed or experiment.design == "together" or CONFIGURATION in found.candidate:
        return None
    second = found.runner_up
    if second is not None and not any(_changed(found, arm) & experiment.by_hand for arm in (found.candidate, second)):
        others = {BASELINE: _given(experiment, found.arms[0]), RUNNER_UP: _given(experiment, second)}
        return _named(found, others, "Do the best settings of this experiment hold?", experiment.stop)
    # What a person changes is no setting that a cluster could be given, and stands where the last run left it.
    by_hand = (replace(one, levels=one.levels[:1]) for one in experiment.factors if one.external)
    held = tuple(one for one in by_hand if found.candidate[one.name] == one.levels[0])
    return replace(
        experiment,
        question=f"Do the best settings of this experiment hold? {experiment.question}",
        baseline={**experiment.baseline, **{one.name: one.levels[0] for one in experiment.factors if not one.external}},
        factors=(*changed, *held),
        design="together",
        seed=experiment.seed + 1,
        watts=None,
        price=None,
    )


def _changed(found: Findings, arm: Mapping[str, str]) -> set[str]:
    """Return the factors whose level is not the baseline's."""
    return {name for name, level in arm.items() if level != found.arms[0][name]}


def _after_a_search(found: Findings) -> Experiment | None:
    """Return the experiment that compares a search's result with the configurations of the file, or with the baseline
    if there are none. If the result is the baseline, it is compared with the configurations that change something.
    Factors that a person changes stay unchanged.
    """
    experiment, baseline = found.experiment, dict(found.arms[0])
    others = experiment.configurations or {BASELINE: _given(experiment, baseline)}
    if found.candidate == baseline:
        others = {name: settings for name, settings in experiment.configurations.items() if settings}
        if not others:
            return None
    least = min(experiment.stop.least, MOST_BLOCKS)
    stop = replace(experiment.stop, least=least, most=MOST_BLOCKS)
    return _named(found, others, "Does what was found hold?", stop)


def _named(found: Findings, others: Mapping[str, Mapping[str, str]], question: str, stop: StopRule) -> Experiment:
    """Return an experiment that compares the candidate with the settings `others`, by name."""
    experiment, name = found.experiment, _FOUND
    while name in others:
        name = f"{name}-now"
    varied = {one.name for one in experiment.factors}
    by_hand = (replace(one, levels=one.levels[:1]) for one in experiment.factors if one.external)
    return replace(
        experiment,
        question=f"{question} {experiment.question}",
        baseline={name: level for name, level in experiment.baseline.items() if name not in varied},
        factors=(Factor(CONFIGURATION, (name, *others)), *by_hand),
        design="one-at-a-time",
        stop=stop,
        seed=experiment.seed + 1,
        configurations={name: _given(experiment, found.candidate), **others},
        starts=(),
        watts=None,
        price=None,
    )


def _given(experiment: Experiment, arm: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of an arm that a cluster or a job can be given. Settings of a configuration replace its
    name."""
    given = {name: level for name, level in arm.items() if name not in experiment.by_hand}
    named = given.pop(CONFIGURATION, None)
    return given if named is None else {**given, **experiment.configurations[named]}
