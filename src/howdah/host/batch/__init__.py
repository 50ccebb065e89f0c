"""Batch systems: Howdah's questions to one, with answers that are the same for all of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Protocol

from howdah.errors import HostProblem
from howdah.host.batch.pbs import Pbs
from howdah.host.batch.slurm import Slurm
from howdah.host.batch.states import AgentStep, BatchJob
from howdah.spec.jobs import JobWish

__all__ = [
    "BATCH_SYSTEMS",
    "AgentStep",
    "BatchJob",
    "BatchSystem",
    "batch_system_here",
    "has_ended",
    "key_of",
    "own_job_is_over",
]


class BatchSystem(Protocol):
    """The commands of one batch system, as this machine has them. Every method raises HostProblem if a command is
    missing, hangs, fails, or prints something unexpected; the message has the output."""

    kind: str

    def current(self) -> str | None:
        """Return the job that this process is in."""

    def where(self) -> str:
        """Return the name that distinguishes this batch system from others of its kind, whose jobs may have the same
        numbers."""

    def is_over(self, job: str) -> bool:
        """Return whether nothing of a job runs any more: a job that is stopping is not over."""

    def look(self, job: str) -> BatchJob | None:
        """Return the batch system's facts about a job; None if it does not know the job, or if the job has ended."""

    def hosts(self, job: str) -> tuple[str, ...]:
        """Return the hosts of a running job, in its order, by the names that the batch system has for them."""

    def submit(self, wish: JobWish, name: str, script: str, output: str) -> str:
        """Submit a job called `name` that runs a shell script, whose output goes to the file `output`; return the job's
        ID."""

    def cancel(self, job: str) -> None:
        """Cancel a job; a job that has ended is fine."""

    def own_jobs(self) -> Sequence[BatchJob]:
        """Return this user's jobs that wait or run, and that Howdah has submitted."""


BATCH_SYSTEMS: Mapping[str, BatchSystem] = {"slurm": Slurm(), "pbs": Pbs()}
"""Batch systems by kind."""


def key_of(system: BatchSystem, job: str) -> str:
    """Return the name of a job that is unique everywhere: KIND:WHERE:ID. Raises HostProblem."""
    return f"{system.kind}:{system.where()}:{job}"


def has_ended(key: str) -> bool:
    """Return whether a job is known to be over; False if nobody here can know it."""
    kind, where, job = key.split(":", 2)
    system = BATCH_SYSTEMS[kind]
    try:
        return system.where() == where and system.is_over(job)
    except HostProblem:
        return False


def own_job_is_over(kind: str) -> bool:
    """Return whether the job of this process, in a batch system of that `kind`, loses its hosts or has lost them.
    Returns False outside of jobs, and if the batch system does not say."""
    system = BATCH_SYSTEMS.get(kind)
    try:
        job = None if system is None else system.current()
        return system is not None and job is not None and ((seen := system.look(job)) is None or not seen.runs)
    except HostProblem:
        return False


def batch_system_here() -> str:
    """Return the kind of batch system whose commands this machine has. Raises HostProblem if it has none."""
    for kind, command in (("slurm", "squeue"), ("pbs", "qstat")):
        if shutil.which(command) is not None:
            return kind
    raise HostProblem("neither Slurm's `squeue` nor PBS's `qstat` is here", hint="Login nodes have them.")
