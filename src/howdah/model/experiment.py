"""A question about a cluster, and how it is to be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Design = Literal["one-at-a-time", "full", "fractional", "blocks", "screening"]


@dataclass(frozen=True, slots=True)
class Factor:
    """What an experiment varies, and the values it takes as they are written; the first is the baseline's."""

    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StopRule:
    """When there are enough blocks: the 95 % interval of every effect reaches no further than `half_width` (0.05 is
    5 %) to either side, after `least` blocks at the earliest and `most` at the latest, or `budget_seconds` are over."""

    half_width: float = 0.05
    least: int = 8
    most: int = 30
    budget_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the experiment file says, before anything is known of the cluster.

    `options` are the workload's, `cluster` what kind of cluster is made, `baseline` every setting that is held where no
    factor varies it; all as they are written.
    """

    question: str
    workload: str
    options: Mapping[str, str]
    cluster: Mapping[str, str]
    baseline: Mapping[str, str]
    factors: tuple[Factor, ...]
    design: Design
    primary: str | None
    stop: StopRule
    seed: int
