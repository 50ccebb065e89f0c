from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.model.experiment import Design, Factor
from howdah.stats.design import Slot, aliases, arms, schedule

FACTORS = (Factor("a", ("1", "2", "3")), Factor("b", ("x", "y")))
BASELINE = {"a": "1", "b": "x"}


@pytest.mark.parametrize("design", ["one-at-a-time", "blocks"])
def test_one_factor_at_a_time(design: Design) -> None:
    assert arms(design, FACTORS) == (BASELINE, {"a": "2", "b": "x"}, {"a": "3", "b": "x"}, {"a": "1", "b": "y"})


def factors(count: int) -> tuple[Factor, ...]:
    return tuple(Factor(f"f{at}", ("low", "high")) for at in range(count))


@pytest.mark.parametrize(("design", "least"), [("fractional", 4), ("screening", 2)])
def test_designs_of_two_levels_are_balanced_and_orthogonal(design: Design, least: int) -> None:
    for count in range(least, 12):
        found = arms(design, factors(count))
        assert set(found[0].values()) == {"low"}
        signs = np.array([[1 if level == "high" else -1 for level in arm.values()] for arm in found])
        assert (signs.T @ signs == len(found) * np.eye(count)).all()
        assert (signs.sum(axis=0) == 0).all()


@pytest.mark.parametrize("count", [4, 6, 9])
def test_a_fraction_mixes_single_effects_with_three_factors_at_least(count: int) -> None:
    found = arms("fractional", factors(count))
    assert len(found) < 2**count
    signs = np.array([[1 if level == "high" else -1 for level in arm.values()] for arm in found])
    for one, two in itertools.combinations(range(count), 2):
        assert not ((signs[:, one] * signs[:, two]) @ signs).any(), "a pair is mixed with a single factor"
    chains = aliases("fractional", factors(count))
    assert chains
    for chain in chains:
        products = [signs[:, [int(name[1:]) for name in term.split(" × ")]].prod(axis=1) for term in chain]
        assert all(abs(products[0] @ product) == len(found) for product in products)
    assert aliases("full", factors(count)) == ()


@pytest.mark.parametrize(("design", "count"), [("fractional", 3), ("screening", 1), ("screening", 36)])
def test_what_a_design_cannot_have_is_refused(design: Design, count: int) -> None:
    with pytest.raises(ValueError, match=f"a {design} design has .* factors; there are {count}"):
        arms(design, factors(count))
    with pytest.raises(ValueError, match="two levels of each factor; a has more"):
        arms(design, (*FACTORS, *factors(3)))


def test_every_combination_once_and_the_baseline_first() -> None:
    found = arms("full", FACTORS)
    assert found[0] == BASELINE
    assert len({tuple(arm.items()) for arm in found}) == len(found) == 6


@pytest.mark.promise("Every block has every arm once, in an order from the seed", "reference/experiment")
@given(st.integers(1, 20), st.integers(0, 12), st.integers(0, 10**9))
def test_every_block_has_every_arm_once_and_more_blocks_change_no_earlier_one(
    count: int, blocks: int, seed: int
) -> None:
    found = schedule("full", count, blocks, seed)
    for block in range(blocks):
        here = [slot for slot in found if slot.block == block]
        assert [slot.place for slot in here] == list(range(count))
        assert sorted(slot.arm for slot in here) == list(range(count))
    assert schedule("full", count, blocks + 1, seed)[: len(found)] == found


def test_the_order_depends_on_the_seed_and_differs_between_blocks() -> None:
    one, other = schedule("full", 8, 2, 1), schedule("full", 8, 2, 2)
    assert [slot.arm for slot in one] != [slot.arm for slot in other]
    assert [slot.arm for slot in one if slot.block == 0] != [slot.arm for slot in one if slot.block == 1]


def test_every_arm_comes_first_about_as_often() -> None:
    first = Counter(slot.arm for slot in schedule("one-at-a-time", 4, 4000, 1) if slot.place == 0)
    # A multinomial count of 1000 expected has a standard deviation of 27.
    assert all(abs(first[arm] - 1000) < 140 for arm in range(4))


def test_interleaved_baselines_lie_between_the_arms() -> None:
    found = schedule("blocks", 9, 50, 3)
    for block in range(50):
        order = [slot.arm for slot in found if slot.block == block]
        assert Counter(order) - Counter(range(9)) == Counter({0: order.count(0) - 1})
        assert 2 <= order.count(0) <= 3
    assert found[0] == Slot(0, 0, found[0].arm)
