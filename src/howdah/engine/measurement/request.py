"""What is asked for when workloads are measured, and what comes of it."""

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
    """What is to be measured: workloads in their order, and what was asked of each; `conf` are Hadoop keys for all.

    Every run has `options`. Before the `repeat` runs of a workload come `warmup` ones that do not count. `cluster` is a
    name, `conf:DIR`, `synthetic:FILE`, or None for a cluster made for this and ended after it, as `made` says.
    `earlier` is how many runs of the same series are in another directory than the options' root. `storage` is the one
    of the cluster's storages that the workloads use; None for its default. With `leave_out`, workloads that cannot be
    run there are left out, as long as there are others.
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
        """For each run of a workload, the measurement that it is of: warm-up runs have a label of their own."""
        options = replace(self.options, labels={**self.options.labels, WARM_UP: "yes"})
        return (*([replace(self, options=options)] * self.warmup), *([self] * self.repeat))

    def title(self, workload: Workload) -> str:
        """What people call a run of it."""
        return f"{workload.title} (warm-up)" if WARM_UP in self.options.labels else workload.title


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished run and its directory. `refused` is what was wrong with what was asked, where only the run itself
    could tell."""

    run: Run
    path: Path
    refused: UsageError | None = None
