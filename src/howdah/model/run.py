"""One attempt at a trial: its settings, its outcome and its times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from howdah.model.accelerator import NONE
from howdah.model.metric import Metric
from howdah.model.redaction import redacted
from howdah.model.sample import Moment
from howdah.model.storage import HDFS

OutcomeKind = Literal["running", "valid", "invalid", "failed", "aborted"]
PhaseKind = Literal["prepare", "run", "verify"]

SYNTHETIC = "synthetic"
"""The kind of a cluster that is a file with numbers."""

WARM_UP = "warmup"
"""The label of runs that warm the machine up before other runs, and do not count."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a run. Only a `valid` run has samples; every other kind has a reason."""

    kind: OutcomeKind
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """All requested settings, fully resolved: the workload, its settings, the cluster's and Hadoop's.

    Two runs are replicates of one trial if their `identity` is the same.
    """

    workload: str
    settings: Mapping[str, Any]

    @property
    def identity(self) -> str:
        """Sixteen hexadecimal digits of the SHA-256 of the resolved settings."""
        record = [self.workload, redacted(self.settings)]  # As it is kept, so that it is the same when it is read.
        text = json.dumps(record, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def accelerator(self) -> str:
        """The accelerator that the jobs were to use (`howdah.model.accelerator`)."""
        return str(self.settings.get("accelerator", NONE))

    @property
    def storage(self) -> str:
        """The storage of the data, as users write it (`howdah.model.storage`)."""
        return str(self.settings.get("storage", HDFS))


@dataclass(frozen=True, slots=True)
class Phase:
    """One step of a workload. `jobs` are the ids of its Hadoop jobs; `end` is None if it never ended."""

    name: str
    kind: PhaseKind
    start: Moment
    end: Moment | None = None
    jobs: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One check of verification: its name, whether it passed, and the values seen."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Caveat:
    """A warning that a reader needs before believing a number. `about` names a metric, a phase, or "run"."""

    about: str
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """`run.json`: identity and outcome of one attempt; see `docs/reference/run-directory.md`.

    `title` is the display name of the workload.
    """

    id: str
    title: str
    trial: Trial
    outcome: Outcome
    start: Moment
    end: Moment | None
    howdah: str
    command: tuple[str, ...]
    cluster: Mapping[str, Any]
    dataset: Mapping[str, Any] | None = None
    primary: str | None = None
    phases: tuple[Phase, ...] = ()
    checks: tuple[Check, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    metrics: tuple[Metric, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        """Whether no cluster ran it: its numbers are those of a synthetic cluster."""
        return bool(self.cluster.get("kind") == SYNTHETIC)

    @property
    def on_simulated_hosts(self) -> bool:
        """Whether the hosts of its cluster were parts of one machine."""
        return bool(self.cluster.get("allocation", {}).get("kind") == "sim")
