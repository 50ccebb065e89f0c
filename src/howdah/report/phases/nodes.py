"""Hosts apart: how much memory each used, and nodes whose tasks take much longer than those of other nodes because of a
slow disk, card or processor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from howdah.model.job import TaskKind
from howdah.report.phases.jobs import PhaseJob
from howdah.report.phases.series import HostSeries, Point
from howdah.report.phases.tasks import work_seconds
from howdah.report.phases.times import SUCCEEDED
from howdah.stats.compare import rank_test

SLOW = 1.5
"""The ratio of medians from which a node is slow."""
_CHANCE = 0.05
"""The probability of a rank test, times the number of nodes, below which a difference is not by chance."""
LEAST = 3
"""The minimum number of tasks of a node, and of the other nodes together."""


@dataclass(frozen=True, slots=True)
class SlowNode:
    """The median seconds of `tasks` of one kind on `node`, and on all other nodes."""

    phase: str
    kind: TaskKind
    node: str
    tasks: int
    seconds: float
    others: float


def slow_nodes(jobs: Sequence[PhaseJob]) -> Iterator[SlowNode]:
    """Yield the slow nodes of each phase, by kind of task.

    Even the quickest task of a slow node took longer than the median of the other nodes, or a rank test shows the
    difference: a node may have become slow in the middle. This excludes nodes that had the larger tasks by chance.
    """
    for phase in dict.fromkeys(entry.phase for entry in jobs):
        attempts = [attempt for entry in jobs if entry.phase == phase for attempt in entry.job.attempts]
        for kind in ("map", "reduce"):
            times: dict[str, list[float]] = {}
            for attempt in attempts:
                if attempt.kind == kind and attempt.state == SUCCEEDED and attempt.node is not None:
                    times.setdefault(attempt.node, []).append(work_seconds(attempt))
            yield from _slow(phase, kind, times)


def memory_of_hosts(series: Iterable[HostSeries]) -> Mapping[str, Sequence[tuple[float, float]]]:
    """Return the readings of each host's used memory: the moment (UTC), and the bytes. Memory with files
    is left out, as the host gives it to whoever asks. The hosts that are simulated on a host stand for it.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for one in series:
        points: Sequence[Point] = one.points.get("host" if one.simulated else "machine", ())
        for point in points:
            used = _used(point)
            if used is not None:
                name = str(point["host"]) if one.simulated else one.host
                found.setdefault(name, []).append((point["utc"], used))
    return found


def _used(point: Point) -> float | None:
    """Return the bytes of memory in use; None if a reading does not have them."""
    if "memory_anonymous" in point:
        return float(point["memory_anonymous"])
    total, available = point.get("memory_total"), point.get("memory_available")
    return None if total is None or available is None else float(total) - float(available)


def _slow(phase: str, kind: TaskKind, times: Mapping[str, Sequence[float]]) -> Iterator[SlowNode]:
    for node, own in sorted(times.items()):
        others = [seconds for name, found in times.items() if name != node for seconds in found]
        if min(len(own), len(others)) < LEAST:
            continue
        usual = median(others)
        if median(own) >= SLOW * usual and (min(own) > usual or rank_test(others, own) * len(times) < _CHANCE):
            yield SlowNode(phase, kind, node, len(own), median(own), usual)
