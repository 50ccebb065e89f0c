"""Waiting for a moment of a run that somebody else has begun."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howdah.engine.observer import JobProgress
from howdah.engine.run.waiting import When, parse_when, run_on, share_done, wait_until
from howdah.errors import UsageError, WorkloadFailed
from howdah.model.run import Outcome, Phase, Run, Trial
from howdah.model.sample import Moment
from howdah.store import RunWriter

HALF = When("sort", 0.5)


def run(*phases: str, ended: bool = False, name: str = "r1", cluster: str = "alpha", kind: Any = "running") -> Run:
    """A run in the last of its phases, or behind it."""
    open_at = len(phases) if ended else len(phases) - 1
    made = [
        Phase(one, "run", Moment(1.0, 1.0), Moment(2.0, 2.0) if place < open_at else None)
        for place, one in enumerate(phases)
    ]
    trial, start = Trial("terasort", {}), Moment(1.0, 1.0)
    about = {"name": cluster, "kind": "managed"}
    return Run(name, "t", trial, Outcome(kind), start, None, "1", ("howdah",), about, phases=tuple(made))


def waited(*looks: tuple[Run | None, float | None]) -> Run:
    """What comes of it where this is seen, look by look: the run that is under way, and what of its phase is done."""
    seen = list(looks)
    asked: list[tuple[str, str]] = []

    def done(run: Run, phase: str) -> float | None:
        asked.append((run.id, phase))
        return seen[0][1]

    return wait_until(HALF, lambda: seen[0][0], done, lambda _: seen.pop(0) and None)


@pytest.mark.promise("`howdah fault --at` waits for a moment of a run", "how-to/faults")
def test_the_moment_is_when_so_much_of_the_phase_is_done() -> None:
    sorting = run("gen", "sort")
    assert waited((None, None), (run("gen"), 0.9), (sorting, None), (sorting, 0.4), (sorting, 0.5)) is sorting


def test_nothing_is_asked_of_a_phase_that_has_not_begun() -> None:
    with pytest.raises(IndexError):  # It goes on to look.
        waited((run("gen"), 1.0), (run("gen"), 1.0))


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(run("gen", "sort", "validate"), id="phase"),
        pytest.param(run("gen", "sort", ended=True), id="last phase"),
        pytest.param(None, id="run"),
        pytest.param(run("gen", name="r2"), id="another run"),
    ],
)
def test_what_ends_before_is_said(after: Run | None) -> None:
    with pytest.raises(WorkloadFailed, match="r1 ended before 50% of sort"):
        waited((run("gen", "sort"), 0.4), (after, 1.0))


@pytest.mark.parametrize("text", ["sort", "50", "sort:", "sort:100", "sort:x", ""])
def test_no_moment(text: str) -> None:
    with pytest.raises(UsageError, match="no moment of a run"):
        parse_when(text)


def test_moments() -> None:
    assert parse_when("sort:50") == parse_when("sort:50%") == HALF
    assert share_done(JobProgress(0.5, 0.1, 1.0)) == pytest.approx(0.3)
    assert share_done(JobProgress(0.5, None, 1.0)) == 0.5
    assert share_done(JobProgress(None, None, 1.0)) is None


def test_the_run_of_a_cluster_is_found(tmp_path: Path, howdah_home: None) -> None:
    from howdah.store import runs_root

    writers = [
        RunWriter(runs_root(), run("gen", name=name, cluster=cluster, kind=kind))
        for name, cluster, kind in (("1", "alpha", "valid"), ("2", "alpha", "running"), ("3", "beta", "running"))
    ]
    try:
        found = run_on("alpha")
        assert found is not None
        assert found.id == "2"
        assert run_on("gamma") is None
    finally:
        for writer in writers:
            writer.close()
