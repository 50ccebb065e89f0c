"""Whether runs differ in nothing but what was varied: their environment, and what daemons and jobs held."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from howdah.cluster.request import ClusterRequest
from howdah.engine.experiment import ExperimentPlan
from howdah.engine.factors import CONFIGURATION, FACTORS, conditions
from howdah.engine.trials import TOGETHER, Done, arm_terms, terms
from howdah.model.environment import Difference, Environment, differences
from howdah.store import ExperimentDirectory, read_run

Facts = Mapping[str, str]

# The job client writes there what it has made and found: splits, files of the input (of a job that reads what another
# wrote, one for each reduce), the size of what it ships (TeraSort's list of where its partitions begin). Consequences
# of settings, none themselves.
_COMPUTED = frozenset(
    {
        "mapreduce.job.maps",
        "mapreduce.input.fileinputformat.numinputfiles",
        "mapreduce.job.cache.files.filesizes",
        "mapreduce.job.cache.archives.filesizes",
    }
)
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
        """That of the valid runs among `done`."""
        facts: dict[int, list[Facts]] = {}
        for one in done:
            if one.value is not None:
                stored = read_run(directory.runs / one.run.id)
                found = {path: ", ".join(values) for path, values in stored.readback().items()}
                before = stored.environment.get("before", _NOTHING)
                found |= {entry.path: str(entry.right) for entry in differences(_NOTHING, before)}
                facts.setdefault(one.slot.arm, []).append(found)
        return cls(plan, facts)

    @property
    def changed(self) -> tuple[str, ...]:
        """What was not the same in all runs of an arm."""
        found: set[str] = set()
        for runs in self.facts.values():
            found |= {path for path in _paths(runs) if len({run.get(path) for run in runs}) > 1}
        return tuple(sorted(found))

    def unlike(self, term: int) -> tuple[Difference, ...]:
        """What no run with the level `term` has in common with any run that it is compared with, beside what was varied
        and what follows from it."""
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
        found = []
        for path in sorted(_paths(here) | _paths(there)):
            left, right = ({run.get(path) for run in runs} for runs in (there, here))
            if not left & right and not self._follows(path, factor, varied):
                found.append(
                    Difference(path, *(" or ".join(sorted(one or "–" for one in side)) for side in (left, right)))
                )
        return tuple(found)

    def _follows(self, path: str, factor: str, varied: set[str]) -> bool:
        """Whether the fact `path` is a factor or follows from one: a cluster of other size has other settings."""
        named = (FACTORS[name] for name in factor.split(TOGETHER) if name in FACTORS)
        if any(one.follows is not None and re.fullmatch(one.follows, path) for one in named):
            return True
        if path.startswith(_HOSTS) and set(factor.split(TOGETHER)) & {
            one.name for one in self.plan.experiment.varied if one.external
        }:
            return True  # What a person changes on a machine shows there, and only they know as what.
        key = path.partition("/")[2]
        return not path.startswith(_ENVIRONMENT) and (key in varied or key in _COMPUTED)

    def _varied(self) -> set[str]:
        """The keys of what is varied: Hadoop properties, and those that stand behind a factor's name."""
        found: set[str] = set()
        for one in self.plan.experiment.factors:
            if one.name == CONFIGURATION:
                continue  # All settings follow from it.
            if one.name in FACTORS:
                for level in one.levels:
                    found |= conditions({one.name: level}, ClusterRequest("experiment")).conf.keys()
            else:
                found.add(one.name)
        return found


def _paths(runs: Sequence[Facts]) -> set[str]:
    return {path for run in runs for path in run}
