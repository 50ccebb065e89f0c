"""Waiting until a phase of a run, which another process has begun, has done a share of its work."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.observer import JobProgress
from howdah.engine.run.client import Follower, now
from howdah.engine.run.session import run_tag
from howdah.errors import UsageError, WorkloadFailed
from howdah.model.run import Run
from howdah.store import known_runs, runs_under_way

_INTERVAL_SECONDS = 0.2
_WHEN = re.compile(r"([a-z0-9-]+):([0-9]{1,2})%?")


@dataclass(frozen=True, slots=True)
class When:
    """The moment when the jobs of `phase` have done the share `at` of their maps and reduces."""

    phase: str
    at: float

    def __str__(self) -> str:
        return f"{self.at:.0%} of {self.phase}"


def parse_when(text: str) -> When:
    """Return the moment of a text: `sort:50%`, or `sort:50`. Raises UsageError."""
    found = _WHEN.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} is no moment of a run", hint="Write PHASE:PERCENT, as sort:50.")
    return When(found[1], int(found[2]) / 100)


def share_done(progress: JobProgress) -> float | None:
    """Return the mean of the shares of maps and of reduces that are done, 0 to 1; None if neither is known."""
    shares = [share for share in (progress.map, progress.reduce) if share is not None]
    return sum(shares) / len(shares) if shares else None


def run_on(cluster: str) -> Run | None:
    """Return the run that is under way on the cluster with this name, if it is in its usual place."""
    for root in known_runs():
        for run in runs_under_way(root):
            if run.cluster.get("name") == cluster:
                return run
    return None


def follow(cluster: LiveCluster) -> Callable[[Run, str], float | None]:
    """Return a function for the share of a phase of a run on `cluster` that is done, 0 to 1; None before its job
    serves."""
    followers: dict[str, Follower] = {}

    def look(run: Run, phase: str) -> float | None:
        tag = f"{run_tag(run.id)}-{phase}"
        if tag not in followers:
            followers[tag] = Follower(cluster, tag, now())
        return share_done(followers[tag].look())

    return look


def wait_until(
    when: When,
    under_way: Callable[[], Run | None],
    done: Callable[[Run, str], float | None],
    sleep: Callable[[float], None] = time.sleep,
) -> Run:
    """Wait for the moment, and return the run. `under_way` returns the run that is on the cluster now; a run that is
    still to come is waited for. `done` is the result of `follow`.

    Raises WorkloadFailed if the run, or the phase, ends before.
    """
    seen: Run | None = None
    while True:
        run = under_way()
        if seen is not None and (run is None or run.id != seen.id):
            raise WorkloadFailed(f"{seen.id} ended before {when}")
        seen = run
        phase = None if run is None else next((one for one in run.phases if one.name == when.phase), None)
        if run is not None and phase is not None:
            if phase.end is not None:
                raise WorkloadFailed(f"{when.phase} of {run.id} ended before {when}")
            if (done(run, when.phase) or 0.0) >= when.at:
                return run
        sleep(_INTERVAL_SECONDS)
