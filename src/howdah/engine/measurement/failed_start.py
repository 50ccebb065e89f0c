"""Runs without a result: no cluster came up, or the cluster refused the job. They are kept like other failed runs."""

from __future__ import annotations

import howdah
from howdah.engine.evidence import metrics
from howdah.engine.measurement.request import Measured, Measurement
from howdah.engine.observer import Observer
from howdah.engine.run.client import now
from howdah.errors import HowdahError
from howdah.model.environment import Environment
from howdah.model.run import Outcome, Run, Trial
from howdah.model.sample import Moment
from howdah.store import RunWriter, new_run_id


def keep_failed_start(measurement: Measurement, begun: Moment, error: HowdahError, observer: Observer) -> Measured:
    """Keep and return the failed run of the one workload of `measurement`. It was attempted from `begun` until now,
    when `error` was raised. The run records the request alone: values that a cluster would have resolved are unknown.

    Raises HostProblem if the run's directory cannot be made.
    """
    [(workload, _)] = measurement.workloads
    made = measurement.made
    run = Run(
        id=new_run_id(workload.name, begun.utc),
        title=workload.title,
        trial=Trial(
            workload.name,
            {
                "workload": {"conf": dict(measurement.conf)},
                "cluster": {
                    "kind": "managed",
                    "allocation": made.allocation,
                    "nodes": made.nodes,
                    "hadoop": made.hadoop,
                },
            },
        ),
        outcome=Outcome("failed", str(error)),
        start=begun,
        end=now(),
        howdah=howdah.__version__,
        command=tuple(measurement.options.command),
        cluster={"kind": "managed", "nodes": made.nodes},
        primary=workload.primary,
        metrics=tuple(metrics.metrics_of(workload).values()),
        labels=measurement.options.labels,
    )
    writer = RunWriter(measurement.options.root, run)
    writer.environment({"before": Environment({}, {})})
    writer.close()
    observer.run_ended(run)
    return Measured(run, writer.path)
