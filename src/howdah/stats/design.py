"""Which settings an experiment compares, and in which order they run."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from howdah.model.experiment import Design, Factor

Levels = Mapping[str, str]
"""A level for every factor, by name."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One run of a plan: the block it is in, its place there, and its arm. Blocks, places and arms count from 0; arm 0
    is the baseline."""

    block: int
    place: int
    arm: int


def arms(design: Design, factors: Sequence[Factor]) -> tuple[Levels, ...]:
    """The settings that are compared, the baseline first.

    `full` has every combination; the others change one factor at a time.
    """
    baseline = {factor.name: factor.levels[0] for factor in factors}
    if design == "full":
        names = [factor.name for factor in factors]
        return tuple(
            dict(zip(names, levels, strict=True)) for levels in itertools.product(*(one.levels for one in factors))
        )
    alone = ({**baseline, factor.name: level} for factor in factors for level in factor.levels[1:])
    return (baseline, *alone)


def schedule(design: Design, count: int, blocks: int, seed: int) -> tuple[Slot, ...]:
    """The order of `count` arms in `blocks` blocks: each block has every arm once, in an order of its own that depends
    on `seed` and the number of the block alone, so that more blocks can follow.

    `blocks` runs the baseline again after every fourth arm: what drifts within a block shows on it.
    """
    slots = []
    for block in range(blocks):
        order = list(range(count))
        random.Random(f"{seed}-{block}").shuffle(order)  # noqa: S311, an order that anyone can draw again
        if design == "blocks":
            order = [arm for at, one in enumerate(order) for arm in ((one, 0) if at % 4 == 3 and one else (one,))]
        slots += [Slot(block, place, arm) for place, arm in enumerate(order)]
    return tuple(slots)
