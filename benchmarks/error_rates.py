"""How often experiments are wrong, and how often they find what is there: simulated, on noise whose truth is known.

Every cell is a design under a kind of noise, for a fixed number of blocks or until the default stopping rule ends it.
What is judged is what `howdah experiment report` says: the same schedule, effects, interactions, family and rule.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from howdah.model.experiment import Design, Effect, Factor, StopRule
from howdah.model.truth import MEASURED, Noise
from howdah.stats.blocks import Observation, effects, enough, with_interactions
from howdah.stats.design import arms, schedule, seen_pairs
from howdah.stats.disturbance import disturbances
from howdah.stats.order import trend

RULE = StopRule()
DESIGNS: Mapping[str, tuple[Design, int]] = {
    "two arms": ("one-at-a-time", 1),
    "one at a time, 8 factors": ("one-at-a-time", 8),
    "blocks, 4 factors": ("blocks", 4),
    "full, 3 factors": ("full", 3),
    "fractional, 5 factors": ("fractional", 5),
    "screening, 7 factors": ("screening", 7),
}
NOISES: Mapping[str, Noise] = {
    "log-normal, CV 5 %": Noise(cv=0.05),
    "and a drift of 10 % in 40 runs": Noise(cv=0.05, drift=0.1, drift_runs=40),
    "and 2 % outliers of 1.5": Noise(cv=0.05, outliers=0.02, outlier_ratio=1.5),
    "and neighbours alike (AR 0.5)": Noise(cv=0.05, autocorrelation=0.5),
    "and restarts, CV 5 %": Noise(cv=0.05, restart_cv=0.05),
    **{f"as measured: {name}": noise for name, noise in MEASURED.items()},
}
FIRST = "and the first run of a block 5 % faster"
FIXED, SEQUENTIAL = "fixed, 8 blocks", "until ± 5 %"


@dataclass(frozen=True, slots=True)
class Cell:
    """`truth` is the logarithm of what the first factor's level does; all others do nothing."""

    design: str
    noise: str
    rule: str
    truth: float = 0.0


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the experiments: those with any difference declared where none is, those in which the first effect was
    found, those whose interval of it has the truth, those in which a drift was declared. And the mean of the blocks."""

    wrong: float
    found: float
    covered: float
    drifted: float
    blocks: float


def simulate(cell: Cell, experiments: int, seed: int = 1) -> Rates:
    """The rates of `cell` in so many experiments."""
    design, count = DESIGNS[cell.design]
    factors = [Factor(chr(ord("a") + at), ("0", "1")) for at in range(count)]
    made = arms(design, factors)
    terms = [tuple(at for at, one in enumerate(factors) if arm[one.name] == "1") for arm in made]
    numbers = {factor.name: at for at, factor in enumerate(factors)}
    pairs = [(numbers[one], numbers[other]) for one, other in seen_pairs(design, factors)]
    most = 2 * len(made) * RULE.most  # Some designs have the baseline several times in a block, as the order happens.
    noise = NOISES["log-normal, CV 5 %" if cell.noise == FIRST else cell.noise]
    logs = disturbances(noise, seed, experiments, most)
    seen = [
        _experiment(design, terms, pairs, logs[number], cell, seed=experiments * seed + number)
        for number in range(experiments)
    ]
    return Rates(*(float(np.mean(column)) for column in zip(*seen, strict=True)))


def _experiment(
    design: Design,
    terms: Sequence[tuple[int, ...]],
    pairs: Sequence[tuple[int, int]],
    logs: np.ndarray,
    cell: Cell,
    *,
    seed: int,
) -> tuple[bool, bool, bool, bool, int]:
    runs: list[Observation] = []
    order: list[int] = []
    block = 0
    for place, slot in enumerate(schedule(design, len(terms), RULE.most, seed)):
        if slot.block != block and _is_over(runs, slot.block, cell.rule):
            break
        block = slot.block
        effect = cell.truth if 0 in terms[slot.arm] else 0.0
        if cell.noise == FIRST and slot.place == 0:
            effect -= 0.05
        runs.append(Observation(slot.block, terms[slot.arm], math.exp(logs[place] + effect)))
        order.append(slot.arm)
    alone, together = with_interactions(runs, pairs, RULE.least)
    nothing = (*(alone[1:] if cell.truth else alone), *together)
    drift = trend(order, [one.value for one in runs])
    return (
        any(one.p_family < 0.05 for one in nothing),
        _found(alone[0], cell.truth),
        _covers(alone[0], cell.truth),
        drift is not None and drift.p < 0.05,
        block + 1,
    )


def _is_over(runs: Sequence[Observation], blocks: int, rule: str) -> bool:
    if rule == FIXED:
        return blocks >= RULE.least
    return blocks >= RULE.least and enough(effects(runs, RULE.least), RULE, blocks)


def _found(effect: Effect, truth: float) -> bool:
    return effect.p_family < 0.05 and (effect.ratio > 1) == (truth > 0)


def _covers(effect: Effect, truth: float) -> bool:
    return effect.interval.low <= math.exp(truth) <= effect.interval.high


def null_cells() -> list[Cell]:
    """A against A: every design, kind of noise, and rule."""
    return [Cell(*one) for one in itertools.product(DESIGNS, (*NOISES, FIRST), (FIXED, SEQUENTIAL))]


def power_cells() -> list[Cell]:
    """A true effect of 10 %, under the default rule."""
    noise = next(iter(NOISES))
    return [Cell(design, noise, SEQUENTIAL, math.log(1.1)) for design in ("two arms", "one at a time, 8 factors")]


def measure() -> list[str]:
    """The table of docs/statistics.md; EXPERIMENTS says how many per cell."""
    experiments = int(os.environ.get("EXPERIMENTS", "10000"))
    cells = [*null_cells(), *power_cells()]
    with multiprocessing.Pool() as pool:
        found = pool.starmap(simulate, [(cell, experiments) for cell in cells], chunksize=1)
    lines = [
        f"{experiments:,} experiments per cell.",
        "",
        "| design | noise | rule | wrong | covered | drift declared | blocks | found |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell, rates in zip(cells, found, strict=True):
        shown = "–" if not cell.truth else f"{rates.found:.1%}"
        lines.append(
            f"| {cell.design} | {cell.noise} | {cell.rule} | {rates.wrong:.1%} | {rates.covered:.1%} | "
            f"{rates.drifted:.1%} | {rates.blocks:.1f} | {shown} |"
        )
    return lines
