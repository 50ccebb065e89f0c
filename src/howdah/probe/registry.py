"""The probes there are, by name. All are used unless `--probe` names some."""

from __future__ import annotations

from howdah.errors import UsageError
from howdah.probe import Probe
from howdah.probe.system import SystemProbe

PROBES: dict[str, type[Probe]] = {SystemProbe.name: SystemProbe}


def make_probes(names: tuple[str, ...] | None) -> tuple[Probe, ...]:
    """The probes called `names`, or all. Raises UsageError for an unknown name."""
    for name in names or ():
        if name not in PROBES:
            raise UsageError(f"unknown probe: {name!r}", hint=f"Known: {', '.join(sorted(PROBES))}.")
    return tuple(PROBES[name]() for name in (PROBES if names is None else names))
