"""The lock that experiments of everybody on a machine share."""

from __future__ import annotations

import os
import platform
import stat
from pathlib import Path

import pytest

from howdah.errors import HostProblem, UsageError
from howdah.store import ExperimentDirectory


def begun(path: Path) -> ExperimentDirectory:
    return ExperimentDirectory.begin_with("question: Which?\n", path)


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "locks"
    path.mkdir()
    monkeypatch.setenv("HOWDAH_LOCKS", str(path))
    return path


@pytest.mark.promise("Two experiments on one machine at once are refused", "reference/experiment")
def test_two_people_cannot_measure_one_machine(tmp_path: Path, locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = begun(tmp_path / "one"), begun(tmp_path / "other")
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "home-of-one"))
    with one.held():
        monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "home-of-other"))
        with pytest.raises(UsageError, match=f"another experiment runs on this machine: {one.path}"), other.held():
            pass
        assert not other.is_held()
    with other.held():
        pass
    [lock] = locks.iterdir()
    assert stat.S_IMODE(lock.stat().st_mode) == 0o666, "whoever comes next may lock it"


def test_the_holder_is_named_whole_after_one_with_a_longer_name(tmp_path: Path, locks: Path) -> None:
    with begun(tmp_path / "one-with-a-long-name").held():
        pass
    short = begun(tmp_path / "short")
    with short.held():
        assert short.is_held()
    [lock] = locks.iterdir()
    assert lock.read_text(encoding="utf-8") == f"{short.path}\n"


def test_two_hosts_cannot_run_one_experiment(tmp_path: Path, locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their locks of machines are two; the directory is one."""
    one = begun(tmp_path / "one")
    with one.held():
        monkeypatch.setenv("HOWDAH_LOCKS", str(tmp_path))
        other = ExperimentDirectory(tmp_path / "one")
        assert other.is_held()
        with pytest.raises(UsageError, match=f"run by process {os.getpid()} on {platform.node()}"), other.held():
            pass
    assert not other.is_held()
    with other.held():
        pass
    assert len(list(locks.iterdir())) == 1


def test_nobody_s_link_is_followed(tmp_path: Path, locks: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    (locks / "howdah-experiments.lock").symlink_to(victim)
    with (
        pytest.raises(HostProblem, match="by which experiments of several people keep out"),
        begun(tmp_path / "one").held(),
    ):
        pass
    assert victim.read_text(encoding="utf-8") == "precious"
