"""The request to measure workloads, and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from howdah.cluster.request import ClusterRequest
from howdah.engine.run.execution import RunOptions
from howdah.errors import UsageError
from howdah.model.run import WARM_UP, Run
from howdah.workload import Asked, Workload


@dataclass(frozen=True, slots=True)
class Measurement:
    """Workloads to measure, in their order, each with its own request. `conf` are Hadoop keys for all; every run has
    `options`. Before the `repeat` runs of a workload come `warmup` runs that do not count.

    `cluster` is a name, `conf:DIR` or `synthetic:FILE`. None stands for a cluster that is made for this measurement, as
    `made` says, and shut down after it. `earlier` is how many runs of the same series are in a directory other than the
    options' root. `storage` is the one of the cluster's storages that the workloads use; None for its default. With
    `leave_out`, workloads that cannot run there are left out, as long as others remain.
    """

    workloads: Sequence[tuple[Workload, Asked]]
    conf: Mapping[str, str]
    made: ClusterRequest
    options: RunOptions
    repeat: int = 1
    cluster: str | None = None
    calibrated: bool = True
    earlier: int = 0
    storage: str | None = None
    leave_out: bool = False
    warmup: int = 0

    @property
    def runs(self) -> Sequence[Measurement]:
        """For each run of a workload, the measurement that it belongs to. Warm-up runs have a label of their own. They
        have no fault, which would happen before the run that counts."""
        options = replace(self.options, labels={**self.options.labels, WARM_UP: "yes"}, fault=None)
        return (*([replace(self, options=options)] * self.warmup), *([self] * self.repeat))

    def title(self, workload: Workload) -> str:
        """Return the title of a run of `workload`."""
        return f"{workload.title} (warm-up)" if WARM_UP in self.options.labels else workload.title


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished run and its directory. `refused` is the error in the request, if only the run itself could find
    it."""

    run: Run
    path: Path
    refused: UsageError | None = None
