"""The interface of a machine for the layers above."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ended. `code` is negative for a signal. `cpu_seconds` counts the command and all processes it
    waited for."""

    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    cpu_seconds: float


class Process(Protocol):
    """A process that was started on a host, where its agent watches it."""

    pid: int
    cpu_seconds: float | None
    """CPU seconds of the process and all processes it waited for; known once the process has ended."""
    lost_with: str | None
    """Why its host was lost, if that is how the process ended: its agent kills it, and nobody here has seen that."""
    ended_at: tuple[float, float] | None
    """When the agent reported the end: seconds since 1970, and of the monotonic clock; both of this machine."""

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None while the process runs. Costs no round trip."""

    def wait(self, timeout: float) -> int | None:
        """Return the result of `poll`, after at most `timeout` seconds."""

    def signal(self, number: int) -> None:
        """Send a signal to the process alone; a process that has ended is no error."""


class Stream(Protocol):
    """A series of records that an agent sends on its own until the stream is stopped."""

    def stop(self) -> Any:
        """Stop the stream, after every record has reached the sink; return the agent's closing record."""


class Host(Protocol):
    """A machine behind one open channel. Every method may be called from any thread.

    Everything that was started here stops when the channel closes, whatever the reason. A lost channel raises
    HostProblem with the host's name, from whichever call notices it first.
    """

    name: str
    lost: str | None
    """Why the channel was lost; None while it is open."""

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """Run an operation of the agent (`files.read`, `machine.fingerprint`, …) and return its plain value.

        Raises:
            HostProblem: the operation failed there; its message says what and why.
        """

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        """Run a command to its end; after `timeout` seconds, kill it and its descendants.

        `env` is added to the agent's own environment. Raises HostProblem if the command cannot start or does not end in
        time.
        """

    def start(
        self,
        argv: Sequence[str],
        *,
        output: str,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Process:
        """Start a process that outlives the call; its standard output and error are appended to file `output`.

        `env` is its whole environment, or None for the agent's own.
        """

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /, **arguments: Any) -> Stream:
        """Start an operation that keeps sending records (`sampler.run`); `sink` is called in a thread of its own."""

    def close(self) -> None:
        """Stop everything that was started through this channel, and close the channel. May be called twice."""
