"""What the layers above may do with a machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ended. `code` is negative for a signal. `cpu_seconds` counts it and all it waited for."""

    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    cpu_seconds: float


class Process(Protocol):
    """A process that was started on a host and is watched by its agent."""

    pid: int
    cpu_seconds: float | None
    """CPU of the process and all it waited for; known once it has ended."""
    lost_with: str | None
    """Why its host was lost, if that is how it ended: its agent kills it, and nobody here has seen that."""
    ended_at: tuple[float, float] | None
    """When its agent told of its end: seconds since 1970, and of the monotonic clock; of this machine."""

    def poll(self) -> int | None:
        """The exit code, negative for a signal, or None while it runs. Costs no round trip."""

    def wait(self, timeout: float) -> int | None:
        """As `poll`, after at most `timeout` seconds."""

    def signal(self, number: int) -> None:
        """Sends a signal to the process alone; a process that has ended is no error."""


class Stream(Protocol):
    """Records that an agent sends on its own until it is stopped."""

    def stop(self) -> Any:
        """Ends it, after every record has reached the sink; returns the agent's closing record."""


class Host(Protocol):
    """A machine behind one open channel. Every method may be called from any thread.

    Everything started here ends when the channel closes, whatever the reason. A lost channel raises HostProblem
    with the host's name from whichever call meets it first.
    """

    name: str
    lost: str | None
    """Why the channel was lost; None while it is open."""

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """Runs an operation of the agent (`files.read`, `machine.fingerprint`, …) and returns its plain value.

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
        """Runs a command to its end; after `timeout` seconds it and its descendants are killed.

        `env` is added to the agent's own environment. Raises HostProblem when it cannot start or does not end in time.
        """

    def start(
        self,
        argv: Sequence[str],
        *,
        output: str,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Process:
        """Starts a process that outlives the call; its standard output and error are appended to file `output`.

        `env` is its whole environment, or None for the agent's own.
        """

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /, **arguments: Any) -> Stream:
        """Starts an operation that keeps sending records (`sampler.run`); `sink` is called in a thread of its own."""

    def close(self) -> None:
        """Ends everything that was started through this channel, and the channel. May be called twice."""
