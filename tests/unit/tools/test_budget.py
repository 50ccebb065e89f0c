"""Files of tests that take longer than they may."""

from __future__ import annotations

import json
from pathlib import Path

from tools.budget import BUDGETS, over, times

ROOT = Path(__file__).parents[3]
USUAL = {"a.py": 100, "b.py": 10}


def test_a_slower_machine_and_a_few_seconds_are_no_matter() -> None:
    assert list(over({"a.py": 219, "b.py": 39}, USUAL)) == []


def test_a_file_that_takes_much_longer_is_over_its_budget() -> None:
    assert list(over({"a.py": 221, "b.py": 10}, USUAL)) == [
        "over its budget: a.py took 221 s, where 100 s are usual",
    ]


def test_a_file_without_a_budget_is_named() -> None:
    assert list(over({"new.py": 3}, USUAL)) == ["no budget: new.py took 3 s; add it to budget.json"]


def test_every_file_of_tests_with_daemons_has_a_budget() -> None:
    files = {
        file.relative_to(ROOT).as_posix()
        for name in ("system", "faults")
        for file in ROOT.glob(f"tests/{name}/test_*.py")
    }
    assert json.loads(BUDGETS.read_text(encoding="utf-8")).keys() == files


def test_the_times_are_those_of_files_fixtures_included(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    cases = (("tests.system.test_a", 1.5), ("tests.system.test_a", 2.0), ("tests.faults.test_b", 0.25))
    lines = "".join(f'<testcase classname="{name}" name="x" time="{seconds}"/>' for name, seconds in cases)
    report.write_text(f"<testsuites><testsuite>{lines}</testsuite></testsuites>")
    assert times(report) == {"tests/system/test_a.py": 3.5, "tests/faults/test_b.py": 0.25}
