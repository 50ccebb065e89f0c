"""From an experiment file to a plan: its runs, their order, their time, the disk space, and what they can show."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howdah.cluster.request import ClusterRequest
from howdah.engine.evidence import metrics
from howdah.engine.experiment.factors import (
    CONFIGURATION,
    FACTORS,
    Conditions,
    Cost,
    check_fault,
    conditions,
    cost_of,
)
from howdah.engine.measurement.preflight import check_keys, check_replicas
from howdah.errors import UsageError
from howdah.hadoop.distribution.distribution import Distribution
from howdah.model.experiment import Design, Experiment
from howdah.model.quantity import parse_amount, parse_bytes
from howdah.model.storage import HDFS, parse_storages
from howdah.model.truth import Truth
from howdah.spec.experiment import located
from howdah.spec.slips import did_you_mean
from howdah.spec.truth import check_known
from howdah.stats.design import Levels, Slot, aliases, arms, schedule
from howdah.stats.power import detectable_log_ratio
from howdah.stats.summary import pooled_spread
from howdah.store import list_runs, read_run
from howdah.workload import Asked, Option, Workload
from howdah.workload.registry import find_workload

_LIMIT_UNKNOWN, _LIMIT_LEAST, _LIMIT_TIMES = 3600.0, 600.0, 5
"""Limits of a run of an experiment: seconds without earlier runs, the least seconds with them, and how many times the
longest of them."""


@dataclass(frozen=True, slots=True)
class SyntheticCluster:
    """A synthetic cluster: its file, and the content of the file."""

    file: Path
    truth: Truth


@dataclass(frozen=True, slots=True)
class Earlier:
    """Earlier runs of the same workload and size: the `seconds` that a run took (geometric mean), and the `longest`.
    `spread` is that of the primary metric's logarithm within trials that ran more than once."""

    runs: int
    seconds: float
    longest: float
    spread: float | None


@dataclass(frozen=True, slots=True)
class ExperimentPlan:
    """The plan of an experiment. `disk_bytes` is the need, on one machine, of the arm that needs most."""

    experiment: Experiment
    title: str
    primary: str
    costs: Mapping[str, Cost]
    arms: tuple[Levels, ...]
    slots: tuple[Slot, ...]
    disk_bytes: int
    aliases: tuple[tuple[str, ...], ...]
    earlier: Earlier | None

    @property
    def seconds(self) -> float | None:
        """The seconds that the runs of the plan will take; None if no such runs are known."""
        return None if self.earlier is None else self.earlier.seconds * self.least_runs

    @property
    def least_runs(self) -> int:
        """The least number of runs. A search has as many runs as it may have."""
        return self.experiment.stop.most if self.experiment.design == "search" else len(self.slots)

    @property
    def has_verdicts(self) -> bool:
        """Whether levels get verdicts, as in designs that run them in random blocks."""
        return self.experiment.design not in ("search", "cic-2014")

    @property
    def limit_seconds(self) -> float:
        """Return the seconds after which a run is stopped: the limit of the file, or several times the longest of
        earlier runs, but not less than _LIMIT_LEAST; without earlier runs _LIMIT_UNKNOWN."""
        if self.experiment.stop.limit_seconds is not None:
            return self.experiment.stop.limit_seconds
        return _LIMIT_UNKNOWN if self.earlier is None else max(_LIMIT_LEAST, _LIMIT_TIMES * self.earlier.longest)

    def detectable(self, blocks: int) -> float | None:
        """Return the smallest ratio of a level to the baseline that `blocks` blocks show with a power of 0.8, for one
        comparison by itself. None if no spread is known, or the design has no verdicts. Designs that combine levels
        have several arms for each level.
        """
        if self.earlier is None or self.earlier.spread is None or not self.has_verdicts:
            return None
        levels = [(factor.name, level) for factor in self.experiment.factors for level in factor.levels[1:]]
        runs = blocks * min(sum(arm[name] == level for arm in self.arms) for name, level in levels)
        return math.exp(detectable_log_ratio(self.earlier.spread, runs, runs))


