"""The settings that an experiment compares, and the order of its runs."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from howdah.model.experiment import Design, Factor

if TYPE_CHECKING:
    import numpy as np

Levels = Mapping[str, str]
"""A level for every factor, by name."""


_MOST = 100_000
"""The most combinations in designs that may have all of them."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One run of a plan: its block, its place in the block, and its arm. Blocks, places and arms count from 0; arm 0 is
    the baseline."""

    block: int
    place: int
    arm: int


def arms(design: Design, factors: Sequence[Factor]) -> tuple[Levels, ...]:
    """Return the settings that are compared, the baseline first.

    `full` has every combination, and `search` looks among the same. `fractional` has the fraction of resolution IV with
    the fewest: no effect of one factor is aliased with that of another or of two together. `screening` has the design
    of Plackett and Burman (Biometrika 33:305, 1946): effects of two factors together hide in those of single ones.
    `together` changes all factors at once. All other designs change one factor at a time.

    Raises:
        ValueError: a factor with more than two levels, too few factors, or too many combinations, for a design that
            cannot have them.
    """
    if design in ("fractional", "screening"):
        return _two_levels(_signs(design, factors), factors)
    baseline = {factor.name: factor.levels[0] for factor in factors}
    if design == "together":
        _check_two_levels(design, factors)
        return (baseline, {factor.name: factor.levels[1] for factor in factors})
    if design in ("full", "search"):
        if math.prod(len(factor.levels) for factor in factors) > _MOST:
            raise ValueError(f"these levels have more than {_MOST:,} combinations")
        names = [factor.name for factor in factors]
        return tuple(
            dict(zip(names, levels, strict=True)) for levels in itertools.product(*(one.levels for one in factors))
        )
    alone = ({**baseline, factor.name: level} for factor in factors for level in factor.levels[1:])
    return (baseline, *alone)


def aliases(design: Design, factors: Sequence[Factor]) -> tuple[tuple[str, ...], ...]:
    """Return the effects of one or two factors that a fractional design cannot tell apart, by the factors' names. The
    first of each group is the one to which the sum is ascribed. Empty for other designs."""
    if design != "fractional":
        return ()
    from pyDOE3 import fracfact_aliasing

    names = {chr(ord("a") + at): factor.name for at, factor in enumerate(factors)}
    lines, _ = fracfact_aliasing(_signs(design, factors))
    chains = [[term for term in line.split(" = ") if len(term) <= 2] for line in lines]
    return tuple(
        tuple(" × ".join(names[letter] for letter in term) for term in chain) for chain in chains if len(chain) > 1
    )


def seen_pairs(design: Design, factors: Sequence[Factor]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the pairs of factors, by name, whose interaction the design can see, and the aliases of each pair."""
    if design not in ("full", "fractional"):
        return {}
    chains = aliases(design, factors)
    mixed = {chain[0]: chain[1:] for chain in chains}
    hidden = {name for chain in chains for name in chain[1:]}
    pairs = itertools.combinations([factor.name for factor in factors], 2)
    return {pair: mixed.get(name, ()) for pair in pairs if (name := " × ".join(pair)) not in hidden}


def _signs(design: Design, factors: Sequence[Factor]) -> np.ndarray:
    from pyDOE3 import fracfact, fracfact_by_res, pbdesign

    _check_two_levels(design, factors)
    least, most = (4, 26) if design == "fractional" else (2, 35)
    if not least <= len(factors) <= most:
        raise ValueError(f"a {design} design has {least} to {most} factors; there are {len(factors)}")
    signs: np.ndarray
    if design == "screening":
        signs = pbdesign(len(factors))
    else:  # The search does not find the smallest of all.
        signs = fracfact("a b c abc") if len(factors) == least else fracfact_by_res(len(factors), 4)
    return signs


def _check_two_levels(design: Design, factors: Sequence[Factor]) -> None:
    many = next((factor.name for factor in factors if len(factor.levels) > 2), None)
    if many is not None:
        raise ValueError(f"a {design} design has two levels of each factor; {many} has more")


def _two_levels(signs: np.ndarray, factors: Sequence[Factor]) -> tuple[Levels, ...]:
    """Return rows of signs as levels: the first row's sign in a column stands for the baseline's level."""
    return tuple(
        {
            factor.name: factor.levels[int(sign != first)]
            for factor, sign, first in zip(factors, row, signs[0], strict=True)
        }
        for row in signs
    )


def schedule(design: Design, count: int, blocks: int, seed: int) -> tuple[Slot, ...]:
    """Return the order of `count` arms in `blocks` blocks. Each block has every arm once, in an order of its own. The
    order depends on `seed` and the number of the block alone, so that more blocks can follow.

    `blocks` runs the baseline again after every fourth arm, to show drift within a block. `cic-2014` runs every arm
    three times, one after the other, in the order of the file; a block is a test of everything.
    """
    slots = []
    for block in range(blocks):
        order = list(range(count))
        if design == "cic-2014":
            order = [arm for arm in order for _ in range(3)]
        else:
            random.Random(f"{seed}-{block}").shuffle(order)  # noqa: S311, an order that anyone can draw again
        if design == "blocks":
            order = [arm for at, one in enumerate(order) for arm in ((one, 0) if at % 4 == 3 and one else (one,))]
        slots += [Slot(block, place, arm) for place, arm in enumerate(order)]
    return tuple(slots)
