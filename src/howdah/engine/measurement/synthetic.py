"""Runs on a synthetic cluster: run directories like those of real runs, with numbers whose causes are in a file.

You can try everything that works on runs without Hadoop and without waiting. Such a run starts when it is made, and its
length is made up. Its samples have the quality `simulated`, and name their file.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import howdah
from howdah.engine.evidence import metrics
from howdah.engine.measurement.request import Measured, Measurement
from howdah.engine.observer import Observer
from howdah.model.environment import Environment
from howdah.model.run import SYNTHETIC, Caveat, Outcome, Phase, Run, Trial
from howdah.model.sample import Moment, Sample
from howdah.model.truth import Truth
from howdah.spec.truth import check_known
from howdah.stats.disturbance import disturbances, failures
from howdah.store import RunWriter, layout, new_run_id
from howdah.workload import Asked, Workload

PREFIX = f"{SYNTHETIC}:"
"""The prefix of the name of a synthetic cluster; its file follows."""


def simulate(measurement: Measurement, truth: Truth, file: Path, observer: Observer) -> Iterator[Measured]:
    """Yield each run once its directory is closed. The disturbance of a run depends on `truth` and on the number of
    runs that have ended. An interrupted series thus goes on as if it had not been interrupted. Raises UsageError."""
    settings = dict(measurement.conf)
    if "nodes" in truth.effects:
        settings.setdefault("nodes", str(measurement.made.nodes))
    check_known(truth, file, settings)
    runs = measurement.runs
    for place, (workload, asked) in enumerate(measurement.workloads):
        for number, one in enumerate(runs, place * len(runs) + 1):
            observer.run_started(one.title(workload), number, len(measurement.workloads) * len(runs))
            yield _Simulation(one, workload, asked, truth, file, settings).closed(observer)


class _Simulation:
    """One run on a synthetic cluster."""

    def __init__(
        self,
        measurement: Measurement,
        workload: Workload,
        asked: Asked,
        truth: Truth,
        file: Path,
        settings: Mapping[str, str],
    ) -> None:
        root = measurement.options.root
        # Who writes a run, or was killed while writing it, holds its lock.
        ended = [path for path in root.iterdir() if not (path / layout.LOCK).exists()] if root.is_dir() else []
        place = measurement.earlier + len(ended)
        log = float(disturbances(truth.noise, truth.seed, 1, place + 1)[0, place])
        self._value = truth.of(settings) * math.exp(log)
        self._fails = bool(failures(truth.failing, truth.seed, place + 1)[place])
        self._settings = settings
        self._file = file
        self._phase, _, self._metric = workload.primary.partition("/")
        begun = time.time()
        self._start = Moment(begun, begun)
        resolved = workload.resolve(asked, {})
        # A setting of the job is one of the workload alone, as on a real cluster.
        own = {name: level for name, level in settings.items() if name not in measurement.conf}
        self._run = Run(
            id=new_run_id(workload.name, begun, place),
            title=workload.title,
            trial=Trial(
                workload.name,
                {"workload": dict(resolved), "cluster": {"kind": SYNTHETIC, "settings": own}},
            ),
            outcome=Outcome("running"),
            start=self._start,
            end=None,
            howdah=howdah.__version__,
            command=tuple(measurement.options.command),
            cluster={"kind": SYNTHETIC, "file": str(file)},
            primary=workload.primary,
            metrics=tuple(metrics.metrics_of(workload).values()),
            caveats=(Caveat("run", f"No cluster ran this: {file} says what its numbers are."),),
            labels=measurement.options.labels,
        )
        self._writer = RunWriter(root, self._run)

    def closed(self, observer: Observer) -> Measured:
        """Close the run, and return it whole."""
        observer.phase_started(self._phase, None)
        unit = next(metric.unit for metric in self._run.metrics if metric.name == self._metric)
        seconds = self._value if unit == "s" else 1.0
        end = Moment(self._start.utc + seconds, self._start.monotonic + seconds)
        self._writer.environment({"before": Environment({SYNTHETIC: {"file": str(self._file)}}, {})})
        self._writer.readback({f"{self._phase}/{key}": [level] for key, level in self._settings.items()})
        error = "it fails as often as the file says" if self._fails else None
        phase = Phase(self._phase, "run", self._start, end, error=error)
        if not self._fails:
            self._writer.samples(
                [
                    Sample(
                        self._metric,
                        self._value,
                        unit,
                        "simulated",
                        str(self._file),
                        SYNTHETIC,
                        "job",
                        self._phase,
                        end,
                    )
                ]
            )
        outcome = Outcome("failed", error) if self._fails else Outcome("valid")
        run = replace(self._run, phases=(phase,), outcome=outcome, end=end)
        self._writer.save(run)
        self._writer.close()
        observer.phase_ended(self._phase, None if self._fails else seconds)
        observer.run_ended(run)
        return Measured(run, self._writer.path)
