"""The probe: a tree of processes of this machine and a recorded /proc."""

from __future__ import annotations

import os
import statistics
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from howdah.host.agent import sampler

Point = dict[str, Any]
CONTAINER = "container_e17_1700000000000_0001_01_000002"


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen]]:
    started: list[subprocess.Popen] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def sampling() -> Iterator[Callable[..., sampler.Sampler]]:
    made: list[sampler.Sampler] = []

    def make(*arguments: Any, **options: Any) -> sampler.Sampler:
        made.append(sampler.Sampler(*arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def of(points: list[Point], kind: str) -> list[Point]:
    return [point for point in points if point["kind"] == kind]


def by_pid(points: list[Point]) -> dict[int, Point]:
    return {point["pid"]: point for point in of(points, "process")}


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_every_column_is_declared_in_the_header(sampling):
    one = sampling([])
    kinds = one.header()["kinds"]
    points = one.sample()
    assert {point["kind"] for point in points} >= {"machine", "network", "process"}
    who = {"kind", "utc", "monotonic", "role", "node", "pid", "container", "device", "interface"}
    for point in points:
        assert set(point) - who <= set(kinds[point["kind"]]["columns"]), point
    (machine,) = of(points, "machine")
    assert set(machine) - who == set(kinds["machine"]["columns"])


def test_counters_grow_and_the_probe_sees_itself(sampling):
    one = sampling([])
    first = one.sample()
    used = time.process_time()
    while time.process_time() < used + 0.05:
        sum(range(100000))
    second = one.sample()
    mine, later = by_pid(first)[os.getpid()], by_pid(second)[os.getpid()]
    assert mine["role"] == "probe"
    assert later["cpu"] >= mine["cpu"] + 0.03
    assert later["cpu"] == pytest.approx(time.process_time(), abs=0.1)
    assert of(second, "machine")[0]["cpu_idle"] >= of(first, "machine")[0]["cpu_idle"]
    assert mine["memory_resident"] > 1 << 20


def test_descendants_have_the_role_and_node_of_their_nearest_root(sampling, processes):
    shell = subprocess.Popen(["sh", "-c", "sh -c 'sleep 60; true' & sleep 60; true"])
    processes.append(shell)
    other = subprocess.Popen(["sleep", "60"])
    processes.append(other)
    one = sampling([{"pid": shell.pid, "role": "datanode", "node": "node1"}])
    until(lambda: len(of(one.sample(), "process")) >= 5)
    points = by_pid(one.sample())
    assert other.pid not in points
    below = [point for pid, point in points.items() if pid != os.getpid()]
    assert {(point["role"], point["node"]) for point in below} == {("datanode", "node1")}
    kill(points.keys() - {os.getpid(), shell.pid})
    until(lambda: set(by_pid(one.sample())) <= {os.getpid(), shell.pid})


def test_root_0_is_what_this_process_starts_later(sampling, processes):
    one = sampling([{"pid": 0, "role": "client", "node": None}])
    before = by_pid(one.sample())  # Other tests may have left a process to this one that has not ended yet.
    client = subprocess.Popen(["sleep", "60"])
    processes.append(client)
    points = by_pid(one.sample())
    assert client.pid not in before
    assert points[client.pid]["role"] == "client"
    assert "node" not in points[client.pid]
    assert points[os.getpid()]["role"] == "probe"


def test_a_containers_processes_have_its_id(sampling, processes, tmp_path):
    # As YARN does: a NodeManager, a shell that runs the container's script, and the JVM below it. The NodeManager's own
    # command line names no container: a child that has not called exec has the same.
    (tmp_path / "launch").write_text(f"sh -c 'sh -c \"sleep 60 & sleep 60; : {CONTAINER}\" & sleep 60; true'")
    manager = subprocess.Popen(["sh", "-c", 'sh "$1" & sleep 60; true', "nm", str(tmp_path / "launch")])
    processes.append(manager)
    one = sampling([{"pid": manager.pid, "role": "nodemanager", "node": "node2"}])
    try:
        # Its own helper is no container.
        until(lambda: roles(one.sample()) >= Counter({"container": 3, "nodemanager": 2}))
        points = by_pid(one.sample())
        inside = [point for point in points.values() if point["role"] == "container"]
        assert {(point["container"], point["node"]) for point in inside} == {(CONTAINER, "node2")}
        assert points[manager.pid]["role"] == "nodemanager"
    finally:
        kill(by_pid(one.sample()).keys() - {os.getpid(), manager.pid})


def test_a_child_is_asked_for_its_container_until_it_has_called_exec(sampling, processes, tmp_path):
    """However many samples are taken before that: on a busy machine it may take long."""
    os.mkfifo(tmp_path / "go")
    # A subshell that waits is a child that has not called exec: its command line is its parent's.
    container = f"exec sh -c 'sleep 60; : {CONTAINER}'"
    (tmp_path / "manager").write_text(f"( read line < {tmp_path}/go; {container} ) & wait; true")
    manager = subprocess.Popen(["sh", str(tmp_path / "manager")])
    processes.append(manager)
    one = sampling([{"pid": manager.pid, "role": "nodemanager", "node": "node2"}])
    try:
        until(lambda: roles(one.sample())["nodemanager"] == 2)
        for _ in range(10):
            assert roles(one.sample())["container"] == 0
        (tmp_path / "go").write_text("now\n")
        until(lambda: roles(one.sample())["container"] >= 1)
    finally:
        kill(by_pid(one.sample()).keys() - {os.getpid(), manager.pid})


def roles(points: list[Point]) -> Counter[str]:
    """How many processes there are of each role."""
    return Counter(point["role"] for point in of(points, "process"))


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # A shell whose child was killed before it has ended.
            os.kill(pid, 9)


def write_proc(proc: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (proc / name).parent.mkdir(parents=True, exist_ok=True)
        (proc / name).write_text(content)


def stat(pid: int, parent: int, *, started: int, name: str = "java", utime: int = 100) -> str:
    fields = [utime, 50, 7, 3, 20, 0, 30, 0, started, 4096, 1000]
    return f"{pid} ({name}) S {parent} 1 1 0 -1 0 0 0 0 0 {' '.join(map(str, fields))} 0 0\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    write_proc(
        tmp_path,
        {
            "stat": "cpu  100 1 200 3000 40 5 6 7 0 0\ncpu0 1 1 1\n",
            "meminfo": "MemTotal: 1000 kB\nMemAvailable: 600 kB\nCached: 300 kB\nSwapCached: 9 kB\n"
            "SwapTotal: 50 kB\nSwapFree: 20 kB\nDirty: 4 kB\n",
            "loadavg": "1.50 1.00 0.50 2/300 4242\n",
            "diskstats": "   8 0 sda 10 0 2000 5 20 0 4000 9 0 1500 14 0 0 0 0\n   7 0 loop0 1 0 1 0 0 0 0 0 0 1 1\n",
            "net/dev": "Inter-|\n face |\n    lo: 500 5 0 0 0 0 0 0 700 5 0 0\n no-such9:1 2 3 4 5 6 7 8 9 1\n",
            "10/stat": stat(10, 1, started=5),
            "10/io": "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n"
            "cancelled_write_bytes: 0\n",
        },
    )
    return tmp_path


def test_a_recorded_proc_in_the_units_of_the_format(sampling, proc):
    points = sampling([{"pid": 10, "role": "namenode"}], ["sda"], proc=str(proc)).sample()
    machine, disk, network, process = points
    hertz = os.sysconf("SC_CLK_TCK")
    assert machine["cpu_user"] == 100 / hertz
    assert machine["cpu_steal"] == 7 / hertz
    assert machine["memory_cached"] == 300 * 1024
    assert machine["swap_used"] == 30 * 1024
    assert machine["load1"] == 1.5
    assert (disk["device"], disk["read_bytes"], disk["write_bytes"]) == ("sda", 2000 * 512, 4000 * 512)
    assert (disk["read_operations"], disk["write_operations"], disk["busy"]) == (10, 20, 1.5)
    assert (network["interface"], network["receive_bytes"], network["send_bytes"]) == ("lo", 500, 700)
    assert {key: value for key, value in process.items() if key not in ("utc", "monotonic")} == {
        "kind": "process",
        "role": "namenode",
        "pid": 10,
        "cpu": 150 / hertz,
        "cpu_children": 10 / hertz,
        "memory_resident": 1000 * os.sysconf("SC_PAGE_SIZE"),
        "read_bytes": 4096,
        "write_bytes": 8192,
    }


def test_cards_that_a_process_sees_and_this_host_does_not(sampling, proc):
    head = "Inter-|\n face |\n"
    write_proc(proc, {"11/net/dev": f"{head}    lo: 9 1 0 0 0 0 0 0 9 1 0 0\n  eth0: 70 1 0 0 0 0 0 0 30 1 0 0\n"})
    write_proc(proc, {"11/stat": stat(11, 1, started=6)})
    gone, there = ({"pid": pid, "role": "datanode", "network": "sim1"} for pid in (99, 11))
    one = sampling([gone, there], ["sda"], proc=str(proc))
    for _ in range(2):
        cards = of(one.sample(), "network")
        assert [(card["interface"], card["receive_bytes"], card["send_bytes"]) for card in cards] == [
            ("lo", 500, 700),
            ("sim1/eth0", 70, 30),
        ]
        (proc / "11/net/dev").unlink(missing_ok=True)  # The process is killed, and the card is still there.


@pytest.mark.promise("A number that could not be measured is absent, never 0", "README")
def test_what_cannot_be_read_is_absent(sampling, proc):
    (proc / "10/io").unlink()
    (proc / "meminfo").write_text("MemTotal: 1000 kB\n")
    machine, process = sampling([{"pid": 10, "role": "namenode"}], [], proc=str(proc)).sample()[:3:2]
    assert "memory_available" not in machine
    assert "swap_used" not in machine
    assert "read_bytes" not in process
    assert process["cpu"] > 0


def test_another_process_with_the_pid_of_one_that_ended_is_not_followed(sampling, proc):
    one = sampling([{"pid": 10, "role": "namenode"}], [], proc=str(proc))
    assert 10 in by_pid(one.sample())
    (proc / "10/stat").write_text(stat(10, 1, started=99))
    assert 10 not in by_pid(one.sample())
    assert 10 not in by_pid(one.sample())


def test_children_that_come_with_their_parents_in_one_sample_are_followed(sampling, proc):
    one = sampling([{"pid": 10, "role": "datanode", "node": "node1"}], [], proc=str(proc))
    # The pids have wrapped around: the grandchild's is the smallest.
    write_proc(
        proc, {"3/stat": stat(3, 9, started=8), "9/stat": stat(9, 10, started=7), "4/stat": stat(4, 1, started=8)}
    )
    assert set(by_pid(one.sample())) == {3, 9, 10}


def test_a_container_is_recognised_after_exec(sampling, proc):
    one = sampling([{"pid": 10, "role": "nodemanager", "node": "node1"}], [], proc=str(proc))
    write_proc(
        proc, {"20/stat": stat(20, 10, started=9), "20/cmdline": "java\0NodeManager\0default_container_executor"}
    )
    assert by_pid(one.sample())[20]["role"] == "nodemanager"
    write_proc(proc, {"20/cmdline": f"bash\0/data/{CONTAINER}/default_container_executor.sh"})
    assert by_pid(one.sample())[20]["container"] == CONTAINER


def test_the_disk_below_a_path_can_be_asked_for(sampling):
    named = of(sampling([], ["/"]).sample(), "disk")
    assert len(named) <= 1
    assert of(sampling([], ["/proc"]).sample(), "disk") == []


@pytest.mark.promise("The series have every daemon and container, once a second", "reference/run-directory")
def test_the_stream_keeps_its_schedule_and_ends_with_a_last_sample():
    emitted: list[Point] = []
    stop = threading.Event()

    def emit(records: list[Point]) -> None:
        emitted.extend(records)
        if len(of(emitted[1:], "machine")) == 20:
            stop.set()

    closing = sampler.run(emit, stop, roots=[], devices=[], interval=0.05)
    assert emitted[0]["interval_seconds"] == 0.05
    times = [point["monotonic"] for point in of(emitted[1:], "machine")]
    assert len(times) == closing["samples"] == 21, "one after the end"
    # The machine may be busy now and then, and late samples have no successors that are late for it.
    late = [(moment - times[0]) / 0.05 % 1 for moment in times[:-1]]
    assert statistics.median(late) < 0.45
    assert 0 < closing["cpu_seconds"] < 1


def test_a_late_sample_skips_ticks_and_says_so():
    stop = threading.Event()
    seen = 0

    def slow(records: list[Point]) -> None:
        nonlocal seen
        if records[0].get("kind") == "machine":
            seen += 1
            if seen == 1:
                time.sleep(0.35)
            elif seen == 3:
                stop.set()

    closing = sampler.run(slow, stop, roots=[], devices=[], interval=0.1)
    assert closing["skipped"] >= 3
