"""What a failed job is explained with."""

from __future__ import annotations

from dataclasses import replace

from howdah.engine.run.client import Submission
from howdah.engine.run.judge import explain_failure
from howdah.engine.run.session import run_tag
from howdah.model.job import Attempt, Job, Span
from howdah.model.sample import Moment
from tests.unit.engine.run.clusters import application

NOW = Moment(0.0, 0.0)
APPLICATION = application("FAILED", final_status="FAILED", id="application_1_0007")
SUBMISSION = Submission(
    1, (APPLICATION,), NOW, NOW, 0.0, ("one", "Error: the first", "Error: the second", "x", "y", "z")
)
ATTEMPT = Attempt(
    "attempt_1", "task_1", "map", "FAILED", "n1:45454", None, Span(0, 1), {}, {},
    "[2026-11-20]Container exited with a non-zero exit code 1.\nError: java.io.IOException: no space\n\tat Foo\n"
    "Error: java.io.IOException: no space\nCaused by: quota\n",
)  # fmt: skip
JOB = Job("job_1", "j", "u", "default", "FAILED", 0.0, 0.0, 1.0, 1, 1, {}, {}, {}, (ATTEMPT,))


def test_the_first_failed_attempt_says_most() -> None:
    other = replace(ATTEMPT, id="attempt_2")
    lines = explain_failure("sort", SUBMISSION, APPLICATION, replace(JOB, attempts=(ATTEMPT, other))).splitlines()
    assert lines == [
        "sort failed: application_1_0007 ended FAILED/FAILED",
        "attempt_1 on n1:45454: Error: java.io.IOException: no space; Caused by: quota",
        "2 attempts failed in all",
    ]


def test_without_one_yarn_and_the_clients_first_error_say_why() -> None:
    told = application("FAILED", diagnostics=" AM Container exited with 1 \n", final_status="FAILED")
    for job in (None, replace(JOB, attempts=(replace(ATTEMPT, state="KILLED"),))):
        lines = explain_failure("sort", SUBMISSION, told, job).splitlines()
        assert lines[1:] == ["AM Container exited with 1", "Error: the first"]


def test_a_history_says_why_its_job_failed_or_that_it_does_not() -> None:
    silent = replace(JOB, attempts=(), diagnostics="The history gives no reason")
    lines = explain_failure("sort", SUBMISSION, APPLICATION, silent).splitlines()
    assert lines[1:] == ["The history gives no reason", "Error: the first"]
    told = application("FAILED", diagnostics="Task failed\nfailedMaps:1", final_status="FAILED")
    same = replace(JOB, attempts=(), diagnostics="Task failed")
    assert explain_failure("sort", SUBMISSION, told, same).splitlines()[1:-1] == ["Task failed", "failedMaps:1"]


def test_without_any_word_the_end_of_what_the_client_printed_is_shown() -> None:
    silent = replace(SUBMISSION, said=("a", "b", "c", "d", "e"))
    assert explain_failure("gen", silent, APPLICATION, None).splitlines()[1:] == ["b", "c", "d", "e"]


def test_a_tag_is_as_yarn_keeps_it() -> None:
    assert run_tag("20261120-TeraSort-AB") == "howdah-20261120-terasort-ab"
