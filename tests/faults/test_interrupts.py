"""Ctrl-C, kill and a closed terminal at every moment of a run."""

from __future__ import annotations

import json
import os
import pty
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.faults.conftest import Begun, Home, eventually, one_message

pytestmark = pytest.mark.daemons

_QUICK = ("run", "terasort", "--size", "smoke", "--maps", "1", "--reduces", "1", "--no-probes", "--no-report")
_ON_SHARED = (*_QUICK, "--cluster", "shared")
# The mapper of each phase waits for nobody: only a larger input makes the sort last.
_LONG = ("run", "terasort", "--size", "100M", "--no-probes", "--no-calibration", "--no-report", "--cluster", "shared")


def assert_interrupted(run: Begun, seconds: float = 15.0, kept: Callable[[], Path] | None = None) -> None:
    ended = run.end(seconds)
    assert ended.code == 130, ended.said
    assert "Traceback" not in ended.said
    said = ended.err[ended.err.rindex("howdah: interrupted\n") :].splitlines()
    if kept is None:
        assert said == ["howdah: interrupted"]
    else:
        assert said == ["howdah: interrupted", f"The run is kept, as aborted: {kept()}"]
        assert list((kept() / "logs/daemons").glob("*.log")), "its logs were not kept"


def unpacked(home: Home) -> set[Path]:
    """The jars that clients have unpacked in a place that goes with the shared cluster."""
    return set(Path(home.manifest("shared")["plan"]["masters"]["directory"], "tmp").glob("hadoop-unjar*"))


@pytest.mark.promise("Ctrl-C stops every process that Howdah started, containers included", "README")
def test_while_the_cluster_starts(home: Home) -> None:
    run = home.begin(*_QUICK)
    eventually(lambda: home.pids("-Dproc_datanode"), 120, "daemons start", begun=run)
    run.signal(signal.SIGINT)
    assert_interrupted(run)
    assert not home.processes(), "run returned before everything had ended"
    assert not home.runs
    assert not list((home.path / "clusters").iterdir()), "the cluster's directory was left"


@pytest.mark.promise("Ctrl-C stops every process that Howdah started, containers included", "README")
@pytest.mark.promise("A closed terminal stops every process that Howdah started", "README")
@pytest.mark.parametrize("way", ["control-c", "closed"])
def test_in_a_terminal(home: Home, way: str) -> None:
    """The kernel signals every process of the terminal's foreground group, not only the one that has its number."""
    terminal, line = pty.openpty()
    run = home.begin(*_QUICK, "--no-calibration", around=("setsid", "--ctty", "--wait"), terminal=line)
    os.close(line)
    said = threading.Thread(target=_drain, args=(terminal,), daemon=True)
    said.start()
    eventually(lambda: home.phase("sort") and home.tasks(), 300, "a task of the sort runs", begun=run)
    if way == "control-c":
        os.write(terminal, b"\x03")
    else:
        os.close(terminal)
    run.end(20)
    eventually(lambda: not home.processes(), 15, "nothing is left")
    assert home.run_record()["outcome"] == {"kind": "aborted", "reason": "interrupted in sort"}


def _drain(terminal: int) -> None:
    with suppress(OSError):
        while os.read(terminal, 1 << 16):
            pass


def test_while_calibrating(cluster: Home) -> None:
    run = cluster.begin(*_ON_SHARED)
    eventually(lambda: run.has_said("calibrating"), 120, "calibration", begun=run)
    run.signal(signal.SIGINT)
    assert_interrupted(run)
    assert not cluster.runs


@pytest.mark.promise("An interrupted command ends with 130 after all that it started", "reference/exit-codes")
@pytest.mark.parametrize(
    ("phase", "number"),
    [
        ("gen", signal.SIGINT),
        *(pytest.param(phase, signal.SIGINT, marks=pytest.mark.soak(part="faults")) for phase in ("sort", "validate")),
        ("sort", signal.SIGTERM),
        pytest.param("validate", signal.SIGHUP, marks=pytest.mark.soak(part="faults")),
    ],
)
def test_in_a_phase(cluster: Home, phase: str, number: int) -> None:
    before = unpacked(cluster)
    run = cluster.begin(*_LONG if phase == "sort" else (*_ON_SHARED, "--no-calibration"))
    eventually(lambda: cluster.phase(phase) and cluster.tasks(), 300, f"a task of {phase} runs", begun=run)
    assert unpacked(cluster) - before, "what its client leaves behind does not go with the cluster"
    run.signal(number)
    assert_interrupted(run, kept=lambda: cluster.runs[0])
    assert cluster.run_record()["outcome"] == {"kind": "aborted", "reason": f"interrupted in {phase}"}
    assert not (cluster.runs[0] / "samples.jsonl").exists()
    shown = cluster.howdah("show", "latest")
    assert shown.code == 0, shown.said
    assert "aborted" in shown.out


