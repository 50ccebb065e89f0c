"""Files of tests that take more than their part of the time."""

from __future__ import annotations

from pathlib import Path

from tools.budget import over, times

BUDGETS = {"a.py": 100, "b.py": 100, "c.py": 10}


def test_what_is_as_usual_is_within_its_budget_on_a_machine_of_any_speed() -> None:
    for speed in (0.5, 1.0, 3.0):
        assert list(over({file: seconds * speed for file, seconds in BUDGETS.items()}, BUDGETS)) == []


def test_a_file_that_takes_more_of_the_whole_is_over_its_budget() -> None:
    [said] = over({"a.py": 100, "b.py": 400, "c.py": 10}, BUDGETS)
    assert said == "over its budget: b.py took 400 s, its part of the whole is 243 s"


def test_a_few_seconds_more_are_no_matter() -> None:
    assert list(over({"a.py": 100, "b.py": 100, "c.py": 29}, BUDGETS)) == []


def test_a_file_without_a_budget_is_named() -> None:
    [said] = over({**BUDGETS, "new.py": 3}, BUDGETS)
    assert said == "no budget: new.py took 3 s; add it to budget.json"


def test_the_times_are_those_of_files_fixtures_included(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    cases = (("tests.system.test_a", 1.5), ("tests.system.test_a", 2.0), ("tests.faults.test_b", 0.25))
    lines = "".join(f'<testcase classname="{name}" name="x" time="{seconds}"/>' for name, seconds in cases)
    report.write_text(f"<testsuites><testsuite>{lines}</testsuite></testsuites>")
    assert times(report) == {"tests/system/test_a.py": 3.5, "tests/faults/test_b.py": 0.25}
