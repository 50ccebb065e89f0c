"""Processes of this agent: started, watched, reaped, and all of them killed at the end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import tempfile
import threading
import time
from typing import IO, Any, Callable, Dict, List, Optional, Set, Tuple

_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_END_SECONDS = 10.0
_GLANCE_SECONDS = 0.02


class Children:
    """The owner of every process below this one.

    The agent is a child subreaper: a process whose parent died becomes the agent's child instead of init's. Nothing
    started here can get away, not even a YARN container whose NodeManager was killed, which has a session of its own.

    One thread waits for all children. Others may wait for what they forked themselves, and may find it taken.
    """

    def __init__(self, exited: Callable[[int, int, float], None]) -> None:
        """`exited(pid, code, cpu_seconds)` is called for each process of `start`, from the reaping thread."""
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._exited = exited
        self._change = threading.Condition()
        self._watched: Set[int] = set()
        self._ended: Dict[int, Any] = {}
        self._popen: Dict[int, "subprocess.Popen[bytes]"] = {}
        threading.Thread(target=self._reap, daemon=True).start()

    def start(
        self,
        argv: List[str],
        output: str,
        env: Optional[Dict[str, str]],
        cwd: Optional[str],
        stdin: Optional[bytes] = None,
    ) -> int:
        """Start a process, its output appended to file `output`; return its pid."""
        with open(output, "ab") as out, tempfile.TemporaryFile() as given:
            given.write(stdin or b"")
            given.seek(0)
            return self._spawn(argv, env, cwd, given, out, out, watched=True)

    def run(
        self, argv: List[str], timeout: float, env: Optional[Dict[str, str]], cwd: Optional[str], stdin: bytes
    ) -> Dict[str, Any]:
        """Run a command to its end; kill it and its descendants when `timeout` seconds are over (TimeoutError)."""
        began = time.monotonic()
        whole = None if env is None else {**os.environ, **env}
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            pid = self._spawn(argv, whole, cwd, given, out, err, watched=False)
            with self._change:
                in_time = self._change.wait_for(lambda: pid in self._ended, timeout)
                if not in_time:
                    _kill_tree(pid)  # It is not reaped before this thread waits: no other process has its pid.
                    self._change.wait_for(lambda: pid in self._ended, _END_SECONDS)
                ended = self._ended.pop(pid, None)
            out.seek(0)
            err.seek(0)
            if not in_time:
                raise TimeoutError(f"{argv[0]} did not end within {timeout:g} s")
            return {
                "code": ended[0],
                "cpu_seconds": ended[1],
                "seconds": time.monotonic() - began,
                "stdout": out.read(),
                "stderr": err.read(),
            }

    def signal(self, pid: int, number: int) -> None:
        """Send a signal to a process of `start`; processes that have ended or were not started here are left alone."""
        with self._change:
            if pid in self._watched:  # Reaped under the lock only, so that it is there: alive, or a zombie.
                os.kill(pid, number)

    def end_all(self) -> None:
        """Kill every descendant, again and again until none is left: a dying process may still start others."""
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            below = descendants(os.getpid())
            if not below:
                return
            for pid in below:
                _kill(pid)
            time.sleep(0.02)

    def _spawn(
        self,
        argv: List[str],
        env: Optional[Dict[str, str]],
        cwd: Optional[str],
        stdin: Any,
        stdout: IO[bytes],
        stderr: IO[bytes],
        watched: bool,
    ) -> int:
        with self._change:
            child = subprocess.Popen(
                argv, env=env, cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
            )
            self._popen[child.pid] = child
            if watched:
                self._watched.add(child.pid)
            self._change.notify_all()
            return child.pid

    def _reap(self) -> None:
        while True:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            except ChildProcessError:
                with self._change:
                    # A start may have come between; or somebody's wait for any child has taken one of these.
                    self._change.wait(_GLANCE_SECONDS if self._popen else 1.0)
                continue
            assert found is not None
            ended = self._take(found.si_pid)
            if ended is not None:
                self._exited(*ended)

    def _take(self, pid: int) -> Optional[Tuple[int, int, float]]:
        """Reap a process that has ended; return pid, code and CPU seconds if it is one of `start`."""
        with self._change:
            try:
                # Not to wait: should its pid be another's by now, that one runs.
                reaped, status, usage = os.wait4(pid, os.WNOHANG)
            except ChildProcessError:
                return None  # Who forked it was faster.
            child = self._popen.pop(reaped, None)
            if child is None:
                return None  # An orphan that came to the subreaper, or somebody's fork.
            code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
            cpu_seconds = usage.ru_utime + usage.ru_stime
            child.returncode = code
            watched = pid in self._watched
            self._watched.discard(pid)
            if not watched:
                self._ended[pid] = (code, cpu_seconds)
            self._change.notify_all()
            return (pid, code, cpu_seconds) if watched else None


def descendants(pid: int) -> List[int]:
    """Return every process below `pid`, parents first. A process that vanishes meanwhile is left out."""
    found: List[int] = []
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        below = _children(parent)
        found += below
        waiting += below
    return found


def _children(pid: int) -> List[int]:
    below: List[int] = []
    try:
        for task in os.listdir("/proc/{}/task".format(pid)):
            with open("/proc/{}/task/{}/children".format(pid, task)) as listing:
                below += [int(number) for number in listing.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return below


def _kill_tree(pid: int) -> None:
    for process in [*descendants(pid), pid]:
        _kill(process)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
