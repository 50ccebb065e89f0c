"""Effects in blocks, against other ways to the same numbers, and against noise whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from howdah.model.experiment import Effect, StopRule
from howdah.stats.blocks import Observation, effects, enough, holm, with_interactions


def observed(logs: np.ndarray) -> list[Observation]:
    """One observation per cell of a table of blocks × arms; cells that are not a number are missing."""
    return [
        Observation(block, (arm,) if arm else (), math.exp(value))
        for (block, arm), value in np.ndenumerate(logs)
        if not math.isnan(value)
    ]


def test_two_arms_are_a_paired_t_test() -> None:
    logs = np.random.default_rng(1).normal(3, 0.1, (9, 2)) + np.arange(9)[:, None]
    [effect] = effects(observed(logs), 99)
    known = stats.ttest_rel(logs[:, 1], logs[:, 0])
    interval = known.confidence_interval()
    assert effect.ratio == pytest.approx(math.exp((logs[:, 1] - logs[:, 0]).mean()))
    assert effect.p == effect.p_family == pytest.approx(known.pvalue)
    assert (effect.interval.low, effect.interval.high) == pytest.approx(
        (math.exp(interval.low), math.exp(interval.high))
    )
    assert effect.half_width == pytest.approx(effect.interval.high / effect.ratio - 1)


def test_blocks_with_gaps_and_repeats_are_least_squares() -> None:
    random = np.random.default_rng(2)
    logs = random.normal(0, 0.1, (7, 4))
    logs[2, 1] = logs[5, 0] = logs[5, 3] = math.nan
    runs = [*observed(logs), Observation(3, (), 1.1), Observation(6, (), 0.9)]
    design = np.zeros((len(runs), 7 + 3))
    for row, one in enumerate(runs):
        design[row, one.block] = 1
        design[row, [6 + term for term in one.terms]] = 1
    values = np.log([one.value for one in runs])
    known, squares, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    variance = squares[0] / (len(runs) - rank)
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))[7:]
    found = effects(runs, 99)
    assert [math.log(effect.ratio) for effect in found] == pytest.approx(known[7:].tolist())
    quantile = stats.t.ppf(0.975, len(runs) - rank)
    widths = [math.log(effect.interval.high / effect.interval.low) / 2 for effect in found]
    assert widths == pytest.approx((quantile * errors).tolist())


@pytest.mark.parametrize(
    "logs",
    [
        np.zeros((0, 2)),
        np.zeros((5, 1)),  # the baseline alone
        np.zeros((1, 3)),  # no degree of freedom
        np.array([[math.nan, 0.0], [math.nan, 0.1], [math.nan, 0.2]]),  # no baseline
        np.array([[0.0, math.nan], [0.1, math.nan], [math.nan, 0.1], [math.nan, 0.2]]),  # never in one block
    ],
)
def test_what_cannot_be_told_is_not(logs: np.ndarray) -> None:
    assert effects(observed(logs), 99) == ()


def test_effects_of_factors_that_change_together_multiply() -> None:
    random = np.random.default_rng(3)
    truth = {1: 0.1, 2: -0.2, 3: 0.0}
    cells = [(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3)]
    runs = [
        Observation(block, cell, math.exp(0.1 * block + sum(truth[term] for term in cell) + random.normal(0, 0.01)))
        for block in range(6)
        for cell in cells
    ]
    found = effects(runs, 99)
    assert [math.log(effect.ratio) for effect in found] == pytest.approx(list(truth.values()), abs=0.01)
    assert [effect.p_family < 0.05 for effect in found] == [True, True, False]


def test_what_the_first_blocks_say_of_the_noise_holds_where_it_is_less_certain() -> None:
    random = np.random.default_rng(4)
    quiet, loud = random.normal(0, 0.01, (12, 2)), random.normal(0, 0.1, (12, 2))
    for first, second, judged_by in ((loud, quiet, slice(0, 5)), (quiet, loud, slice(None))):
        logs = np.concatenate([first[:5], second[5:]])
        [effect] = effects(observed(logs), 5)
        differences = logs[judged_by, 1] - logs[judged_by, 0]
        error = differences.std(ddof=1) / math.sqrt(len(logs))
        quantile = stats.t.ppf(0.975, len(differences) - 1)
        assert math.log(effect.interval.high / effect.ratio) == pytest.approx(quantile * error)
        assert effect.p == pytest.approx(2 * stats.t.sf(abs(math.log(effect.ratio)) / error, len(differences) - 1))


def test_where_the_first_blocks_cannot_judge_the_noise_a_few_more_do() -> None:
    """What is missing in them must not have all runs alone judge it, which a rule on widths has chosen."""
    random = np.random.default_rng(5)
    logs = random.normal(0, 0.05, (6, 2))
    every = [one for one in observed(logs) if (one.block, one.terms) != (1, (1,))]
    [effect] = effects(every, 2)
    [as_if_three] = effects(every, 3)
    assert effect == as_if_three
    [by_all] = effects(every, 6)
    assert effect.half_width > by_all.half_width


def test_what_may_be_anything_is_not_told() -> None:
    """In the first block of a large design a single degree of freedom judges many effects."""
    logs = np.array([[0.0, 3.0, 9.0]])
    runs = [*observed(logs), Observation(0, (0, 1), math.exp(2.0))]
    assert effects(runs, 2) == ()


def test_no_noise_at_all() -> None:
    same, other = effects(observed(np.array([[0.0, 0.0, 0.5]] * 4)), 99)
    assert [same.ratio, same.p] == pytest.approx([1, 1])
    assert [other.ratio, other.p] == pytest.approx([math.exp(0.5), 0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm(ps: list[float]) -> None:
    adjusted = holm(ps)
    order = np.argsort(ps, kind="stable")
    for rank, at in enumerate(order):
        expected = max(min(1.0, (len(ps) - earlier) * ps[order[earlier]]) for earlier in range(rank + 1))
        assert adjusted[at] == pytest.approx(expected)


def test_it_stops_when_every_effect_is_known_well_enough() -> None:
    rule = StopRule(half_width=0.05, least=3, most=6)

    def effect(width: float) -> Effect:
        [one] = effects(observed(np.array([[0.0, 0.1], [0.0, 0.3], [0.0, 0.2]])), 99)
        return replace(one, half_width=width)

    narrow, wide = effect(0.05), effect(0.051)
    assert not enough([narrow], rule, 2)
    assert enough([narrow, narrow], rule, 3)
    assert not enough([narrow, wide], rule, 5)
    assert not enough([], rule, 5)
    assert enough([wide], rule, 6)


def crossed(interaction: float, seed: int = 3) -> list[Observation]:
    """Eight blocks of two factors with two and three levels, all combined: terms 0, and 1 and 2."""
    random = np.random.default_rng(seed)
    runs = []
    for block in range(8):
        for first in (None, 0):
            for second in (None, 1, 2):
                terms = tuple(term for term in (first, second) if term is not None)
                log = 0.1 * (first == 0) + 0.2 * (second == 1) + interaction * (first == 0 and second == 2)
                runs.append(Observation(block, terms, math.exp(log + random.normal(0, 0.02))))
    return runs


def test_an_interaction_is_what_two_levels_do_beyond_their_product() -> None:
    alone, together = with_interactions(crossed(0.3), [(0, 1), (0, 2)], 8)
    assert [one.term for one in alone] == [0, 1, 2]
    assert [one.term for one in together] == [0, 1]
    assert [math.log(one.ratio) for one in together] == pytest.approx([0.0, 0.3], abs=0.04)
    assert together[0].p_family > 0.05 > together[1].p_family
    assert [one.ratio for one in alone] == pytest.approx([one.ratio for one in effects(crossed(0.3), 8)])
    family = sorted(one.p for one in (*alone, *together))
    assert min(one.p_family for one in (*alone, *together)) == pytest.approx(5 * family[0])


def test_without_pairs_it_is_the_effects_alone() -> None:
    assert with_interactions(crossed(0.0), [], 8) == (effects(crossed(0.0), 8), ())


def test_pairs_that_were_never_run_together_have_no_effect() -> None:
    runs = [one for one in crossed(0.0) if len(one.terms) < 2]
    alone, together = with_interactions(runs, [(0, 1), (0, 2)], 8)
    assert [one.term for one in alone] == [0, 1, 2]
    assert together == ()


def test_what_is_detectable_is_found_four_times_out_of_five() -> None:
    random = np.random.default_rng(4)

    def one(log: float) -> Effect:
        table = random.normal(0, 0.05, (8, 2))
        table[:, 1] += log
        return effects(observed(table), 8)[0]

    found = [one(0.0) for _ in range(400)]
    typical = math.sqrt(float(np.mean([math.log(effect.detectable) ** 2 for effect in found])))
    shown = sum(one(typical).p < 0.05 for _ in range(400))
    assert 0.74 < shown / 400 < 0.87
