"""Finding runs by what a user types, and listing them."""

import os
from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.store import RunWriter, find_run, howdah_home, list_runs, runs_root
from tests.unit.store import values

IDS = ["20251009-085320-terasort-a1", "20251009-085320-terasort-b2", "20251010-120000-terasort-c3"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in reversed(IDS):
        RunWriter(tmp_path / "runs", values.run(name)).close()
    return tmp_path / "runs"


def test_oldest_first_and_other_directories_are_left_out(root: Path):
    (root / "notes").mkdir()
    (root / "readme.txt").write_text("mine")
    assert [(path.name, run.id) for path, run in list_runs(root) if not isinstance(run, UsageError)] == [
        (name, name) for name in IDS
    ]


def test_an_unreadable_run_is_listed_with_its_error(root: Path):
    (root / IDS[0] / "run.json").write_text("{")
    (root / IDS[1] / "run.json").unlink()
    errors = [run for _, run in list_runs(root)][:2]
    assert all(isinstance(error, UsageError) for error in errors)
    assert len(list(list_runs(root))) == 3


def test_no_runs_yet(tmp_path: Path):
    assert list(list_runs(tmp_path / "never")) == []
    with pytest.raises(UsageError, match="no run 'latest'"):
        find_run("latest", tmp_path / "never")


@pytest.mark.parametrize(
    ("name", "found"),
    [(IDS[0], IDS[0]), ("20251010", IDS[2]), ("20251009-085320-terasort-b", IDS[1]), ("latest", IDS[2])],
)
def test_by_id_its_start_or_latest(root: Path, name: str, found: str):
    assert find_run(name, root) == root / found


def test_an_id_that_starts_another_means_itself(root: Path):
    RunWriter(root, values.run(IDS[0] + "-more")).close()
    assert find_run(IDS[0], root) == root / IDS[0]


def test_by_path(root: Path):
    assert find_run(str(root / IDS[1]), root / "elsewhere") == root / IDS[1]


def test_ambiguous_and_unknown(root: Path):
    with pytest.raises(UsageError, match="several runs start with '20251009'"):
        find_run("20251009", root)
    with pytest.raises(UsageError, match="no run 'teragen'"):
        find_run("teragen", root)


@pytest.mark.promise("Every run is kept in `~/.howdah/runs`, and `howdah runs` and `howdah show` list it", "README")
def test_home_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    assert howdah_home() == tmp_path
    assert runs_root() == tmp_path / "runs"
    monkeypatch.setenv("HOWDAH_HOME", "")
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    assert howdah_home() == tmp_path / ".howdah"
