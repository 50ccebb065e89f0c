"""What runs cost, on one screen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from howdah.cli.main import howdah
from howdah.errors import UsageError
from tests.unit.report.example_runs import Example, write_example

PRICES = Path(__file__).parents[4] / "docs" / "examples" / "prices-2014.yaml"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five runs each of a slow and a quick system."""
    for at, (name, speed) in enumerate((("old", 1.0), ("new", 1.35))):
        for n in range(5):
            labels = {"on": name}
            write_example(tmp_path, Example(f"{name}{n}", 2 * n + at, speed=speed, series=False, labels=labels))
    return tmp_path


def call(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(howdah, ["value", *arguments, "--prices", str(PRICES), "--out", str(root)])


TWO = ("on=old", "on=new", "--server", "e5-2660v2", "--server", "e5-2690v2", "--servers", "3")


def test_two_systems_with_their_figures_and_equal_work(root: Path) -> None:
    said = call(root, *TWO)
    assert said.exit_code == 0, said.output
    assert "on=old: 3 servers e5-2660v2, TeraSort, sort" in said.output
    assert max(map(len, said.output.splitlines())) <= 100
    figures = [line for line in said.output.splitlines() if line.startswith("Servers in a rack")]
    assert [line.split()[-2:] for line in figures] == [["19", "–"]] * 2
    words = " ".join(said.output.split())
    assert "of on=new do the work of 19 of on=old, if servers add up; " in words
    assert "The parts of e5-2690v2 add up to 29,979.92 USD; its source prints 29,988.92, 9.00 more." in said.output
    assert "Prices in USD of 2014-08-01: MSRP" in said.output
    assert "nobody measured it here" in words


def test_explained_every_figure_has_its_formula(root: Path) -> None:
    said = call(root, *TWO, "--explain").output
    assert "  Purchase = n·p + s·q + r·k" in said
    assert "    p: 27,691.32 USD each" in said
    assert "  = ⌈m·q·b ÷ a⌉" in said
    record = json.loads(call(root, *TWO, "--json").output)
    assert [one["servers"] for one in record["systems"]] == [3, 3]
    assert all(figure["formula"] and figure["inputs"] for one in record["systems"] for figure in one["figures"])
    assert record["equal_work"][0]["servers_of_first"] == 19
    assert record["wrong_sums"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("on=old",), "which server is it?"),
        (("on=old", "--server", "none"), "no server 'none'"),
        (
            ("on=old", "on=new", "--server", "e5-2660v2", "--servers", "1", "--servers", "2", "--servers", "3"),
            "3 times",
        ),
        (("on=gone", "--server", "e5-2660v2"), "no run has the label or the setting on=gone"),
        (("on=old", "on=old", "--server", "e5-2660v2"), "both"),
    ],
)
def test_what_is_wrong_is_said(root: Path, arguments: tuple[str, ...], message: str) -> None:
    said = call(root, *arguments)
    assert isinstance(said.exception, UsageError)
    assert message in said.exception.message


def test_reports_and_comparisons_say_it_too(root: Path, tmp_path: Path) -> None:
    given = ("--prices", str(PRICES), "--out", str(root))
    compared = CliRunner().invoke(howdah, ["compare", *TWO, *given, "-v"])
    assert compared.exit_code == 0, compared.output
    assert "WHAT IT COSTS" in compared.output
    assert "do the work of" in compared.output
    page = tmp_path / "page.html"
    runs = [str(root / f"old{n}") for n in range(5)]
    options = ("--server", "e5-2660v2", "--servers", "3", "-o", str(page))
    reported = CliRunner().invoke(howdah, ["report", *runs, *given, *options])
    assert reported.exit_code == 0, reported.output
    assert "Arithmetic of these runs" in page.read_text()
    alone = CliRunner().invoke(
        howdah, ["report", *runs, "--rack", "usual", "--out", str(root), "-o", str(page), "--force"]
    )
    assert isinstance(alone.exception, UsageError)
    assert alone.exception.message == "--rack goes with --prices"
