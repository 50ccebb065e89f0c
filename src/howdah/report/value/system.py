"""The system that runs were made on: a number of servers from a price list, and the speed of a job on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from howdah.errors import UsageError
from howdah.model.comparison import Summary
from howdah.model.metric import ELAPSED
from howdah.report.document.results import Measure, Replicates, registered, values
from howdah.spec.prices import PriceList, Rack, Server
from howdah.stats import summarise
from howdah.store import StoredRun

_FOR_ENERGY, _FOR_RACKS = ("mean", "p99", "nameplate"), ("p99", "nameplate", "mean")
"""The preferred figures of a server's power: the mean for energy, a peak for a breaker, which does not see means."""
_HAIR = 1e-9
"""The tolerance for a quotient that is a whole number except for its last digits."""


@dataclass(frozen=True, slots=True)
class System:
    """`count` servers on which one job took `seconds`. `runs` are the runs with these results.

    `rate` is the rate in B/s at which the job moved data; None if it does not.
    """

    name: str
    server: Server
    count: int
    runs: Sequence[StoredRun]
    workload: str
    seconds: Summary
    rate: Summary | None


def system_of(name: str, runs: Sequence[StoredRun], server: Server, count: int | None) -> System:
    """Return the system of `runs`, with `count` servers or as many as observed machines.

    Raises UsageError if the runs do not record the time of one job, or the number of machines.
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
    """Return the figure of a server's power to use, and its watts; None if the list has none."""
    for kind in _FOR_RACKS if of_rack else _FOR_ENERGY:
        if kind in server.watts:
            return kind, server.watts[kind]
    return None


def switches(system: System, prices: PriceList) -> int:
    """Return how many switches the system needs."""
    return 0 if prices.switch is None else -(-system.count // prices.switch.ports)


def racked(server: Server, rack: Rack, prices: PriceList) -> tuple[int, str]:
    """Return how many servers a rack holds, and the limit.

    Raises UsageError if the list lacks the needs of a server, or if not one server fits.
    """
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
    """Return inputs in words, with as many digits as they were written with."""
    return {name: f"{value:,.10g} {units.get(name, '')}".rstrip() for name, value in inputs.items()}
