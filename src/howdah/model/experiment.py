"""A question about a cluster, and how it is to be answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from howdah.model.comparison import Interval, Verdict
from howdah.model.environment import Difference
from howdah.model.metric import Metric
from howdah.model.run import Outcome

BASELINE, RUNNER_UP = "baseline", "runner-up"
"""Names of what fresh runs compare the best settings with."""

Design = Literal["one-at-a-time", "full", "fractional", "blocks", "screening", "together", "search", "cic-2014"]


@dataclass(frozen=True, slots=True)
class Factor:
    """What an experiment varies, and the values it takes as they are written; the first is the baseline's.

    An `external` factor is changed by hand, as `change` says; `check` is a shell command that prints its level. With
    one level it is a condition, which a person sees to before the first run.
    """

    name: str
    levels: tuple[str, ...]
    external: bool = False
    change: str | None = None
    check: str | None = None


@dataclass(frozen=True, slots=True)
class StopRule:
    """When there are enough blocks: the 95 % interval of every effect reaches no further than `half_width` (0.05 is
    5 %) to either side, after `least` blocks at the earliest and `most` at the latest, or `budget_seconds` are over. A
    run that takes `limit_seconds` is ended and has failed."""

    half_width: float = 0.05
    least: int = 8
    most: int = 30
    budget_seconds: float | None = None
    limit_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """What a cluster draws or costs while it runs: `of_levels` by the level of `factor`, or, without a factor, the one
    value under an empty name for every arm."""

    factor: str | None
    of_levels: Mapping[str, float]

    def of(self, arm: Mapping[str, str]) -> float:
        """The rate of an arm, given by its levels."""
        return self.of_levels["" if self.factor is None else arm[self.factor]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the experiment file says, before anything is known of the cluster.

    `options` are the workload's, `cluster` what kind of cluster is made, `baseline` every setting that is held where no
    factor varies it; all as they are written. `configurations` are the settings behind each level of the factor
    `configuration`; `starts` are levels of the factors that a search tries first. `watts` is what the whole cluster
    draws, `price` what an hour of it costs, in any currency; None where it is not known. `meters` are what measures
    power: kinds, or a file. `places` is where in its file
    each key stands, by name.
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
    configurations: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    starts: tuple[Mapping[str, str], ...] = ()
    watts: Rate | None = None
    price: Rate | None = None
    meters: str | None = None
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def varied(self) -> tuple[Factor, ...]:
        """The factors that have several levels."""
        return tuple(one for one in self.factors if len(one.levels) > 1)

    @property
    def constant(self) -> dict[str, str]:
        """The one level of every other factor."""
        return {one.name: one.levels[0] for one in self.factors if len(one.levels) == 1}

    @property
    def by_hand(self) -> frozenset[str]:
        """The names of the factors that a person changes."""
        return frozenset(one.name for one in self.factors if one.external)


@dataclass(frozen=True, slots=True)
class Effect:
    """One level ÷ the baseline's. `interval` holds by itself with 95 %; `p_family` is for the whole family of effects
    (Holm), and `half_width` that of the interval in which all effects of the family lie at once (Bonferroni), as a
    share of the ratio. A true ratio of `detectable`, or its inverse, would be shown with a power of 0.8."""

    term: int
    ratio: float
    interval: Interval
    p: float
    p_family: float
    half_width: float
    detectable: float


@dataclass(frozen=True, slots=True)
class Finding:
    """One level of one factor against the baseline's, or those of all factors together. `effect` is None where the runs
    cannot tell it; `unlike` is what differs beside the factor, and makes both not comparable; `outcomes` how many of
    the runs that had the level ended how."""

    factor: str
    level: str
    baseline: str
    effect: Effect | None
    verdict: Verdict
    unlike: tuple[Difference, ...] = ()
    outcomes: Mapping[str, int] = field(default_factory=dict)


Level = tuple[str, str]
"""A factor and its level."""


@dataclass(frozen=True, slots=True)
class SimpleEffect:
    """What `level` ÷ the baseline's level of its factor is where another factor has the level `given`, and all others
    the baseline's (Montgomery, Design and Analysis of Experiments, chapter 5)."""

    level: Level
    given: Level
    ratio: float
    interval: Interval
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two levels together ÷ what they would be if their effects multiplied. `names` are the levels of two factors; with
    a fractional design the effect may be that of the pairs of factors in `aliases` as well. `simple` are the effects of
    either level with and without the other, where the interaction is shown and nobody else's."""

    names: tuple[Level, Level]
    effect: Effect
    verdict: Verdict
    aliases: tuple[str, ...]
    simple: tuple[SimpleEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class Trend:
    """How the primary metric changed with the order of the runs alone, whatever was varied: last run ÷ first."""

    ratio: float
    interval: Interval
    p: float


@dataclass(frozen=True, slots=True)
class Result:
    """One run that has ended, in its place. `value` is its primary metric, and `relative` that ÷ the geometric mean of
    its arm, of all runs in a search; both None where it is not valid. `outlying` runs are shown and counted like all
    others."""

    run: str
    block: int
    arm: int
    outcome: Outcome
    value: float | None
    relative: float | None
    outlying: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """What an experiment has found so far. The largest effects are first, the results in the order of the runs.

    `metric` is the primary one, of phase `phase`; `blocks` counts the whole blocks; `changed` are paths of settings and
    of the environment that were not the same in all runs of an arm (in a search, in all runs, though nothing that was
    varied explains it). `candidate` has the fewest changes of the baseline whose removal is shown to be worse, and
    `runner_up` what looks best beside it and the baseline among the levels that were shown of something, None where
    there is no such: neither may have been run as a whole. What is `simulated` ran on no cluster. It has `ended` where
    no run is missing.
    `unserved` are the runs whose accelerator did not serve all of the phases that are `measured`.
    """

    experiment: Experiment
    title: str
    phase: str
    metric: Metric
    arms: tuple[Mapping[str, str], ...]
    blocks: int
    findings: tuple[Finding, ...]
    candidate: Mapping[str, str]
    interactions: tuple[Interaction, ...]
    aliases: tuple[tuple[str, ...], ...]
    trend: Trend | None
    results: tuple[Result, ...]
    changed: tuple[str, ...]
    simulated: bool
    ended: bool
    unserved: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    runner_up: Mapping[str, str] | None = None
