"""Copies out of HDFS before a batch system takes the hosts away: `howdah stage out`, in time."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from howdah.cluster.walltime import expected_copy
from howdah.errors import HowdahError, UsageError
from howdah.host.supervise import Detached, signal_quietly

LAST = "HOWDAH_LAST_STAGE"
"""Variable of the copies here: any other stage has to wait for them."""
_LOOK_SECONDS = 30.0
_GLANCE_SECONDS = 0.2
_KILL_SECONDS = 5.0


def parse_copy(text: str) -> tuple[str, str]:
    """Return source in HDFS and target on the hosts, from text like `/results=/lustre/ann/results`. Raises
    UsageError."""
    source, equals, target = text.partition("=")
    if not equals or not source.startswith("/") or not target.strip():
        raise UsageError(f"--stage-out is {text!r}", hint="Write PATH=DIR: --stage-out /results=/lustre/ann/results.")
    path = Path(target).absolute()
    if path.exists():
        raise UsageError(f"--stage-out: {path} is there already", hint="Name a directory that is to be made.")
    if not path.parent.is_dir():
        raise UsageError(f"--stage-out: there is no directory {path.parent}")
    return source.rstrip("/") or "/", str(path)


class StageOut:
    """The copies of one cluster. A thread estimates their duration from time to time, as long as the process lives."""

    def __init__(self, name: str, copies: Sequence[tuple[str, str]], length: Callable[[str], int], log: Path) -> None:
        """`copies` are pairs of a source in HDFS and a target on the hosts, for the cluster called `name`. `length`
        returns the bytes of a path of HDFS, and may raise HowdahError. The output of the copies goes to `log`."""
        self._name = name
        self._copies = copies
        self._length = length
        self._log = log
        self._seconds = expected_copy(0) * len(copies)
        if copies:
            threading.Thread(target=self._look, daemon=True).start()

    @property
    def seconds(self) -> float:
        """Estimated duration of the copies in seconds; 0 if there are none."""
        return self._seconds

    def run(self, must_stop: Callable[[], bool]) -> None:
        """Make the copies, one after the other. Copies that run when `must_stop` becomes true stay incomplete. Failures
        are in the log: nothing else waits for the copies."""
        with suppress(OSError):  # A full disk, say.
            for source, target in self._copies:
                words = ("stage", "out", source, target, "--name", self._name)
                self._write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} howdah {' '.join(words)}")
                # All that it says is to be in the log.
                command = ("sh", "-c", 'exec "$@" >&2', "sh", sys.executable, "-P", "-m", "howdah", *words)
                process = Detached(("env", f"{LAST}=yes", *command), self._log)
                with process.to, process.said:
                    while (code := process.wait(_GLANCE_SECONDS)) is None and not must_stop():
                        pass
                    if code is None:
                        self._write("There is no time left: it is stopped, and what it has copied is not whole.")
                        signal_quietly(process.pid, signal.SIGTERM)
                        if process.wait(_KILL_SECONDS) is None:
                            signal_quietly(process.pid, signal.SIGKILL)
                            process.wait(_KILL_SECONDS)

    def _write(self, line: str) -> None:
        with self._log.open("a", encoding="utf-8") as said:
            said.write(f"{line}\n")

    def _look(self) -> None:
        while True:
            seconds = 0.0
            for source, _ in self._copies:
                size = 0
                with suppress(HowdahError):  # There may be nothing yet.
                    size = self._length(source)
                seconds += expected_copy(size)
            self._seconds = seconds
            time.sleep(_LOOK_SECONDS)
