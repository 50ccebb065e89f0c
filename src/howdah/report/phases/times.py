"""The use of time: pieces of each phase, and task-seconds of each job by step."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from howdah.model.job import Job
from howdah.model.run import Phase
from howdah.report.document.drawing import Bar, BarPart, Bars
from howdah.report.document.theme import STEP_HEIGHTS, step_colour
from howdah.report.phases.jobs import PhaseJob, steps_of

SUCCEEDED = "SUCCEEDED"
_ORDER = ("tasks", "starting", "ending")


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """The seconds of one phase, in pieces that add up to `seconds`.

    In `outside`, no job was under way (the client's JVM starting, ending, or working on its own). `starting` is from a
    job's submission to its first attempt. `tasks` is from there to the end of the last attempt. `ending` is from there
    to the job's finish.
    """

    phase: str
    seconds: float
    outside: float
    starting: float
    tasks: float
    ending: float


def phase_times(phases: Sequence[Phase], jobs: Sequence[PhaseJob]) -> tuple[PhaseTime, ...]:
    """Return the pieces of every phase that ended. Seconds that several jobs of a phase share count once."""
    found = []
    for phase in phases:
        if phase.end is None:
            continue
        own = [entry.job for entry in jobs if entry.phase == phase.name]
        seconds = phase.end.monotonic - phase.start.monotonic
        starting, tasks, ending = _pieces(own)
        outside = max(0.0, seconds - starting - tasks - ending)
        found.append(PhaseTime(phase.name, seconds, outside, starting, tasks, ending))
    return tuple(found)


def phase_bars(times: Sequence[PhaseTime]) -> Bars:
    """Return one bar per phase."""
    bars = [
        Bar(
            time.phase,
            (
                BarPart("no job under way", "outside", time.outside),
                BarPart("job starting", "starting", time.starting),
                BarPart("tasks", "tasks", time.tasks),
                BarPart("job ending", "ending", time.ending),
            ),
        )
        for time in times
    ]
    return Bars("seconds", "s", tuple(bars))


def step_seconds(job: Job) -> dict[str, float]:
    """Return task-seconds of the succeeded attempts by step, in the order of `STEP_HEIGHTS`; others come last."""
    sums: dict[str, float] = {}
    for attempt in job.attempts:
        if attempt.state == SUCCEEDED:
            for name, span in steps_of(attempt).items():
                sums[name] = sums.get(name, 0.0) + span.seconds
    order = list(STEP_HEIGHTS)
    return dict(sorted(sums.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def lost_seconds(job: Job) -> float:
    """Return the task-seconds of the attempts that failed or were killed."""
    return sum(attempt.whole.seconds for attempt in job.attempts if attempt.state != SUCCEEDED)


def step_bars(jobs: Sequence[PhaseJob]) -> Bars:
    """Return one bar per job that had attempts."""
    bars = []
    for entry in jobs:
        parts = [BarPart(name, step_colour(name), seconds) for name, seconds in step_seconds(entry.job).items()]
        if lost := lost_seconds(entry.job):
            parts.append(BarPart("failed or killed", "failed", lost))
        if parts:
            bars.append(Bar(job_name(entry, jobs), tuple(parts)))
    return Bars("task-seconds", "s", tuple(bars))


def job_name(entry: PhaseJob, jobs: Sequence[PhaseJob]) -> str:
    """Return the phase, with the job's number in it if the phase ran several jobs."""
    own = [other for other in jobs if other.phase == entry.phase]
    return entry.phase if len(own) == 1 else f"{entry.phase} {own.index(entry) + 1}"


def _pieces(jobs: Sequence[Job]) -> tuple[float, float, float]:
    """Return the seconds in which a job was starting, had tasks, or was ending.

    If several jobs are under way, tasks come first, then starts.
    """
    spans = [span for job in jobs for span in _job_spans(job)]
    sums = dict.fromkeys(_ORDER, 0.0)
    borders = sorted({moment for _, start, end in spans for moment in (start, end)})
    for start, end in itertools.pairwise(borders):
        under_way = {kind for kind, first, last in spans if first <= start and end <= last}
        for kind in _ORDER:
            if kind in under_way:
                sums[kind] += end - start
                break
    return sums["starting"], sums["tasks"], sums["ending"]


def _job_spans(job: Job) -> list[tuple[str, float, float]]:
    if not job.attempts:
        return [("starting", job.submit, job.finish)]
    first = min(attempt.whole.start for attempt in job.attempts)
    last = max(attempt.whole.end for attempt in job.attempts)
    return [("starting", job.submit, first), ("tasks", first, last), ("ending", last, job.finish)]
