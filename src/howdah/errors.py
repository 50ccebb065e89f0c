"""Errors by who must act. Each maps to one exit code; see `docs/reference/exit-codes.md`.

An error says what happened, the value, the host, and what to do. The command line prints `message`,
then `hint` on its own line; everything else (a traceback) goes to the log.
"""

from __future__ import annotations

from collections.abc import Sequence


class HowdahError(Exception):
    """Something failed and the message says what. `host` is put in front of the message when given."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None, host: str | None = None) -> None:
        super().__init__(message)
        self.message = message if host is None else f"[{host}] {message}"
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"


class UsageError(HowdahError):
    """The command, an option or a file given by the user is wrong; nothing was measured."""

    exit_code = 2


class HostProblem(HowdahError):
    """The machine must be changed first: Java, disk, ports, limits."""


class HostProblems(HostProblem):
    """Several hosts have a problem each: `problems`, which are not known any more in another process."""

    problems: tuple[HowdahError, ...] = ()

    @classmethod
    def of(cls, problems: Sequence[HowdahError]) -> HostProblems:
        """All of them in one."""
        hints = dict.fromkeys(problem.hint for problem in problems if problem.hint is not None)
        said = "\n".join(problem.message for problem in problems)
        together = cls(f"{len(problems)} hosts have a problem:\n{said}", hint="\n".join(hints) or None)
        together.problems = tuple(problems)
        return together


class NoAnswer(HostProblem):
    """A batch system does not answer, or cannot now; it may later."""


class Elsewhere(HostProblem):
    """What is meant is on another host, `place`, which this one can ask."""

    def __init__(
        self, message: str, *, hint: str | None = None, host: str | None = None, place: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, host=host)
        self.place = place


class ClusterProblem(HowdahError):
    """A Hadoop daemon did not start, is not healthy, or is gone."""


class HostsTaken(HowdahError):
    """A batch system takes the hosts back: the job has used up its time, or was cancelled."""


class WorkloadFailed(HowdahError):
    """A job of the workload failed; its logs are kept and named."""


class Untrusted(HowdahError):
    """It ran, but the data cannot be trusted: verification did not pass, or what a program says cannot be read."""

    exit_code = 3


class Interrupted(HowdahError):
    """The user, or the end of the session, stopped it."""

    exit_code = 130
