"""Ways to start an agent on a host, or to connect an agent that starts by itself."""

from __future__ import annotations

from typing import Protocol

from howdah.host.launch.line import Line


class Launcher(Protocol):
    """A way to get a Python interpreter on one host, with a line to it."""

    def connect(self, program: str) -> Line:
        """Return the line to an interpreter there that runs the line `program`. Raises OSError if nothing can be
        started here, and HostProblem if no interpreter comes."""

    def explain(self, said: str) -> tuple[str, str | None]:
        """Return what went wrong and what to do, from the words of the line when no agent came."""
