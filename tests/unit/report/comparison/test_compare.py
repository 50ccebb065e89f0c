"""What may be compared, and what a comparison says about itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howdah.errors import UsageError
from howdah.model.run import Caveat, Outcome
from howdah.report import ComparisonReport, build_comparison, render_json, render_text
from howdah.store import StoredRun
from tests.unit.report.example_runs import Example, write_example


def caveats(report: ComparisonReport) -> str:
    return "\n".join(block.text for part in report.sections for block in part.blocks if isinstance(block, Caveat))


def alternating(root: Path, count: int = 5, **contender: Any) -> tuple[list[StoredRun], list[StoredRun]]:
    """Two sides whose runs take turns."""
    left = [write_example(root, Example(f"a{n}", 2 * n)) for n in range(count)]
    right = [write_example(root, Example(f"b{n}", 2 * n + 1, **contender)) for n in range(count)]
    return left, right


@pytest.mark.promise("A comparison has an effect, a 95 % interval and a verdict", "README")
@pytest.mark.promise("Runs that are not valid are not compared, and are listed", "explanation/comparisons")
def test_faster(group: list[StoredRun], faster: list[StoredRun]) -> None:
    report = build_comparison(group, faster)
    assert report.comparison.verdict == "faster"
    assert report.headline == (
        "Faster: TeraSort is 1.35× as fast with the contender as with the baseline (95 % interval 1.32–1.38): "
        "sort/job_seconds 17.2 s against 23.2 s (5 + 5 runs, rank test p = 0.008)."
    )
    back = build_comparison(faster, group, names=("heap=big", "heap=small"))
    assert back.headline == (
        "Slower: TeraSort takes 35 % more time with heap=small than with heap=big (95 % interval +32 % to +38 %): "
        "sort/job_seconds 23.2 s against 17.2 s (5 + 5 runs, rank test p = 0.008)."
    )
    assert "Not used of the baseline: base-6 invalid" in caveats(report)


@pytest.mark.promise("A metric that is not the primary one is a caveat", "explanation/comparisons")
def test_higher_is_better_for_throughput(group: list[StoredRun], faster: list[StoredRun]) -> None:
    report = build_comparison(group, faster, "sort/throughput")
    assert report.comparison.verdict == "faster"
    assert report.comparison.ratio > 1
    assert "not the primary metric that was stated before the runs: sort/job_seconds" in caveats(report)


@pytest.mark.promise("With too few runs, a comparison says how many are enough", "README")
def test_three_runs_are_not_enough_and_it_says_how_many_are(group: list[StoredRun], faster: list[StoredRun]) -> None:
    report = build_comparison(group[:3], faster[:3])
    assert report.comparison.verdict == "not enough data"
    assert report.headline.endswith("3 + 3 runs cannot show a difference.")
    text = " ".join(render_text(report).split())
    assert "has p = 0.100 at best. 4 + 4 can show a difference: make 1 + 1 more." in text
    assert "a difference of 5 % needs" in text


def test_equal_sides_show_no_difference_and_say_what_stays_unseen(tmp_path: Path) -> None:
    report = build_comparison(*alternating(tmp_path))
    assert report.comparison.verdict == "no difference shown"
    text = " ".join(render_text(report).split())
    assert "are likely to be missed" in text
    assert "Both sides have the same settings" in text
    assert caveats(report) == ""


@pytest.mark.promise("`compare` lists what else differs between the two sides", "tutorial/first-cluster")
def test_settings_that_differ_are_listed(tmp_path: Path) -> None:
    report = build_comparison(*alternating(tmp_path, settings={"nodes": 4, "seed": 8}))
    assert "2 settings differ, so the effect belongs to all of them together." in caveats(report)
    found = json.loads(render_json(report))["settings_differences"]
    assert found == [
        {"path": "nodes", "baseline": 3, "contender": 4},
        {"path": "seed", "baseline": 7, "contender": 8},
    ]


@pytest.mark.promise("`compare` lists what else differs between the two sides", "tutorial/first-cluster")
def test_other_hardware_is_said(tmp_path: Path) -> None:
    report = build_comparison(*alternating(tmp_path, hosts={"cpu": {"model": "Xeon", "processors": 8}}))
    assert "The hosts differ (hosts.vm.cpu.model and hosts.vm.cpu.processors)" in caveats(report)


def test_another_hadoop_is_listed_but_may_be_the_question(tmp_path: Path) -> None:
    report = build_comparison(*alternating(tmp_path, hadoop={"version": "3.5.0"}))
    assert "hosts differ" not in caveats(report)
    assert "software differs" not in caveats(report)
    other = tmp_path / "other"
    report = build_comparison(
        *alternating(other, hadoop={"version": "3.5.0", "jars": {"new.jar": "1"}}, settings={"seed": 8})
    )
    assert "The software differs, besides the settings (hadoop.version): the effect may be that of either." in caveats(
        report
    )
    assert "hadoop.version" in render_text(report)


@pytest.mark.promise("One side that ran entirely before the other is a caveat", "explanation/comparisons")
def test_one_side_after_the_other_is_said(group: list[StoredRun], faster: list[StoredRun]) -> None:
    assert "All runs of the baseline came before all of the contender" in caveats(build_comparison(group, faster))


@pytest.mark.promise("Several trials on a side are a caveat", "explanation/comparisons")
def test_mixed_trials_on_a_side_are_said(tmp_path: Path) -> None:
    left, right = alternating(tmp_path)
    left[0] = write_example(tmp_path, Example("odd", 40, settings={"nodes": 9}))
    assert "The baseline mixes 2 different trials." in caveats(build_comparison(left, right))


@pytest.mark.promise("Different workloads or data are not compared", "explanation/comparisons")
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bytes": 2_000_000_000}, "bytes is 1000000000 in a0 and 2000000000 in b0"),
        ({"workload": "wordcount"}, "different workloads are not comparable: terasort and wordcount"),
        ({"outcome": Outcome("invalid", "no")}, "the contender has no valid run: b0 invalid"),
    ],
)
def test_what_is_not_comparable_is_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        build_comparison(*alternating(tmp_path, 1, **changes))


@pytest.mark.promise("Simulated runs are never compared with measured ones", "reference/synthetic-cluster")
def test_simulated_runs_are_not_compared_with_measured_ones(tmp_path: Path) -> None:
    left, right = alternating(tmp_path)
    made_up = [replace(one, run=replace(one.run, cluster={"kind": "synthetic"})) for one in right]
    with pytest.raises(UsageError, match="not comparable with runs of real ones"):
        build_comparison(left, made_up)


def test_data_drawn_anew_is_comparable_and_the_difference_is_shown(tmp_path: Path) -> None:
    report = build_comparison(*alternating(tmp_path, drawn={"written_records": 199_977}))
    text = " ".join(render_text(report).split())
    assert "Facts of the data set that differ" in text
    assert "written_records" in text


@pytest.mark.promise("A run on both sides is refused", "explanation/comparisons")
def test_a_run_cannot_be_on_both_sides(single: StoredRun) -> None:
    with pytest.raises(UsageError, match="both sides"):
        build_comparison([single], [single])


def test_a_side_without_runs(single: StoredRun) -> None:
    with pytest.raises(UsageError, match="the contender has no run"):
        build_comparison([single], [])


def test_an_unknown_metric_names_the_known_ones(group: list[StoredRun], faster: list[StoredRun]) -> None:
    with pytest.raises(UsageError) as caught:
        build_comparison(group, faster, "watts")
    assert "sort/job_seconds" in str(caught.value)
    with pytest.raises(UsageError, match="several phases have job_seconds"):
        build_comparison(group, faster, "job_seconds")


@pytest.mark.promise("`compare` lists what else differs between the two sides", "tutorial/first-cluster")
def test_what_daemons_held_differently_is_told(tmp_path: Path) -> None:
    key, held = "daemons/dfs.namenode.handler.count", {"sort/dfs.blocksize": ["1"]}
    report = build_comparison(*alternating(tmp_path, held={**held, key: ["20"]}))
    assert key not in render_text(report), "the baseline was not read back"
    left = [write_example(tmp_path, Example(f"c{n}", 20 + 2 * n, held={**held, key: ["10"]})) for n in range(5)]
    right = [write_example(tmp_path, Example(f"d{n}", 21 + 2 * n, held={**held, key: ["20"]})) for n in range(5)]
    report = build_comparison(left, right)
    assert f"yet daemons or jobs held something else: {key}." in caveats(report)
    assert "What daemons and jobs held that differs" in render_text(report)
    assert "dfs.blocksize" not in render_text(report)


def test_what_the_runs_say_themselves_is_said_once(tmp_path: Path) -> None:
    other = Caveat("sort", "other applications ran on the cluster at the same time: application_1_0007")
    report = build_comparison(*alternating(tmp_path, caveats=(other, Caveat("run", "not a TPC result"))))
    assert caveats(report).splitlines() == [
        "Other applications ran on the cluster at the same time: application_1_0007. (5 of 10 runs)",
        "Not a TPC result. (5 of 10 runs)",
    ]
    assert [one["text"] for one in json.loads(render_json(report))["caveats"]] == caveats(report).splitlines()


def with_data(root: Path, left: list[dict[str, Any]], right: list[dict[str, Any]]) -> str:
    """The caveats of runs that take turns and have these data."""
    sides: tuple[list[StoredRun], list[StoredRun]] = ([], [])
    for side, (name, every) in enumerate((("a", left), ("b", right))):
        for number, drawn in enumerate(every):
            sides[side].append(write_example(root, Example(f"{name}{number}", 2 * number + side, drawn=drawn)))
    return caveats(build_comparison(*sides))


def kept(maker: str, count: int = 5) -> list[dict[str, Any]]:
    """Data that the first of the runs made, which is `maker`, and the others used."""
    return [{"reused": number > 0, "made_by": maker} for number in range(count)]


@pytest.mark.promise("Data that each side made once is a caveat", "explanation/comparisons")
def test_data_that_each_side_made_once_is_one_draw_of_its_placement(tmp_path: Path) -> None:
    said = with_data(tmp_path, kept("a0"), kept("b0"))
    assert "Baseline: 5 runs had data that was made once. Contender: 5 runs had data that was made once." in said
    assert "The placement of a data set's files is one random draw" in said


def test_one_side_is_enough(tmp_path: Path) -> None:
    said = with_data(tmp_path, kept("a0"), [{"reused": False}] * 5)
    assert "5 runs had data that was made once. Contender: 5 runs had data that was made 5 times." in said


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([{"reused": False}] * 5, [{"reused": False}] * 5),
        (kept("other"), kept("other")),
        ([{}] * 5, kept("b0")),
    ],
    ids=["every run made its own", "both sides used the same", "it is not known who made it"],
)
def test_other_data_has_no_such_caveat(tmp_path: Path, left: list[dict[str, Any]], right: list[dict[str, Any]]) -> None:
    assert "random draw" not in with_data(tmp_path, left, right)


@pytest.mark.promise("Every page begins with a verdict, and four numbers at most", "CHANGELOG")
def test_what_is_seen_first(group: list[StoredRun], faster: list[StoredRun]) -> None:
    found = build_comparison(group, faster, names=("heap=small", "heap=big"))
    assert (found.glance.badge.kind, found.glance.badge.word) == ("good", "faster")
    assert [(tile.name, tile.value) for tile in found.glance.tiles] == [
        ("heap=big ÷ heap=small", "−26 %"), ("heap=small", "23.2 s"), ("heap=big", "17.2 s"), ("runs", "5 + 5"),
    ]  # fmt: skip
    assert found.glance.caveats == len(found.caveats)
    assert build_comparison(faster, group).glance.badge.kind == "bad"
    assert build_comparison(group[:3], faster[:3]).glance.badge.word == "not enough data"
