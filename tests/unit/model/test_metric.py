"""The registry of metrics: one definition per name."""

from dataclasses import replace

import pytest

from howdah.model.metric import Metric, registry

ELAPSED = Metric("job_seconds", "s", "lower", "From submission to the end of the job.", "job history")


def test_by_name_and_the_same_twice_is_one():
    assert registry([ELAPSED, ELAPSED]) == {"job_seconds": ELAPSED}


def test_two_meanings_of_one_name_are_refused():
    with pytest.raises(ValueError, match="job_seconds"):
        registry([ELAPSED, replace(ELAPSED, unit="ms")])
