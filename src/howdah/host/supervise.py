"""Processes of Howdah itself: one that outlives the command that started it, and one that adopts orphans."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NoReturn

from howdah.host.agent.children import descendants

# linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Detached:
    """A process of Howdah in a session of its own, with a line-wise conversation over its standard streams."""

    def __init__(self, argv: Sequence[str], log: Path) -> None:
        """Start the process; its standard error is appended to `log`."""
        with log.open("ab") as err:
            self._process = subprocess.Popen(
                list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, start_new_session=True
            )
        self.pid = self._process.pid

    @property
    def to(self) -> IO[bytes]:
        """Standard input of the process. If it is closed, or this process ends, the other process sees the end of the
        file."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def said(self) -> IO[bytes]:
        """Standard output of the process."""
        assert self._process.stdout is not None
        return self._process.stdout

    def wait(self, timeout: float) -> int | None:
        """Return the exit code, or None if the process still runs after `timeout` seconds."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None


def adopt_orphans() -> None:
    """Make this process a child subreaper: processes that its children leave behind become its own children."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def follow_parent() -> None:
    """Hang up this process when its parent ends, such as ssh's server on a connection that broke."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGHUP, 0, 0, 0)


def end_descendants(seconds: float) -> bool:
    """Kill everything below this process until nothing is left; return False if something survives `seconds`."""
    deadline = time.monotonic() + seconds
    while below := descendants(os.getpid()):
        if time.monotonic() > deadline:
            return False
        for pid in below:
            signal_quietly(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            pass
        time.sleep(0.02)
    return True


def signal_quietly(pid: int, number: int) -> bool:
    """Send a signal to `pid`; return False if there is no such process."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def attend(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command, found on the new environment's PATH, and return its exit code as a shell has it. It gets the
    signals that this process gets, except those that are ignored here. Raises OSError if it cannot start."""
    program = shutil.which(argv[0], path=environment.get("PATH"))
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), argv[0])
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int, _: object) -> None:
        if process is None:
            early.append(number)
        elif number != signal.SIGINT:  # The terminal sends it to both.
            process.send_signal(number)

    passed = [one for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) != signal.SIG_IGN]
    before = {number: signal.signal(number, pass_on) for number in passed}
    try:
        process = subprocess.Popen([program, *argv[1:]], env=dict(environment))
        for number in early:
            process.send_signal(number)
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 - code if code < 0 else code


def become(argv: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process by a command, found on the new environment's PATH. Raises OSError if that is not
    possible."""
    os.execvpe(argv[0], list(argv), dict(environment))
