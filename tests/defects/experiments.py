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
        old="        done = list(without_cut_block(plan, finished(plan, directory)))",
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
        old="return sum(not (run / layout.LOCK).exists() for run in ExperimentDirectory(outer).runs.iterdir())",
        new="return 0",
        tests=("tests/unit/engine/measurement/test_synthetic.py::test_a_confirmation_has_noise_of_its_own",),
    ),
    Defect(
        name="needless-change-recommended",
        promise="An experiment recommends the fewest changes whose removal is shown to be worse.",
        file="src/howdah/engine/experiment/choice.py",
        old="self.candidate = self._fewest(self._best())",
        new="self.candidate = self._best()",
        tests=(
            "tests/unit/engine/experiment/test_findings.py::test_a_change_that_helps_only_without_another_is_left_out",
        ),
    ),
    Defect(
        name="average-where-a-pair-is-shown",
        promise="If two levels depend on each other, the headline gives no average.",
        file="src/howdah/report/experiment/answer.py",
        old="pairs = [pair for pair in found.interactions if pair.simple and level in pair.names]",
        new="pairs = [pair for pair in found.interactions if not pair.names]",
        tests=(
            "tests/unit/engine/experiment/test_findings.py::test_a_level_that_helps_in_one_place_alone_is_said_as_that",
        ),
    ),
    Defect(
        name="worse-than-the-runner-up",
        promise="Fresh runs that show the best settings to be worse than the runner-up confirm nothing.",
        file="src/howdah/report/experiment/answer.py",
        old='return better and "faster" not in verdicts.values()',
        new="return better",
        tests=(
            "tests/unit/engine/experiment/test_findings.py::test_the_best_settings_are_run_anew_against_the_runner_up",
        ),
    ),
    Defect(
        name="killed-run-shifts-the-noise",
        promise="An experiment on a synthetic cluster whose run was killed goes on as if it had not been.",
        file="src/howdah/engine/measurement/synthetic.py",
        old="ended = [path for path in root.iterdir() if not (path / layout.LOCK).exists()] if root.is_dir() else []",
        new="ended = list(root.iterdir()) if root.is_dir() else []",
        tests=("tests/unit/engine/measurement/test_synthetic.py::test_a_run_that_was_killed_does_not_shift_the_noise",),
    ),
    Defect(
        name="warm-up-counts",
        promise="Warm-up runs of an experiment do not count.",
        file="src/howdah/engine/experiment/results.py",
        old="            if run.outcome.kind in _FINISHED and WARM_UP not in run.labels:",
        new="            if run.outcome.kind in _FINISHED:",
        tests=("tests/unit/engine/experiment/test_exploration.py::test_warm_up_runs_do_not_count",),
    ),
)
