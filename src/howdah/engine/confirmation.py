"""Whether the best settings that an experiment has seen hold: they were picked because they looked best, and as a whole
they may never have run."""

from __future__ import annotations

from dataclasses import replace

from howdah.model.experiment import Experiment, Factor, Findings


def confirming(found: Findings) -> Experiment | None:
    """The experiment that runs the candidate of `found` against the baseline, both anew; None where no level was shown
    to be better, or `found` is such an experiment itself."""
    experiment = found.experiment
    changed = tuple(
        Factor(one.name, (one.levels[0], found.candidate[one.name]))
        for one in experiment.factors
        if found.candidate[one.name] != one.levels[0]
    )
    if not changed or experiment.design == "together":
        return None
    return replace(
        experiment,
        question=f"Do the best settings of this experiment hold? {experiment.question}",
        baseline={**experiment.baseline, **{one.name: one.levels[0] for one in experiment.factors}},
        factors=changed,
        design="together",
        seed=experiment.seed + 1,
    )
