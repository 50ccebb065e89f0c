"""Removing runs."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from howdah.cli.main import howdah
from howdah.errors import UsageError
from howdah.model.run import Outcome
from howdah.store import list_runs, take_lock
from howdah.store.removal import remove_run
from tests.unit.report.example_runs import Example, write_example


def call(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(howdah, [*arguments, "--out", str(root)])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Four runs of 2026-02-02: a valid one with a label, two that failed, and one of another workload."""
    write_example(tmp_path, Example("a", 0, series=False, labels={"who": "me"}))
    write_example(tmp_path, Example("b", 1, series=False, outcome=Outcome("failed", "no disk")))
    write_example(tmp_path, Example("c", 2, series=False, outcome=Outcome("failed", "no disk")))
    write_example(tmp_path, Example("d", 3, series=False, workload="wordcount"))
    return tmp_path


def left(root: Path) -> list[str]:
    return [path.name for path, _ in list_runs(root)]


@pytest.mark.promise("`howdah rm` and `prune` show what goes first, and never remove a run in use", "CHANGELOG")
def test_what_goes_is_shown_and_asked_for_first(root: Path) -> None:
    said = call(root, "rm", "a", "b")
    assert isinstance(said.exception, UsageError)
    assert f"{root}/a  " in said.output
    assert f"{root}/b  " in said.output
    assert "2 runs, " in said.exception.message
    assert "Add --yes" in (said.exception.hint or "")
    assert left(root) == ["a", "b", "c", "d"]
    said = call(root, "rm", "a", "b", "a", "--yes")
    assert said.exit_code == 0, said.output
    assert "2 removed, " in said.output
    assert left(root) == ["c", "d"]
    assert sorted(path.name for path in root.glob("[!h]*")) == ["c", "d"], "whole"


@pytest.mark.promise("`howdah rm` and `prune` show what goes first, and never remove a run in use", "CHANGELOG")
def test_a_run_in_use_stays(root: Path) -> None:
    lock = take_lock(root / "b" / ".lock")
    assert lock is not None
    with lock:
        said = call(root, "rm", "a", "b", "--yes")
        assert isinstance(said.exception, UsageError)
        assert "is in use" in said.exception.message
        assert left(root) == ["a", "b", "c", "d"], "nothing of what was named with it"
        said = call(root, "prune", "--outcome", "failed", "--yes")
        assert isinstance(said.exception, UsageError)
        assert "1 removed, " in said.output
    assert left(root) == ["a", "b", "d"]


def test_a_run_of_an_experiment_stays(tmp_path: Path) -> None:
    (tmp_path / "experiment.yaml").write_text("question: Which?\n")
    run = write_example(tmp_path / "runs", Example("a", 0, series=False))
    with pytest.raises(UsageError, match="is a run of the experiment"):
        remove_run(run.path)
    assert left(tmp_path / "runs") == ["a"]
    with pytest.raises(UsageError, match="not a run directory"):
        remove_run(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "stay"),
    [
        (("--outcome", "failed"), ["a", "d"]),
        (("--outcome", "failed", "--keep", "1"), ["a", "c", "d"]),
        (("--workload", "wordcount"), ["a", "b", "c"]),
        (("--label", "who=me"), ["b", "c", "d"]),
        (("--keep", "2"), ["c", "d"]),
        (("--keep", "0"), []),
        (("--keep", "4"), ["a", "b", "c", "d"]),
        (("--keep", "5"), ["a", "b", "c", "d"]),
        (("--keep", "9"), ["a", "b", "c", "d"]),
        (("--older-than", "1d"), []),
        (("--older-than", "99999d"), ["a", "b", "c", "d"]),
        (("--outcome", "aborted"), ["a", "b", "c", "d"]),
    ],
)
def test_the_runs_that_match_go(root: Path, arguments: tuple[str, ...], stay: list[str]) -> None:
    said = call(root, "prune", *arguments, "--yes")
    assert said.exit_code == 0, said.output
    assert left(root) == stay
    if len(stay) == 4:
        assert "No runs match." in said.output


def test_pruning_needs_to_know_what(root: Path) -> None:
    said = call(root, "prune", "--yes")
    assert isinstance(said.exception, UsageError)
    assert left(root) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("answer", "stay"), [("n", ["a", "b", "c", "d"]), ("y", ["b", "c", "d"])])
def test_somebody_who_sits_there_is_asked(root: Path, answer: str, stay: list[str]) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "howdah", "rm", "a", "--out", str(root)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        assert process.wait(60) == (0 if answer == "y" else 130)
    os.close(ours)
    assert left(root) == stay


def test_what_was_being_removed_is_no_run(root: Path) -> None:
    (root / "a").rename(root / ".removed-a-1")
    assert left(root) == ["b", "c", "d"]


def test_what_an_interrupted_removal_left_goes_with_the_next(root: Path) -> None:
    left_behind = root / ".removed-z-1"
    (left_behind / "series").mkdir(parents=True)
    said = call(root, "rm", "a", "--yes")
    assert said.exit_code == 0, said.output
    assert not left_behind.exists()
    assert left(root) == ["b", "c", "d"]
