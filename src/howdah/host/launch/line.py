"""What carries a channel: the standard streams of a process here, or a connection that an agent has made."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from execnet import gateway_base


class Line(gateway_base.IO, Protocol):
    """What execnet reads from and writes to, and what Howdah asks of it besides."""

    def said(self) -> str:
        """What went wrong, in the words of whatever brought the agent; for when it has ended or does not answer."""

    def done(self) -> None:
        """Ends what has not ended, and closes everything."""


class Pipes(gateway_base.Popen2IO):
    """The standard streams of a command. If `heard`, what it says on its standard error is kept."""

    def __init__(self, command: Sequence[str], *, heard: bool) -> None:
        """Raises OSError where it cannot be started."""
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
