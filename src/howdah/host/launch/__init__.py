"""How an agent is started on a host, or how one that starts by itself gets through."""

from __future__ import annotations

from typing import Protocol

from howdah.host.launch.line import Line


class Launcher(Protocol):
    """Gets a Python interpreter on one host, which a line leads to."""

    def connect(self, program: str) -> Line:
        """The line to an interpreter there that runs the line `program`. Raises OSError where nothing can be started
        here, and HostProblem where none comes."""

    def explain(self, said: str) -> tuple[str, str | None]:
        """What went wrong and what to do, from what the line has said when no agent came."""
