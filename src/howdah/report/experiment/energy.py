"""Time and measured energy of each arm of an experiment."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from howdah.model.experiment import Findings
from howdah.model.metric import ELAPSED
from howdah.report.document.blocks import Block, Table, Text, columns
from howdah.report.document.results import Measure, run_value
from howdah.report.document.wording import quantity
from howdah.report.experiment.runs import MOST_ARMS, arm_words
from howdah.report.page.energy import ENERGY, energy
from howdah.report.phases.power import DOMAINS
from howdah.stats.pareto import on_front
from howdah.store import StoredRun, read_run


@dataclass(frozen=True, slots=True)
class Spent:
    """The time and energy of one arm: geometric means over its `runs`.

    `meters` is the largest possible error of an energy by its meters, as a share. `best` says that no arm is faster and
    draws less.
    """

    arm: int
    seconds: float
    joules: float
    runs: int
    meters: float
    simulated: bool
    best: bool = False


def spent(found: Findings, runs: Path) -> tuple[str, list[Spent]]:
    """Return the measured domain, and every arm whose runs all have a time and that energy, the fastest first.

    There are no arms if the energies are not comparable, because they are of different domains or hosts.
    """
    stored: dict[int, list[StoredRun]] = {}
    for one in found.results:
        if one.value is not None:
            stored.setdefault(one.arm, []).append(read_run(runs / one.run))
    every = [run for members in stored.values() for run in members]
    domain = next((one for one in DOMAINS if every and all(_joules(found, run, one) for run in every)), None)
    if domain is None or len({tuple((run.energy() or {}).get("hosts", ())) for run in every}) != 1:
        return "", []
    made = []
    for arm, members in sorted(stored.items()):
        times = [time for run in members if (time := _seconds(found, run)) is not None]
        energies = [_joules(found, run, domain) or math.nan for run in members]
        if len(times) == len(members):
            off = max(_share(found, run, domain) for run in members)
            simulated = any(
                one.quality == "simulated" for run in members for one in run.samples if one.metric == ENERGY
            )
            means = (statistics.geometric_mean(times), statistics.geometric_mean(energies))
            made.append(Spent(arm, *means, len(members), off, simulated))
    front = on_front([[one.seconds, one.joules] for one in made])
    judged = [
        Spent(one.arm, one.seconds, one.joules, one.runs, one.meters, one.simulated, best)
        for one, best in zip(made, front, strict=True)
    ]
    return domain, sorted(judged, key=lambda one: one.seconds)


def measured_energy(found: Findings, runs: Path) -> Iterator[Block]:
    """Yield the time and energy of the arms, and which of the arms are on the Pareto front."""
    domain, made = spent(found, runs)
    if not made:
        return
    rows = tuple(
        (
            arm_words(found, one.arm),
            quantity(one.seconds, "s"),
            energy(one.joules),
            f"± {100 * one.meters:.1f} %",
            str(one.runs),
            "yes" if one.best else "no",
        )
        for one in made[:MOST_ARMS]
    )
    heads = columns("Arm", "#Time", "#Energy", "#Meters", "#Runs", "On the Pareto front")
    which = "" if len(made) <= MOST_ARMS else f": {MOST_ARMS} of {len(made)} arms"
    words = "simulated" if any(one.simulated for one in made) else "measured"
    yield Table(f"Time and {words} energy ({domain}) of {found.phase}, fastest first{which}", heads, rows)
    yield Text(
        "Geometric means of the runs. “Meters” is what they may be off by; with the same meters in all arms, most of "
        "it is the same in all of them. On the Pareto front are the arms that no other one equals in both and beats in "
        "one; the runs' noise is not in it. `primary: PHASE/energy` judges arms by their energy.",
        small=True,
    )


def _joules(found: Findings, run: StoredRun, domain: str) -> float | None:
    return run_value(run, Measure(found.phase, ENERGY, domain))


def _seconds(found: Findings, run: StoredRun) -> float | None:
    return next((value for name in ELAPSED if (value := run_value(run, Measure(found.phase, name))) is not None), None)


def _share(found: Findings, run: StoredRun, domain: str) -> float:
    """Return the possible error of a run's energy by its meters, as a share."""
    stretches = (run.energy() or {}).get("stretches", [])
    totals = [one for stretch in stretches if stretch["phase"] == found.phase for one in stretch["totals"]]
    return max((one["half_width"] / one["joules"] for one in totals if one["domain"] == domain), default=0.0)
