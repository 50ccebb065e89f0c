"""A comparison on one screen."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from howdah.cli.experiments.comparison_table import check_fails, print_comparison
from howdah.errors import UsageError, WorkloadFailed
from howdah.report import ComparisonReport, build_comparison
from tests.unit.report.example_runs import Example, write_example

NAMES = ("heap=small", "heap=big")


@pytest.fixture
def found(tmp_path: Path) -> ComparisonReport:
    """The contender is a third faster, in turn with the baseline."""
    sides = [
        [
            write_example(
                tmp_path,
                Example(
                    f"{name}{n}", 2 * n + at, speed=speed, series=False, settings={"heap": name}, labels={"heap": name}
                ),
            )
            for n in range(5)
        ]
        for at, (name, speed) in enumerate((("small", 1.0), ("big", 1.35)))
    ]
    return build_comparison(sides[0], sides[1], names=NAMES)


def compared(root: Path, *arguments: str) -> Result:
    from howdah.cli.main import howdah

    return CliRunner().invoke(howdah, ["compare", *NAMES, "--out", str(root), *arguments])


@pytest.mark.promise("`howdah compare` fits one screen, and speaks of the sides by their labels", "CHANGELOG")
@pytest.mark.parametrize("width", [60, 80, 120])
def test_it_fits_the_screen(found: ComparisonReport, width: int, capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(found, width)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= width
    said = " ".join(" ".join(lines).split())
    assert said.startswith("Faster: TeraSort is 1.")
    assert "as fast with heap=big as with heap=small (95 % interval 1." in said
    assert "Changed heap: small → big" in said
    rows = [line for line in lines if line.startswith("  heap=")]
    assert [line.split()[0] for line in rows] == ["heap=small", "heap=big"]
    plots = ["".join(sign for sign in line if sign in "●◉·") for line in rows]
    assert (len(plots[0]) >= 24) == (width >= 80), "a narrow terminal has no plot"
    if plots[0]:
        assert plots[0].rindex("·") < max(plots[0].rfind("●"), plots[0].rfind("◉")), "the slower is at the right"
        assert 1 <= sum(sign != "·" for sign in plots[0]) <= 5


def test_the_command_says_more_when_asked(found: ComparisonReport, tmp_path: Path) -> None:
    short, long = compared(tmp_path), compared(tmp_path, "-v")
    assert (short.exit_code, long.exit_code) == (0, 0)
    assert "More: -v" in short.output
    assert "ALL METRICS" in long.output
    assert len(long.output) > 3 * len(short.output)
    page = tmp_path / "page.md"
    assert f"More: -v, or {page}" in compared(tmp_path, "-o", str(page)).output
    assert page.exists()


@pytest.mark.promise("`howdah compare --fail-if` is for scripts", "CHANGELOG")
@pytest.mark.parametrize(
    ("rule", "fails"),
    [("faster", True), ("faster > 5%", True), ("faster>60 %", False), ("slower", False), ("different > 1%", False)],
)
def test_a_rule_fails_on_its_verdict_and_size(found: ComparisonReport, rule: str, fails: bool) -> None:
    if fails:
        with pytest.raises(WorkloadFailed, match="heap=big is faster by 2"):
            check_fails(found, rule)
    else:
        check_fails(found, rule)


@pytest.mark.parametrize("rule", ["", "quicker", "slower > 5", "slower < 5%", "slower > 5% or so"])
def test_another_rule_is_refused(found: ComparisonReport, rule: str) -> None:
    with pytest.raises(UsageError, match="is no rule"):
        check_fails(found, rule)


@pytest.mark.parametrize("width", [80, 120])
def test_several_contenders_fit_the_screen(tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from howdah.cli.main import howdah

    for n in range(5):
        for at, (name, speed) in enumerate((("1g", 1.0), ("2g", 1.3), ("3g", 0.7))):
            write_example(tmp_path, Example(f"{name}{n}", 3 * n + at, speed=speed, series=False, labels={"heap": name}))
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(tmp_path)
    sides = [f"heap={name}" for name in ("1g", "2g", "3g")]
    said = CliRunner().invoke(howdah, ["compare", *sides, "--out", str(tmp_path), "-o", "x.csv"])
    assert said.exit_code == 0, said.output
    assert max(map(len, said.output.splitlines())) <= width
    rows = [line.split() for line in said.output.splitlines() if line.startswith("  heap=")]
    assert [(row[0], row[-1]) for row in rows] == [
        *(("heap=1g", "baseline"), ("heap=2g", "faster"), ("heap=3g", "slower"))
    ]
    assert (tmp_path / "x.csv").read_text().count("\n") == 4
    failed = CliRunner().invoke(howdah, ["compare", *sides, "--out", str(tmp_path), "--fail-if", "slower > 5%"])
    assert isinstance(failed.exception, WorkloadFailed)
    assert "heap=3g is slower" in str(failed.exception)
