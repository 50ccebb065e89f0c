"""A command in a terminal, and what a person sees there."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyte

_ROWS, _LONGEST = 1500, 1000


@dataclass(frozen=True, slots=True)
class Shown:
    """A command that has ended, and the lines that stand in its terminal then: whole, however wide the terminal is."""

    code: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def in_terminal(argv: Sequence[str], *, columns: int, env: Mapping[str, str], timeout: float = 400) -> Shown:
    """Runs a command to its end in a terminal of 24 rows that says it has so many columns. What the command prints is
    drawn on a screen that is wider, so that no line is broken by the terminal."""
    ours, line = pty.openpty()
    fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**env, "TERM": "xterm-256color"}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen(
        argv, stdin=line, stdout=line, stderr=line, env=environment, start_new_session=True, close_fds=True
    )
    os.close(line)
    screen = pyte.Screen(_LONGEST, _ROWS)
    try:
        stream = pyte.ByteStream(screen)
        for piece in _pieces(ours, time.monotonic() + timeout):
            stream.feed(piece)
        code = process.wait(timeout)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    lines = [one.rstrip() for one in screen.display]
    assert not lines[-2], "the screen is too low for all that was printed"
    while lines and not lines[-1]:
        lines.pop()
    return Shown(code, tuple(lines))


def _pieces(terminal: int, deadline: float) -> Sequence[bytes]:
    """Everything that is printed until nobody has the terminal any more."""
    found = list[bytes]()
    while True:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, "the command does not end"
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError as error:
            if error.errno == errno.EIO:  # Linux says so when the last process has closed it.
                return found
            raise
        if not piece:
            return found
        found.append(piece)


def broken(shown: Shown, columns: int) -> list[str]:
    """The lines that a terminal of so many columns breaks in the middle of a word which would fit in a line. Paths and
    addresses are as long as they are, and are copied whole."""
    found = []
    for line in shown.lines:
        rest = line
        while len(rest) > columns:
            if rest[columns - 1] != " " and rest[columns] != " ":
                begins = rest.rfind(" ", 0, columns) + 1
                ends = rest.find(" ", columns)
                word = rest[begins : len(rest) if ends < 0 else ends]
                if len(word) <= columns and "/" not in word:
                    found.append(line)
                    break
            rest = rest[columns:]
    return found