def plan_experiment(
    experiment: Experiment, where: Distribution | SyntheticCluster | None, *runs: Path
) -> ExperimentPlan:
    """Return the plan of `experiment` for at least as many blocks as its stopping rule wants. `runs` are directories
    with earlier runs. `where` says which keys there are; None is for an experiment that was planned before.

    Raises UsageError for an impossible experiment: an unknown workload, option, factor, key or metric, or a level that
    the workload refuses.
    """
    with located(experiment, "workload"):
        workload = find_workload(experiment.workload)
    with located(experiment, *experiment.options, "workload"):
        asked(workload, experiment.options, {})
    factors = [factor.name for factor in experiment.factors]
    if isinstance(where, Distribution):
        _check_names(experiment, where)
    with located(experiment, "design"):
        _check_design(experiment)
    try:
        every = _arms(experiment, experiment.design)
        # A search has as many as a full design has, of which it runs few; each level is looked at once.
        looked_at = _arms(experiment, "one-at-a-time") if experiment.design == "search" else every
        order = schedule(experiment.design, len(looked_at), least_blocks(experiment), experiment.seed)
        mixed = aliases(experiment.design, experiment.varied)
    except ValueError as error:
        with located(experiment, "design"):
            raise UsageError(str(error)) from None
    disk, sizes = 0, set()
    for arm in (*looked_at, *({**every[0], CONFIGURATION: name} for name in experiment.configurations)):
        with located(experiment, *written_settings(experiment, arm), *arm):
            if isinstance(where, SyntheticCluster):
                found = Conditions(ClusterRequest("experiment"), simulated_settings(experiment, arm))
                check_known(where.truth, where.file, found.conf)
            else:
                found = arm_conditions(experiment, arm)
                _check_cluster(found, stored=where is not None)
            cluster = {"dfs.replication": str(min(3, found.made.nodes))}
            resolved = workload.resolve(asked(workload, experiment.options, found.conf), cluster)
        disk = max(disk, sum(workload.space_bytes(resolved)))
        sizes.add(resolved.get("size_bytes"))
    with located(experiment, "primary"):
        primary = _primary(experiment.primary, workload)
        measured = metrics.metrics_of(workload)[primary.partition("/")[2].partition("@")[0]]
        if measured in metrics.ENERGIES and experiment.meters is None:
            raise UsageError(f"{measured.name} needs `meters`, which measure power", hint="See docs/how-to/energy.md.")
        if isinstance(where, SyntheticCluster) and primary != workload.primary:
            raise UsageError(f"a synthetic cluster has {workload.primary} alone, not {primary}")
    return ExperimentPlan(
        experiment=experiment,
        title=workload.title,
        primary=primary,
        costs={name: "person" if name in experiment.by_hand else cost_of(name) for name in factors},
        arms=every,
        slots=() if experiment.design == "search" else order,
        disk_bytes=disk,
        aliases=mixed,
        earlier=None if isinstance(where, SyntheticCluster) else _earlier(runs, workload.name, sizes, primary),
    )


def _check_names(experiment: Experiment, where: Distribution) -> None:
    """Refuse names that are neither factors nor keys of Hadoop, which have dots, and keys that are almost a known
    one."""
    named = (key for settings in experiment.configurations.values() for key in settings)
    factors = (factor.name for factor in experiment.factors)
    names = sorted({*factors, *experiment.baseline, *named} - set(FACTORS) - experiment.by_hand)
    for name in names:
        with located(experiment, name):
            if "." not in name:
                raise UsageError(f"there is no factor {name!r}", hint=did_you_mean(name, FACTORS))
            check_keys({name: ""}, where)


def _check_design(experiment: Experiment) -> None:
    """Refuse designs that would measure several runs after one change by hand."""
    turned = [factor.name for factor in experiment.varied if factor.external]
    if turned and experiment.design not in ("one-at-a-time", "blocks", "together"):
        raise UsageError(
            f"{', '.join(turned)} is changed by hand, and a {experiment.design} design would measure several "
            "runs after one change",
            hint="Its error is that of changing it again: choose the design one-at-a-time or blocks.",
        )


def _arms(experiment: Experiment, design: Design) -> tuple[Levels, ...]:
    return tuple({**arm, **experiment.constant} for arm in arms(design, experiment.varied))


def least_blocks(experiment: Experiment) -> int:
    """Return how many blocks there must be before there are verdicts. In `cic-2014`, a block is a test of
    everything."""
    return 1 if experiment.design == "cic-2014" else experiment.stop.least


def _check_cluster(found: Conditions, *, stored: bool) -> None:
    """Raise UsageError if the clusters of an arm cannot have its fault; or its replicas, if data is `stored`."""
    check_fault(found)
    if stored and parse_storages(found.made.storage).default == HDFS:
        check_replicas(found.conf, found.made.nodes)


def arm_conditions(experiment: Experiment, arm: Mapping[str, str]) -> Conditions:
    """Return the conditions of the runs of `arm`. Raises UsageError for a text that is no level."""
    settings = written_settings(experiment, arm)
    given = {name: level for name, level in settings.items() if name not in experiment.by_hand}
    return conditions(given, ClusterRequest("experiment"))


def written_settings(experiment: Experiment, arm: Mapping[str, str]) -> dict[str, str]:
    """Return all settings of the runs of `arm`, by name as the file writes them. Raises UsageError for a configuration
    that the file does not have."""
    return _expanded(experiment, {**experiment.cluster, **experiment.baseline, **arm})


