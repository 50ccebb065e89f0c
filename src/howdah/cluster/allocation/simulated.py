"""Simulated hosts on this machine, each with a network card of its own, reached by ssh."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from howdah.cluster.allocation.holding import MOST_NODES, Holding, Open, Wait, patient
from howdah.cluster.allocation.ports import COPYING, FIRST_PORT, PROBED
from howdah.cluster.faults import HostFault
from howdah.cluster.request import Links
from howdah.errors import HostProblem, UsageError
from howdah.hadoop.configuration.plan import Plan, Quarters, Spot, lay_out, ports_needed, spread
from howdah.host import Host, operations, simulation
from howdah.host.channel import Channel, open_local
from howdah.host.launch.ssh import SshLauncher
from howdah.host.over import over
from howdah.spec.simulation import KEYS, Simulation, parse_simulation

_TRY_SECONDS, _MOST_SECONDS = 1.5, 10.0
_QUEUE_SECONDS, _BUCKET_BYTES = 0.05, 256 << 10
"""Seconds and bytes that a shaped card holds back (`_LATENCY`, `_BURST` of the holder). As much data is sent ahead.
Acknowledgements wait behind data in the other direction; with less data ahead, the sender would wait for them."""
_SHARE = (0.90, 1.01)
"""Shares of a rate between which the TCP payload shows that the rate holds: headers take some 5 %."""
_USUAL = 0.93
"""The share below which a payload is measured again at the start: the processors were busy, and the check after a run
would find it faster."""
_MOVED = 0.05
_ATTEMPTS = 5
_WAYS = ("read", "write")


class SimulatedAllocation(Holding):
    """See `howdah.cluster.allocation.Allocation`. Hosts see the files of this machine. Each host has an address and all
    ports of its own."""

    def __init__(self, wish: Simulation, silence: float) -> None:
        self._wish = wish
        self._simulated: simulation.Simulated | None = None
        self._cut: set[str] = set()
        self._described: dict[str, Any] = {
            "kind": "sim",
            "hosts": wish.hosts,
            "network": wish.network,
            **{key: value for key in KEYS[1:] if (value := getattr(wish, key)) is not None},
            "silence": silence,
        }
        super().__init__(names_of(wish), self._open)

    @property
    def is_here(self) -> bool:
        return True

    def acquire(self, name: str, nodes: int, home: Quarters, wait: Wait = patient) -> Plan:  # noqa: ARG002
        used = list(spread(self._names, nodes))
        most = max(used[1:].count(host) for host in used)
        if most > MOST_NODES:
            raise UsageError(f"{nodes} nodes on {len(self._names)} hosts are more than the {MOST_NODES} on each")
        self._simulated = simulation.start(Path(f"{home.root}-sim"), self._names, self._wish)
        self._described |= {"config": self._simulated.config, "holder": self._simulated.holder}
        self.open(used)
        if self._wish.network is not None:
            addresses = {host: self._simulated.addresses[host] for host in self._hosts}
            self._described["payload"] = check_rate(self._hosts, addresses, self._wish.network)
        self._measure_disks(self._hosts)
        spots = [Spot(host, self._simulated.addresses[host]) for host in used]
        plan = lay_out(name, spots, self._quarters(home), first_port=FIRST_PORT, apart=True)
        assert ports_needed(most) <= COPYING
        return replace(plan, copy_port=FIRST_PORT + COPYING)

    def stand(self, host: str, plan: Plan, home: Quarters) -> tuple[Spot, Quarters]:  # noqa: ARG002
        assert self._simulated is not None
        self._measure_disks([host])  # The cards are measured with the others, after a run.
        return Spot(host, self._simulated.addresses[host]), self._quarters(home)[host]

    def _measure_disks(self, hosts: Iterable[str]) -> None:
        """Write down the rates of the disks of these hosts. Raises HostProblem if a rate does not hold."""
        assert self._simulated is not None
        if self._wish.disks is not None:
            disks = {host: self._simulated.disks[host] for host in hosts}
            found = check_disks(self._hosts, disks, self._wish.disk_rate)
            self._described["devices"] = {**self._described.get("devices", {}), **found}

    def release(self) -> None:
        super().release()
        if self._simulated is not None:
            self._simulated.end()

    def disturb(self, fault: HostFault) -> None:
        assert self._simulated is not None
        self.check_fault(fault)
        self._simulated.disturb(fault.kind, fault.host, fault.rate, fault.resource)
        if fault.kind in ("cut", "join"):
            (self._cut.add if fault.kind == "cut" else self._cut.discard)(fault.host)

    def rejoin(self) -> None:
        for host in sorted(self._cut):
            with suppress(HostProblem):  # What cannot be reached is named later.
                self.disturb(HostFault("join", host))

    def describe(self) -> Mapping[str, Any]:
        return self._described

    def _open(self, name: str) -> Host:
        return open_simulated(self._described)(name)

    def _quarters(self, home: Quarters) -> Mapping[str, Quarters]:
        assert self._simulated is not None
        found = {}
        for name in self._names:
            root = f"{home.root}-{name}"
            disks = tuple(f"{disk['directory']}/data" for disk in self._simulated.disks.get(name, ()))
            found[name] = Quarters(home.machine, root, f"{root}/conf", f"{root}/logs", home.store, disks)
        return found


def names_of(wish: Simulation) -> tuple[str, ...]:
    """Return the names of the simulated hosts."""
    return tuple(f"sim{number}" for number in range(1, wish.hosts + 1))


def check_rate(hosts: Mapping[str, Host], addresses: Mapping[str, str], rate: int) -> int:
    """Return the payload in bits per second of the slowest card, when each of `hosts` sends to the next one, all at
    once.

    Raises HostProblem if a payload does not match the rate, and UsageError if there is no second host.
    """
    if len(addresses) == 1:
        raise UsageError("a cluster on one simulated host sends nothing by its network", hint="Use sim:2 or more.")
    least, most = (share * rate for share in _SHARE)
    slowest, fastest = _payloads(hosts, addresses, _USUAL * rate, most)
    if not least <= slowest <= fastest <= most:
        raise HostProblem(
            f"the simulated network does not have its rate of {rate / 1e6:g} Mb/s: payloads are "
            f"{slowest / 1e6:.1f} to {fastest / 1e6:.1f} Mb/s, where 90 to 101 % are expected",
            hint="Something else uses the processors, or they are too slow for it: choose a lower rate.",
        )
    return round(slowest)


def check_disks(
    hosts: Mapping[str, Host], disks: Mapping[str, Sequence[Mapping[str, str]]], rate: int | None
) -> Mapping[str, Mapping[str, Any]]:
    """Return by device its `host`, its `directory`, and its rates of `read` and `write` in bytes per second. Raises
    HostProblem if a disk does not have the `rate`."""
    known = {disk["device"]: {"host": host, **disk} for host, found in disks.items() for disk in found}
    least, most = (0.0, math.inf) if rate is None else (share * rate for share in _SHARE)
    found = _disk_rates(hosts, known, lambda *_: ((1 - _MOVED / 2) * (rate or 0), most))
    for device, one in found.items():
        if rate is not None and not all(least <= one[way] <= most for way in _WAYS):
            raise HostProblem(
                f"a simulated disk ({device}) does not have its rate of {rate / 1e6:g} MB/s: it writes "
                f"{one['write'] / 1e6:.1f} and reads {one['read'] / 1e6:.1f} MB/s, where 90 to 101 % are expected",
                hint="Something else uses the disk below, or it is too slow for it: choose a lower rate.",
                host=one["host"],
            )
    return found


def disks_again(hosts: Mapping[str, Host], before: Mapping[str, Mapping[str, Any]]) -> tuple[float, float, bool] | None:
    """Return the bytes per second `before` and now of the disk that changed most, and whether that is within 5 %. Disks
    that are gone are left out; None if all are gone. Raises HostProblem."""

    def limits(device: str, way: str) -> tuple[float, float]:
        return (1 - _MOVED) * before[device][way], (1 + _MOVED) * before[device][way]

    found = _disk_rates(hosts, before, limits)
    rates = [
        (before[device][way], one[way])
        for device, one in found.items()
        if any(one[way] for way in _WAYS)
        for way in _WAYS
    ]
    if not rates:
        return None
    first, now = max(rates, key=lambda pair: abs(pair[1] - pair[0]) / pair[0])
    return first, now, abs(now - first) <= _MOVED * first


def _disk_rates(
    hosts: Mapping[str, Host],
    disks: Mapping[str, Mapping[str, Any]],
    limits: Callable[[str, str], tuple[float, float]],
) -> Mapping[str, Mapping[str, Any]]:
    """Measure the read and write rates of the disks, one disk per host at a time. A rate outside of the `limits` of its
    device and way is measured again, a few times. Disks share the hardware below them, and a limit lets a little more
    through now and then."""

    def holds(device: str, way: str, rate: float) -> bool:
        least, most = limits(device, way)
        return least <= rate <= most

    found: dict[str, Mapping[str, Any]] = {}
    for attempt in range(_ATTEMPTS):
        left = [
            device
            for device in disks
            if not attempt or not all(holds(device, way, found[device][way]) for way in _WAYS)
        ]
        while left:
            turn = {disks[device]["host"]: device for device in left}

            def measure(host: str, turn: Mapping[str, str] = turn) -> Mapping[str, float]:
                return operations.disk_rates(hosts[host], disks[turn[host]]["directory"])

            for host, rates in over({host: host for host in turn}, measure).items():
                device = turn[host]
                before = found.get(device, rates)
                kept = {way: before[way] if holds(device, way, before[way]) else rates[way] for way in _WAYS}
                found[device] = {**disks[device], **kept}
            left = [device for device in left if device not in turn.values()]
    return {device: found[device] for device in disks}


def payload_again(hosts: Mapping[str, Host], addresses: Mapping[str, str], before: float) -> tuple[float, bool]:
    """Return the payload that differs most from the payload `before`, and whether that is within 5 %. Raises
    HostProblem."""
    least, most = (1 - _MOVED) * before, (1 + _MOVED) * before
    worst = max(_payloads(hosts, addresses, least, most), key=lambda payload: abs(payload - before))
    return worst, least <= worst <= most


def _payloads(
    hosts: Mapping[str, Host], addresses: Mapping[str, str], least: float, most: float
) -> tuple[float, float]:
    """Return the payloads of the slowest and of the fastest card. A payload that is not between `least` and `most` is
    measured again, a few times. Other work of the processors may lower it for a moment."""
    names, port = list(addresses), FIRST_PORT + PROBED
    pairs = {source: (source, target) for source, target in zip(names, [*names[1:], names[0]], strict=True)}

    # Queues take their time to settle, the longer the slower the card is.
    seconds = min(_MOST_SECONDS, max(_TRY_SECONDS, _TRY_SECONDS * 100e6 / most))

    def try_one(pair: tuple[str, str]) -> float:
        source, target = pair
        ahead = round(_QUEUE_SECONDS * most / 8) + _BUCKET_BYTES
        return operations.payload_rate(hosts[source], addresses[target], port, seconds=seconds, ahead=ahead)

    slowest = fastest = 0.0
    for _ in range(_ATTEMPTS):
        over(hosts, lambda host: operations.swallow(host, addresses[host.name], port, seconds=seconds + 10))
        found = over(pairs, try_one)
        slowest, fastest = min(found.values()), max(found.values())
        if least <= slowest <= fastest <= most:
            break
    return slowest, fastest


def sim(argument: str | None, links: Links) -> SimulatedAllocation:
    """Return the simulated hosts of `--on sim:ARGUMENT`. Raises UsageError, and HostProblem if this machine cannot
    simulate hosts."""
    if links.network is not None:
        raise UsageError("--network is for hosts:; --on sim:N,network=100mbit is the rate of simulated cards")
    wish = parse_simulation(argument or "")
    simulation.check_possible(wish)
    return SimulatedAllocation(wish, links.silence)


def open_simulated(described: Mapping[str, Any]) -> Open:
    """Return a function that opens a channel to a host of `sim` by its name. If the hosts are gone, the channel is to
    this machine, where their leftovers are."""

    def open_one(name: str) -> Channel:
        if not simulation.runs(described["holder"]):
            return open_local(name)
        launcher = SshLauncher(name, None, sys.executable, ("-F", described["config"]))
        return Channel(name, launcher, silence=described["silence"])

    return open_one
