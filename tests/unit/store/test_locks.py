"""Locks of names and runs, and the one that experiments of everybody on a machine share."""

from __future__ import annotations

import json
import os
import platform
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from howdah.errors import HostProblem, UsageError
from howdah.store import ExperimentDirectory, LockFile, LockHolder, holder_of, private_directory, take_lock

_TAKE = """
import pathlib, sys
from howdah.store import take_lock
print(take_lock(pathlib.Path(sys.argv[1])) is not None, flush=True)
sys.stdin.read()
"""


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
    lock = locks / "howdah-experiments.lock"
    assert stat.S_IMODE(lock.stat().st_mode) == 0o666, "whoever comes next may lock it"


def test_the_holder_is_named_whole_after_one_with_a_longer_name(tmp_path: Path, locks: Path) -> None:
    with begun(tmp_path / "one-with-a-long-name").held():
        pass
    short = begun(tmp_path / "short")
    with short.held():
        assert short.is_held()
    lock = locks / "howdah-experiments.lock"
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


@pytest.mark.promise("A lock of another host is never taken for one of the dead", "CHANGELOG")
def test_holders_of_other_hosts_are_not_known_and_dead_ones_of_this_host_are(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with taken(path):
        assert take_lock(path) is None
        mine = json.loads(path.read_text(encoding="utf-8"))
        assert holder_of(path) == LockHolder(**mine)
    assert not path.exists()
    with subprocess.Popen(["true"]) as ended:
        pass
    other_host, other_space = {"host": "elsewhere"}, {"space": "pid:[1]"}
    for there in (other_host, other_host | {"boot": "another"}, {"machine": "another", "boot": "another"}, other_space):
        path.write_text(json.dumps(mine | there | {"pid": ended.pid}), encoding="utf-8")
        holder = holder_of(path)
        assert holder is not None
        assert not holder.is_here
        assert take_lock(path) is None
    rebooted = {"boot": "another", "space": "pid:[1]"}
    for dead in ({"pid": ended.pid}, {"begun": mine["begun"] + 1}, rebooted):
        path.write_text(json.dumps(mine | dead), encoding="utf-8")
        assert holder_of(path) is None
        taken(path).release()
    path.write_text("of an earlier Howdah", encoding="utf-8")
    taken(path).release()


def test_a_process_that_is_killed_has_no_lock_any_more(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", _TAKE, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"True\n"
        assert take_lock(path) is None
        other.kill()
        other.wait()
        taken(path).release()


def test_one_of_many_processes_takes_over_from_a_dead_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with taken(path):
        dead = json.loads(path.read_text(encoding="utf-8")) | {"begun": 1}
    path.write_text(json.dumps(dead), encoding="utf-8")
    command = [sys.executable, "-c", _TAKE, str(path)]
    others = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
    try:
        said = [other.stdout.readline() for other in others if other.stdout is not None]
        assert sorted(said) == [b"False\n"] * 3 + [b"True\n"]
    finally:
        for other in others:
            other.communicate()


def test_a_lock_that_another_process_took_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = taken(path)
    path.write_text(path.read_text(encoding="utf-8").replace(platform.node(), "elsewhere"), encoding="utf-8")
    lock.release()
    assert path.exists()


def test_a_directory_for_sockets_that_another_user_made_is_refused(locks: Path) -> None:
    (locks / f"howdah-run-{os.getuid()}").mkdir(mode=0o777)
    (locks / f"howdah-run-{os.getuid()}").chmod(0o777)
    with pytest.raises(HostProblem, match="is not a directory of yours"):
        private_directory()


def taken(path: Path) -> LockFile:
    lock = take_lock(path)
    assert lock is not None
    return lock


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
