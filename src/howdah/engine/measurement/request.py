"""What is asked for when workloads are measured, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from howdah.cluster.request import ClusterRequest
from howdah.engine.run.faults import Fault
from howdah.errors import UsageError
from howdah.model.run import Run
from howdah.workload import Asked, Workload


@dataclass(frozen=True, slots=True)
class Measurement:
    """What is to be measured: workloads in their order, and what was asked of each; `conf` are Hadoop keys for all.

    `cluster` is a name, `conf:DIR`, `synthetic:FILE`, or None for a cluster made for this and ended after it, as `made`
    says. `command` is what one types to repeat it. `probes` None means all of them. `reuse` keeps the generated data in
    the storage, and uses what an earlier run has kept. A run that takes longer than `limit_seconds` fails. `earlier` is
    how many runs of the same series are in another directory than `root`. Files are out of the page cache when each
    phase of the workload begins if `cold`; `fault` is the daemon that is killed in the measured one. `storage` is the
    one of the cluster's storages that the workloads use; None for its default. With `leave_out`, workloads that cannot
    be run there are left out, as long as there are others.
    """

    workloads: Sequence[tuple[Workload, Asked]]
    conf: Mapping[str, str]
    repeat: int
    root: Path
    command: Sequence[str]
    made: ClusterRequest
    cluster: str | None = None
    probes: tuple[str, ...] | None = None
    calibrated: bool = True
    labels: Mapping[str, str] = field(default_factory=dict)
    reuse: bool = False
    limit_seconds: float | None = None
    earlier: int = 0
    cold: bool = False
    fault: Fault | None = None
    storage: str | None = None
    leave_out: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished run and its directory. `refused` is what was wrong with what was asked, where only the run itself
    could tell."""

    run: Run
    path: Path
    refused: UsageError | None = None
