"""Execution of an experiment: every run on a cluster of its own, in the order of the plan, until there are enough.

The effect of a restart of the cluster is thus in the noise of every comparison, whatever the factor.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from howdah.cluster.request import ClusterRequest
from howdah.engine.experiment.by_hand import ByHand
from howdah.engine.experiment.exploration import propose
from howdah.engine.experiment.factors import Conditions
from howdah.engine.experiment.plan import ExperimentPlan, arm_conditions, asked, least_blocks, simulated_settings
from howdah.engine.experiment.results import Done, as_done, finished, job_within, metric_of, observations
from howdah.engine.measurement.failed_start import keep_failed_start
from howdah.engine.measurement.measure import measure
from howdah.engine.measurement.request import Measured, Measurement
from howdah.engine.measurement.synthetic import PREFIX
from howdah.engine.observer import Observer
from howdah.engine.run.client import now
from howdah.engine.run.execution import RunOptions
from howdah.errors import HostsTaken, HowdahError, WorkloadFailed
from howdah.hadoop.configuration.sizing import Sizing
from howdah.host.batch import has_ended, own_job_is_over
from howdah.model.run import WARM_UP, Run
from howdah.spec.meters import NO_METERS, meters_of
from howdah.spec.simulation import parse_simulation
from howdah.stats.blocks import effects, enough
from howdah.stats.design import Slot, schedule
from howdah.store import ExperimentDirectory
from howdah.workload.registry import find_workload

_IN_A_ROW = 3
"""The failed runs in a row that stop an experiment: their cause would stop the next run too."""


_WIDE, _TESTS = 0.2, 4
"""The limits of the policy cic-2014: the spread from which everything is tested again, and the most tests."""

_TELLING, _FAR = 5, 2.5
"""The limits of a search: the valid runs from which it stops slow ones, and the multiple of the shortest time that is
slow."""


@dataclass(frozen=True, slots=True)
class Status:
    """The progress of an experiment. `least` and `most` are the bounds of its number of runs. `next` is None once there
    are enough runs. `seconds` is the median time from the start of one run to the start of the next."""

    plan: ExperimentPlan
    done: tuple[Done, ...]
    least: int
    most: int
    next: Slot | None
    seconds: float | None

    @classmethod
    def of(cls, plan: ExperimentPlan, directory: ExperimentDirectory) -> Status:
        """Return the status of the experiment in `directory` now."""
        return cls.after(plan, finished(plan, directory))

    @classmethod
    def after(cls, plan: ExperimentPlan, done: Sequence[Done]) -> Status:
        """Return the status after the runs `done`."""
        slot, design = next_slot(plan, done), plan.experiment.design
        starts = sorted(one.run.start.utc for one in done)
        steps = [later - earlier for earlier, later in itertools.pairwise(starts)]
        seconds = statistics.median(steps) if steps else None
        if slot is None:
            return cls(plan, tuple(done), len(done), len(done), slot, seconds)
        if design == "search":
            return cls(plan, tuple(done), plan.least_runs, plan.least_runs, slot, seconds)
        blocks = max(least_blocks(plan.experiment), slot.block + 1)
        most = _TESTS if design == "cic-2014" else plan.experiment.stop.most
        runs = [len(block_slots(plan, block)) for block in range(max(blocks, most))]
        return cls(plan, tuple(done), sum(runs[:blocks]), sum(runs), slot, seconds)

    @property
    def outcomes(self) -> dict[str, int]:
        """The number of runs by outcome."""
        return dict(Counter(one.run.outcome.kind for one in self.done))

    @property
    def remaining_seconds(self) -> tuple[float, float] | None:
        """The seconds that remain, at least and at most; None if nothing is known."""
        if self.seconds is None:
            return None
        return self.seconds * (self.least - len(self.done)), self.seconds * (self.most - len(self.done))

    def facts(self) -> dict[str, Any]:
        """Return the status as plain values, for programs."""
        return {
            "question": self.plan.experiment.question,
            "runs": len(self.done),
            "outcomes": self.outcomes,
            "runs_at_least": self.least,
            "runs_at_most": self.most,
            "finished": self.next is None,
            "seconds_per_run": self.seconds,
            "remaining_seconds_at_least": None if self.remaining_seconds is None else self.remaining_seconds[0],
            "remaining_seconds_at_most": None if self.remaining_seconds is None else self.remaining_seconds[1],
        }


def run_experiment(
    plan: ExperimentPlan,
    directory: ExperimentDirectory,
    command: Sequence[str],
    observer: Observer,
    by_hand: ByHand | None,
) -> Iterator[Measured]:
    """Run what is missing, and yield each run once its directory is closed. `by_hand` brings external factors to their
    levels; None if there are no such factors, or no machine.

    Raises:
        WorkloadFailed: several runs in a row went wrong.
        HostsTaken: the batch job that this runs in is at its end.
        HowdahError: nobody is there to change a factor by hand.
        KeyboardInterrupt: the running run was closed as aborted; `resume` runs it again.
    """
    with directory.held():
        done = list(without_cut_block(plan, finished(plan, directory)))
        while (slot := next_slot(plan, done)) is not None:
            if by_hand is not None:
                for factor in plan.experiment.factors:
                    if factor.external:
                        level = plan.arms[slot.arm][factor.name]
                        same = bool(done) and plan.arms[done[-1].slot.arm][factor.name] == level
                        by_hand.bring(factor, level, anew=same and factor in plan.experiment.varied)
            measured = _measured(plan, slot, done, directory, command, observer)
            yield measured
            done.append(as_done(plan, measured.path, measured.run))
            _check_outcomes(plan, done, directory.runs)


def without_cut_block(
    plan: ExperimentPlan, done: Sequence[Done], has_ended: Callable[[str], bool] = has_ended
) -> Sequence[Done]:
    """Return `done` without the last block, if that is incomplete and its batch job has ended. The next job has other
    hosts, and runs of one block are compared within one job."""
    if plan.experiment.design == "search" or not done:
        return done
    last = done[-1].slot.block
    block = [one for one in done if one.slot.block == last]
    jobs = {job for one in block if (job := job_within(one.run)) is not None}
    if len(block) < len(block_slots(plan, last)) and any(has_ended(job) for job in jobs):
        return [one for one in done if one.slot.block != last]
    return done


def next_slot(plan: ExperimentPlan, done: Sequence[Done]) -> Slot | None:
    """Return the first slot of the plan without a finished run; None once there are enough whole blocks."""
    if plan.experiment.design == "search":
        return None if _is_spent(plan, done) else propose(plan, done, metric_of(plan).better)
    ended = {one.slot for one in done}
    for block in range(plan.experiment.stop.most):
        if _is_over(plan, [one for one in done if one.slot.block < block], block):
            return None
        for slot in block_slots(plan, block):
            if slot not in ended:
                return slot
    return None


def block_slots(plan: ExperimentPlan, block: int) -> tuple[Slot, ...]:
    """Return the slots of one block, in their order."""
    order = schedule(plan.experiment.design, len(plan.arms), block + 1, plan.experiment.seed)
    return tuple(slot for slot in order if slot.block == block)


def _is_over(plan: ExperimentPlan, done: Sequence[Done], blocks: int) -> bool:
    """Return whether `blocks` whole blocks, whose runs are `done`, are enough."""
    stop = plan.experiment.stop
    if _is_spent(plan, done):
        return True
    if plan.experiment.design == "cic-2014":
        last = [one for one in done if one.slot.block == blocks - 1]
        return blocks > 0 and (blocks >= _TESTS or not _spread_out(last))
    return blocks >= stop.least and enough(effects(observations(plan, done), stop.least), stop, blocks)


def _spread_out(done: Sequence[Done]) -> bool:
    """Return whether the standard deviation of an arm exceeds a fifth of its mean, the limit of the policy cic-2014."""
    arms: dict[int, list[float]] = {}
    for one in done:
        if one.value is not None:
            arms.setdefault(one.slot.arm, []).append(one.value)
    return any(
        statistics.stdev(values) > _WIDE * statistics.fmean(values) for values in arms.values() if len(values) > 1
    )


def _is_spent(plan: ExperimentPlan, done: Sequence[Done]) -> bool:
    """Return whether `done` took as long as the experiment may take."""
    budget = plan.experiment.stop.budget_seconds
    spent = sum(one.run.end.monotonic - one.run.start.monotonic for one in done if one.run.end is not None)
    return budget is not None and spent >= budget


def _check_outcomes(plan: ExperimentPlan, done: Sequence[Done], runs: Path) -> None:
    if plan.experiment.design == "search" and any(one.value is not None for one in done):
        return  # Settings that do not work are found among those that it tries.
    last = done[-_IN_A_ROW:]
    if len(last) == _IN_A_ROW and all(one.value is None for one in last):
        reason = last[-1].run.outcome.reason or f"it has no {plan.primary}, or more than one"
        raise WorkloadFailed(
            f"{_IN_A_ROW} runs in a row went wrong, the last: {reason}",
            hint=f"`howdah show {runs / last[-1].run.id}` says more.",
        )


def _limit(plan: ExperimentPlan, done: Sequence[Done]) -> float:
    """Return the seconds after which a run is stopped. A search needs no exact value of a run that is far from the
    best."""
    lengths = [one.run.end.monotonic - one.run.start.monotonic for one in done if one.value and one.run.end]
    if plan.experiment.design != "search" or len(lengths) < _TELLING:
        return plan.limit_seconds
    return min(plan.limit_seconds, _FAR * min(lengths))


def _measured(
    plan: ExperimentPlan,
    slot: Slot,
    done: Sequence[Done],
    directory: ExperimentDirectory,
    command: Sequence[str],
    observer: Observer,
) -> Measured:
    experiment, arm = plan.experiment, plan.arms[slot.arm]
    workload = find_workload(experiment.workload)
    earlier: Iterable[tuple[ClusterRequest, Run]] = ()
    if directory.synthetic is None:
        found = arm_conditions(experiment, arm)
        earlier = ((arm_conditions(experiment, plan.arms[one.slot.arm]).made, one.run) for one in done)
    else:  # Its file says what every setting does, whatever the name.
        found = Conditions(ClusterRequest("experiment"), simulated_settings(experiment, arm))
    options = RunOptions(
        root=directory.runs,
        command=command,
        limit_seconds=_limit(plan, done),
        labels={
            **{name: level for name, level in arm.items() if name not in found.conf},
            "block": str(slot.block),
            "place": str(slot.place),
            "arm": str(slot.arm),
        },
        cold=found.cold,
        fault=found.fault,
        meters=NO_METERS if experiment.meters is None else meters_of(experiment.meters),
    )
    measurement = Measurement(
        workloads=[(workload, asked(workload, experiment.options, found.conf))],
        conf=found.conf,
        made=_sized(found.made, earlier),
        options=options,
        cluster=None if directory.synthetic is None else f"{PREFIX}{directory.synthetic}",
        earlier=directory.earlier,
        warmup=experiment.warmup,
    )
    return _attempted(measurement, observer)


def _sized(made: ClusterRequest, earlier: Iterable[tuple[ClusterRequest, Run]]) -> ClusterRequest:
    """Return `made` with the sizes of the first of the `earlier` clusters that was like it. The free resources of the
    machine change from run to run; containers are not to change with them."""
    for before, run in earlier:
        if _resources(before) == _resources(made) and "sizing" in run.cluster:
            return replace(made, sizing=Sizing(**run.cluster["sizing"]))
    return made


def _resources(made: ClusterRequest) -> tuple[object, ...]:
    """Return what sizes of containers follow from: the nodes, and the processors and the memory of their hosts."""
    kind, _, argument = made.allocation.partition(":")
    if kind != "sim":
        return made.nodes, made.processors, made.allocation
    hosts = parse_simulation(argument)
    return made.nodes, made.processors, kind, hosts.hosts, hosts.cpus, hosts.memory


def _attempted(
    measurement: Measurement, observer: Observer, is_over: Callable[[str], bool] = own_job_is_over
) -> Measured:
    """Return the one run of `measurement` that counts, or a warm-up run that went wrong. If no cluster comes up with
    its settings, or if the cluster cannot run the job, the run counts as failed. Raises HostsTaken if the batch job has
    no time left."""
    begun, attempt = now(), measure(measurement, observer)
    try:
        measured = next(attempt)
        while WARM_UP in measured.run.labels and measured.run.outcome.kind == "valid":
            measured = next(attempt)
    except HostsTaken:
        raise
    except HowdahError as error:
        if measurement.cluster is not None:
            raise
        if is_over(measurement.made.allocation.partition(":")[0]):
            raise HostsTaken(f"the batch job ends: {error.message}") from error
        return keep_failed_start(measurement, begun, error, observer)
    next(attempt, None)  # Ends the cluster.
    return measured
