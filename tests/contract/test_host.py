"""What every Host must do, whatever launcher its channel goes through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from howdah.errors import HostProblem
from howdah.host import Host
from howdah.host.channel import Channel, open_local
from tests.processes import is_alive
from tests.sshd import Server, ssh_server


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with ssh_server(tmp_path_factory.mktemp("sshd")) as server:
        yield server


Open = Callable[[str], Host]


@pytest.fixture(params=["local", "ssh"])
def open_host(request: pytest.FixtureRequest) -> Open:
    """Opens a channel through each launcher."""
    if request.param == "local":
        return open_local
    launcher = request.getfixturevalue("sshd").launcher()
    return lambda name: Channel(name, launcher, silence=30)


@pytest.fixture
def host(open_host: Open) -> Iterator[Host]:
    host = open_host("here")
    yield host
    host.close()


def wait_for(condition, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def test_no_module_of_the_present_directory_is_run(
    open_host: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("hashlib", "queue", "subprocess", "execnet"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('somebody else wrote this')\n")
    monkeypatch.chdir(tmp_path)
    there = open_host("here")
    assert there.run(["true"], timeout=10).code == 0
    there.close()


def test_run_gives_code_output_and_cpu(host: Host) -> None:
    done = host.run(["sh", "-c", "cat; echo problem >&2; exit 3"], timeout=10, stdin=b"given")
    assert (done.code, done.stdout, done.stderr) == (3, b"given", b"problem\n")
    busy = host.run([sys.executable, "-c", "x = 0\nfor i in range(3_000_000): x += i"], timeout=60)
    assert busy.cpu_seconds > 0.05


def test_run_adds_to_the_environment_and_enters_the_directory(host: Host, tmp_path: Path) -> None:
    done = host.run(
        ["sh", "-c", "echo $GREETING $(pwd) ${PATH:+path}"], timeout=10, env={"GREETING": "hi"}, cwd=str(tmp_path)
    )
    assert done.stdout.decode().split() == ["hi", str(tmp_path), "path"]


def test_run_that_takes_too_long_is_killed_with_its_descendants(host: Host, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with pytest.raises(HostProblem, match=r"here.*did not end within 0.5 s"):
        host.run(["sh", "-c", f"sleep 600 & echo $! > {mark}; wait"], timeout=0.5)
    wait_for(lambda: not is_alive(int(mark.read_text())))


def test_command_that_does_not_exist_is_a_problem_of_the_host(host: Host) -> None:
    with pytest.raises(HostProblem, match=r"here.*no-such-command"):
        host.run(["no-such-command"], timeout=5)


def test_started_process_is_watched(host: Host, tmp_path: Path) -> None:
    output = tmp_path / "out"
    process = host.start(["sh", "-c", "echo one; echo two >&2; exit 7"], output=str(output))
    assert process.wait(10) == 7
    assert process.poll() == 7
    assert process.cpu_seconds is not None
    assert output.read_text() == "one\ntwo\n"
    process.signal(signal.SIGTERM)  # It has ended: no error.


def test_started_process_can_be_signalled(host: Host, tmp_path: Path) -> None:
    process = host.start(["sleep", "600"], output=str(tmp_path / "out"))
    assert process.poll() is None
    process.signal(signal.SIGTERM)
    assert process.wait(10) == -signal.SIGTERM


def test_many_processes_end_at_once_and_none_is_missed(host: Host, tmp_path: Path) -> None:
    processes = [host.start(["sh", "-c", f"exit {n}"], output=str(tmp_path / "out")) for n in range(40)]
    assert [process.wait(10) for process in processes] == list(range(40))


def test_a_process_can_be_signalled_at_the_very_moment_of_its_end(host: Host, tmp_path: Path) -> None:
    def follow(code: int) -> int | None:
        process = host.start(["sh", "-c", f"exit {code}"], output=str(tmp_path / "out"))
        while process.poll() is None:
            process.signal(signal.SIGCONT)
        return process.wait(10)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(follow, range(200))) == list(range(200))


def test_a_process_is_signalled_or_has_ended_but_never_both_missed(host: Host, tmp_path: Path) -> None:
    def end(number: int) -> int | None:
        process = host.start(["sh", "-c", "exit 7"], output=str(tmp_path / "out"))
        time.sleep(number % 10 / 1000)
        process.signal(signal.SIGTERM)
        return process.wait(10)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(end, range(200))) <= {7, -signal.SIGTERM}


def test_failed_operation_names_host_and_reason(host: Host) -> None:
    with pytest.raises(HostProblem, match=r"\[here\] files.read: .*No such file"):
        host.call("files.read", path="/no/such/file")


def test_files_come_back_as_they_went(host: Host, tmp_path: Path) -> None:
    path, content = str(tmp_path / "deep" / "file"), bytes(range(256)) * 1000
    host.call("files.make", path=str(tmp_path / "deep"))
    host.call("files.write", path=path, content=content, mode=0o640)
    assert host.call("files.read", path=path) == content
    assert host.call("files.read", path=path, offset=-3) == content[-3:]
    assert Path(path).stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700
    assert host.call("files.list", path=str(tmp_path)) == [{"name": "deep", "type": "directory", "size": 4096}]
    host.call("files.remove", path=str(tmp_path / "deep"))
    host.call("files.remove", path=str(tmp_path / "deep"))
    assert host.call("files.resolve", path=path) is None


def test_removing_does_not_follow_links(host: Host, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    host.call("files.remove", path=str(tmp_path / "link"))
    assert (tmp_path / "kept" / "file").exists()


def test_only_its_owner_has_a_directory_anew(host: Host, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "place"

    def claim(owner: str) -> str | None:
        return host.call("files.claim", path=str(place), owner=owner)  # type: ignore[no-any-return]

    def remove(owner: str) -> str | None:
        return host.call("files.remove_claimed", path=str(place), owner=owner)  # type: ignore[no-any-return]

    assert claim("me") is None
    (place / "data").write_text("x")
    assert claim("another") == "me"
    assert (place / "data").exists()
    assert claim("me") is None
    assert [one.name for one in place.iterdir()] == [".howdah-owner"]
    assert remove("another") == "me"
    assert place.exists()
    assert remove("me") is None
    assert remove("me") is None
    assert not place.exists()
    place.mkdir()
    (place / ".howdah-owner.new").write_text("cut o")
    assert claim("me") is None, "an empty one is nobody's"
    (place / ".howdah-owner").unlink()
    (place / "data").write_text("x")
    assert (claim("me"), remove("me")) == ("", "")
    assert (place / "data").exists()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert host.call("files.claim", path=str(tmp_path / "link"), owner="me") == ""


def test_a_record_that_cannot_be_kept_is_told_at_the_end_and_the_channel_goes_on(host: Host) -> None:
    seen: list[object] = []

    def full(record: object) -> None:
        seen.append(record)
        raise OSError(28, "No space left on device")

    stream = host.stream("sampler.run", full, roots=[{"pid": os.getpid(), "role": "test"}], interval=0.1)
    wait_for(lambda: bool(seen))
    with pytest.raises(HostProblem, match=r"a record could not be kept: .*No space left"):
        stream.stop()
    assert len(seen) == 1
    assert host.run(["true"], timeout=10).code == 0


def test_stream_ends_with_a_closing_record_after_every_point(host: Host) -> None:
    records: list[dict[str, object]] = []
    stream = host.stream("sampler.run", records.append, roots=[{"pid": os.getpid(), "role": "test"}], interval=0.1)
    wait_for(lambda: len(records) > 4)
    closing = stream.stop()
    assert closing["cpu_seconds"] > 0
    count = len(records)
    assert records[0]["schema"] == 1
    assert sum(record.get("kind") == "machine" for record in records) == closing["samples"]
    time.sleep(0.2)
    assert len(records) == count


@pytest.mark.promise("Ctrl-C stops every process that Howdah started, containers included", "README")
def test_closing_ends_everything_also_what_left_its_session(host: Host, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    # As YARN's containers do: a session of its own, its parent gone.
    parent = host.start(
        ["sh", "-c", f"setsid sh -c 'echo $$ > {mark}; sleep 600' & sleep 0.2; exit 0"], output=str(tmp_path / "out")
    )
    staying = host.start(["sleep", "600"], output=str(tmp_path / "out"))
    wait_for(lambda: mark.exists() and parent.poll() is not None)
    orphan = int(mark.read_text())
    host.close()
    wait_for(lambda: not is_alive(orphan) and not is_alive(staying.pid))
    host.close()
    with pytest.raises(HostProblem, match="channel"):
        host.call("files.resolve", path="/")


OWNER = """
import signal, sys, time
from howdah.host.channel import Channel, open_local
signal.signal(signal.SIGINT, signal.default_int_handler)  # Ignored where the tests run in the background of a shell.
host = open_local("here")
script = "setsid sleep 600 & echo $! > {mark}; trap '' TERM HUP INT; sleep 600"
process = host.start(["sh", "-c", script], output="{mark}.out")
print(process.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.promise("`kill -9` of Howdah stops every process that it started", "README")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_everything_ends_when_the_owner_dies(tmp_path: Path, number: int) -> None:
    mark = tmp_path / "pid"
    with subprocess.Popen([sys.executable, "-c", OWNER.format(mark=mark)], stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        started = int(owner.stdout.readline())
        wait_for(lambda: mark.exists() and mark.read_text().strip() != "")
        pids = (started, int(mark.read_text()))
        assert all(map(is_alive, pids))
        owner.send_signal(number)
        owner.wait(10)
    wait_for(lambda: not any(map(is_alive, pids)))


def test_lost_agent_is_noticed_and_its_processes_end(tmp_path: Path) -> None:
    host = open_local("here")
    agent = int(host.run(["sh", "-c", "echo $PPID"], timeout=5).stdout)
    process = host.start(["sleep", "600"], output=str(tmp_path / "out"))
    os.kill(agent, signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL
    with pytest.raises(HostProblem, match=r"\[here\]"):
        host.call("files.resolve", path="/")
    os.kill(
        process.pid, signal.SIGKILL
    )  # Nobody is left to do it: the supervisor, a subreaper, does so for its agents.
    host.close()


SPIN = """
import os, pathlib, sys, time
def spin(seconds):
    while time.process_time() < seconds: pass
def say(name):
    pathlib.Path(sys.argv[1], name).write_text(str(os.getpid()))
spin(0.2)
say("ready")
pathlib.Path(sys.argv[1], "go").read_text()
spin(0.5)
"""


class Container:
    """A process below a NodeManager's stand-in, as that starts one: a session of its own whose first process is a
    shell. It has used 0.2 s of CPU and then waits at a pipe, which uses none however long it takes; told to `go`, it
    uses as much as 0.5 s in all and ends."""

    def __init__(self, host: Host, place: Path) -> None:
        (place / "spin.py").write_text(SPIN)
        os.mkfifo(place / "go")
        self._place = place
        line = (
            f"setsid sh -c '{sys.executable} {place}/spin.py {place} & wait' & wait; touch {place}/gone; exec sleep 600"
        )
        self.manager = host.start(["sh", "-c", line], output=str(place / "log"))
        wait_for(lambda: (place / "ready").exists() and (place / "ready").read_text())
        self.pid = int((place / "ready").read_text())
        self.shell = int(Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[1])

    def go(self) -> None:
        (self._place / "go").write_text("now")

    @property
    def gone(self) -> bool:
        return (self._place / "gone").exists()


def cpu(host: Host, container: Container) -> dict[str, Any]:
    answer: dict[str, Any] = host.call("accounting.cpu", pids=[container.manager.pid], managers=[container.manager.pid])
    assert answer["steady"]
    return answer


def whole(answer: dict[str, Any]) -> float:
    return float(sum(answer["seconds"].values()) + answer["adopted"])


def test_the_cpu_of_a_process_counts_while_it_runs_and_afterwards(host: Host, tmp_path: Path) -> None:
    container = Container(host, tmp_path)
    running = cpu(host, container)
    assert whole(running) >= 0.18  # In the kernel's hundredths, each part rounded down.
    assert len(running["running"]) == 1
    container.go()
    wait_for(lambda: container.gone)
    ended = cpu(host, container)
    assert 0.28 <= whole(ended) - whole(running) <= 0.5, "both readings in the kernel's hundredths, rounded down"


def test_a_container_that_ran_at_a_reading_is_followed_until_it_has_ended(host: Host, tmp_path: Path) -> None:
    container = Container(host, tmp_path)
    running = cpu(host, container)
    (name,) = running["running"]
    container.go()
    wait_for(lambda: container.gone)
    ended = cpu(host, container)
    assert name not in ended["running"]
    followed = ended["containers"][name] - running["containers"][name]
    assert followed == pytest.approx(whole(ended) - whole(running), abs=0.05)


@pytest.mark.promise(
    "`cpu_seconds` counts every process of the cluster, containers that were killed included", "CHANGELOG"
)
def test_the_cpu_of_a_container_whose_parent_was_killed_is_not_lost(host: Host, tmp_path: Path) -> None:
    container = Container(host, tmp_path)
    running = cpu(host, container)
    (name,) = running["running"]
    os.kill(container.shell, signal.SIGKILL)
    wait_for(lambda: container.gone and not _descendants(container.manager.pid))
    orphaned = cpu(host, container)
    assert orphaned["running"] == [name]
    assert whole(orphaned) == pytest.approx(whole(running), abs=0.05)
    container.go()
    wait_for(lambda: not is_alive(container.pid))
    ended = cpu(host, container)
    assert ended["running"] == []
    assert ended["adopted"] - running["adopted"] >= 0.3
    assert ended["containers"][name] - running["containers"][name] == pytest.approx(
        whole(ended) - whole(running), abs=0.05
    )


def _descendants(pid: int) -> set[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:  # It has ended since it was listed.
        return set()
    return {int(child) for child in children}.union(*(_descendants(int(child)) for child in children))
