"""Errors that published benchmarks of Hadoop made (the Cloudera-Intel-Cisco workbooks and the papers of the field).
None can be made here; each test says how it was made there."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from howdah.errors import UsageError
from howdah.model.comparison import Verdict
from howdah.report import build_comparison, build_experiment, render_text
from howdah.stats import compare
from howdah.store import StoredRun
from tests.unit.report.test_experiment import SOURCE, findings


def test_a_difference_is_against_the_baseline_that_is_named() -> None:
    """A sheet whose baseline was one test showed the difference of energy to another: -21.3 % instead of -7.5 %."""
    found = findings(spread=0.0)
    values = {
        arm: math.exp(sum(math.log(one.value or 1) for one in found.results if one.arm == arm) / 8) for arm in (0, 1)
    }
    [effect] = [one.effect for one in found.findings if one.factor == "mapreduce.task.io.sort.mb"]
    assert effect is not None
    assert effect.ratio == pytest.approx(values[1] / values[0])
    text = render_text(build_experiment(found, SOURCE))
    assert "mapreduce.task.io.sort.mb 128: 1.221" in text


def test_no_number_stands_in_the_column_of_its_neighbour() -> None:
    """Cells had the values of the column beside them."""
    found = findings()
    facts = build_experiment(found, SOURCE).facts["findings"]
    text = render_text(build_experiment(found, SOURCE))
    for one, fact in zip(found.findings, facts, strict=True):
        assert one.effect is not None
        assert fact["effect"]["ratio"] == one.effect.ratio
        [row] = [line for line in text.splitlines() if line.startswith(f"{one.factor} ") and line.endswith(one.verdict)]
        assert row.split()[3] == f"{one.effect.ratio:.3f}"


def test_three_runs_with_a_deviation_above_20_percent_show_nothing() -> None:
    """31 of 240 cells of three runs had it, and were reported as one number each."""
    found = compare([100.0, 130.0, 160.0], [80.0, 90.0, 120.0], "lower")
    assert found.verdict == "not enough data"
    assert found.baseline.cv is not None
    assert found.baseline.cv > 0.2
    assert found.fewest_runs == 4


@pytest.mark.parametrize("verdict", ["no difference shown", "not enough data"])
def test_no_difference_shown_is_never_called_no_difference(verdict: Verdict) -> None:
    """ "Hyper-threading makes no difference to power", beside a table in which it makes 10.1 %."""
    found = findings()
    found = replace(found, findings=tuple(replace(one, verdict=verdict) for one in found.findings))
    said = build_experiment(found, SOURCE).headline
    assert "no difference to" not in said
    assert said == "Nothing is shown to change sort/job_seconds of TeraSort."


def test_one_node_less_is_a_ratio_and_not_a_share_of_something() -> None:
    """ "From 6 to 5 nodes, this is 1/16 less": the ideal is 6/5, and 15.9 % more was measured."""
    found = compare([100.0, 100.5, 99.5, 100.2], [115.9, 116.2, 115.5, 116.0], "lower")
    assert found.ratio == pytest.approx(1.159, abs=0.002)
    assert found.verdict == "slower"


def test_runs_of_two_campaigns_are_told_apart(group: list[StoredRun], faster: list[StoredRun]) -> None:
    """The paper lists other sizes of containers than its workbook: two campaigns, which the text does not say."""
    text = render_text(build_comparison(group, faster))
    assert "Settings that differ" in text
    with pytest.raises(UsageError, match="on both sides of the comparison"):
        build_comparison(group, group)
