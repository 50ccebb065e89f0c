"""Defects of experiments: what runs, in which order, and what is compared."""

from __future__ import annotations

from tests.defects.defect import Defect

_TRIALS = "src/howdah/engine/experiment/trials.py"

DEFECTS = (
    Defect(
        name="more-than-the-factor-changed",
        promise="Two arms that differ in anything but what was varied are not compared.",
        file="src/howdah/engine/experiment/likeness.py",
        old="if set(left).isdisjoint(right) or len(differing)",
        new="if len(differing)",
        tests=("tests/unit/engine/experiment/test_findings.py::test_only_what_was_varied_may_differ",),
    ),
    Defect(
        name="resume-runs-again",
        promise="An experiment that is resumed goes on where it was, and repeats no run that has ended.",
        file=_TRIALS,
        old="        done = list(finished(plan, directory))",
        new="        done: list[Done] = []",
        tests=(
            "tests/unit/engine/measurement/test_synthetic.py::test_what_was_interrupted_goes_on_as_if_it_had_not_been",
        ),
    ),
    Defect(
        name="other-runs-counted",
        promise="A run of another workload in the directory of an experiment is refused, not counted.",
        file="src/howdah/engine/experiment/results.py",
        old="    if run.trial.workload != plan.experiment.workload:",
        new="    if not run.trial.workload:",
        tests=("tests/unit/engine/experiment/test_trials.py::test_a_run_of_another_workload_is_refused",),
    ),
    Defect(
        name="budget-ignored",
        promise="An experiment ends when its time budget is spent.",
        file=_TRIALS,
        old="return budget is not None and spent >= budget",
        new="return budget is not None and spent >= budget * 60",
        tests=("tests/unit/engine/experiment/test_trials.py::test_the_budget_ends_it_between_blocks",),
    ),
    Defect(
        name="idle-accelerator-believed",
        promise="An accelerator that did not serve a run gets no verdict.",
        file="src/howdah/engine/experiment/findings.py",
        old="for arm in (*having, *without)}",
        new="for arm in without}",
        tests=(
            "tests/unit/engine/experiment/test_findings.py::test_an_accelerator_that_did_not_serve_a_run_has_no_verdict",
        ),
    ),
    Defect(
        name="confirmation-uses-the-same-noise",
        promise="The confirmation of a synthetic experiment draws noise of its own.",
        file="src/howdah/store/experiment.py",
        old="return sum(1 for _ in ExperimentDirectory(outer).runs.iterdir())",
        new="return 0",
        tests=("tests/unit/engine/measurement/test_synthetic.py::test_a_confirmation_has_noise_of_its_own",),
    ),
)
