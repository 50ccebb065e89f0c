"""The readings of the probes: rates of the host, and processor seconds of each role, in a window of time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from howdah.report.document.drawing import Step
from howdah.store import StoredRun

Point = Mapping[str, Any]

BUSY = ("cpu_user", "cpu_nice", "cpu_system", "cpu_irq", "cpu_softirq")
WAITING = ("cpu_iowait",)
STOLEN = ("cpu_steal",)
ALL_CPU = (*BUSY, *WAITING, *STOLEN, "cpu_idle")

_STACKED_DEVICES = ("loop", "ram", "zram", "dm-", "md", "sr")
_SLACK = 3.0
"""Intervals between points by which a window may exceed the series and still count as covered."""


@dataclass(frozen=True, slots=True)
class Counter:
    """Sums of counters over time: `times` (UTC, growing) and `totals` of the same length."""

    times: tuple[float, ...]
    totals: tuple[float, ...]
    interval: float

    def growth(self, start: float, end: float) -> float | None:
        """Return the growth between two moments, interpolated; None if the series does not cover them."""
        slack = _SLACK * self.interval
        if len(self.times) < 2 or end <= start or self.times[0] > start + slack or self.times[-1] < end - slack:
            return None
        growth = self._at(end) - self._at(start)
        return growth if growth >= 0 else None

    def rate(self, start: float, end: float) -> float | None:
        """Return the mean growth per second between two moments; None if the series does not cover them."""
        growth = self.growth(start, end)
        return None if growth is None else growth / (end - start)

    def steps(self, start: float, end: float) -> tuple[Step, ...]:
        """Return the rate between every two points that overlap the window; times are relative to `start`."""
        found = []
        for index in range(max(1, bisect_right(self.times, start)), len(self.times)):
            first, second = self.times[index - 1], self.times[index]
            if first >= end:
                break
            growth = self.totals[index] - self.totals[index - 1]
            # A gap in the series is a gap in the picture, and a counter that fell was reset.
            if second - first <= _SLACK * self.interval and second > first and growth >= 0:
                found.append(Step(max(first, start) - start, min(second, end) - start, growth / (second - first)))
        return tuple(found)

    def _at(self, time: float) -> float:
        index = bisect_left(self.times, time)
        if index == 0:
            return self.totals[0]
        if index == len(self.times):
            return self.totals[-1]
        first, second = self.times[index - 1], self.times[index]
        share = (time - first) / (second - first)
        return self.totals[index - 1] + share * (self.totals[index] - self.totals[index - 1])


@dataclass(frozen=True, slots=True)
class HostSeries:
    """The points of one host by kind."""

    host: str
    interval: float
    points: Mapping[str, Sequence[Point]]

    def cpu(self, names: tuple[str, ...]) -> Counter:
        """Return processor seconds, summed over the host's processors and over `names`."""
        return self._counter(self.points.get("machine", ()), names)

    def cpu_of(self, host: str) -> Counter:
        """Return the processor seconds of a simulated host."""
        points = [point for point in self.points.get("host", ()) if point.get("host") == host]
        return self._counter(points, ("cpu_user", "cpu_system"))

    @property
    def simulated(self) -> list[str]:
        """The names of the hosts that are simulated on this one."""
        return sorted({str(point.get("host")) for point in self.points.get("host", ())})

    @property
    def disks(self) -> set[str]:
        """The host's whole disks."""
        return _whole_disks({str(point.get("device")) for point in self.points.get("disk", ())})

    def disk(self, column: str, of: Collection[str] | None = None) -> Counter:
        """Return `read_bytes` or `write_bytes`, summed over the disks `of`, or over all the host's whole disks."""
        points = self.points.get("disk", ())
        return self._sum(points, "device", self.disks if of is None else set(of), column)

    def network(self, column: str, *, loopback: bool) -> Counter:
        """Return `receive_bytes` or `send_bytes` of the loopback interface, or of all other interfaces together.

        If hosts are simulated, the sum is over their interfaces.
        """
        names = {name for name in self.interfaces if (name == "lo") == loopback}
        return self.card(column, {name for name in names if "/" in name} or names)

    @property
    def interfaces(self) -> set[str]:
        """Names of network cards; those of simulated hosts begin with HOST/."""
        return {str(point.get("interface")) for point in self.points.get("network", ())}

    def card(self, column: str, names: Collection[str]) -> Counter:
        """Return `receive_bytes` or `send_bytes`, summed over network cards."""
        return self._sum(self.points.get("network", ()), "interface", set(names), column)

    def _sum(self, points: Sequence[Point], about: str, names: set[str], column: str) -> Counter:
        """Return the sum over `names`, for the rounds in which all of them were read."""
        rounds: list[tuple[float, dict[str, float]]] = []
        for point in points:
            if point.get(about) in names and column in point:
                # A late round may be close to the next one.
                apart = not rounds or point["utc"] - rounds[-1][0] > self.interval / 2 or point[about] in rounds[-1][1]
                if apart:
                    rounds.append((point["utc"], {}))
                rounds[-1][1][point[about]] = point[column]
        whole = [(time, sum(found.values())) for time, found in rounds if len(found) == len(names)]
        return Counter(tuple(time for time, _ in whole), tuple(total for _, total in whole), self.interval)

    def _counter(self, points: Sequence[Point], names: tuple[str, ...]) -> Counter:
        usable = [point for point in points if any(name in point for name in names)]
        totals = tuple(sum(point.get(name, 0.0) for name in names) for point in usable)
        return Counter(tuple(point["utc"] for point in usable), totals, self.interval)


