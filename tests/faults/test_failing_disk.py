"""Jobs whose map outputs are on a disk that fails for a moment: the same result, never a wrong one. Needs root."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.conftest import Home, eventually
from tests.system.failing_mount import FAILING_MOUNT_IS_POSSIBLE, failing_mount

pytestmark = [pytest.mark.daemons, *FAILING_MOUNT_IS_POSSIBLE]

_RUN = (
    *("run", "terasort", "--size", "60M", "--no-probes", "--no-calibration", "--no-report", "--accelerator", "sort"),
    *("--conf", "dfs.blocksize=16777216", "--conf", "mapreduce.job.reduces=2", "--conf", "howdah.sort.memory.mb=8"),
    *("--conf", "mapreduce.reduce.shuffle.retry-delay.max.ms=1000"),
)
_JOB = "org.apache.hadoop.mapreduce.JobCounter"


@pytest.mark.parametrize("direct", ["true", pytest.param("false", marks=pytest.mark.soak)])
def test_map_outputs_that_cannot_be_written_and_read_once(home: Home, tmp_path: Path, direct: str) -> None:
    """A write of a spill fails, later the first reads of two outputs do: by the reduce, or by the server of them."""
    with failing_mount(tmp_path / "disk") as disk:
        way = ("--factor", f"shuffle_dir={disk.mount}", "--conf", f"howdah.shuffle.direct={direct}")
        run = home.begin(*_RUN, *way)
        eventually(lambda: home.phase("sort"), 120, "the sort begins", begun=run)
        disk.fail("write EIO 5 1 /output/attempt_")
        eventually(lambda: list(disk.backing.rglob("file.out.index")), 120, "a map ends", begun=run)
        disk.fail("read EIO 0 2 file.out")
        ended = run.end()
        assert ended.code == 0, ended.said
    record = home.run_record()
    assert record["outcome"]["kind"] == "valid"
    assert all(check["passed"] for check in record["checks"])
    (sort,) = (job for job in home.kept().jobs() if job["name"] == "TeraSort")
    assert sort["counters"][_JOB]["NUM_FAILED_MAPS"] >= 1
