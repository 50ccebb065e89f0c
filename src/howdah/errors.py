"""Errors by who must act. Each maps to one exit code; see `docs/reference/exit-codes.md`.

An error names the problem, the value, the host, and the remedy. The command line prints `message`, then `hint` on its
own line. Everything else (a traceback) goes to the log.
"""

from __future__ import annotations

from collections.abc import Sequence


class HowdahError(Exception):
    """A failure that the message explains. `host` is put in front of the message when given."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None, host: str | None = None) -> None:
        super().__init__(message)
        self.message = message if host is None else f"[{host}] {message}"
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"


class UsageError(HowdahError):
    """A wrong command, option or file from the user; nothing was measured."""

    exit_code = 2


class HostProblem(HowdahError):
    """A problem of the machine that must be fixed first: Java, disk, ports, limits."""


class HostProblems(HostProblem):
    """A problem on each of several hosts. `problems` is empty in another process."""

    problems: tuple[HowdahError, ...] = ()

    @classmethod
    def of(cls, problems: Sequence[HowdahError]) -> HostProblems:
        """Return one error for all `problems`."""
        hints = dict.fromkeys(problem.hint for problem in problems if problem.hint is not None)
        said = "\n".join(problem.message for problem in problems)
        together = cls(f"{len(problems)} hosts have a problem:\n{said}", hint="\n".join(hints) or None)
        together.problems = tuple(problems)
        return together


class NoAnswer(HostProblem):
    """A batch system that does not answer, or cannot answer now. It may answer later."""


class Elsewhere(HostProblem):
    """The cluster is on another host, `place`, which this host can ask."""

    def __init__(
        self, message: str, *, hint: str | None = None, host: str | None = None, place: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, host=host)
        self.place = place


class ClusterProblem(HowdahError):
    """A Hadoop daemon that did not start, is not healthy, or is gone."""


class HostsTaken(HowdahError):
    """A batch system takes the hosts back: the time of the job is over, or the job was cancelled."""


class WorkloadFailed(HowdahError):
    """A failed job of the workload. The logs are kept, and the error names them."""


class Untrusted(HowdahError):
    """A run whose data cannot be trusted: verification did not pass, or the output of a program cannot be read."""

    exit_code = 3


class Interrupted(HowdahError):
    """The user, or the end of the session, stopped the command."""

    exit_code = 130
