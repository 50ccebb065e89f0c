"""What a person sees while an experiment lasts, in a terminal and where there is none."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.live import Live

from howdah.cli.experiments.experiment_progress import ExperimentDisplay, arm_words, time_words
from howdah.engine.experiment.plan import ExperimentPlan
from howdah.engine.experiment.results import Done
from howdah.engine.experiment.trials import Status
from howdah.engine.measurement.request import Measured
from howdah.engine.observer import JobProgress
from howdah.report.document.wording import short_names, shortened
from tests.unit.engine.experiment.experiments import begun, keep, plan, settings_of, simulated


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["nodes", "mapreduce.task.io.sort.mb"], ["nodes", "sort.mb"]),
        (["a.b.c.d", "x.b.c.d", "c.d"], ["a.b.c.d", "x.b.c.d", "c.d"]),
        (["a.x.c", "b.x.c"], ["a.x.c", "b.x.c"]),
        (["one"], ["one"]),
    ],
)
def test_names_are_as_short_as_tells_them_apart(names: list[str], short: list[str]) -> None:
    assert [short_names(names)[name] for name in names] == short


def test_names_of_properties_in_texts_are_shortened_together() -> None:
    texts = ["mapreduce.map.memory.mb 512 against 1024", "mapreduce.reduce.memory.mb 1g", "Hadoop 3.4.2, /a.b.c/d.e"]
    assert shortened(texts) == ["map.memory.mb 512 against 1024", "reduce.memory.mb 1g", "Hadoop 3.4.2, /a.b.c/d.e"]


def test_an_arm_is_what_it_has_and_the_baseline_has_not() -> None:
    baseline = {"nodes": "1", "a.b": "x"}
    assert arm_words({"nodes": "3", "a.b": "y"}, baseline, {"a.b": "b"}) == "nodes 3, b y"
    assert arm_words(baseline, baseline, {}) == "baseline"
    assert arm_words({"configuration": "mine"}, {"configuration": "theirs"}, {}) == "mine"
    assert arm_words({"configuration": "theirs"}, {"configuration": "theirs"}, {}) == "theirs"


def shown(tmp_path: Path, made: ExperimentPlan, runs: Sequence[Done], *, width: int, live: bool) -> str:
    directory, stream = begun(tmp_path), io.StringIO()
    console = Console(file=stream, width=width, highlight=False, force_terminal=live, color_system=None)
    screen = Live(console=console, auto_refresh=False, transient=True) if live else None
    display = ExperimentDisplay(made, (), console, screen)
    if screen is not None:
        screen.start()
    for one in runs:
        keep(directory, one, "valid" if one.value is not None else "failed", held=settings_of(made, one.slot))
        path = sorted(directory.runs.iterdir())[-1]
        display.step("starting a cluster of 1 node")
        display.phase_started("sort", None)
        display.progress(JobProgress(0.5, 0.25, 20.0))
        if screen is not None:
            screen.refresh()
        display.ended(Measured(one.run, path))
    if screen is not None:
        screen.stop()
    return stream.getvalue()


@pytest.mark.promise("A line for each run of an experiment, and what is known so far, in a pipe too", "CHANGELOG")
def test_a_pipe_has_a_line_for_every_run_and_what_is_known_after_every_block(tmp_path: Path) -> None:
    made = plan(tmp_path)
    runs = simulated(made, 0.01)
    runs[2] = replace(
        runs[2],
        value=None,
        run=replace(runs[2].run, outcome=replace(runs[2].run.outcome, kind="failed", reason="no disk")),
    )
    lines = shown(tmp_path, made, runs, width=80, live=False).splitlines()
    told = [line for line in lines if re.match(r" +\d+   ", line)]
    assert len(told) == len(runs) == 16
    assert "failed" in told[2]
    assert "no disk" in told[2]
    assert any("of its mean  job.reduces 2" in line for line in told)
    assert any(line.endswith("baseline") for line in told)
    known = [line for line in lines if line.startswith("    so far  ")]
    assert {line.split("  ")[3].strip() for line in known} >= {"sort.mb 128", "job.reduces 2"}
    assert "  +2" in next(line for line in reversed(known) if "sort.mb 128" in line)
    assert [line for line in lines if " of 16 to 36 runs" in line]
    assert "so far" not in "\n".join(lines[:3]), "a block has four runs"


@pytest.mark.parametrize("width", [80, 120])
def test_in_a_terminal_the_last_lines_change_and_none_wraps(tmp_path: Path, width: int) -> None:
    made = plan(tmp_path)
    output = shown(tmp_path, made, simulated(made, 0.01)[:6], width=width, live=True)
    assert "now  block 2, run 2: " in output
    assert "map  50%  reduce  25%" in output
    plain = [line for line in output.replace("\r", "\n").splitlines() if "\x1b" not in line]
    assert max(len(line) for line in plain) <= width


def test_the_time_left_is_a_range(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert time_words(Status(made, (), 16, 36, None, None)) == ""
    assert time_words(Status(made, (), 16, 36, None, 60.0)) == ", 16 min 00 s to 36 min 00 s left"
    assert time_words(Status(made, (), 16, 16, None, 60.0)) == ", 16 min 00 s left"
