"""An agent that is a child process on this machine."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ProcessLauncher:
    """See `howdah.host.launch.Launcher`. The interpreter is this one."""

    @property
    def remote(self) -> bool:
        return False

    def command(self, program: str) -> Sequence[str]:
        # -P: no module of the directory that somebody happens to be in.
        return (sys.executable, "-P", "-u", "-c", program)

    def explain(self, said: str) -> tuple[str, str | None]:
        return said or "its process ended at once", None

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "process"}
