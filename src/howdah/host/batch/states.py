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
"""Characters of a command's output that messages show."""


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A job as its batch system sees it. `state` and `reason` are the batch system's words. `runs` is whether the job
    has its hosts and is not about to lose them. `seconds_left` is None if there is no limit, or if the job does not
    run. `expected` is when the job is expected to start, as the batch system writes it."""

    id: str
    name: str
    state: str
    runs: bool
    hosts: int
    reason: str | None = None
    expected: str | None = None
    seconds_left: float | None = None
    shared: bool | None = None
    """Whether other jobs may be on its hosts; None if the batch system does not say."""


class AgentStep:
    """A command that starts agents in a job, and runs as long as the agents do."""

    def __init__(self, name: str, command: Sequence[str], given: bytes) -> None:
        """`name` is the name of the command in messages, `given` is its standard input. Raises HostProblem if it cannot
        be started."""
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
        """Return why the command has ended, in its own words; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        return f"`{self._name}` ended with code {code}: {self.said() or 'it said nothing'}"

    def said(self) -> str:
        """Return the end of the command's output."""
        self._said.seek(0)
        return shown(self._said.read()[-4 * _SHOWN :].decode(errors="replace"), last=True)

    def end(self) -> None:
        """Wait for the end of the command, and enforce it. Agents whose channels have closed end by themselves."""
        for make_sure in (None, self._process.terminate, self._process.kill):
            if make_sure is not None:
                make_sure()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
                break
        self._said.close()


def ask(command: Sequence[str], *, given: str = "") -> tuple[int, str, str]:
    """Return the exit code of a batch system's command, its standard output and its standard error. Raises HostProblem
    if the command is missing or hangs."""
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
    """Return the output of a batch system's command. Raises HostProblem if the command is missing, hangs or fails."""
    code, out, err = ask(command, given=given)
    if code != 0:
        raise failed(command, code, err or out)
    return out


def failed(command: Sequence[str], code: int, said: str) -> NoAnswer:
    """Return the error that a command has failed, with the command's words."""
    return NoAnswer(f"`{' '.join(command)}` failed with code {code}: {shown(said)}")


def unexpected(command: Sequence[str], printed: str) -> HostProblem:
    """Return the error that a command's output cannot be read."""
    return HostProblem(
        f"`{' '.join(command)}` printed what Howdah cannot read: {shown(printed) or 'nothing'}",
        hint="Howdah reads Slurm 20.11 and newer, and OpenPBS; `howdah up --on hosts:FILE` needs no batch system.",
    )


def shown(text: str, *, last: bool = False) -> str:
    """Return a text in one line of limited length: its end if `last`."""
    line = " ".join(text.split())
    if len(line) <= _SHOWN:
        return line
    return f"…{line[-_SHOWN:]}" if last else f"{line[:_SHOWN]}…"


def _not_there(program: str, error: OSError) -> HostProblem:
    return HostProblem(
        f"there is no `{program}` here ({error.strerror})",
        hint="A batch system's commands are on its login nodes, and inside jobs.",
    )
