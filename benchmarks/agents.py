"""What agents cost by the number of hosts: open, fingerprint and close on `channels:4` and on `channels:32`.

CPU is that of this process and of the agents. With latency, every answer of an agent comes `LATENCY` seconds later, as
from hosts that are far away, the first one (that an interpreter is there) included.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from howdah.cluster.allocation.here import channels
from howdah.cluster.allocation.here import open_channel as open_channels
from howdah.cluster.request import Links
from howdah.host import Host
from howdah.host.over import over

ROUNDS = int(os.environ.get("ROUNDS", "8"))
FEW, MANY = 4, 32
LATENCY = 0.2


class Far:
    """A host whose answers take a while."""

    def __init__(self, host: Host, latency: float) -> None:
        self.name = host.name
        self._host = host
        self._latency = latency

    def call(self, operation: str, /, **arguments: Any) -> Any:
        answer = self._host.call(operation, **arguments)
        time.sleep(self._latency)
        return answer

    def close(self) -> None:
        self._host.close()


def measure() -> list[str]:
    """Rounds with few and many hosts, with and without latency, in an order drawn again for each round."""
    ways = [(hosts, latency) for hosts in (FEW, MANY) for latency in (0.0, LATENCY)]
    wall: dict[tuple[int, float], list[float]] = {way: [] for way in ways}
    cpu: dict[tuple[int, float], list[float]] = {way: [] for way in ways}
    own: dict[tuple[int, float], list[float]] = {way: [] for way in ways}
    for number in range(ROUNDS):
        for way in random.sample(ways, len(ways)):
            seconds, used, by_agents = _once(*way)
            wall[way].append(seconds)
            cpu[way].append((used + by_agents) / way[0])
            own[way].append(used / way[0])
            print(f"round {number}: {way} {seconds:.2f} s, {cpu[way][-1] * 1000:.0f} ms", file=sys.stderr, flush=True)
    lines = [
        f"- {hosts} hosts, {latency:g} s of latency: {_spread(wall[hosts, latency])} s; CPU for each host "
        f"{_spread(cpu[hosts, latency])} s, of which this process used {_spread(own[hosts, latency])} s"
        for hosts, latency in ways
    ]
    for what, values, latency in (("CPU for each host", cpu, 0.0), ("time with latency", wall, LATENCY)):
        ratios = [many / few for few, many in zip(values[FEW, latency], values[MANY, latency], strict=True)]
        middle = statistics.geometric_mean(ratios)
        lines.append(f"- {what}, {MANY} ÷ {FEW}: {middle:.2f} ({min(ratios):.2f}–{max(ratios):.2f}, n={len(ratios)})")
    return lines


IDLE_SECONDS = 30.0


def measure_rest() -> list[str]:
    """What open channels to many hosts cost this process while nothing happens."""
    open_host = open_channels(channels(str(MANY), Links()).describe())
    before = _holdings()
    hosts = over({name: name for name in (f"channel{number}" for number in range(MANY))}, open_host)
    try:
        during = _holdings()
        used = os.times()
        time.sleep(IDLE_SECONDS)
        now = os.times()
    finally:
        over(hosts, lambda host: host.close())
    cpu = (now.user + now.system - used.user - used.system) / MANY / IDLE_SECONDS
    each = [(after - earlier) / MANY for earlier, after in zip(before, during, strict=True)]
    return [
        f"- one host of {MANY}: {each[0] / 2**20:.2f} MiB, {each[1]:.1f} files, {each[2]:.1f} threads of this process",
        f"- heartbeats of one host: {cpu * 1e6:.0f} µs of CPU a second",
    ]


def _holdings() -> tuple[int, int, int]:
    """Resident bytes, open files and threads of this process."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    open_files = len(list(Path("/proc/self/fd").iterdir()))
    return int(fields["VmRSS"].split()[0]) * 1024, open_files, int(fields["Threads"])


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f}–{max(values):.3f})"


def _once(count: int, latency: float) -> tuple[float, float, float]:
    """The time of opening channels to `count` hosts, a fingerprint of each, and closing them; the CPU of this process,
    and of the agents."""
    open_host = open_channels(channels(str(count), Links()).describe())
    used, began = os.times(), time.monotonic()

    def one(name: str) -> Far:
        host = open_host(name)
        time.sleep(latency)
        return Far(host, latency)

    hosts = over({name: name for name in (f"channel{number}" for number in range(count))}, one)
    over(hosts, lambda host: host.call("machine.fingerprint", paths=["/"]))
    over(hosts, lambda host: host.close())
    seconds, now = time.monotonic() - began, os.times()
    own = now.user + now.system - used.user - used.system
    return seconds, own, now.children_user + now.children_system - used.children_user - used.children_system