def test_twice_does_not_break_the_tidying_up(cluster: Home) -> None:
    run = cluster.begin(*_ON_SHARED, "--no-calibration")
    eventually(lambda: cluster.phase("gen") and cluster.tasks(), 300, "a task of gen runs", begun=run)
    for _ in range(5):
        run.signal(signal.SIGINT)
    assert_interrupted(run, kept=lambda: cluster.runs[0])
    assert cluster.run_record()["outcome"]["kind"] == "aborted"


@pytest.mark.promise("A second run on a cluster that is in use is refused", "issue 3")
def test_killed_on_a_persistent_cluster(cluster: Home) -> None:
    run = cluster.begin(*_LONG)
    eventually(lambda: cluster.phase("sort") and cluster.tasks(), 300, "a task of the sort runs", begun=run)
    second = cluster.howdah(*_ON_SHARED, "--no-calibration")
    assert second.code == 2, second.said
    assert f"'shared' is in use: process {run.pid} measures on it" in one_message(second)
    assert len(cluster.runs) == 1
    os.kill(run.pid, signal.SIGKILL)
    run.end()
    eventually(lambda: not cluster.pids("MRAppMaster") and not cluster.tasks(), 15, "its application is killed")
    again = cluster.howdah(*_ON_SHARED, "--no-calibration")
    assert again.code == 0, again.said
    (killed, after) = (json.loads((run / "run.json").read_text())["outcome"] for run in cluster.runs)
    assert (killed["kind"], after["kind"]) == ("running", "valid")


@pytest.mark.promise("Data that is kept is compared with what is asked before it is used again", "reference/workloads")
def test_data_that_is_kept_is_whole_or_made_anew(cluster: Home) -> None:
    """A generator that is killed leaves none, and a file that is missing is noticed."""
    kept = ("run", "wordcount", "--size", "30M", "--data", "reuse", "--no-report", "--cluster", "shared")
    run = cluster.begin(*kept, "--no-probes", "--no-calibration")
    generators = eventually(lambda: cluster.phase("gen") and cluster.pids("textgen"), 120, "a generator", begun=run)
    for pid in (run.pid, *generators):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.end()
    eventually(lambda: not cluster.pids("MRAppMaster") and not cluster.tasks(), 30, "nothing of it is left")

    def again() -> dict[str, Any]:
        ended = cluster.howdah(*kept, "--no-probes", "--no-calibration")
        assert ended.code == 0, ended.said
        record: dict[str, Any] = json.loads((cluster.runs[-1] / "run.json").read_text())
        assert record["outcome"]["kind"] == "valid"
        assert ("gen" in [phase["name"] for phase in record["phases"]]) is not record["dataset"]["reused"]
        return record

    def reused() -> bool:
        return bool(again()["dataset"]["reused"])

    made, used = again(), again()
    assert (made["dataset"]["reused"], used["dataset"]["reused"]) == (False, True)
    assert {**made["dataset"], "reused": True} == used["dataset"]
    assert made["trial"]["identity"] == used["trial"]["identity"]
    remove = "hdfs dfs -rm -skipTrash '/howdah/data/textgen-*/part-m-00000'"
    assert cluster.howdah("exec", "--name", "shared", "--", "sh", "-c", remove).code == 0
    assert not reused()
    remove = "hdfs dfs -rm -r -skipTrash /howdah/data"
    assert cluster.howdah("exec", "--name", "shared", "--", "sh", "-c", remove).code == 0


@pytest.mark.promise("`kill -9` of Howdah stops every process that it started", "README")
@pytest.mark.parametrize("victim", ["run", "supervisor", pytest.param("agent", marks=pytest.mark.soak(part="faults"))])
def test_killed_on_a_cluster_of_its_own(home: Home, victim: str) -> None:
    run = home.begin("run", "terasort", "--size", "100M", "--no-probes", "--no-calibration")
    eventually(lambda: home.phase("gen") and home.tasks(), 300, "a task runs", begun=run)
    pids: dict[str, Callable[[], int]] = {
        "run": lambda: run.pid,
        "supervisor": lambda: home.pids("howdah.cluster.supervision.supervisor")[0],
        "agent": lambda: _agent(home),
    }
    os.kill(pids[victim](), signal.SIGKILL)
    eventually(lambda: not home.pids("bin/java"), 15, "no Java process is left")
    ended = run.end(30)
    eventually(lambda: not home.processes(), 15, "nothing is left")
    if victim == "run":
        assert ended.code == -signal.SIGKILL
        assert " aborted: the process that ran it ended" in home.howdah("runs").out, "nobody works on it any more"
        return
    assert ended.code == 1, ended.said
    assert ("supervisor" if victim == "supervisor" else "namenode") in one_message(ended)
    assert home.run_record()["outcome"]["kind"] == "failed"


def _agent(home: Home) -> int:
    """The agent of the supervisor: the parent of the daemons."""
    stat = Path(f"/proc/{home.daemon('namenode')}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])
