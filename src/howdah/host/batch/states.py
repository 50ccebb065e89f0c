"""Jobs and steps, as values."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from howdah.errors import HostProblem, NoAnswer

_COMMAND_SECONDS = 30.0
_END_SECONDS = 10.0
_SHOWN = 300
"""Characters of what a command has printed that are told."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as its batch system sees it: `state` and `reason` are its words, `runs` whether it has its hosts and is not
    about to lose them. `seconds_left` is None where there is no limit, or it does not run. `expected` is when it is
    expected to start, as the batch system writes it."""

    id: str
    name: str
    state: str
    runs: bool
    hosts: int
    reason: str | None = None
    expected: str | None = None
    seconds_left: float | None = None
    shared: bool | None = None
    """Whether other jobs may be on its hosts; None where the batch system does not say."""


class Step:
    """A command that starts agents in a job, and runs as long as they do."""

    def __init__(self, name: str, command: Sequence[str], given: bytes) -> None:
        """`name` is what messages call it, `given` is its standard input. Raises HostProblem where it cannot be
        started."""
        self._name = name
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by `end`
        with tempfile.TemporaryFile() as stdin:
            stdin.write(given)
            stdin.seek(0)
            try:
                self._process = subprocess.Popen(
                    list(command), stdin=stdin, stdout=self._said, stderr=self._said, start_new_session=True
                )
            except OSError as error:
                raise _not_there(command[0], error) from error

    def broken(self) -> str | None:
        """Why it has ended, in its own words; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        return f"`{self._name}` ended with code {code}: {self.said() or 'it said nothing'}"

    def said(self) -> str:
        """The last of what it has said."""
        self._said.seek(0)
        return shown(self._said.read()[-4 * _SHOWN :].decode(errors="replace"), last=True)

    def end(self) -> None:
        """Waits for its end, as agents whose channels have closed end by themselves, and makes sure of it."""
        for make_sure in (None, self._process.terminate, self._process.kill):
            if make_sure is not None:
                make_sure()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
                break
        self._said.close()


def ask(command: Sequence[str], *, given: str = "") -> tuple[int, str, str]:
    """The exit code of a command of a batch system, what it prints, and what it says on its standard error. Raises
    HostProblem where it is missing or hangs."""
    try:
        done = subprocess.run(
            list(command), input=given, capture_output=True, text=True, errors="replace", timeout=_COMMAND_SECONDS,
            check=False,
        )  # fmt: skip
    except OSError as error:
        raise _not_there(command[0], error) from error
    except subprocess.TimeoutExpired as error:
        raise NoAnswer(
            f"`{' '.join(command)}` has not answered within {_COMMAND_SECONDS:.0f} s",
            hint="Is the batch system up? Try the command by hand.",
        ) from error
    return done.returncode, done.stdout, done.stderr


def answer_of(command: Sequence[str], *, given: str = "") -> str:
    """What a command of a batch system prints. Raises HostProblem where it is missing, hangs or fails."""
    code, out, err = ask(command, given=given)
    if code != 0:
        raise failed(command, code, err or out)
    return out


def failed(command: Sequence[str], code: int, said: str) -> NoAnswer:
    """That a command has failed, with its words."""
    return NoAnswer(f"`{' '.join(command)}` failed with code {code}: {shown(said)}")


def unexpected(command: Sequence[str], printed: str) -> HostProblem:
    """That a command has printed what cannot be read."""
    return HostProblem(
        f"`{' '.join(command)}` printed what Howdah cannot read: {shown(printed) or 'nothing'}",
        hint="Howdah reads Slurm 20.11 and newer, and OpenPBS; `howdah up --on hosts:FILE` needs no batch system.",
    )


def shown(text: str, *, last: bool = False) -> str:
    """A text in one line, and not too much of it: its end if `last`."""
    line = " ".join(text.split())
    if len(line) <= _SHOWN:
        return line
    return f"…{line[-_SHOWN:]}" if last else f"{line[:_SHOWN]}…"


def _not_there(program: str, error: OSError) -> HostProblem:
    return HostProblem(
        f"there is no `{program}` here ({error.strerror})",
        hint="A batch system's commands are on its login nodes, and inside jobs.",
    )
