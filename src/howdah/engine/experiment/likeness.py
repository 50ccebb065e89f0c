"""Likeness: whether runs differ in nothing but the varied factors, by environment and by the settings that were
held."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from howdah.cluster.request import ClusterRequest
from howdah.engine.evidence.readback import COMPUTED
from howdah.engine.experiment.factors import CONFIGURATION, FACTORS, conditions
from howdah.engine.experiment.plan import ExperimentPlan
from howdah.engine.experiment.results import TOGETHER, Done, arm_terms, terms
from howdah.model.environment import Difference, Environment, by_rank, differences
from howdah.stats.association import unevenness
from howdah.store import ExperimentDirectory, read_run

Facts = Mapping[str, str]

_CHANCE = 0.01
"""The highest probability with which facts that vary by chance, all together, may pass for a difference between two
arms."""

_HOSTS = "hosts."
_ENVIRONMENT = (_HOSTS, "hadoop.")
_NOTHING = Environment({}, {})


@dataclass(frozen=True, slots=True)
class Likeness:
    """The facts of every valid run, by its arm."""

    plan: ExperimentPlan
    facts: Mapping[int, Sequence[Facts]]

    @classmethod
    def of(cls, plan: ExperimentPlan, directory: ExperimentDirectory, done: Sequence[Done]) -> Likeness:
        """Return the likeness of the valid runs among `done`."""
        facts: dict[int, list[Facts]] = {}
        valid = [(one.slot.arm, read_run(directory.runs / one.run.id)) for one in done if one.value is not None]
        readings = by_rank([stored.environment.get("before", _NOTHING) for _, stored in valid])
        for (arm, stored), before in zip(valid, readings, strict=True):
            found = {path: ", ".join(values) for path, values in stored.readback().items()}
            found |= {entry.path: str(entry.right) for entry in differences(_NOTHING, before)}
            facts.setdefault(arm, []).append(found)
        return cls(plan, facts)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The facts that are not the same in all runs, and neither were varied nor follow from a varied factor."""
        every = [run for runs in self.facts.values() for run in runs]
        names, varied = [one.name for one in self.plan.experiment.varied], self._varied()
        return tuple(path for path in _differing(every) if not any(self._follows(path, name, varied) for name in names))

    @property
    def changed(self) -> tuple[str, ...]:
        """The facts that are not the same in all runs of an arm."""
        found: set[str] = set()
        for runs in self.facts.values():
            found.update(_differing(runs))
        return tuple(sorted(found))

    def unlike(self, term: int) -> tuple[Difference, ...]:
        """Return the facts that separate runs with the level `term` from the runs that they are compared with. Varied
        factors, and facts that follow from them, are left out. The two sides share no value, or share values so
        unevenly that chance does not explain it.
        """
        factor = terms(self.plan)[term][0]
        having = [place for place in range(len(self.plan.arms)) if term in arm_terms(self.plan, place)]
        if self.plan.experiment.design in ("full", "fractional", "screening"):
            others = [place for place, arm in enumerate(self.plan.arms) if arm[factor] == self.plan.arms[0][factor]]
        else:
            others = [0]
        here, there = ([run for place in places for run in self.facts.get(place, ())] for places in (having, others))
        if not here or not there:
            return ()
        varied = self._varied()
        differing = {
            path: ([run.get(path) for run in there], [run.get(path) for run in here])
            for path in _differing([*here, *there])
            if not self._follows(path, factor, varied)
        }
        return tuple(
            Difference(path, _told(left), _told(right))
            for path, (left, right) in differing.items()
            if set(left).isdisjoint(right) or len(differing) * unevenness(left, right) < _CHANCE
        )

    def _follows(self, path: str, factor: str, varied: set[str]) -> bool:
        """Return whether the fact `path` is a factor or follows from one: a cluster of another size has other
        settings."""
        named = (FACTORS[name] for name in factor.split(TOGETHER) if name in FACTORS)
        if any(one.follows is not None and re.fullmatch(one.follows, path) for one in named):
            return True
        if path.startswith(_HOSTS) and set(factor.split(TOGETHER)) & {
            one.name for one in self.plan.experiment.varied if one.external
        }:
            return True  # What a person changes on a machine shows there, and only they know as what.
        key = path.partition("/")[2]
        return not path.startswith(_ENVIRONMENT) and (key in varied or key in COMPUTED)

    def _varied(self) -> set[str]:
        """Return the varied keys: Hadoop properties, and the properties behind a factor's name."""
        found: set[str] = set()
        cluster = self.plan.experiment.cluster
        for one in self.plan.experiment.factors:
            if one.name == CONFIGURATION:
                continue  # All settings follow from it.
            if one.name in FACTORS:
                for level in one.levels:
                    found |= conditions({**cluster, one.name: level}, ClusterRequest("experiment")).conf.keys()
            else:
                found.add(one.name)
        return found


def _told(values: Sequence[str | None]) -> str:
    """Return values as text: `10`, or `10 (7 of 8 runs) or 20 (1 of 8 runs)`."""
    counts = Counter(one or "–" for one in values).most_common()
    if len(counts) == 1:
        return counts[0][0]
    return " or ".join(f"{value} ({count} of {len(values)} runs)" for value, count in counts)


def _differing(runs: Sequence[Facts]) -> list[str]:
    """Return the paths of the facts that are not the same in all of `runs`, sorted."""
    every = {path for run in runs for path in run}
    return sorted(path for path in every if len({run.get(path) for run in runs}) > 1)
