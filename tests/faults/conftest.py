"""A HOWDAH_HOME for each fault test, the command run in it, and a look at what is left afterwards.

Whatever belongs to a home names its path in its command line or its environment: daemons, containers, clients (their
HADOOP_* variables, class paths and log directories), the supervisor and the agents (HOWDAH_HOME). That is how
processes are found here, and they are signalled by pid only.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.grouping import ends_its_group
from tests.system.kept import Kept

_LEAVE_SECONDS = 15.0
_RELEASE = os.environ.get("HOWDAH_FAULT_HADOOP", "3.4.2")
# A run that every home has from the start, and that no test may change.
_GOLDEN, _EARLIER = Path(__file__).parent.parent / "golden/run-v1", "20250101-000000-terasort-0000"


@dataclass(frozen=True)
class Ended:
    """A command that ended, and what it said. `said` has both streams."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err


class Begun:
    """A howdah command that runs."""

    def __init__(
        self, argv: list[str], environment: Mapping[str, str], directory: Path, terminal: int | None = None
    ) -> None:
        """What it says goes to two new files in `directory`, or to `terminal`, where it reads too."""
        number = len(list(directory.glob("*.out")))
        self._out, self._err = directory / f"{number}.out", directory / f"{number}.err"
        with self._out.open("xb") as out, self._err.open("xb") as err:
            streams = (terminal,) * 3 if terminal is not None else (None, out, err)
            self._process = subprocess.Popen(
                argv, env=environment, stdin=streams[0], stdout=streams[1], stderr=streams[2], start_new_session=True
            )
        self.pid = self._process.pid

    def running(self) -> bool:
        return self._process.poll() is None

    def has_said(self, text: str) -> bool:
        """Whether `text` is in its standard error by now."""
        return text.encode() in self._err.read_bytes()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self, timeout: float = 400.0) -> Ended:
        """Waits for its end and returns what it said; killed, and the test fails, when it does not end in time."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            pytest.fail(f"did not end within {timeout:.0f} s; it said:\n{self._ended().said}")
        return self._ended()

    def _ended(self) -> Ended:
        return Ended(self._process.returncode, self._out.read_text(), self._err.read_text())


def _parent(pid: int) -> int | None:
    """The parent of a process; None where it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


class Home:
    """One HOWDAH_HOME. `around` precedes the command: `unshare` and its kin."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.mkdir()
        earlier = self.path / "runs" / _EARLIER
        shutil.copytree(_GOLDEN, earlier)
        record = json.loads((earlier / "run.json").read_text())
        (earlier / "run.json").write_text(json.dumps({**record, "id": _EARLIER}))
        self.earlier = shutil.copytree(earlier, self.path.with_name(f"{path.name}-earlier"))
        self._begun: list[Begun] = []

    @property
    def runs(self) -> list[Path]:
        """The run directories, oldest first, without the one that was there before the test."""
        place = self.path / "runs"
        return sorted(run for run in place.iterdir() if run.name != _EARLIER)

    def kept(self) -> Kept:
        """The only run."""
        (only,) = self.runs
        return Kept(only)

    def run_record(self) -> dict[str, Any]:
        """`run.json` of the only run."""
        record: dict[str, Any] = self.kept().record("run.json")
        return record

    def manifest(self, name: str) -> dict[str, Any]:
        """The manifest of a cluster."""
        record: dict[str, Any] = json.loads((self.path / "clusters" / name / "cluster.json").read_text())
        return record

    def begin(self, *args: str, around: tuple[str, ...] = (), terminal: int | None = None, **environment: str) -> Begun:
        whole = {**os.environ, "HOWDAH_HOME": str(self.path), "COLUMNS": "200", **environment}
        self._begun.append(Begun([*around, sys.executable, "-m", "howdah", *args], whole, self.path.parent, terminal))
        return self._begun[-1]

    def howdah(self, *args: str, timeout: float = 300.0, around: tuple[str, ...] = (), **environment: str) -> Ended:
        return self.begin(*args, around=around, terminal=None, **environment).end(timeout)

    def processes(self) -> dict[int, str]:
        """The command lines of this home's processes, by pid."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with suppress(OSError):
                    line = (entry / "cmdline").read_bytes()
                    if str(self.path).encode() in line + (entry / "environ").read_bytes():
                        found[int(entry.name)] = line.replace(b"\0", b" ").decode(errors="replace")
        return found

    def pids(self, *words: str) -> list[int]:
        """The processes whose command line has all of `words`. A child that has been forked and not become another
        program yet has its parent's: it is none."""
        found = {pid: line for pid, line in self.processes().items() if all(word in line for word in words)}
        return [pid for pid, line in found.items() if found.get(_parent(pid) or 0) != line]

    def tasks(self, kind: str = "") -> list[int]:
        """The JVMs of tasks that run now, without the shells that started them; `kind` is m or r."""
        return self.pids("bin/java ", "YarnChild 127.", f"_{kind}_" if kind else "attempt_")

    def daemon(self, role: str, node: int | None = None) -> int:
        """The pid of a daemon."""
        words = [f"-Dproc_{role} "] + ([] if node is None else [f"/node{node}/tmp"])
        (pid,) = self.pids(*words)
        return pid

    def phase(self, name: str) -> bool:
        """Whether a run of this home has come to phase `name`."""
        return any((run / "logs" / f"{name}-client.log").exists() for run in self.runs)

    def end_begun(self) -> None:
        """Ends the commands that a failed test left running."""
        for begun in self._begun:
            if begun.running():
                begun.signal(signal.SIGTERM)
                begun.end()
        self._begun.clear()

    def kill_all(self) -> None:
        while found := self.processes():
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)


