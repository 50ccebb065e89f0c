"""How an agent is started on a host: a value that can be written down and read again in another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from howdah.host.launch.process import ProcessLauncher
from howdah.host.launch.ssh import SshLauncher


class Launcher(Protocol):
    """Starts a Python interpreter on one host, whose standard streams become the channel."""

    @property
    def remote(self) -> bool:
        """Whether another program is in between, whose standard error tells what went wrong."""

    def command(self, program: str) -> Sequence[str]:
        """The command here that runs the line `program` in a Python interpreter there."""

    def explain(self, said: str) -> tuple[str, str | None]:
        """What went wrong and what to do, from what the command said on its standard error when no agent came."""

    def describe(self) -> Mapping[str, Any]:
        """What `from_description` makes it of again; plain values, never a secret."""


_KINDS = {"process": ProcessLauncher, "ssh": SshLauncher}


def from_description(described: Mapping[str, Any]) -> Launcher:
    """The launcher that has so described itself."""
    fields = dict(described)
    launcher: Launcher = _KINDS[fields.pop("kind")](**fields)
    return launcher
