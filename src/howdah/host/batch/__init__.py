"""Batch systems: what Howdah asks of one, in values that are the same for all of them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Protocol

from howdah.errors import HostProblem
from howdah.host.batch.pbs import Pbs
from howdah.host.batch.slurm import Slurm
from howdah.host.batch.states import Job, Step
from howdah.spec.jobs import JobWish

__all__ = ["BATCH_SYSTEMS", "BatchSystem", "Job", "Step", "batch_system_here", "has_ended", "key_of", "own_job_is_over"]


class BatchSystem(Protocol):
    """The commands of one batch system, as this machine has them. Every method raises HostProblem where a command is
    missing, hangs, fails, or prints what nobody expected: what it printed is in the message."""

    kind: str

    def current(self) -> str | None:
        """The job that this process is in."""

    def where(self) -> str:
        """What tells this batch system from others of its kind, whose jobs may have the same numbers."""

    def is_over(self, job: str) -> bool:
        """Whether nothing of a job runs any more: one that is being ended is not over."""

    def look(self, job: str) -> Job | None:
        """What the batch system says of a job; None when it does not know one of that name, or the job has ended."""

    def hosts(self, job: str) -> tuple[str, ...]:
        """The hosts of a job that runs, in its order, by the names that the batch system has for them."""

    def submit(self, wish: JobWish, name: str, script: str, output: str) -> str:
        """Submits a job called `name` that runs a shell script, whose words go to the file `output`; the job's id."""

    def cancel(self, job: str) -> None:
        """Ends a job; one that has ended is fine."""

    def own_jobs(self) -> Sequence[Job]:
        """This user's jobs that wait or run, which Howdah has submitted."""


BATCH_SYSTEMS: Mapping[str, BatchSystem] = {"slurm": Slurm(), "pbs": Pbs()}
"""By kind."""


def key_of(system: BatchSystem, job: str) -> str:
    """What names a job everywhere: KIND:WHERE:ID. Raises HostProblem."""
    return f"{system.kind}:{system.where()}:{job}"


def has_ended(key: str) -> bool:
    """Whether a job is known to be over; False where nobody here can know it."""
    kind, where, job = key.split(":", 2)
    system = BATCH_SYSTEMS[kind]
    try:
        return system.where() == where and system.is_over(job)
    except HostProblem:
        return False


def own_job_is_over(kind: str) -> bool:
    """Whether the job of a batch system of that `kind` that this process is in loses its hosts, or has lost them; False
    outside of jobs, and where the batch system does not say."""
    system = BATCH_SYSTEMS.get(kind)
    try:
        job = None if system is None else system.current()
        return system is not None and job is not None and ((seen := system.look(job)) is None or not seen.runs)
    except HostProblem:
        return False


def batch_system_here() -> str:
    """The kind of batch system that this machine has the commands of. Raises HostProblem where it has none."""
    for kind, command in (("slurm", "squeue"), ("pbs", "qstat")):
        if shutil.which(command) is not None:
            return kind
    raise HostProblem("neither Slurm's `squeue` nor PBS's `qstat` is here", hint="Login nodes have them.")
