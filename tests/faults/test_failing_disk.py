"""Jobs whose map outputs are on a disk that fails or is full for a moment: the same result, never a wrong one. Needs
root."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.conftest import Home, ended_right, eventually
from tests.system.failing_mount import FAILING_MOUNT_IS_POSSIBLE, FailingMount, failing_mount

pytestmark = [pytest.mark.daemons, *FAILING_MOUNT_IS_POSSIBLE]

_RUN = (
    *("run", "terasort", "--size", "60M", "--no-probes", "--no-calibration", "--no-report", "--accelerator", "sort"),
    *("--conf", "dfs.blocksize=16777216", "--conf", "mapreduce.job.reduces=2", "--conf", "howdah.sort.memory.mb=8"),
    *("--conf", "mapreduce.reduce.shuffle.retry-delay.max.ms=1000"),
)
_JOB = "org.apache.hadoop.mapreduce.JobCounter"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FailingMount]:
    """Made before the home, so that it is unmounted when nothing of that runs any more."""
    with failing_mount(tmp_path / "disk") as disk:
        yield disk


@pytest.mark.parametrize("direct", ["true", pytest.param("false", marks=pytest.mark.soak(part="faults"))])
def test_map_outputs_that_cannot_be_written_and_read_once(disk: FailingMount, home: Home, direct: str) -> None:
    """A write of a spill fails, later the first reads of two outputs do: by the reduce, or by the server of them."""
    way = ("--factor", f"shuffle_dir={disk.mount}", "--conf", f"howdah.shuffle.direct={direct}")
    run = home.begin(*_RUN, *way)
    eventually(lambda: home.phase("sort"), 120, "the sort begins", begun=run)
    disk.fail("write EIO 5 1 /output/attempt_")
    eventually(lambda: list(disk.backing.rglob("file.out.index")), 120, "a map ends", begun=run)
    disk.fail("read EIO 0 2 file.out")
    ended_right(home, run)
    assert disk.failed() == ["write", "read", "read"]
    assert home.kept().job("sort")["counters"][_JOB]["NUM_FAILED_MAPS"] >= 1


@pytest.mark.soak(part="faults")
def test_full_for_a_while_where_maps_spill(disk: FailingMount, home: Home) -> None:
    """Maps fail, say why, and run again once there is room."""
    run = home.begin(*_RUN, "--factor", f"shuffle_dir={disk.mount}", "--conf", "mapreduce.map.maxattempts=20")
    eventually(lambda: home.phase("sort"), 120, "the sort begins", begun=run)
    disk.fail("write ENOSPC 5 1000000 /output/attempt_")
    eventually(disk.failed, 120, "a map cannot write", begun=run)
    disk.fail("")
    ended_right(home, run)
    attempts = home.kept().job("sort")["attempts"]
    failed = [one for one in attempts if one["state"] == "FAILED"]
    assert failed, "a map whose spill could not be written was taken for done"
    for one in failed:
        assert re.search("No space left on device|valid local director", one["error"]), one