def simulated_settings(experiment: Experiment, arm: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of `arm` for a synthetic cluster, whose file gives the effect of every setting under any
    name."""
    return _expanded(experiment, {**experiment.baseline, **arm})


def _expanded(experiment: Experiment, settings: dict[str, str]) -> dict[str, str]:
    """Return `settings` with those of a configuration in the place of its name."""
    named = settings.pop(CONFIGURATION, None)
    if named is None:
        return settings
    if named not in experiment.configurations:
        raise UsageError(f"there is no configuration {named!r}", hint=did_you_mean(named, experiment.configurations))
    return {**settings, **experiment.configurations[named]}


def simulations_of(plan: ExperimentPlan) -> Sequence[str]:
    """Return simulated hosts, written as after `sim:`, that need everything of a kernel that the arms of `plan` need:
    the last of those with the same keys, as a kernel that can do one value can do the others."""
    made = [arm_conditions(plan.experiment, arm).made.allocation.partition(":") for arm in plan.arms]
    texts = sorted({text for kind, _, text in made if kind == "sim"})
    return tuple({frozenset(re.findall(r"(\w+)=", text)): text for text in texts}.values())


def depends_on_host(experiment: Experiment) -> tuple[tuple[str, str], ...]:
    """Return factors by name, with those of their levels that not every host can offer. Factors that a person changes
    are left out."""
    held = (experiment.cluster, experiment.baseline, *experiment.configurations.values())
    levels = [(name, level) for settings in held for name, level in settings.items()]
    levels += [(factor.name, level) for factor in experiment.factors for level in factor.levels]
    return tuple(
        (name, level)
        for name, level in levels
        if name in FACTORS and name not in experiment.by_hand and FACTORS[name].refusal is not None
    )


def asked(workload: Workload, options: Mapping[str, str], conf: Mapping[str, str]) -> Asked:
    """Return `options`, given by name as a file writes them, as a request to `workload`. Raises UsageError for an
    option that the workload does not have, or a value that it cannot have."""
    known = {option.name: option for option in workload.options}
    found: dict[str, Any] = {}
    for name, text in options.items():
        if name == "size" and workload.sizes:
            found[name] = workload.sizes[text] if text in workload.sizes else parse_amount(text, workload.unit)
        elif name in known:
            found[name] = _value(known[name], text)
        else:
            names = (*known, "size") if workload.sizes else tuple(known)
            raise UsageError(f"{workload.name} has no option {name!r}", hint=did_you_mean(name, names))
    return Asked(found.pop("size", None), found.pop("maps", None), found.pop("reduces", None), conf, found)


def _value(option: Option, text: str) -> Any:
    if option.choices and text not in option.choices:
        raise UsageError(f"{option.name} is {text!r}", hint=f"It is one of {', '.join(option.choices)}.")
    if option.kind == "bytes":
        return parse_bytes(text)
    try:
        value = {"count": int, "number": float, "positive": float}.get(option.kind, str)(text)
    except ValueError:
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{option.name} is {text!r}, which is not a number")
    least = 1 if option.kind == "count" else 0
    if isinstance(value, int | float) and (value < least or (option.kind == "positive" and value == 0)):
        raise UsageError(f"{option.name} is {text}, which is too small")
    return value


def _primary(named: str | None, workload: Workload) -> str:
    phase = workload.primary.partition("/")[0]
    if named is None:
        return workload.primary
    own_phase, _, metric = named.rpartition("/")
    known = metrics.metrics_of(workload)
    name = metric.partition("@")[0]
    if name not in known:
        raise UsageError(f"unknown metric: {name!r}", hint=did_you_mean(name, known))
    return f"{own_phase or phase}/{metric}"


def _earlier(runs: Sequence[Path], workload: str, sizes: set[Any], primary: str) -> Earlier | None:
    phase, _, metric = primary.partition("/")
    seconds: list[float] = []
    trials: dict[str, list[float]] = {}
    for path, run in itertools.chain.from_iterable(map(list_runs, runs)):
        if isinstance(run, UsageError) or run.outcome.kind != "valid" or run.trial.workload != workload:
            continue
        if run.simulated:
            continue
        if run.trial.settings["workload"].get("size_bytes") not in sizes or run.end is None:
            continue
        seconds.append(run.end.monotonic - run.start.monotonic)
        values = [one.value for one in read_run(path).samples if one.is_of(phase, metric)]
        trials.setdefault(run.trial.identity, []).extend(math.log(value) for value in values if value > 0)
    if not seconds:
        return None
    spread = pooled_spread(list(trials.values()))
    return Earlier(len(seconds), statistics.geometric_mean(seconds), max(seconds), spread)