def read_series(run: StoredRun) -> tuple[HostSeries, ...]:
    """Return the series of every host of the run that has a header."""
    found = []
    for name, lines in run.series():
        if not lines or "kinds" not in lines[0] or "meter" in lines[0]:
            continue
        points: dict[str, list[Point]] = {}
        for line in lines[1:]:
            points.setdefault(line.get("kind", ""), []).append(line)
        header = lines[0]
        found.append(HostSeries(header.get("host", name), float(header.get("interval_seconds", 1.0)), points))
    return tuple(found)


def cpu_by_role(series: Iterable[HostSeries], start: float, end: float) -> dict[str, float]:
    """Return processor seconds of each role between two moments, over all hosts; a role that was not seen is absent.

    The growth is between the last rounds of readings at or before the two moments; all processes share these rounds.
    The `cpu_children` of a NodeManager is the use of its finished containers. The containers' share is therefore its
    growth, plus the use of containers alive at the end, less that of containers alive at the start. Containers without
    a NodeManager's account, and every other role, are the growth of their own processes.
    """
    roles: dict[str, float] = {}
    for host in series:
        points = host.points.get("process", ())
        first, last = _round(points, start), _round(points, end)
        slack = _SLACK * host.interval
        if first is None or last is None or first > start + slack or points[-1]["utc"] < end - slack:
            continue
        accounts = _accounts(points)
        reaped = any(key[0] == "nodemanager" for key in accounts)
        for key, own in accounts.items():
            seen = [point for point in own if first <= point["utc"] <= last + host.interval / 2]
            if not seen:
                continue
            began = seen[0]["utc"] > first + host.interval / 2
            ended = seen[-1]["utc"] < last
            before = 0.0 if began else seen[0].get("cpu", 0.0)
            after = 0.0 if ended and key[0] == "container" and reaped else seen[-1].get("cpu", 0.0)
            roles[key[0]] = roles.get(key[0], 0.0) + after - before
            if key[0] == "nodemanager":
                children = seen[-1].get("cpu_children", 0.0) - (0.0 if began else seen[0].get("cpu_children", 0.0))
                roles["container"] = roles.get("container", 0.0) + children
    return roles


def _round(points: Sequence[Point], time: float) -> float | None:
    """Return the moment of the last round of readings at or before `time`, or of the first one after it."""
    if not points:
        return None
    index = bisect_right(points, time, key=lambda point: float(point["utc"]))
    return float(points[max(0, index - 1)]["utc"])


def _accounts(points: Sequence[Point]) -> dict[tuple[str, str, int, str], list[Point]]:
    """Return the points of each process, which role, node, pid and container identify."""
    accounts: dict[tuple[str, str, int, str], list[Point]] = {}
    for point in points:
        key = (point.get("role", ""), point.get("node") or "", point.get("pid", 0), point.get("container") or "")
        accounts.setdefault(key, []).append(point)
    return accounts


def _whole_disks(devices: set[str]) -> set[str]:
    """Return `devices` without partitions and without stacked devices, whose bytes would count twice."""
    disks = {name for name in devices if not name.startswith(_STACKED_DEVICES)} or devices
    return {name for name in disks if not any(_is_partition(name, other) for other in disks)}


def _is_partition(name: str, disk: str) -> bool:
    """Return whether `name` is a partition of `disk`.

    `sda1` is one of `sda`, `nvme0n1p1` of `nvme0n1`; `sdaa` and `nvme0n10` are disks themselves.
    """
    between = "p" if disk[-1:].isdigit() else ""
    return re.fullmatch(re.escape(disk) + between + r"\d+", name) is not None
