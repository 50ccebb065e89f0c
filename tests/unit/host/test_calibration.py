"""The calibration, for real and in little time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from howdah.host.agent import calibration
from howdah.host.agent.machine import disks_below
from tests.children import children


def test_it_measures_leaves_nothing_and_says_how(tmp_path: Path):
    before = children()
    result = calibration.measure([str(tmp_path)], seconds=0.6)
    assert list(tmp_path.iterdir()) == []
    allowed = len(os.sched_getaffinity(0))
    assert 0 < result["bound_cpu_cores"] < 1.05 * allowed, "others may have nearly all of them"
    assert result["cpu_rate_one"] > 1e6
    assert result["cpu_rate_all"] > 1e6
    assert result["bound_loopback"] > 1e5
    assert set(result["how"]) == {"cpu", "loopback"}
    (place,) = result["places"]
    assert place["directory"] == str(tmp_path)
    assert place["disks"] == disks_below(str(tmp_path))
    for bound in ("bound_disk_write", "bound_disk_read"):
        assert place[bound] > 1e5, bound
    assert set(place["how"]) == {"disk_write", "disk_read"}
    assert children() <= before


@pytest.mark.promise("Other work does not lower the bound of processors", "explanation/reading-the-report")
def test_processors_that_others_use_are_there():
    allowed = len(os.sched_getaffinity(0))
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(allowed)]
    try:
        time.sleep(0.5)
        # One process hashes: the rest of what is busy are others.
        _, obtained, busy = calibration._hash_in_processes(1, 0.5)
    finally:
        for one in others:
            one.kill()
            one.wait()
    assert busy > 1.2 * obtained
    assert busy < 1.1 * allowed


def test_what_is_on_the_same_disks_is_measured_once(tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    directories = [str(tmp_path), "/dev/shm", str(other)]
    places = calibration.measure(directories, seconds=0.2, file_bytes=16 << 20)["places"]
    assert [place["directory"] for place in places] == [str(tmp_path), "/dev/shm"]
    assert places[1]["disks"] == []
    assert places[1]["bound_disk_write"] > 1e5
    assert calibration.measure(["/dev/shm"], seconds=0.2, only_disks=True)["places"] == []


def test_without_space_the_disk_is_not_measured_and_the_reason_is_given(tmp_path: Path):
    result = calibration.measure([str(tmp_path)], seconds=0.1, file_bytes=1 << 60)
    (place,) = result["places"]
    assert not {"bound_disk_write", "bound_disk_read"} & place.keys()
    assert "are needed" in place["how"]["disk_write"]
    assert result["bound_loopback"] > 0


def test_a_directory_that_is_not_there_is_said_and_the_others_are_measured(tmp_path: Path):
    places = calibration.measure([str(tmp_path / "none"), str(tmp_path)], seconds=0.1)["places"]
    assert "No such file" in places[0]["how"]["disk_read"]
    assert places[1]["bound_disk_write"] > 1e5
