"""The probes by name. All probes that have what they need are used, unless `--probe` names some."""

from __future__ import annotations

from collections.abc import Callable

from howdah.errors import UsageError
from howdah.probe import Probe
from howdah.probe.power import PowerProbe
from howdah.probe.system import SystemProbe
from howdah.spec.meters import NO_METERS, Meters

PROBES: dict[str, Callable[[Meters], Probe]] = {
    SystemProbe.name: lambda _: SystemProbe(),
    PowerProbe.name: PowerProbe,
}


def make_probes(names: tuple[str, ...] | None, meters: Meters = NO_METERS) -> tuple[Probe, ...]:
    """Return the probes called `names`, or all; the power probe needs `meters`. Raises UsageError for an unknown name,
    and for a probe that lacks what it needs."""
    for name in names or ():
        if name not in PROBES:
            raise UsageError(f"unknown probe: {name!r}", hint=f"Known: {', '.join(sorted(PROBES))}.")
        if name == PowerProbe.name and not meters.sources:
            raise UsageError("--probe power needs --meters", hint="For example --meters rapl.")
    usual = tuple(name for name in PROBES if name != PowerProbe.name or meters.sources)
    return tuple(PROBES[name](meters) for name in (usual if names is None else names))
