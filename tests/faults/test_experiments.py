"""An experiment that is killed, and goes on."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.conftest import Home, eventually, one_message

pytestmark = pytest.mark.daemons

FILE = """\
question: Does the sort buffer matter for a job without a sort?
workload: { pi: { size: smoke } }
factors: { mapreduce.task.io.sort.mb: [32, 64] }
stop: { min: 2, max: 2 }
"""


def outcomes(directory: Path) -> Counter[str]:
    """What became of the runs that the experiment has begun; one that was killed is still `running` in its record."""
    records = [json.loads(file.read_text()) for file in directory.glob("runs/*/run.json")]
    return Counter(record["outcome"]["kind"] for record in records)


@pytest.mark.promise(
    "`howdah experiment resume` goes on after `kill -9`: no finished run is lost or repeated", "README"
)
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_what_has_ended_is_not_run_again_and_what_was_killed_is(home: Home, tmp_path: Path) -> None:
    file, directory = tmp_path / "mine.yaml", tmp_path / "experiment"
    file.write_text(FILE, encoding="utf-8")
    begun = home.begin("experiment", "run", str(file), "--out", str(directory))
    eventually(lambda: len(list(directory.glob("runs/*/logs/pi-client.log"))) == 2, 400, "the second job", begun=begun)
    refused = home.howdah("experiment", "resume", str(directory))
    assert refused.code == 2
    assert f"another experiment runs on this machine: {directory}" in one_message(refused)
    assert "\nIt runs now.\n" in home.howdah("experiment", "status", str(directory)).out
    os.kill(begun.pid, signal.SIGKILL)
    begun.end()
    eventually(lambda: not home.processes(), 60, "everything has ended")
    status = home.howdah("experiment", "status", str(directory)).out
    assert "\n1 of 4 runs (1 valid).\n" in status
    assert f"Stopped. Resume: howdah experiment resume {directory}" in status
    assert outcomes(directory) == {"valid": 1, "running": 1}
    first = next(path for path in directory.glob("runs/*/samples.jsonl") if path.stat().st_size)
    kept = first.read_bytes(), first.stat().st_mtime_ns

    file.write_text(FILE.replace("64", "128"), encoding="utf-8")
    changed = home.howdah("experiment", "resume", str(directory))
    assert changed.code == 2
    assert "+factors: { mapreduce.task.io.sort.mb: [32, 128] }" in one_message(changed)
    file.write_text(FILE, encoding="utf-8")

    resumed = home.howdah("experiment", "resume", str(directory), timeout=600)
    assert resumed.code == 0, resumed.said
    assert outcomes(directory) == {"valid": 4, "running": 1}
    assert kept == (first.read_bytes(), first.stat().st_mtime_ns)
    assert "4 valid; 2 whole blocks" in resumed.out
    assert "<svg" in (directory / "report.html").read_text(encoding="utf-8")
    report = home.howdah("experiment", "report", str(directory), "--json")
    assert report.code == 0, report.said
    found = json.loads(report.out)
    assert (found["blocks"], found["outcomes"]) == (2, {"valid": 4})
    [finding] = found["findings"]
    assert (finding["unlike"], found["changed"]) == ([], []), "each run has a cluster of its own, and they are alike"
    assert finding["effect"]["interval"]["low"] < finding["effect"]["ratio"] < finding["effect"]["interval"]["high"]
    again = home.howdah("experiment", "resume", str(directory))
    assert again.code == 0
    assert outcomes(directory) == {"valid": 4, "running": 1}, "there is nothing left to run"


@pytest.mark.slow
@pytest.mark.soak(part="faults")
def test_a_cluster_that_does_not_come_up_is_a_run_that_failed(home: Home, tmp_path: Path) -> None:
    file, directory = tmp_path / "mine.yaml", tmp_path / "experiment"
    factor = "jvm: [usual, -XX:+NoSuchFlagOfAnyJvm]"
    file.write_text(FILE.replace("mapreduce.task.io.sort.mb: [32, 64]", factor), encoding="utf-8")
    ended = home.howdah("experiment", "run", str(file), "--out", str(directory), timeout=600)
    assert ended.code == 0, ended.said
    assert outcomes(directory) == {"valid": 2, "failed": 2}
    records = [json.loads(run.read_text()) for run in directory.glob("runs/*/run.json")]
    reasons = [record["outcome"]["reason"] for record in records if record["outcome"]["kind"] == "failed"]
    assert all("ended with code 1" in reason and "Logs are kept in " in reason for reason in reasons), reasons
    assert {record["labels"]["jvm"] for record in records if record["outcome"]["kind"] == "failed"} == {
        "-XX:+NoSuchFlagOfAnyJvm"
    }
    report = home.howdah("experiment", "report", str(directory))
    assert report.code == 0, report.said
    assert "2 failed, 2 valid" in report.out
    assert home.howdah("experiment", "resume", str(directory)).code == 0
    assert outcomes(directory) == {"valid": 2, "failed": 2}, "what failed is not repeated in silence"
    assert not home.processes()


@pytest.mark.promise("Three runs in a row that went wrong end an experiment", "reference/experiment")
@pytest.mark.promise("A run that takes longer than its limit is stopped and has failed", "reference/experiment")
@pytest.mark.slow
def test_runs_that_hang_are_ended_and_a_few_of_them_end_it(home: Home, tmp_path: Path) -> None:
    file, directory = tmp_path / "mine.yaml", tmp_path / "experiment"
    file.write_text(FILE.replace("max: 2", "max: 2, limit: 1s"), encoding="utf-8")
    ended = home.howdah("experiment", "run", str(file), "--out", str(directory))
    assert ended.code == 1, ended.said
    said = "3 runs in a row went wrong, the last: the run has taken longer than 1.0 s, which is its limit"
    assert said in ended.err
    assert f"To go on: howdah experiment resume {directory}" in ended.err
    assert outcomes(directory) == {"failed": 3}
    assert not home.processes()
