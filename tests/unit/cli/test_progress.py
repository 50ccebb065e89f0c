"""What a person sees while a run lasts, where the output is no terminal."""

from __future__ import annotations

import pytest

from howdah.cli.progress import make_display
from howdah.engine.observer import JobProgress
from howdah.model.run import Check


def line(capsys: pytest.CaptureFixture[str], progress: JobProgress) -> str:
    with make_display(quiet=False) as display:
        display.phase_started("sort", 10**9)
        display.progress(progress)
    return capsys.readouterr().err.rstrip("\n")


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (JobProgress(None, None, 2.61), "  sort       submitting, 2.6 s"),
        (JobProgress(0.0, None, 5.0), "  sort       map   0%  5.0 s"),
        (
            JobProgress(1.0, 0.5, 30.0, 10**9, 447 * 10**6),
            "  sort       map 100%  reduce  50%  in 1.00 GB, out 447 MB  30.0 s, ~10.0 s left",
        ),
        (
            JobProgress(1.0, 1.0, 40.0, 10**9, 10**9),
            "  sort       map 100%  reduce 100%  in 1.00 GB, out 1.00 GB  40.0 s",
        ),
    ],
)
def test_how_far_a_job_is(capsys: pytest.CaptureFixture[str], progress: JobProgress, expected: str) -> None:
    said = line(capsys, progress)
    assert said == expected
    assert len(said) <= 80


def test_ten_seconds_lie_between_two_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with make_display(quiet=False) as display:
        display.phase_started("gen", None)
        for second in range(5):
            display.progress(JobProgress(0.0, None, float(second)))
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_phases_and_checks_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with make_display(quiet=False) as display:
        display.phase_started("sort", 10**9)
        display.phase_ended("sort", 20.0)
        display.phase_started("validate", None)
        display.phase_ended("validate", None)
        display.checked((Check("order", True, "fine"), Check("length", False, "short")))
    assert capsys.readouterr().err.splitlines() == [
        "  sort           20.0 s   50.0 MB/s",
        "  validate   failed",
        "  ok    order: fine",
        "  WRONG length: short",
    ]


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with make_display(quiet=True) as display:
        display.phase_started("sort", 1)
        display.phase_ended("sort", 1.0)
    assert capsys.readouterr().err == ""
