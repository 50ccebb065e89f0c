"""The finished runs of an experiment, and their observations of its effects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from howdah.engine.evidence import metrics
from howdah.engine.experiment.plan import ExperimentPlan
from howdah.errors import Untrusted
from howdah.model.metric import Metric
from howdah.model.run import WARM_UP, Run
from howdah.stats.blocks import Observation
from howdah.stats.design import Slot
from howdah.store import ExperimentDirectory, layout, list_runs, read_run
from howdah.workload.registry import find_workload

TOGETHER = " + "
"""The text between the names of factors, and between levels, that are changed together."""

_FINISHED = ("valid", "invalid", "failed")


@dataclass(frozen=True, slots=True)
class Done:
    """A finished run of the plan: its slot, and its primary metric if it was valid."""

    slot: Slot
    run: Run
    value: float | None


def finished(plan: ExperimentPlan, directory: ExperimentDirectory) -> tuple[Done, ...]:
    """Return the finished runs, in the order of the plan, whatever the clock did meanwhile. An interrupted run does not
    count: it is run again. Neither do warm-up runs, and the runs of a block that was begun again in a later batch job.

    Raises Untrusted for a run in the directory that is not of this experiment. Its workload or its settings then differ
    from the arm that its labels name. Also raises Untrusted for a run that cannot be read, since it would be run again
    in silence.
    """
    found = []
    for path, run in list_runs(directory.runs):
        if isinstance(run, Run):
            if run.outcome.kind in _FINISHED and WARM_UP not in run.labels:
                found.append(as_done(plan, path, run))
        elif (path / layout.RUN).exists():  # Without it, nothing has been measured yet.
            raise Untrusted(
                f"{path} cannot be read: {run}",
                hint="Restore it; or move it away, and its place in the plan is run again.",
            )
    return tuple(sorted(_of_last_jobs(found), key=lambda one: (one.slot.block, one.slot.place)))


def job_within(run: Run) -> str | None:
    """Return the batch job inside which a run was made. None elsewhere, and for a job that was submitted for its
    cluster."""
    allocation = run.cluster.get("allocation", {})
    job: str | None = None if allocation.get("submitted") else allocation.get("key")
    return job


def _of_last_jobs(done: Sequence[Done]) -> Iterable[Done]:
    """Return, for each block, the runs of the last batch job that ran it."""
    jobs: dict[int, str] = {}
    kept: dict[Slot, Done] = {}
    for one in sorted(done, key=lambda one: one.run.start.utc):
        job, block = job_within(one.run), one.slot.block
        if job is not None and jobs.get(block, job) != job:
            kept = {slot: other for slot, other in kept.items() if slot.block != block}
        if job is not None:
            jobs[block] = job
        kept[one.slot] = one
    return kept.values()


def as_done(plan: ExperimentPlan, path: Path, run: Run) -> Done:
    phase, _, metric = plan.primary.partition("/")
    try:
        slot = Slot(*(int(run.labels[name]) for name in ("block", "place", "arm")))
        levels = plan.arms[slot.arm]
    except (KeyError, ValueError, IndexError):
        raise Untrusted(f"{path} is no run of this experiment: its labels name no arm of it") from None
    if run.trial.workload != plan.experiment.workload:
        raise Untrusted(f"{path} is no run of this experiment: it ran {run.trial.workload}")
    held = {**run.trial.settings.get("workload", {}).get("conf", {}), **run.labels}
    for name, level in levels.items():
        if held.get(name) != level:
            raise Untrusted(f"{path} is no run of this experiment: {name} was {held.get(name)}, its arm has {level}")
    samples = read_run(path).samples if run.outcome.kind == "valid" else ()
    values = [one.value for one in samples if one.is_of(phase, metric)]
    return Done(slot, run, values[0] if len(values) == 1 and values[0] > 0 else None)


def metric_of(plan: ExperimentPlan) -> Metric:
    """Return the primary metric."""
    name = plan.primary.partition("/")[2].partition("@")[0]
    known = metrics.metrics_of(find_workload(plan.experiment.workload))
    return known[name]


def terms(plan: ExperimentPlan) -> tuple[tuple[str, str], ...]:
    """Return factor and level of every effect, by its number."""
    factors = plan.experiment.varied
    if plan.experiment.design == "together":
        return ((TOGETHER.join(one.name for one in factors), TOGETHER.join(one.levels[1] for one in factors)),)
    return tuple((factor.name, level) for factor in factors for level in factor.levels[1:])


def observations(plan: ExperimentPlan, done: Sequence[Done]) -> list[Observation]:
    """Return the valid runs as observations of the effects. Runs that were tested again no longer count."""
    if plan.experiment.design == "cic-2014":
        done = [one for one in done if one.slot.block == max(other.slot.block for other in done)]
    return [
        Observation(one.slot.block, arm_terms(plan, one.slot.arm), one.value) for one in done if one.value is not None
    ]


def arm_terms(plan: ExperimentPlan, arm: int) -> tuple[int, ...]:
    """Return the numbers of the effects that an arm has."""
    if plan.experiment.design == "together":
        return (0,) if arm else ()
    numbers = {term: at for at, term in enumerate(terms(plan))}
    return tuple(numbers[term] for term in plan.arms[arm].items() if term in numbers)
