"""Errors that published benchmarks of Hadoop made (the Cloudera-Intel-Cisco workbooks and the papers of the field).
None can be made here; each test says how it was made there."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.engine.experiment.findings import find
from howdah.errors import UsageError
from howdah.model.comparison import Verdict
from howdah.report import build_comparison, build_experiment, render_text
from howdah.report.experiment.answer import SHOWN
from howdah.stats import compare
from howdah.stats.design import schedule
from howdah.store import StoredRun
from tests.unit.engine.experiment.experiments import begun, keep, plan, simulated
from tests.unit.report.experiment.test_page import SOURCE, findings


def test_a_difference_is_against_the_baseline_that_is_named(tmp_path: Path) -> None:
    """A sheet whose baseline was one test showed the difference of energy to another: -21.3 % instead of -7.5 %."""
    made, directory = plan(tmp_path), begun(tmp_path)
    logs = {0: 0.05, 1: -0.1, 2: 0.0, 3: 0.2}
    for ended in simulated(made, 0.0, truth=logs):
        keep(directory, ended)
    found = find(made, directory)
    text = render_text(build_experiment(found, SOURCE))
    assert len(found.findings) == 3
    for one in found.findings:
        [arm] = [number for number, levels in enumerate(found.arms) if levels[one.factor] == one.level]
        assert found.arms[0][one.factor] == one.baseline
        assert one.effect is not None
        assert one.effect.ratio == pytest.approx(math.exp(logs[arm] - logs[0]))
        assert f"{one.factor} {one.level}: {one.effect.ratio:.3f}" in text


@pytest.mark.promise("A metadata value is read for every run, never copied from another", "issue 4")
def test_what_a_machine_was_is_read_for_every_run(tmp_path: Path) -> None:
    """ "Hyper-threading ON", "6 nodes" and "24 disks" stand for all eight tests, also for those that had it off."""
    made, directory = plan(tmp_path), begun(tmp_path)
    for one in simulated(made, 0.001):
        keep(directory, one, thp="always" if one.slot.arm == 3 else "never")
    told = {one.level: [entry.path for entry in one.unlike] for one in find(made, directory).findings}
    assert told == {"2": [], "64": [], "128": ["hosts.vm.thp"]}


def test_no_arm_is_first_more_often_than_others() -> None:
    """The first of three runs was the fastest in 51 of 90 cells, where chance gives 30: every block has an order of its
    own, so that what favours the first favours nobody."""
    first = Counter(one.arm for one in schedule("one-at-a-time", 3, 900, 1) if one.place == 0)
    assert all(250 < first[arm] < 350 for arm in range(3))


def test_the_text_says_what_the_table_says() -> None:
    """ "55 % more per rack" beside figures that make 78 %, "57 % less power" beside others that make 36 %."""
    found = findings()
    page = build_experiment(found, SOURCE)
    told = re.findall(r"([0-9.]+) ?% (?:more|less) time", page.headline)
    shown = [one.effect.ratio for one in found.findings if one.effect is not None and one.verdict in SHOWN]
    assert told
    for percent, ratio in zip(told, shown, strict=True):
        assert float(percent) == pytest.approx(100 * abs(ratio - 1), abs=0.51)
        assert f"{ratio:.3f}" in render_text(page)


def test_no_number_stands_in_the_column_of_its_neighbour() -> None:
    """Cells had the values of the column beside them."""
    found = findings()
    facts = build_experiment(found, SOURCE).facts["findings"]
    text = render_text(build_experiment(found, SOURCE), width=200)
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


@pytest.mark.promise("No difference shown is never called no difference", "issue 4")
@pytest.mark.parametrize(
    ("verdict", "words"),
    [("no difference shown", "Nothing is shown to change"), ("not enough data", "Nothing can be said of")],
)
def test_no_difference_shown_is_never_called_no_difference(verdict: Verdict, words: str) -> None:
    """ "Hyper-threading makes no difference to power", beside a table in which it makes 10.1 %."""
    found = findings()
    found = replace(found, findings=tuple(replace(one, verdict=verdict) for one in found.findings))
    said = build_experiment(found, SOURCE).headline
    assert "no difference to" not in said
    assert said.startswith(f"{words} the time of TeraSort.")


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
