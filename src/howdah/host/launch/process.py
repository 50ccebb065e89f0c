"""An agent that is a child process on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from howdah.host.launch.line import Pipes


@dataclass(frozen=True, slots=True)
class ProcessLauncher:
    """See `howdah.host.launch.Launcher`. The interpreter is this one."""

    def connect(self, program: str) -> Pipes:
        return Pipes(self.command(program), heard=False)

    def command(self, program: str) -> Sequence[str]:
        """Return the command that runs `program` in an interpreter."""
        # -P: no module of the directory that somebody happens to be in.
        return (sys.executable, "-P", "-u", "-c", program)

    def explain(self, said: str) -> tuple[str, str | None]:
        return said or "its process ended at once", None
