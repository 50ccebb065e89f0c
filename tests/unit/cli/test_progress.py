"""What a person sees while a run lasts, in a terminal and where there is none."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console
from rich.live import Live

from howdah.cli.progress import _Terminal, make_display
from howdah.engine.observer import JobProgress
from howdah.errors import UsageError
from howdah.model.run import Check


def line(capsys: pytest.CaptureFixture[str], progress: JobProgress) -> str:
    with make_display(quiet=False) as display:
        display.phase_started("sort", 10**9)
        display.progress(progress)
    return capsys.readouterr().err.rstrip("\n")


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (JobProgress(None, None, 2.61), "  sort       waiting for the first container, 2.6 s"),
        (JobProgress(0.0, None, 5.0), "  sort       map   0%  5.0 s"),
        (
            JobProgress(1.0, 0.5, 30.0, 10**9, 447 * 10**6),
            "  sort       map 100%  reduce  50%  in 1.00 GB, out 447 MB  30.0 s",
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


@pytest.mark.parametrize("quiet", [False, True])
def test_what_is_left_out_is_always_said(capsys: pytest.CaptureFixture[str], quiet: bool) -> None:
    with make_display(quiet=quiet) as display:
        display.left_out("spark-terasort", UsageError("Spark is not installed", hint="`make spark` installs it."))
        display.left_out("namenode", UsageError("there is no NameNode"))
    assert capsys.readouterr().err.splitlines() == [
        "spark-terasort is left out: Spark is not installed. `make spark` installs it.",
        "namenode is left out: there is no NameNode",
    ]


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with make_display(quiet=True) as display:
        display.phase_started("sort", 1)
        display.phase_ended("sort", 1.0)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("width", [80, 120])
def test_in_a_terminal_one_line_changes_and_finished_phases_stay(width: int) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        display = _Terminal(console, live)
        display.phase_started("sort", 10**9)
        for done in (0.25, 0.75):
            display.progress(JobProgress(done, 0.0, 40.0 * done, int(10**9 * done), 0))
            live.refresh()
        display.phase_ended("sort", 20.0)
    assert isinstance(console.file, io.StringIO)
    said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())
    lines = [line for line in re.split(r"[\r\n]+", said) if line.strip()]
    assert any("map  25%" in line for line in lines)
    assert any("map  75%" in line for line in lines)
    assert ("━" in said) == (width == 120), "bars where there is room for them"
    assert all(len(line) <= width for line in lines)
    assert ["sort", "20.0", "s", "50.0", "MB/s"] in [line.split() for line in lines]
