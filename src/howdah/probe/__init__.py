"""The observers of hosts while a run lasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from howdah.errors import HostProblem
from howdah.host import Host

Sink = Callable[[str, dict[str, Any]], None]
"""Function that takes the name of a series and one record of it: the header first, then points. Called from any
thread."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A process to observe with everything below it: a daemon, or the process that stands for the job client. Process 0
    stands for everything that is started through the channel to `host`. `network` names the network cards of the
    process, if they are not the host's."""

    host: str
    pid: int
    role: str
    node: str | None
    network: str | None = None


class Probe(Protocol):
    """One kind of observation. Call `start` once and `stop` once, also after a failure between them."""

    name: str
    overhead: str
    """The measured cost, in a sentence."""

    @property
    def absent(self) -> Sequence[str]:
        """The requested observations that are not there, with the reason; complete once the probe has stopped."""

    def start(self, hosts: Mapping[str, Host], subjects: Sequence[Subject], sink: Sink) -> None:
        """Begin to observe. Facts that a host cannot give are absent from its series."""

    def stop(self, *, whole: bool = False) -> Mapping[str, float | HostProblem]:
        """Stop after a last observation has reached the sink. With `whole`, the observations are to cover the time
        until now, although some come late. Returns the CPU seconds of the probe per host that it began with, or the
        problem that stopped it earlier."""
