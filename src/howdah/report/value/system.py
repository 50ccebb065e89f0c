"""The system that runs were made on: so many servers of a price list, and how fast a job was on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from howdah.errors import UsageError
from howdah.model.comparison import Summary
from howdah.report.document.results import Measure, Replicates, registered, values
from howdah.report.experiment.rates import ELAPSED
from howdah.spec.prices import PriceList, Rack, Server
from howdah.stats import summarise
from howdah.store import StoredRun

_FOR_ENERGY, _FOR_RACKS = ("mean", "p99", "nameplate"), ("p99", "nameplate", "mean")
"""Which figure of a server's power is taken: of energy the mean, of a breaker, which does not see means, a peak."""
_HAIR = 1e-9
"""Of a quotient that is a whole number but for its last digits."""


@dataclass(frozen=True, slots=True)
class System:
    """`count` servers on which one job took `seconds` and moved data at `rate`, in B/s, if it does; `runs` are those
    that say so."""

    name: str
    server: Server
    count: int
    runs: Sequence[StoredRun]
    workload: str
    seconds: Summary
    rate: Summary | None


def system_of(name: str, runs: Sequence[StoredRun], server: Server, count: int | None) -> System:
    """The system of `runs`, of `count` servers or as many as machines were observed.

    Raises UsageError where the runs do not say how long one job takes, or on how many machines.
    """
    members = Replicates(tuple(runs))
    measure = members.primary
    if measure is None or measure.metric not in ELAPSED:
        raise UsageError(
            f"{name}: its runs have no time in common that a job took",
            hint=f"Their primary metric must be {' or '.join(ELAPSED)}, and some must be valid.",
        )
    seen = {len(run.environment["before"].hosts) for run in members.valid if "before" in run.environment}
    if count is None and len(seen) != 1:
        raise UsageError(f"{name}: its runs do not say on how many servers they were", hint="Say it with --servers.")
    rates = values(members.valid, Measure(measure.phase, "throughput"))
    known = "throughput" in registered(members.valid) and len(rates) == len(members.valid)
    return System(
        name=name,
        server=server,
        count=seen.pop() if count is None else count,
        runs=members.valid,
        workload=f"{members.first.run.title}, {measure.phase}",
        seconds=summarise(values(members.valid, measure)),
        rate=summarise(rates) if known else None,
    )


def power(server: Server, *, of_rack: bool) -> tuple[str, float] | None:
    """Which figure of a server's power is taken, and its watts; None where the list has none."""
    for kind in _FOR_RACKS if of_rack else _FOR_ENERGY:
        if kind in server.watts:
            return kind, server.watts[kind]
    return None


def switches(system: System, prices: PriceList) -> int:
    """How many switches the system needs."""
    return 0 if prices.switch is None else -(-system.count // prices.switch.ports)


def racked(server: Server, rack: Rack, prices: PriceList) -> tuple[int, str]:
    """How many servers a rack holds, and what limits them. Raises UsageError where the list does not say what a server
    takes, or where not one fits."""
    limits: dict[str, int] = {}
    drawn = power(server, of_rack=True)
    if rack.height is not None:
        if server.height is None:
            raise UsageError(f"the server {server.name} has no `height`, which the rack {rack.name} limits")
        limits["height"] = rack.height // server.height
    if rack.kilowatts is not None:
        if drawn is None:
            raise UsageError(f"the server {server.name} has no `watts`, which the rack {rack.name} limits")
        limits[f"power ({drawn[0]})"] = math.floor(1000 * rack.kilowatts / drawn[1] + _HAIR)
    if prices.switch is not None:
        limits["ports of its switch"] = prices.switch.ports
    fewest = min(limits.values())
    if fewest == 0:
        what = next(name for name, count in limits.items() if count == 0)
        raise UsageError(f"the rack {rack.name} holds not one server {server.name}: its {what} is too little")
    return fewest, next(name for name, count in limits.items() if count == fewest)


def listed(inputs: Mapping[str, float | int], units: Mapping[str, str]) -> dict[str, str]:
    """Inputs in words: as many digits as they were written with."""
    return {name: f"{value:,.10g} {units.get(name, '')}".rstrip() for name, value in inputs.items()}
