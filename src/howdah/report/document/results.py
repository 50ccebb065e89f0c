"""The samples of runs by their meaning: one value per run, phase and metric."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from howdah.model.comparison import Summary
from howdah.model.metric import Metric
from howdah.model.sample import Sample
from howdah.report.document.blocks import Fold, Text
from howdah.report.document.wording import BETTER, sentence
from howdah.stats import summarise
from howdah.store import StoredRun

CALIBRATION = "calibration"
"""The phase of the samples from calibration. They are the bounds of the hosts, not results."""


WHOLE = ("job", "client", "machine", "probe")
"""Roles that a phase has only once, so that a metric needs no role in its name.

A phase has several of every other role, such as daemons.
"""


@dataclass(frozen=True, slots=True, order=True)
class Measure:
    """A metric of a phase, and of a role if a phase has several.

    An empty phase is the whole run; an empty role is no particular role.
    """

    phase: str
    metric: str
    role: str = ""

    def __str__(self) -> str:
        return f"{self.phase}/{self.name}" if self.phase else self.name

    @property
    def name(self) -> str:
        """The metric with its role: cpu_seconds, daemon_cpu_seconds@namenode."""
        return f"{self.metric}@{self.role}" if self.role else self.metric

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Return the measure written as `phase/metric`, or `phase/metric@role`; without `phase/`, of the whole run."""
        phase, _, name = text.rpartition("/")
        metric, _, role = name.partition("@")
        return cls(phase, metric, role)


@dataclass(frozen=True, slots=True)
class Replicates:
    """All runs of one trial, in the order made."""

    runs: tuple[StoredRun, ...]

    @property
    def valid(self) -> tuple[StoredRun, ...]:
        return tuple(run for run in self.runs if run.run.outcome.kind == "valid")

    @property
    def first(self) -> StoredRun:
        return (self.valid or self.runs)[0]

    @property
    def primary(self) -> Measure | None:
        """The primary metric of the valid runs; None if they have none or no value for it."""
        names = {run.run.primary for run in self.valid}
        name = names.pop() if len(names) == 1 else None
        measure = Measure.parse(name) if name else None
        return measure if measure and values(self.valid, measure) else None

    @property
    def shown(self) -> StoredRun:
        """The run to show in detail: the valid run nearest to the median of the primary metric."""
        measure = self.primary
        if measure is None:
            return self.first
        middle = statistics.median(values(self.valid, measure))

        def distance(run: StoredRun) -> float:
            value = run_value(run, measure)
            return float("inf") if value is None else abs(value - middle)

        return min(self.valid, key=distance)


def definition(measure: str, metric: Metric) -> Fold:
    """Return the definition of a metric, which the reader can unfold."""
    return Fold(f"What {measure} measures", (Text(f"{sentence(metric.definition)} {BETTER[metric.better]}"),))


def group(runs: Sequence[StoredRun]) -> tuple[Replicates, ...]:
    """Return `runs` by trial, each group and the groups in order of start. A run given twice counts once."""
    groups: dict[str, dict[str, StoredRun]] = {}
    for run in sorted(runs, key=lambda run: (run.run.start.utc, run.run.id)):
        groups.setdefault(run.run.trial.identity, {})[run.run.id] = run
    return tuple(Replicates(tuple(members.values())) for members in groups.values())


def run_value(run: StoredRun, measure: Measure) -> float | None:
    """Return the run's value; the median of several samples, such as one per host; None without samples."""
    found = [sample.value for sample in run.samples if measure_of(sample) == measure]
    return statistics.median(found) if found else None


def values(runs: Sequence[StoredRun], measure: Measure) -> list[float]:
    """Return the value of every run that has one, in order."""
    found = (run_value(run, measure) for run in runs)
    return [value for value in found if value is not None]


def measure_of(sample: Sample) -> Measure:
    return Measure(sample.phase or "", sample.metric, "" if sample.role in WHOLE else sample.role)


def measures(runs: Sequence[StoredRun]) -> tuple[Measure, ...]:
    """Return the measures of registered metrics in `runs`: phases in the order of the runs, metrics as registered."""
    phases = [""] + [phase.name for run in runs for phase in run.run.phases]
    metrics = [metric.name for run in runs for metric in run.run.metrics]
    samples = [sample for run in runs for sample in run.samples if sample.phase != CALIBRATION]
    found = {measure_of(sample) for sample in samples if sample.metric in metrics}

    def place(measure: Measure) -> tuple[int, int, Measure]:
        return (
            phases.index(measure.phase) if measure.phase in phases else len(phases),
            metrics.index(measure.metric),
            measure,
        )

    return tuple(sorted(found, key=place))


def unregistered(runs: Sequence[StoredRun]) -> list[str]:
    """Return the metrics that have samples but no definition. No report shows them."""
    known = registered(runs)
    return sorted({sample.metric for run in runs for sample in run.samples} - known.keys())


def registered(runs: Sequence[StoredRun]) -> dict[str, Metric]:
    """Return the metrics that `runs` define, by name; the last definition counts."""
    return {metric.name: metric for run in runs for metric in run.run.metrics}


def summary(runs: Sequence[StoredRun], measure: Measure) -> Summary | None:
    """Return the summary of the runs' values; None if no run has one."""
    found = values(runs, measure)
    return summarise(found) if found else None
