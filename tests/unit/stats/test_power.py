"""How many runs are enough, against simulations of the whole decision rule."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from howdah.stats.power import MOST_RUNS, detectable_log_ratio, fewest_runs, runs_needed, smallest_p


def test_smallest_p_of_the_exact_rank_test() -> None:
    assert smallest_p(3, 3) == pytest.approx(0.10)
    assert smallest_p(4, 4) == pytest.approx(0.0286, abs=1e-4)
    assert smallest_p(5, 5) == pytest.approx(0.0079, abs=1e-4)
    assert smallest_p(2, 8) == pytest.approx(2 / 45)
    assert smallest_p(1, 1) == 1


@pytest.mark.parametrize(("first", "second"), [(3, 3), (4, 4), (3, 5), (2, 7)])
def test_smallest_p_is_what_perfect_separation_gives(first: int, second: int) -> None:
    left, right = range(first), range(100, 100 + second)
    p = stats.mannwhitneyu(left, right, alternative="two-sided", method="exact").pvalue
    assert smallest_p(first, second) == pytest.approx(p)


@pytest.mark.promise("Three against three runs show nothing at the 5 % level", "explanation/comparisons")
def test_four_runs_are_the_fewest() -> None:
    assert fewest_runs() == 4


@pytest.mark.promise("The detectable difference is found four times out of five", "explanation/comparisons")
@pytest.mark.parametrize("runs", [4, 5, 7, 10, 20])
def test_the_detectable_difference_is_found_four_times_out_of_five(runs: int) -> None:
    """20,000 simulated comparisons: the share that is declared is 80 %, give or take 3."""
    random = np.random.default_rng(runs)
    repeats = 20_000
    left = random.normal(size=(repeats, runs))
    right = random.normal(size=(repeats, runs)) + detectable_log_ratio(1.0, runs, runs)
    rank = stats.mannwhitneyu(left, right, axis=1, method="exact").pvalue < 0.05
    welch = stats.ttest_ind(left, right, axis=1, equal_var=False).pvalue < 0.05
    assert (rank & welch).mean() == pytest.approx(0.8, abs=0.03)


def test_runs_needed_is_the_least_that_is_enough() -> None:
    for spread in (0.02, 0.05, 0.10, 0.2):
        needed = runs_needed(spread, math.log(1.05))
        assert needed is not None
        assert detectable_log_ratio(spread, needed, needed) <= math.log(1.05)
        assert needed == 4 or detectable_log_ratio(spread, needed - 1, needed - 1) > math.log(1.05)


def test_more_runs_than_anybody_makes() -> None:
    assert runs_needed(0.5, 0.001) is None
    assert runs_needed(0.1, 0.0) is None
    assert MOST_RUNS == 1000


def test_no_spread_needs_the_fewest() -> None:
    assert runs_needed(0.0, 0.01) == 4


@pytest.mark.promise("The table of runs per side is what the program computes", "explanation/comparisons")
def test_the_table_in_the_documentation_is_what_is_computed() -> None:
    page = (Path(__file__).parents[3] / "docs" / "explanation" / "comparisons.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) % \| (\d+) \|$", page, flags=re.MULTILINE)
    assert len(rows) == 5
    for spread, runs in rows:
        assert runs_needed(int(spread) / 100, math.log(1.05)) == int(runs)
