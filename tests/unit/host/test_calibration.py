"""The calibration, for real and in little time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from howdah.host.agent import calibration


def test_it_measures_leaves_nothing_and_says_how(tmp_path: Path):
    result = calibration.measure(str(tmp_path), seconds=0.6)
    assert list(tmp_path.iterdir()) == []
    allowed = len(os.sched_getaffinity(0))
    assert 0.05 * allowed < result["bound_cpu_cores"] < 1.05 * allowed
    assert result["cpu_rate_one"] > 1e6
    assert result["cpu_rate_all"] > 1e6
    for bound in ("bound_disk_write", "bound_disk_read", "bound_loopback"):
        assert result[bound] > 1e5, bound
    assert set(result["how"]) == {"cpu", "disk_write", "disk_read", "loopback"}
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_without_space_the_disk_is_not_measured_and_the_reason_is_given(tmp_path: Path):
    result = calibration.measure(str(tmp_path), seconds=0.1, file_bytes=1 << 60)
    assert "bound_disk_write" not in result
    assert "bound_disk_read" not in result
    assert "are needed" in result["how"]["disk_write"]
    assert result["bound_loopback"] > 0


def test_no_directory_is_an_error(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        calibration.measure(str(tmp_path / "none"), seconds=0.1)
