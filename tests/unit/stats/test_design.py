from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.model.experiment import Design, Factor
from howdah.stats.design import Slot, arms, schedule

FACTORS = (Factor("a", ("1", "2", "3")), Factor("b", ("x", "y")))
BASELINE = {"a": "1", "b": "x"}


@pytest.mark.parametrize("design", ["one-at-a-time", "blocks"])
def test_one_factor_at_a_time(design: Design) -> None:
    assert arms(design, FACTORS) == (BASELINE, {"a": "2", "b": "x"}, {"a": "3", "b": "x"}, {"a": "1", "b": "y"})


def test_every_combination_once_and_the_baseline_first() -> None:
    found = arms("full", FACTORS)
    assert found[0] == BASELINE
    assert len({tuple(arm.items()) for arm in found}) == len(found) == 6


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
