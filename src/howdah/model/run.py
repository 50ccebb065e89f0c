"""One attempt at a trial: what was asked, what happened, and when."""

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
"""The label of runs that came before others to warm the machine up, and do not count."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. Only a `valid` run has samples; every other kind has a reason."""

    kind: OutcomeKind
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """Everything that was asked for, fully resolved: the workload, its settings, the cluster's and Hadoop's.

    Two runs are replicates of one trial when `identity` agrees.
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
        """What its jobs were to be accelerated by (`howdah.model.accelerator`)."""
        return str(self.settings.get("accelerator", NONE))

    @property
    def storage(self) -> str:
        """Where its data was, as one writes it (`howdah.model.storage`)."""
        return str(self.settings.get("storage", HDFS))


@dataclass(frozen=True, slots=True)
class Phase:
    """One step of a workload. `jobs` are the Hadoop job ids it ran; `end` is None when it never ended."""

    name: str
    kind: PhaseKind
    start: Moment
    end: Moment | None = None
    jobs: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that verification looked at: what, whether it held, and the values seen."""

    name: str
    passed: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Caveat:
    """What a reader must know before believing a number. `about` names a metric, a phase, or "run"."""

    about: str
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """`run.json`: identity and outcome of one attempt; see `docs/reference/run-directory.md`.

    `title` is what people call the workload.
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
        """Whether no cluster ran it: its numbers are those of a synthetic one."""
        return bool(self.cluster.get("kind") == SYNTHETIC)
