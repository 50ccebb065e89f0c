"""The skew of a job's tasks, and the used share of the memory that their containers asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from howdah.model.job import Attempt, TaskKind
from howdah.report.phases.jobs import PhaseJob
from howdah.report.phases.series import HostSeries
from howdah.report.phases.times import SUCCEEDED, job_name

_MIB = 1 << 20
_GAP = 3.0
"""Intervals between two readings of a process for which the process counts as alive."""


@dataclass(frozen=True, slots=True)
class Skew:
    """The seconds of the tasks of one kind in a job: the median, and the `longest`, which `task` took."""

    job: str
    kind: TaskKind
    tasks: int
    middle: float
    longest: float
    task: str


def skews(jobs: Sequence[PhaseJob]) -> Iterator[Skew]:
    """Yield the skew of every job with two or more successful attempts of a kind."""
    for entry in jobs:
        for kind in ("map", "reduce"):
            done = [one for one in entry.job.attempts if one.kind == kind and one.state == SUCCEEDED]
            if len(done) > 1:
                times = [work_seconds(one) for one in done]
                last = max(done, key=work_seconds)
                yield Skew(job_name(entry, jobs), kind, len(done), median(times), work_seconds(last), last.task)


def work_seconds(attempt: Attempt) -> float:
    """Return the seconds of an attempt, without those in which a reduce waits for maps."""
    shuffle = attempt.steps.get("shuffle")
    return attempt.whole.seconds - (0.0 if shuffle is None else shuffle.seconds)


def memory_asked(jobs: Iterable[PhaseJob]) -> float | None:
    """Return the bytes × seconds that containers of jobs had; None if YARN did not report them."""
    found = [entry.application.get("memory_seconds") for entry in jobs]
    known = [float(one) for one in found if one is not None]
    return _MIB * sum(known) if known and len(known) == len(found) else None


def memory_used(series: Iterable[HostSeries], start: float, end: float) -> float | None:
    """Return the bytes × seconds that container processes had in memory between two moments; None if none was seen."""
    total = None
    for host in series:
        seen: dict[tuple[str, int], list[tuple[float, float]]] = {}
        for point in host.points.get("process", ()):
            if point.get("role") == "container" and "memory_resident" in point and start <= point["utc"] <= end:
                key = (point.get("container", ""), point.get("pid", 0))
                seen.setdefault(key, []).append((point["utc"], point["memory_resident"]))
        for readings in seen.values():
            ends = [moment for moment, _ in readings[1:]] + [readings[-1][0] + host.interval]
            for (moment, value), after in zip(readings, ends, strict=True):
                total = (total or 0.0) + value * min(after - moment, _GAP * host.interval)
    return total
