"""The jobs of a run, read back from `jobs/JOB_ID.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from howdah.model.job import Attempt, Job, Span
from howdah.store import StoredRun


@dataclass(frozen=True, slots=True)
class PhaseJob:
    """A job and the phase that ran it. `application` is YARN's account of the job; empty if unknown."""

    phase: str
    job: Job
    application: Mapping[str, Any]


def read_jobs(run: StoredRun) -> tuple[tuple[PhaseJob, ...], tuple[str, ...]]:
    """Return the jobs in the order of the phases, and a sentence for each job that cannot be shown."""
    jobs, problems = [], []
    for phase in run.run.phases:
        for job_id in phase.jobs:
            try:
                record = run.job_file(f"{job_id}.json")
                if record is None:
                    problems.append(f"phase {phase.name}: the history of {job_id} is missing")
                else:
                    jobs.append(PhaseJob(phase.name, _decode_job(record), record.get("application") or {}))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                problems.append(f"phase {phase.name}: the history of {job_id} cannot be read ({error!r})")
    return tuple(jobs), tuple(problems)


def steps_of(attempt: Attempt) -> Mapping[str, Span]:
    """Return the attempt's steps, or the whole attempt under its kind if the history has no steps."""
    return attempt.steps or {attempt.kind: attempt.whole}


def _decode_job(record: Mapping[str, Any]) -> Job:
    return Job(
        id=record["id"],
        name=record["name"],
        user=record["user"],
        queue=record["queue"],
        state=record["state"],
        submit=record["submit"],
        launch=record["launch"],
        finish=record["finish"],
        maps=record["maps"],
        reduces=record["reduces"],
        counters=record["counters"],
        map_counters=record["map_counters"],
        reduce_counters=record["reduce_counters"],
        attempts=tuple(_decode_attempt(attempt) for attempt in record["attempts"]),
        diagnostics=record.get("diagnostics"),
        uberized=record.get("uberized", False),
    )


def _decode_attempt(record: Mapping[str, Any]) -> Attempt:
    return Attempt(
        id=record["id"],
        task=record["task"],
        kind=record["kind"],
        state=record["state"],
        node=record["node"],
        container=record["container"],
        whole=Span(**record["whole"]),
        steps={name: Span(**span) for name, span in record["steps"].items()},
        counters=record["counters"],
        error=record.get("error"),
    )
