"""The experiment of `howdah ab`: one setting against another, in blocks with one run of each, in random order."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.engine.experiment.factors import CONFIGURATION
from howdah.errors import UsageError
from howdah.model.experiment import Experiment, Factor, StopRule

_NOTHING = "defaults"
"""The name of a side that changes nothing."""


def ab_experiment(
    workload: str,
    options: Mapping[str, str],
    sides: tuple[Mapping[str, str], Mapping[str, str]],
    names: tuple[str | None, str | None],
    cluster: Mapping[str, str],
    stop: StopRule,
    seed: int,
    meters: str | None = None,
    warmup: int = 0,
) -> Experiment:
    """Return the experiment. `sides` are the settings of A and B, by factor or Hadoop property; a side without a name
    is called by its settings. `meters` is as for `--meters`, `warmup` as for `--warmup`.

    Raises UsageError if both sides, or their names, are the same.
    """
    first, second = (name or _name(side) for name, side in zip(names, sides, strict=True))
    if dict(sides[0]) == dict(sides[1]):
        raise UsageError("A and B are the same", hint="Say what differs: --b KEY=VALUE, as often as needed.")
    if first == second:
        raise UsageError(f"both sides are called {first}")
    return Experiment(
        question=f"Is {workload} faster with {second} than with {first}?",
        workload=workload,
        options=options,
        cluster=cluster,
        baseline={},
        factors=(Factor(CONFIGURATION, (first, second)),),
        design="one-at-a-time",
        primary=None,
        stop=stop,
        seed=seed,
        configurations={first: dict(sides[0]), second: dict(sides[1])},
        meters=meters,
        warmup=warmup,
    )


def _name(side: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in side.items()) or _NOTHING
