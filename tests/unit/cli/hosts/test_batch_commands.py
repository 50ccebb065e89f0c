"""`howdah script`, `howdah jobs` and `howdah site`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from howdah.cli.main import howdah
from howdah.errors import HostProblem, UsageError


@pytest.fixture(autouse=True)
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No site file, no batch system."""
    monkeypatch.setattr("howdah.spec.site.USUAL_PLACE", tmp_path / "none.yaml")
    monkeypatch.delenv("HOWDAH_SITE", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("LOGNAME", "ann")


def said(*words: str) -> str:
    done = CliRunner().invoke(howdah, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.promise("A batch script has three lines of Howdah, the rest are comments", "how-to/batch")
@pytest.mark.parametrize("kind", ["slurm", "pbs"])
def test_a_script_has_three_lines_of_howdah(kind: str, tmp_path: Path) -> None:
    text = said("script", kind, "--nodes", "8", "--time", "90m", "--partition", "short")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [line.split()[:2] for line in lines[-3:]] == [["howdah", "up"], ["howdah", "run"], ["howdah", "down"]]
    assert len(lines) <= 7
    assert "01:30:00" in text
    assert {"slurm": "\n#SBATCH --partition=short\n", "pbs": "\n#PBS -q short\n"}[kind] in text
    file = tmp_path / "job.sh"
    file.write_text(text)
    assert subprocess.run(("bash", "-n", str(file)), check=False).returncode == 0


def test_what_nobody_has_said_is_switched_off() -> None:
    assert "\n##SBATCH --partition=NAME\n" in said("script", "slurm")
    with pytest.raises(UsageError, match="which batch system is it"):
        said("script")


def test_a_site_says_which_and_how(tmp_path: Path) -> None:
    site = tmp_path / "a site.yaml"
    site.write_text("batch: pbs\nmodules: [java/17]\npartitions: { q: { time: 1h } }\n")
    text = said("script", "--site", str(site), "--partition", "q")
    assert "\nmodule load java/17\n" in text
    assert f"--on pbs --site '{site}'\n" in text
    with pytest.raises(UsageError, match="partition q allows 1 h, and 2 h are wished"):
        said("script", "--site", str(site), "--partition", "q", "--time", "2h")


def squeue(tmp_path: Path, text: str) -> None:
    (tmp_path / "squeue").write_text(f"#!/bin/sh\necho '{text}'\n")
    (tmp_path / "squeue").chmod(0o755)


def test_jobs_are_listed_and_only_those_of_howdah(tmp_path: Path) -> None:
    squeue(
        tmp_path,
        "7|RUNNING|1:30:00|2|N/A|n[1-2]|howdah-a|NO|None\n8|PENDING|1:00|4|2026-11-30T04:00:00||howdah-b|NO|Priority\n"
        "9|RUNNING|1:00|2|N/A|n3|thesis|OK|None",
    )
    first, second, third = said("jobs").splitlines()
    assert first.split() == ["JOB", "NAME", "STATE", "HOSTS", "TIME"]
    assert second.split() == ["7", "howdah-a", "running", "2", "1", "h", "30", "min", "left"]
    assert third.split() == ["8", "howdah-b", "pending", "4", "Priority,", "expected", "at", "2026-11-30T04:00:00"]
    assert [one["id"] for one in json.loads(said("jobs", "--json"))] == ["7", "8"]
    (tmp_path / "scancel").write_text(f"#!/bin/sh\necho $* > {tmp_path}/cancelled\n")
    (tmp_path / "scancel").chmod(0o755)
    with pytest.raises(UsageError, match="job 9 is none that Howdah has submitted"):
        said("jobs", "--cancel", "9")
    said("jobs", "--cancel", "8")
    assert (tmp_path / "cancelled").read_text() == "8\n"


def test_no_jobs_and_no_batch_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    squeue(tmp_path, "")
    (tmp_path / "squeue").write_text("#!/bin/sh\n")
    assert "`howdah up --on slurm:nodes=4,time=2h` submits one" in said("jobs")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(HostProblem, match="neither Slurm's `squeue` nor PBS's `qstat` is here"):
        said("jobs")


def test_a_site_file_is_checked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no site file"):
        said("site", "check")
    site = tmp_path / "site.yaml"
    site.write_text(f"scratch: {tmp_path}\n")
    assert f"ok     scratch: {tmp_path}" in said("site", "check", str(site))
    site.write_text(f"scratch: {tmp_path}/none\n")
    with pytest.raises(HostProblem, match="1 of 1 things are not as"):
        said("site", "check", str(site))
    assert os.environ.get("HOWDAH_SITE") is None
