"""Verdicts: declared only on evidence, turned by the direction that is better."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from howdah.model.metric import Better
from howdah.stats import compare
from howdah.stats.compare import rank_test

SLOW = [40.9, 41.0, 42.3, 39.9, 40.2]
FAST = [21.3, 22.0, 20.9, 21.1, 21.5]
VALUES = st.lists(st.floats(1, 1000), min_size=2, max_size=12).filter(lambda values: max(values) > 1.001 * min(values))


@pytest.mark.promise("A comparison has an effect, a 95 % interval and a verdict", "README")
@pytest.mark.parametrize(("better", "verdict"), [("lower", "faster"), ("higher", "slower"), ("neither", "different")])
def test_the_verdict_follows_the_better_direction(better: Better, verdict: str) -> None:
    assert compare(SLOW, FAST, better).verdict == verdict


def test_swapping_the_sides_turns_the_verdict_and_the_ratio() -> None:
    there, back = compare(SLOW, FAST, "lower"), compare(FAST, SLOW, "lower")
    assert (there.verdict, back.verdict) == ("faster", "slower")
    assert there.ratio * back.ratio == pytest.approx(1)
    assert there.p == back.p == pytest.approx(2 / math.comb(10, 5))


@pytest.mark.promise("Errors of different meters widen the interval of a ratio of energies", "how-to/energy")
def test_what_repeating_does_not_show_widens_the_interval_and_holds_back_the_verdict() -> None:
    plain, wide = compare(SLOW, FAST, "lower"), compare(SLOW, FAST, "lower", systematic=0.02)
    assert plain.interval is not None
    assert wide.interval is not None
    assert wide.ratio == plain.ratio
    half, wider = (math.log(one.high / one.low) / 2 for one in (plain.interval, wide.interval))
    assert wider == pytest.approx(math.hypot(half, 1.959964 * 0.02))
    assert wide.verdict == "faster"
    assert compare(SLOW, FAST, "lower", systematic=0.5).verdict == "no difference shown"
    same = compare([5.0] * 4, [6.0] * 4, "lower", systematic=0.01).interval
    assert same is not None
    assert math.log(same.high / 1.2) == pytest.approx(1.959964 * 0.01), "without a spread, too"


@pytest.mark.promise("Three against three runs show nothing at the 5 % level", "explanation/comparisons")
@pytest.mark.parametrize("runs", [1, 2, 3])
def test_three_against_three_is_not_enough_however_far_apart(runs: int) -> None:
    found = compare(SLOW[:runs], FAST[:runs], "lower")
    assert found.verdict == "not enough data"
    assert found.smallest_p >= 0.05
    assert found.fewest_runs == 4
    assert (found.interval is None) == (runs == 1)
    assert (found.runs_for_five_percent is None) == (runs == 1)


def test_one_run_on_a_side_is_never_enough() -> None:
    many = [10 + 0.01 * place for place in range(60)]
    found = compare([99.0], many, "lower")
    assert found.smallest_p < 0.05
    assert found.verdict == "not enough data"


@pytest.mark.promise(
    "A difference is declared only if the interval and the rank test both show it", "explanation/comparisons"
)
def test_an_interval_without_one_is_not_declared_when_the_rank_test_disagrees() -> None:
    # Welch's interval leaves 1 out, but one run of the contender lies among the baseline's.
    baseline, contender = [10.0, 10.1, 10.2, 10.3], [10.25, 11.0, 11.1, 11.2]
    found = compare(baseline, contender, "lower")
    assert found.interval is not None
    assert found.interval.low > 1
    assert found.p >= 0.05
    assert found.verdict == "no difference shown"


def test_the_same_runs_show_no_difference() -> None:
    found = compare(SLOW, SLOW, "lower")
    assert found.ratio == pytest.approx(1)
    assert found.verdict == "no difference shown"


@pytest.mark.parametrize(("shift", "shown"), [(0.0, False), (0.05, True)])
def test_hundreds_of_runs_are_compared(shift: float, shown: bool) -> None:
    random = Random(3)
    left = [math.exp(random.gauss(4, 0.1)) for _ in range(600)]
    right = [math.exp(random.gauss(4 + shift, 0.1)) for _ in range(600)]
    assert (rank_test(left, right) < 0.001) == shown
    assert rank_test([1.0] * 600, [1.0] * 600) == 1.0


def test_runs_without_any_spread() -> None:
    found = compare([2.0] * 4, [3.0] * 4, "lower")
    assert found.interval is not None
    assert found.interval.low == found.interval.high == pytest.approx(1.5)
    assert found.verdict == "slower"


@pytest.mark.promise("The interval is Welch's, on logarithms", "explanation/comparisons")
@given(VALUES, VALUES)
def test_the_interval_is_welchs_on_logarithms(baseline: list[float], contender: list[float]) -> None:
    found = compare(baseline, contender, "lower")
    left, right = np.log(baseline), np.log(contender)
    interval = stats.ttest_ind(right, left, equal_var=False).confidence_interval(0.95)
    assert found.interval is not None
    assert found.interval.low == pytest.approx(math.exp(interval.low), rel=1e-6)
    assert found.interval.high == pytest.approx(math.exp(interval.high), rel=1e-6)


@pytest.mark.promise("False alarms are rarer than one in twenty", "explanation/comparisons")
def test_false_alarms_are_rarer_than_one_in_twenty() -> None:
    random = np.random.default_rng(5)
    runs = random.lognormal(3, 0.05, size=(400, 12))
    declared = [compare(row[:6].tolist(), row[6:].tolist(), "lower").verdict for row in runs]
    assert sum(verdict in ("faster", "slower") for verdict in declared) / 400 < 0.06


@pytest.mark.parametrize(("baseline", "contender"), [([], [1.0]), ([1.0], []), ([0.0, 1.0], [1.0]), ([1.0], [-1.0])])
def test_what_has_no_ratio_is_refused(baseline: list[float], contender: list[float]) -> None:
    with pytest.raises(ValueError, match="positive"):
        compare(baseline, contender, "lower")
