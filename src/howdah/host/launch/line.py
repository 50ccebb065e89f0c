"""The carrier of a channel: the standard streams of a process here, or a connection that an agent has made."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from execnet import gateway_base


class Line(gateway_base.IO, Protocol):
    """The line that execnet reads from and writes to, with the methods that Howdah needs in addition."""

    def said(self) -> str:
        """Return what went wrong, in the words of the program that brought the agent; for an agent that has ended or
        does not answer."""

    def done(self) -> None:
        """Stop everything that still runs, and close everything."""


class Pipes(gateway_base.Popen2IO):
    """The standard streams of a command. If `heard`, its standard error is kept."""

    def __init__(self, command: Sequence[str], *, heard: bool) -> None:
        """Start the command. Raises OSError if it cannot be started."""
        self._errors = tempfile.TemporaryFile() if heard else None  # noqa: SIM115 -- closed by `done`
        self.popen = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)
        super().__init__(self.popen.stdin, self.popen.stdout, gateway_base.get_execmodel("thread"))

    def wait(self) -> int | None:
        return self.popen.wait()

    def kill(self) -> None:
        self.popen.kill()

    def said(self) -> str:
        if self._errors is None or self._errors.closed:
            return ""
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(1.0)
        self._errors.seek(0)
        return self._errors.read()[-2000:].decode(errors="replace").strip()

    def done(self) -> None:
        self.kill()
        self.wait()
        for stream in (self.popen.stdin, self.popen.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):  # What could not be sent is in its buffer.
                    stream.close()
