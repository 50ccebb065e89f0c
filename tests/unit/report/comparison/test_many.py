"""Several contenders against one baseline."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.model.run import Caveat
from howdah.report import ManyReport, build_comparison, build_many, render_csv, render_html, render_markdown
from howdah.store import StoredRun
from tests.unit.report.example_runs import Example, write_example

SPEEDS = {"base": 1.0, "quick": 1.5, "slow": 0.8, "same": 1.0}


@pytest.fixture
def sides(tmp_path: Path) -> dict[str, list[StoredRun]]:
    """Runs in turn, six of each."""
    return {
        name: [
            write_example(
                tmp_path,
                Example(f"{name}{n}", 4 * n + at, speed=speed * (1 + 0.01 * ((n * 7 + at) % 5)), series=False,
                        settings={"heap": name}, labels={"heap": name}),
            )
            for n in range(6)
        ]
        for at, (name, speed) in enumerate(SPEEDS.items())
    }  # fmt: skip


@pytest.fixture
def many(sides: dict[str, list[StoredRun]]) -> ManyReport:
    return build_many(sides["base"], [sides[name] for name in list(SPEEDS)[1:]], list(SPEEDS))


@pytest.mark.promise("`howdah compare` takes several contenders, whose intervals hold together", "CHANGELOG")
def test_each_contender_has_a_part_of_the_level(many: ManyReport, sides: dict[str, list[StoredRun]]) -> None:
    alone = build_comparison(sides["base"], sides["quick"]).comparison
    first = many.comparisons[0].comparison
    assert first.level == pytest.approx(0.05 / 3)
    assert alone.level == pytest.approx(0.05)
    assert first.ratio == alone.ratio
    assert first.interval is not None
    assert alone.interval is not None
    assert first.interval.low < alone.interval.low < alone.interval.high < first.interval.high
    assert first.fewest_runs > alone.fewest_runs


def test_the_best_one_is_the_headline_and_every_one_has_a_row(many: ManyReport) -> None:
    assert many.headline.startswith("quick is 1.35× as fast as base; of 3 contenders: 1 faster, 1 slower")
    assert [(row[0], row[-1]) for row in many.rows] == [
        *(("base", "baseline"), ("quick", "faster"), ("slow", "slower"), ("same", "no difference shown"))
    ]
    assert many.glance.badge.word == "faster"


def test_a_metric_that_is_no_time_makes_nothing_fast(sides: dict[str, list[StoredRun]]) -> None:
    runs = [sides[name] for name in ("base", "quick", "slow")]
    found = build_many(runs[0], runs[1:], ["base", "quick", "slow"], "sort/throughput")
    assert " as fast as " not in found.headline
    assert found.headline.startswith("sort/throughput is 35 % higher with quick than with base; of 2 contenders: ")


def test_none_is_faster(sides: dict[str, list[StoredRun]]) -> None:
    found = build_many(sides["quick"], [sides["slow"], sides["same"]], ["quick", "slow", "same"])
    assert found.headline == "None of 2 contenders is shown to be faster than quick: 2 slower."
    assert found.glance.badge.word == "slower"


def test_it_has_one_picture_and_every_format(many: ManyReport) -> None:
    page = render_markdown(many)
    assert page.count("What quick changes") >= 1
    assert "(Bonferroni)" in page
    assert "<svg" in render_html(many)
    rows = list(csv.DictReader(io.StringIO(render_csv(many))))
    assert [row["contender"] for row in rows] == list(SPEEDS)
    assert float(rows[1]["ratio"]) == many.comparisons[0].comparison.ratio
    assert len(many.facts["contenders"]) == 3


def test_what_holds_for_one_contender_alone_has_its_name(sides: dict[str, list[StoredRun]]) -> None:
    found = build_many(sides["base"], [sides["quick"], sides["same"][3:]], ["base", "quick", "same"])
    texts = [caveat.text for caveat in found.sections[0].blocks if isinstance(caveat, Caveat)]
    assert not [text for text in texts if text.startswith("quick, same: ")]
    assert len(texts) == len(set(texts))


def test_a_run_on_two_sides_is_refused(sides: dict[str, list[StoredRun]]) -> None:
    with pytest.raises(UsageError, match="on both sides"):
        build_many(sides["base"], [sides["quick"], sides["base"][:2]], ["base", "quick", "again"])
