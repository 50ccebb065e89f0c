"""Hosts that are lost, on a cluster of several; agents that are silent or killed; an owner that is stopped."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.faults.conftest import Home, ended_right, eventually, one_message
from tests.lab import lab

pytestmark = pytest.mark.daemons

_UP = ("up", "--name", "many", "--on", "channels:3", "--silence", "3")
_RUN = ("run", "terasort", "--no-probes", "--no-calibration", "--no-report")
# Hadoop gives a task that stands still ten minutes, and a fetch from a host that is gone three, three times over.
_SOON = ("--conf", "mapreduce.task.timeout=60000", "--conf", "mapreduce.reduce.shuffle.connect.timeout=10000")
_TWICE = (*_SOON, "--conf", "dfs.replication=2", "--conf", "mapreduce.terasort.output.replication=2")


def agent_of(home: Home, host: str, name: str = "many") -> int:
    """The agent of a host: the parent of its daemons."""
    [daemon, *_] = [one["pid"] for one in home.manifest(name)["daemons"] if one["host"] == host]
    return int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])


def nothing_is_left(home: Home, name: str = "many") -> None:
    down = home.howdah("down", "--name", name)
    assert down.code == 0, down.said
    place = home.path / "clusters" / name
    assert sorted(one.name for one in place.iterdir()) == ["cluster.json", "logs", "supervisor.log"]
    eventually(lambda: not home.processes(), 15, "nothing is left running")


@pytest.mark.promise("A lost host is named, with the time, and `down` cleans it up", "reference/allocations")
@pytest.mark.parametrize(
    ("number", "why"),
    [
        (signal.SIGKILL, "its agent has gone"),
        pytest.param(signal.SIGSTOP, "it has said nothing for 3 s", marks=pytest.mark.soak(part="hosts")),
    ],
)
def test_a_host_that_is_lost_is_named_and_down_goes_on(home: Home, number: int, why: str) -> None:
    assert home.howdah(*_UP).code == 0
    os.kill(agent_of(home, "channel2"), number)
    eventually(lambda: home.manifest("many")["lost"], 30, "the loss is noticed")
    status = home.howdah("status").out
    for role in ("datanode", "nodemanager"):
        lost = rf"{role} of node2 on channel2 was lost at \d\d:\d\d:\d\d: the host was lost: {why}"
        assert re.search(lost, status), status
    assert "7 of 9 alive" in status
    assert len(home.manifest("many")["lost"]) == 2, "nothing on other hosts"
    # Its daemons have nobody who looks after them, as on a host whose agent was killed there.
    assert home.pids("-Dproc_datanode", "/node2/tmp")
    nothing_is_left(home)
    kept = home.path / "clusters" / "many" / "logs"
    assert len(list(kept.glob("*.log"))) == 9, "those of the lost host, too"


@pytest.mark.promise("A run survives the loss of a host whose blocks have replicas", "reference/allocations")
def test_a_host_that_is_lost_in_a_run(home: Home) -> None:
    assert home.howdah(*_UP).code == 0
    run = home.begin(*_RUN, "--cluster", "many", "--size", "60M", *_TWICE, "--conf", "dfs.blocksize=16777216")
    eventually(lambda: home.phase("sort") and home.tasks("m"), 120, "a map of the sort runs", begun=run)
    os.kill(agent_of(home, "channel3"), signal.SIGKILL)
    for role in ("datanode", "nodemanager"):
        os.kill(home.daemon(role, 3), signal.SIGKILL)  # The host is gone, not its agent alone.
    record = ended_right(home, run)
    texts = [one["text"] for one in record["caveats"]]
    assert any(text.startswith("datanode of node3 on channel3 was lost at ") for text in texts), texts
    nothing_is_left(home)


@pytest.mark.soak(part="hosts")
@pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root")
@pytest.mark.promise("A run survives the loss of a host whose blocks have replicas", "reference/allocations")
@pytest.mark.parametrize("kind", ["cut", "kill"])
def test_a_simulated_host_that_is_lost_in_a_run(home: Home, kind: str) -> None:
    """The channel of the run is lost, too, and not that of the supervisor alone."""
    on = ("--on", "sim:3", "--silence", "3", "--factor", f"faults={kind}:sim3@sort:20%")
    run = home.begin(*_RUN, *on, "--size", "200M", *_TWICE, "--conf", "dfs.blocksize=16777216")
    if kind == "kill":
        eventually(lambda: home.phase("sort") and of_sim3(home), 180, "the sort begins", begun=run)
        eventually(lambda: not of_sim3(home), 120, "everything is killed, containers too", begun=run)
        assert run.running(), "the job goes on"
    record = ended_right(home, run)
    texts = [one["text"] for one in record["caveats"]]
    assert any(text.startswith("datanode of node3 on sim3 was lost at ") for text in texts) == (kind == "cut"), texts
    assert any(text.startswith("datanode of node3 ") for text in texts), texts
    assert not home.processes()


@pytest.mark.soak(part="hosts")
@pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root")
@pytest.mark.promise("A run survives the loss of a host whose blocks have replicas", "reference/allocations")
@pytest.mark.parametrize("phase", ["gen", "validate"])
def test_a_simulated_host_that_dies_in_another_phase(home: Home, phase: str) -> None:
    on = ("--on", "sim:3", "--silence", "3", "--factor", f"faults=kill:sim3@{phase}:20%")
    many = ("--maps", "12", "--reduces", "9")  # Some are left when the host dies: validate has a map for each reduce.
    record = ended_right(home, home.begin(*_RUN, *on, "--size", "200M", *_TWICE, *many))
    assert [one["passed"] for one in record["checks"] if one["name"] == "fault"] == [True]
    texts = [one["text"] for one in record["caveats"]]
    assert any(text.startswith("datanode of node3 ") for text in texts), texts
    assert not home.processes()


@pytest.mark.soak(part="hosts")
@pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root")
@pytest.mark.promise("A slow disk or processor of one host is named in the report", "how-to/faults")
@pytest.mark.parametrize("rate", ["1MB", "0.2cpus"])
def test_one_slow_host_is_named(home: Home, rate: str) -> None:
    assert home.howdah("up", "--name", "many", "--on", "sim:3,disks=1,cpus=0.6").code == 0
    at: tuple[str, ...] = ("--factor", f"faults=slow:sim3:{rate}@sort:0%")
    # Many maps, each of which reads its own block from the disk.
    conf = ("--conf", "dfs.replication=1", "--conf", "dfs.blocksize=8388608", "--factor", "cache=dropped")
    run = ("run", "terasort", "--cluster", "many", "--no-report", "--size", "300M")
    said = home.howdah(*run, *conf, *at)
    assert said.code == 0, said.said
    page = home.howdah("report", "latest", "-o", str(home.path / "page.md"))
    assert page.code == 0, page.said
    text = (home.path / "page.md").read_text()
    assert re.search(r"on sim3 took \d+\.\d times as long", text), text
    nothing_is_left(home)


def of_sim3(home: Home) -> list[int]:
    """The processes of the cluster on that host: daemons and containers."""
    found = []
    for pid in home.processes():
        with suppress(OSError):
            words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            found += [pid for word in words if word.startswith(b"HOWDAH_ROOT=") and word.endswith(b"-sim3")]
    return found


@pytest.mark.soak(part="hosts")
@pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root")
@pytest.mark.promise("A run while a fault of a cluster lasts is invalid", "how-to/faults")
def test_a_fault_that_lasts_is_named_and_a_cut_host_is_reached_at_the_end(home: Home) -> None:
    assert home.howdah("up", "--name", "many", "--on", "sim:2", "--silence", "3").code == 0
    assert home.howdah("fault", "slow", "sim2", "--rate", "50mbit", "--name", "many").code == 0
    assert "disturbed: network of sim2, slow" in home.howdah("status").out
    said = home.howdah(*_RUN, "--cluster", "many", "--size", "smoke")
    assert said.code == 3, said.said
    assert "a fault lasts, slow: network of sim2" in said.said
    assert home.howdah("fault", "restore", "sim2", "--name", "many").code == 0
    assert "disturbed" not in home.howdah("status").out
    again = home.howdah(*_RUN, "--cluster", "many", "--size", "smoke")
    assert again.code == 0, again.said
    assert home.howdah("fault", "cut", "sim2", "--name", "many").code == 0
    eventually(lambda: home.manifest("many")["lost"], 30, "the loss is noticed")
    nothing_is_left(home)


@pytest.mark.soak(part="hosts")
@pytest.mark.promise("A fault waits until a run has done so much of a phase", "how-to/faults")
def test_a_fault_waits_for_the_middle_of_a_job(home: Home) -> None:
    assert home.howdah(*_UP).code == 0
    fault = home.begin("fault", "kill", "channel3", "--daemon", "nodemanager", "--at", "sort:20", "--name", "many")
    conf = (*_SOON, "--conf", "dfs.blocksize=16777216")
    record = ended_right(home, home.begin(*_RUN, "--cluster", "many", "--size", "200M", *conf))
    ended = fault.end()
    assert ended.code == 0, ended.said
    assert f"{record['id']}: 20% of sort done" in ended.said
    assert "channel3: its nodemanager is killed." in ended.out
    assert any(one["text"].startswith("nodemanager of node3 ") for one in record["caveats"]), record["caveats"]
    nothing_is_left(home)


@pytest.mark.soak(part="hosts")
@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces are made by root")
@pytest.mark.promise("A host whose clock is wrong, or jumps, makes no wrong number", "explanation/reading-the-report")
def test_a_host_whose_clock_is_wrong(home: Home, tmp_path: Path) -> None:
    """All processes there are told another time by a library that they load first: the agent by the server that starts
    it, JVMs by the JDK of that host."""
    wrong, scratch = tmp_path / "clock", tmp_path / "scratch"
    wrong.write_text("0.6\n")
    library, source = tmp_path / "lying_clock.so", Path(__file__).parent.parent / "lying_clock.c"
    subprocess.run(("cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"), check=True)
    told = f"LD_PRELOAD={library} LYING_CLOCK={wrong}"
    with lab(tmp_path / "lab", ("white", "blue"), settings={"blue": f"SetEnv {told}"}) as made:
        path, blue = made.environment["PATH"], made.addresses["blue"]
        listed = tmp_path / "hosts.yaml"
        there = f"{{host: blue, java: {lying_jdk(tmp_path / 'jdk', told)}}}"
        listed.write_text(f"scratch: {scratch}\nhosts:\n- {{host: white}}\n- {there}\n")
        up = home.howdah("up", "--name", "many", "--on", f"hosts:{listed}", "--insecure", PATH=path)
        assert up.code == 0, up.said
        first = ended_right(home, home.begin(*_RUN, "--cluster", "many", "--size", "60M", "--maps", "6", PATH=path))
        jobs = [json.loads(one.read_text()) for one in home.path.glob(f"runs/{first['id']}/jobs/job_*.json")]
        ahead = [(node, seconds) for job in jobs for node, seconds in job["ahead"].items()]
        assert ahead
        for node, seconds in ahead:
            assert node.partition(":")[0] in (blue, "blue")
            assert 0.5 < seconds < 0.7, ahead
        attempts = [(job, attempt["whole"]) for job in jobs for attempt in job["attempts"]]
        assert attempts
        for job, whole in attempts:
            assert job["submit"] - 0.1 < whole["start"] < whole["end"] < job["finish"] + 0.1, (job, whole)
        run = home.begin(*_RUN, "--cluster", "many", "--size", "200M", PATH=path)
        eventually(lambda: child_of(scratch, "_0005_m_"), 180, "a map of the second sort runs", begun=run)
        wrong.write_text("3\n")
        ended = run.end()
        assert ended.code != 0
        assert re.search(r"the time of day jumped: \+2\.[345]\d s on blue", ended.said), ended.said
        again = home.howdah(*_RUN, "--cluster", "many", "--size", "smoke", PATH=path)
        assert re.search(r"the clock of blue is [23]\.\d\d s ahead of that of white", again.said), again.said
        down = home.howdah("down", "--name", "many", PATH=path)
        assert down.code == 0, down.said


def lying_jdk(directory: Path, told: str) -> Path:
    """A JDK whose `java` has these variables more."""
    real = Path(shutil.which("javac") or "").resolve().parent.parent
    (directory / "bin").mkdir(parents=True)
    for one in real.iterdir():
        if one.name != "bin":
            (directory / one.name).symlink_to(one)
    for one in (real / "bin").iterdir():
        if one.name != "java":
            (directory / "bin" / one.name).symlink_to(one)
    (directory / "bin" / "java").write_text(f'#!/bin/sh\nexport {told}\nexec {real}/bin/java "$@"\n')
    (directory / "bin" / "java").chmod(0o755)
    return directory


def child_of(scratch: Path, attempt: str) -> bool:
    """Whether a task runs whose attempt has such a name, of a cluster with its files in `scratch`."""
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = one.read_bytes()
            if b"YarnChild" in words and str(scratch).encode() in words and attempt.encode() in words:
                return True
    return False


def test_a_host_that_is_lost_while_the_cluster_comes_up(home: Home) -> None:
    up = home.begin(*_UP)
    for role in ("datanode", "nodemanager"):  # With the last of them, no start of a daemon there is under way.
        eventually(partial(home.pids, f"-Dproc_{role}", "/node2/tmp"), 120, "a daemon starts", begun=up)
    daemon = home.daemon("datanode", 2)
    os.kill(int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
    ended = up.end()
    assert ended.code == 1, ended.said
    assert "[channel2] the host was lost: its agent has gone, with " in one_message(ended)
    eventually(lambda: not home.processes(), 15, "nothing is left running")
    assert not list((home.path / "clusters" / "many").glob("work*"))


def supervisor(home: Home) -> int:
    return home.pids("howdah.cluster.supervision.supervisor")[0]


@pytest.mark.promise("Hosts end their daemons when the machine that owns them is stopped", "reference/allocations")
def test_an_owner_that_is_stopped_loses_its_hosts(home: Home) -> None:
    assert home.howdah(*_UP).code == 0
    pid = supervisor(home)
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: not home.pids("bin/java"), 30, "every daemon has ended")
    os.kill(pid, signal.SIGCONT)
    eventually(lambda: len(home.manifest("many")["lost"]) == 9, 30, "the losses are noticed")
    assert "0 of 9 alive" in home.howdah("status").out
    nothing_is_left(home)


@pytest.mark.soak(part="hosts")
def test_a_supervisor_that_dies_takes_every_host_with_it(home: Home) -> None:
    assert home.howdah(*_UP).code == 0
    os.kill(supervisor(home), signal.SIGKILL)
    eventually(lambda: not home.processes(), 30, "nothing is left running")
    assert len(list((home.path / "clusters" / "many").glob("work-channel*"))) == 3, "what there was of data"
    nothing_is_left(home)
    assert len(list((home.path / "clusters" / "many" / "logs").glob("*.log"))) == 9


def test_a_directory_that_is_somebody_elses_on_one_host_is_refused_on_all(home: Home, tmp_path: Path) -> None:
    theirs = tmp_path / "work" / "many-channel2"
    theirs.mkdir(parents=True)
    (theirs / "thesis").write_text("mine")
    ended = home.howdah(*_UP, "--work-dir", str(tmp_path / "work"))
    assert ended.code == 2, ended.said
    message = one_message(ended)
    assert f"[channel2] {theirs} is there already, and would be emptied" in message
    assert [one.name for one in (tmp_path / "work").iterdir()] == ["many-channel2"]
    assert (theirs / "thesis").read_text() == "mine"
