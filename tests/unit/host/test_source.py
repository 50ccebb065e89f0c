"""The commit of Howdah: from its record, or from the repository that it is part of, and no other."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from howdah.host.source import RECORD, commit


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src/howdah").mkdir(parents=True)
    return tmp_path


def git(tree: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Test", "-c", "user.email=test@localhost")
    return subprocess.run(
        ["git", "-C", tree, *who, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def commit_of(tree: Path) -> str | None:
    return commit(tree / "src/howdah")


def test_a_checkout_asks_git(tree: Path) -> None:
    git(tree, "init", "--quiet")
    (tree / "file").write_text("a")
    git(tree, "add", "file")
    git(tree, "commit", "--quiet", "--message", "One")
    head = git(tree, "rev-parse", "HEAD")
    assert commit_of(tree) == head
    (tree / "new").touch()
    assert commit_of(tree) == f"{head}-dirty", "a wheel would have the new file"


def test_a_record_counts_more_than_git(tree: Path) -> None:
    git(tree, "init", "--quiet")
    (tree / "src/howdah" / RECORD).write_text("abc\n")
    assert commit_of(tree) == "abc"


def test_the_repository_around_an_environment_is_not_howdahs(tree: Path) -> None:
    git(tree, "init", "--quiet")
    installed = tree / "venv/lib/python3.11/site-packages/howdah"
    installed.mkdir(parents=True)
    assert commit(installed) is None


def test_no_repository_and_no_record(tree: Path) -> None:
    assert commit_of(tree) is None