def eventually(condition: Callable[[], Any], seconds: float, what: str, *, begun: Begun | None = None) -> Any:
    """What `condition` gives once that is true; the test fails after `seconds`, or when `begun` has ended before."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if begun is not None and not begun.running():
            ended = begun.end()
            pytest.fail(f"ended with code {ended.code} before {what}:\n{ended.said}")
        if time.monotonic() > deadline:
            pytest.fail(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.05)
    return value


def ended_right(home: Home, run: Begun, drawn_from: object = None) -> dict[str, Any]:
    """Waits for a run, which must be right in spite of everything: the record of it. A failure says what was drawn."""
    ended = run.end()
    assert ended.code == 0, f"seed {drawn_from}: {ended.said}"
    record = home.run_record()
    assert record["outcome"]["kind"] == "valid"
    assert all(check["passed"] for check in record["checks"])
    return record


def one_message(ended: Ended) -> str:
    """The message of a failed command. There is one, and no traceback."""
    assert "Traceback" not in ended.said, ended.said
    assert ended.err.count("howdah: ") == 1, ended.said
    return ended.err.partition("howdah: ")[2]


_SHARED = pytest.StashKey[Home]()


@pytest.fixture(scope="session")
def cache() -> Path:
    """The cache with Hadoop's jars, which is filled once for all: a second process of tests waits until it is."""
    subprocess.run([sys.executable, "-m", "howdah", "hadoop", "fetch", _RELEASE], check=True)
    return Path(os.environ.get("HOWDAH_HOME") or Path.home() / ".howdah") / "cache"


@pytest.fixture
def bare_home(tmp_path: Path) -> Iterator[Home]:
    """A home without Hadoop; nothing of it may be left running."""
    yield from _watched(tmp_path / "home")


@pytest.fixture
def home(bare_home: Home, cache: Path) -> Home:
    """A home with Hadoop in its cache; nothing of it may be left running."""
    (bare_home.path / "cache").symlink_to(cache)
    return bare_home


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory, cache: Path, pytestconfig: pytest.Config) -> Iterator[Home]:
    """A home with a cluster `shared` of one node that is up, for the tests that do not destroy it; of another release
    where HOWDAH_FAULT_HADOOP has its version."""
    watched = _watched(tmp_path_factory.mktemp("shared") / "home")
    home = next(watched)
    (home.path / "cache").symlink_to(cache)
    up = home.howdah("up", "--name", "shared", "--hadoop", _RELEASE)
    assert up.code == 0, up.said
    pytestconfig.stash[_SHARED] = home
    yield home
    home.howdah("down", "--name", "shared")
    next(watched, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Any:
    """`shared` goes down after the last test with it."""
    answer = yield
    if ends_its_group(item, nextitem) and _SHARED in item.config.stash:
        item.config.stash[_SHARED].howdah("down", "--name", "shared")
        del item.config.stash[_SHARED]
    return answer


@pytest.fixture
def cluster(shared: Home) -> Iterator[Home]:
    """The shared home, its runs removed before; afterwards nothing but the cluster itself may run in it."""
    for run in shared.runs:
        shutil.rmtree(run)
    yield shared
    shared.end_begun()
    own = {daemon["pid"] for daemon in shared.manifest("shared")["daemons"]}

    def strangers() -> dict[int, str]:
        return {pid: line for pid, line in shared.processes().items() if pid not in own and "java" in line}

    eventually(lambda: not strangers(), _LEAVE_SECONDS, "only the shared cluster's daemons run")
    assert own <= set(shared.processes()), "a daemon of the shared cluster is gone"


def _watched(path: Path) -> Iterator[Home]:
    home = Home(path)
    yield home
    home.end_begun()
    deadline = time.monotonic() + _LEAVE_SECONDS
    while (left := home.processes()) and time.monotonic() < deadline:
        time.sleep(0.2)
    home.kill_all()
    assert not left, f"left running: {left}"
    differing = subprocess.run(["diff", "-r", home.earlier, path / "runs" / _EARLIER], capture_output=True, check=False)
    assert differing.returncode == 0, f"an earlier run was changed: {differing.stdout!r}"
