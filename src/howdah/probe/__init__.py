"""What observes hosts while a run lasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from howdah.errors import HostProblem
from howdah.host import Host

Sink = Callable[[str, dict[str, Any]], None]
"""Takes the name of a series and one record of it: the header first, then points. Called from any thread."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A process to observe with everything below it: a daemon, or what stands for the job client. Process 0 stands for
    all that is started through the channel to `host`. `network` names the network cards that it has, where those are
    not the host's."""

    host: str
    pid: int
    role: str
    node: str | None
    network: str | None = None


class Probe(Protocol):
    """One kind of observation. `start` once, `stop` once, also after a failure between them."""

    name: str
    overhead: str
    """What it costs, measured, in a sentence."""

    @property
    def absent(self) -> Sequence[str]:
        """What was asked for and is not there, with the reason; complete once it has stopped."""

    def start(self, hosts: Mapping[str, Host], subjects: Sequence[Subject], sink: Sink) -> None:
        """Begins to observe; what a host cannot give is absent from its series."""

    def stop(self) -> Mapping[str, float | HostProblem]:
        """Ends after a last observation has reached the sink; returns the CPU seconds it took per host that was begun
        with, or why it did not last until now."""
