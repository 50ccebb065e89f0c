"""Summaries against the textbook and against SciPy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from howdah.stats import summarise

TIMES = st.lists(st.floats(0.01, 1e6), min_size=4, max_size=30)


def test_five_runs() -> None:
    found = summarise([24.1, 24.9, 23.7, 25.2, 24.4])
    assert (found.n, found.minimum, found.maximum, found.median) == (5, 23.7, 25.2, 24.4)
    assert found.geometric_mean == pytest.approx(24.4540, abs=1e-4)
    assert found.cv == pytest.approx(0.02463, abs=1e-5)


@pytest.mark.promise("The interval of the mean is Student's, on logarithms", "explanation/reading-the-report")
@given(TIMES.filter(lambda values: max(values) > 1.001 * min(values)))
def test_the_interval_is_students_on_logarithms(values: list[float]) -> None:
    found = summarise(values)
    logs = [math.log(value) for value in values]
    low, high = stats.t.interval(0.95, len(logs) - 1, sum(logs) / len(logs), stats.sem(logs))
    assert found.interval is not None
    assert found.interval.low == pytest.approx(math.exp(low), rel=1e-6)
    assert found.interval.high == pytest.approx(math.exp(high), rel=1e-6)


def test_equal_runs_have_an_interval_without_width() -> None:
    found = summarise([2.0, 2.0, 2.0, 2.0])
    assert found.interval is not None
    assert found.interval.low == found.interval.high == pytest.approx(2.0)
    assert found.cv == 0


@pytest.mark.promise("Fewer than four runs have no interval", "explanation/reading-the-report")
@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=3))
def test_few_runs_have_no_interval(values: list[float]) -> None:
    """That of 13.7 and 21.8 s would be from 0.9 to 334 s."""
    found = summarise(values)
    assert found.interval is None
    assert (found.minimum, found.maximum) == (min(values), max(values))
    assert (found.cv is None) == (len(values) == 1)


def test_one_run_has_no_spread() -> None:
    found = summarise([24.1])
    assert (found.n, found.interval, found.cv) == (1, None, None)
    assert found.geometric_mean == pytest.approx(24.1)


def test_a_zero_has_no_geometric_mean() -> None:
    found = summarise([0.0, 3.0, 4.0])
    assert (found.geometric_mean, found.interval, found.median) == (None, None, 3.0)
    assert summarise([0.0, 0.0]).cv is None


def test_nothing_cannot_be_summarised() -> None:
    with pytest.raises(ValueError, match="no values"):
        summarise([])
