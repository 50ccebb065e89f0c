"""A disk that is too small, and one that is full in the middle: a file system of its own, in a mount namespace."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.faults.conftest import Home, eventually, one_message

_UNSHARE = ("unshare", "--mount", *(() if os.geteuid() == 0 else ("--map-root-user",)))

pytestmark = pytest.mark.skipif(
    subprocess.run([*_UNSHARE, "true"], capture_output=True, check=False).returncode != 0,
    reason="no mount namespace can be made here",
)


def on_disk_of(mebibytes: int, directory: Path) -> tuple[str, ...]:
    """What precedes a command so that `directory` is a file system of this size for it and its children."""
    directory.mkdir()
    script = f'mount -t tmpfs -o size={mebibytes}m howdah {shlex.quote(str(directory))} && exec "$@"'
    return (*_UNSHARE, "sh", "-c", script, "sh")


def fill(directory: Path) -> None:
    """Writes a file until nothing more fits."""
    with (directory / "somebody-elses").open("wb", buffering=0) as out:
        for piece in (b"x" * (1 << 20), b"x" * 4096):
            try:
                while True:
                    out.write(piece)
            except OSError:
                continue


@pytest.mark.promise("Data that does not fit is refused before anything is started", "issue 2")
def test_data_that_does_not_fit_is_refused_before_anything_is_started(home: Home, tmp_path: Path) -> None:
    work = tmp_path / "work"
    ended = home.howdah("run", "terasort", "--size", "400M", "--work-dir", str(work), around=on_disk_of(1024, work))
    assert ended.code == 2, ended.said
    message = one_message(ended)
    assert f"terasort needs 1.62 GB on the disk of {work}" in message
    assert "1.07 GB are free" in message
    assert not home.runs
    assert not (home.path / "clusters").exists()


@pytest.mark.daemons
def test_a_disk_on_which_no_cluster_can_work(home: Home, tmp_path: Path) -> None:
    work = tmp_path / "work"
    ended = home.howdah("up", "--name", "small", "--work-dir", str(work), around=on_disk_of(300, work))
    assert ended.code == 1, ended.said
    message = one_message(ended)
    assert f"315 MB are free on the disk of {work}" in message
    assert "a cluster needs 2.15 GB" in message
    assert "--work-dir" in message


@pytest.mark.promise("A map whose disk is full fails", "how-to/accelerate")
@pytest.mark.daemons
@pytest.mark.parametrize("accelerator", [pytest.param("none", marks=pytest.mark.soak(part="faults")), "sort"])
def test_full_in_the_middle(home: Home, tmp_path: Path, accelerator: str) -> None:
    work = tmp_path / "work"
    spills = ("--conf", "howdah.sort.memory.mb=8")
    arguments = ("--size", "200M", "--work-dir", str(work), "--no-probes", "--no-calibration", *spills, "--conf")
    fast = (
        "mapreduce.map.maxattempts=1",
        "--conf",
        "mapreduce.reduce.maxattempts=1",
        "--conf",
        "dfs.blocksize=67108864",
    )
    run = home.begin("run", "terasort", "--accelerator", accelerator, *arguments, *fast, around=on_disk_of(3000, work))
    eventually(lambda: home.phase("sort") and home.tasks(), 120, "a task of the sort runs", begun=run)
    fill(Path(f"/proc/{run.pid}/root{work}"))
    ended = run.end(180)
    assert ended.code == 1, ended.said
    message = one_message(ended)
    assert message.startswith("sort failed: application_")
    assert f"the disk of {work}/" in message
    assert " is full: " in message
    assert home.run_record()["outcome"]["kind"] == "failed"
    (kept,) = home.runs
    # What a task says cannot be relied on: its own log is on the full disk. The logs of daemons and client are not.
    assert (kept / "logs" / "sort-client.log").stat().st_size
    assert all(log.stat().st_size for log in (kept / "logs" / "daemons").glob("*.log"))
    assert list((kept / "logs" / "daemons").glob("nodemanager-*.log"))
    assert not home.processes()
