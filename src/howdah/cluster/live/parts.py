"""The parts of a machine that simulated hosts have: their bounds, and whether they still hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from howdah.cluster.allocation.simulated import disks_again, payload_again
from howdah.hadoop.configuration.plan import Plan
from howdah.host import Host, operations
from howdah.host.over import over
from howdah.model.quantity import format_bytes


@dataclass(frozen=True, slots=True)
class PartCheck:
    """Whether a part of every host is what it was, or what was asked for, and a sentence about it."""

    name: str
    held: bool
    words: str


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of simulated hosts; all are empty if hosts have the whole of their machine.

    `cores` is the processors' worth of time of each host. `card_rates` are the bytes a second of each network card, and
    `disk_rates` those that each disk reads and writes, by their names in series.
    """

    cores: Mapping[str, float] = field(default_factory=dict)
    card_rates: Mapping[str, float] = field(default_factory=dict)
    disk_rates: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    check: Callable[[], Iterator[PartCheck]] = lambda: iter(())
    """Measure the parts again, on hosts that are not lost. Raises HostProblem."""


def parts_of(
    plan: Plan,
    allocation: Mapping[str, Any],
    hosts: Mapping[str, Host],
    lost: Callable[[], set[str | None]],
    disturbed: Callable[[], Mapping[str, str]],
) -> Parts:
    """Return the parts of the hosts of `plan`, from the description of their `allocation`. `lost` returns the names of
    lost hosts, `disturbed` the faults that last."""
    cpus, payload = allocation.get("cpus"), allocation.get("payload")
    disks = {name: one for name, one in allocation.get("devices", {}).items() if one["host"] in plan.quarters}

    def check() -> Iterator[PartCheck]:
        if lasting := disturbed():
            words = ", ".join(f"{kind}: {what}" for what, kind in sorted(lasting.items()))
            yield PartCheck("disturbed", False, f"a fault lasts, {words}; `howdah fault` undoes it")
        gone = lost()
        alive = {name: host for name, host in hosts.items() if name not in gone and host.lost is None}
        if payload is not None:
            yield from _check_cards(plan, alive, payload)
        if allocation.get("disk_rate") is not None:
            yield from _check_disks(alive, disks)
        yield from _check_shares(alive, allocation)

    return Parts(
        {} if cpus is None else dict.fromkeys(plan.quarters, cpus),
        {} if payload is None else {f"{host}/eth0": payload / 8 for host in plan.quarters},
        {f"{one['host']}/{device}": (one["read"], one["write"]) for device, one in disks.items()},
        check,
    )


def _check_cards(plan: Plan, hosts: Mapping[str, Host], payload: float) -> Iterator[PartCheck]:
    addresses = {place.host: place.address for place in plan.places if place.host in hosts}
    if len(addresses) > 1:
        now, held = payload_again({name: hosts[name] for name in addresses}, addresses, payload)
        words = f"cards brought {format_bytes(payload / 8)}/s at first, and {format_bytes(now / 8)}/s now"
        yield PartCheck("network", held, words)


def _check_disks(hosts: Mapping[str, Host], disks: Mapping[str, Mapping[str, Any]]) -> Iterator[PartCheck]:
    found = disks_again(hosts, {name: one for name, one in disks.items() if one["host"] in hosts})
    if found is not None:
        first, now, held = found
        words = f"the disk that changed most did {format_bytes(first)}/s at first, and {format_bytes(now)}/s now"
        yield PartCheck("disks", held, words)


def _check_shares(hosts: Mapping[str, Host], allocation: Mapping[str, Any]) -> Iterator[PartCheck]:
    wanted = {"cpu_cores": "cpus", "memory": "memory"}
    asked = {fact: value for fact, key in wanted.items() if (value := allocation.get(key))}
    if asked:
        groups = over(hosts, lambda host: operations.fingerprint(host, ())["control_groups"])
        found = {fact: sorted({group[fact] for group in groups.values()}, key=str) for fact in asked}
        told = ", ".join(f"{wanted[fact]} {' and '.join(map(str, values))}" for fact, values in found.items())
        held = all(values == [asked[fact]] for fact, values in found.items())
        yield PartCheck("shares", held, f"of the machine, each host has {told}")
