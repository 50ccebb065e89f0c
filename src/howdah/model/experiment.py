"""A question about a cluster, and the way to answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from howdah.model.comparison import Interval, Verdict
from howdah.model.environment import Difference
from howdah.model.metric import Metric
from howdah.model.run import Outcome

BASELINE, RUNNER_UP = "baseline", "runner-up"
"""Names of the settings that fresh runs compare the best settings with."""

Design = Literal["one-at-a-time", "full", "fractional", "blocks", "screening", "together", "search", "cic-2014"]


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of an experiment, and its levels as they are written; the first level is the baseline's.

    An `external` factor is changed by hand, as `change` says; `check` is a shell command that prints its level. With
    one level, the factor is a condition that a person sees to before the first run.
    """

    name: str
    levels: tuple[str, ...]
    external: bool = False
    change: str | None = None
    check: str | None = None


@dataclass(frozen=True, slots=True)
class StopRule:
    """The rule that says when there are enough blocks.

    An experiment stops when the 95 % interval of every effect reaches no further than `half_width` (0.05 is 5 %) to
    either side. It stops after `least` blocks at the earliest, and after `most` blocks or `budget_seconds` at the
    latest. A run that takes `limit_seconds` is stopped and has failed.
    """

    half_width: float = 0.05
    least: int = 8
    most: int = 30
    budget_seconds: float | None = None
    limit_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Rate:
    """The power or the price of a running cluster, `of_levels` by the level of `factor`.

    Without a factor, `of_levels` has one value under an empty name, for every arm.
    """

    factor: str | None
    of_levels: Mapping[str, float]

    def of(self, arm: Mapping[str, str]) -> float:
        """Return the rate of an arm, given by its levels."""
        return self.of_levels["" if self.factor is None else arm[self.factor]]


@dataclass(frozen=True, slots=True)
class Experiment:
    """The contents of the experiment file, before anything is known of the cluster.

    `options` are the workload's, `cluster` describes the cluster to make. `baseline` has every setting that is held
    unless a factor varies it. All are as written in the file. `configurations` are the settings behind each level of
    the factor `configuration`. `starts` are levels of the factors that a search tries first.

    `watts` is the power of the whole cluster, `price` the price of an hour, in any currency; None if not known.
    `meters` are what measures power: kinds, or a file. `warmup` is how many runs, which do not count, come before each
    run on its cluster. With `confirm`, fresh runs compare the best settings with the baseline at the end. `places` has
    the place of each key in the file, by name.
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
    warmup: int = 0
    confirm: bool = True
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
    """The ratio of one level to the baseline's.

    `interval` is the 95 % interval of this effect by itself. `p_family` is adjusted for the whole family of effects
    (Holm). `half_width` is that of the simultaneous interval of all effects of the family (Bonferroni), as a share of
    the ratio. A true ratio of `detectable`, or its inverse, would be shown with a power of 0.8.
    """

    term: int
    ratio: float
    interval: Interval
    p: float
    p_family: float
    half_width: float
    detectable: float


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one level of one factor, or for one level of all factors together, against the baseline's.

    `effect` is None if the runs cannot show it. `unlike` has the differences besides the factor, which make the two not
    comparable. `outcomes` counts the runs with the level by outcome.
    """

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
    """The ratio of `level` to the baseline's level of its factor, while another factor has the level `given`.

    All other factors have the baseline's level (Montgomery, Design and Analysis of Experiments, chapter 5).
    """

    level: Level
    given: Level
    ratio: float
    interval: Interval
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Interaction:
    """The ratio of two levels together to the product of their single effects. `names` are the levels of two factors.

    In a fractional design, the effect may also be that of the pairs of factors in `aliases`. `simple` are the effects
    of either level with and without the other, if the interaction is shown and no alias could be its cause.
    """

    names: tuple[Level, Level]
    effect: Effect
    verdict: Verdict
    aliases: tuple[str, ...]
    simple: tuple[SimpleEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class Trend:
    """The change of the primary metric with the order of the runs alone, whatever was varied: last run ÷ first."""

    ratio: float
    interval: Interval
    p: float


@dataclass(frozen=True, slots=True)
class Result:
    """One finished run, in its place.

    `value` is its primary metric. `relative` is `value` ÷ the geometric mean of its arm, or of all runs in a search.
    Both are None if the run is not valid. `outlying` runs are shown and counted like all others.
    """

    run: str
    block: int
    arm: int
    outcome: Outcome
    value: float | None
    relative: float | None
    outlying: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of an experiment so far. The largest effects are first, the results in the order of the runs.

    `metric` is the primary metric, of phase `phase`. `blocks` counts the whole blocks. `changed` are paths of settings
    and of the environment that were not the same in all runs of an arm. In a search, they were not the same in all
    runs, and nothing that was varied explains them.

    `candidate` has the fewest changes of the baseline whose removal is shown to be worse. `runner_up` is the
    best-looking combination of levels with a shown effect, other than the candidate and the baseline; None if there is
    none. Neither may have been run as a whole.

    Results that are `simulated` ran on no cluster; some or all may be of runs `on_simulated_hosts`. An experiment has
    `ended` if no run is missing. `unserved` are the runs whose accelerator did not serve all of the phases that are
    `measured`.
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
    on_simulated_hosts: bool = False
