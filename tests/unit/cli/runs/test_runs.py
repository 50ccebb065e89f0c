"""The list of runs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from howdah.cli.columns import in_columns
from howdah.cli.main import howdah
from howdah.model.run import Outcome
from tests.unit.report.example_runs import Example, write_example


def listed(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(howdah, ["runs", "--out", str(root), *arguments])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_example(
        tmp_path, Example("a-fast", 0, settings={"accelerator": "sort"}, series=False, labels={"size": "tiny"})
    )
    write_example(tmp_path, Example("b-plain", 1, series=False))
    write_example(tmp_path, Example("c-wrong", 2, series=False, outcome=Outcome("failed", "no disk")))
    return tmp_path


@pytest.mark.promise("`howdah runs` says which runs were accelerated", "how-to/accelerate")
def test_it_says_which_runs_were_accelerated(root: Path) -> None:
    lines = listed(root).output.splitlines()
    assert ["accelerator sort" in line for line in lines] == [False, True, False, False]
    records = json.loads(listed(root, "--json").output)
    assert [one["accelerator"] for one in records] == ["sort", "none", "none"]


@pytest.mark.promise("`howdah runs` shows each run's result, or why it has none", "CHANGELOG")
def test_every_run_has_its_result_or_why_it_has_none(root: Path) -> None:
    head, fast, plain, wrong = listed(root).output.splitlines()
    assert head.split() == ["RUN", "(time", "in", "UTC)", "SIZE", "ON", "RESULT", "NOTES"]
    assert " s  accelerator sort  size=tiny" in fast
    assert plain.rstrip().endswith(" s")
    assert wrong.rstrip().endswith("–  failed: no disk")
    records = json.loads(listed(root, "--json").output)
    assert [(one["primary"], one["unit"], one["value"] is None) for one in records] == [
        ("sort/job_seconds", "s", False), ("sort/job_seconds", "s", False), ("sort/job_seconds", "s", True),
    ]  # fmt: skip


@pytest.mark.promise("`howdah runs` finds runs by workload, label and setting", "CHANGELOG")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--label", "size=tiny"), ["a-fast"]),
        (("--label", "size=huge"), []),
        (("--where", "accelerator=none"), ["b-plain", "c-wrong"]),
        (("--where", "accelerator=none", "--last", "1"), ["c-wrong"]),
        (("--where", "nodes=3", "--workload", "terasort"), ["a-fast", "b-plain", "c-wrong"]),
        (("--workload", "pi"), []),
        (("--last", "2"), ["b-plain", "c-wrong"]),
    ],
)
def test_runs_are_found_by_what_they_have(root: Path, arguments: tuple[str, ...], found: list[str]) -> None:
    assert [one["id"] for one in json.loads(listed(root, *arguments, "--json").output)] == found
    if not found:
        assert "No such runs in " in listed(root, *arguments).output


@pytest.mark.promise("`howdah runs --csv` has a row for each run", "CHANGELOG")
def test_csv_has_a_column_for_every_fact_and_label(root: Path) -> None:
    (root / "d-broken").mkdir()
    (root / "d-broken" / "run.json").write_text("{")
    told = listed(root, "--csv")
    rows = list(csv.DictReader(io.StringIO(told.stdout)))
    assert [row["id"] for row in rows] == ["a-fast", "b-plain", "c-wrong"]
    assert [row["label.size"] for row in rows] == ["tiny", "", ""]
    assert float(rows[0]["value"]) > 0
    assert rows[2]["reason"] == "no disk"
    assert "d-broken" in told.stderr
    assert listed(root, "--csv", "--json").exit_code != 0
    assert "unreadable: " in listed(root).output


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    rows = [("one", "5", "x" * 300), ("another", "12345", "short")]
    lines = list(in_columns(("NAME", "N", "NOTES"), rows, width, right=(1,)))
    assert max(len(line) for line in lines) == width
    assert lines[1].startswith("one          5  xxx")
    assert lines[1].endswith("x…")
    assert lines[2] == "another  12345  short"


def test_a_report_is_opened_where_there_is_a_display(tmp_path: Path) -> None:
    from tests.unit.report.example_runs import Example, write_example

    write_example(tmp_path / "runs", Example("r1", 1, series=False))
    page = str(tmp_path / "page.html")
    none = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}
    made = CliRunner(env=none).invoke(howdah, ["report", "r1", "--out", str(tmp_path / "runs"), "-o", page, "--open"])
    assert made.exit_code == 0
    assert made.output == f"Report: {page}\nThere is no display to open it on.\n"
    other = CliRunner(env=none).invoke(
        howdah, ["report", "r1", "--out", str(tmp_path / "runs"), "-o", "x.md", "--open"]
    )
    assert other.exit_code == 2


def test_properties_that_differ_between_runs_of_a_workload_are_notes(tmp_path: Path) -> None:
    sizes = ("32", "128")
    for number, size in enumerate(sizes):
        conf = {"mapreduce.task.io.sort.mb": size, "mapreduce.map.output.compress": "true"}
        write_example(tmp_path, Example(f"r{number}", number, settings={"workload": {"conf": conf}}, series=False))
    _, *lines = listed(tmp_path).output.splitlines()
    assert [line.split("  ")[-1] for line in lines] == [f"sort.mb={size}" for size in sizes]
