"""What a report says of good, few, bad and damaged runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from howdah.cli.reporting import print_result
from howdah.errors import UsageError
from howdah.model.environment import Environment
from howdah.model.run import Caveat, Check, Outcome
from howdah.report import (
    Report,
    build_comparison,
    build_many,
    build_report,
    describe_run,
    render_html,
    render_markdown,
    render_text,
)
from howdah.report.document.blocks import Block, Figure, Fold, Section, Table
from howdah.report.document.results import Measure, Replicates, run_value
from howdah.report.page.build import own_caveats
from howdah.store import StoredRun, read_run
from tests.unit.report.example_runs import Example, wide_shape, write_example, write_group


def section(report: Report, name: str) -> Section:
    return next(part for part in report.sections if part.id == name)


def blocks(report: Report) -> Iterator[Block]:
    for part in report.sections:
        for block in part.blocks:
            yield from block.blocks if isinstance(block, Fold) else (block,)


def caveats(report: Report) -> list[str]:
    return [block.text for block in blocks(report) if isinstance(block, Caveat)]


def table(report: Report, caption: str) -> Table:
    return next(block for block in blocks(report) if isinstance(block, Table) and block.caption.startswith(caption))


def test_the_headline_of_several_runs_has_an_interval(group: list[StoredRun]) -> None:
    headline = build_report(group).headline
    assert headline.startswith("TeraSort of 1.00 GB on 3 nodes took 23.2 s (95 % interval ")
    assert headline.endswith("s, 5 runs), 43.1 MB/s; output validated.")


def test_the_headline_names_a_primary_metric_that_is_no_time(single: StoredRun) -> None:
    run = replace(single, run=replace(single.run, primary="sort/throughput"))
    words = "TeraSort of 1.00 GB on 3 nodes: sort at 43.3 MB/s (1 run, no interval); output validated."
    assert build_report([run]).headline == words
    run = replace(single, run=replace(single.run, primary="sort/cpu_seconds", cluster={}, dataset=None, checks=()))
    words = "TeraSort: sort/cpu_seconds 39.2 s (1 run, no interval), 43.3 MB/s; output not validated."
    assert build_report([run]).headline == words


@pytest.mark.promise("Facts of many hosts are told once, with the hosts that differ", "explanation/reading-the-report")
def test_the_environment_of_fifty_hosts_is_as_long_as_that_of_one(single: StoredRun) -> None:
    reading = single.environment["before"]
    [facts] = reading.hosts.values()
    hosts = {f"node{number}": {**facts, "firmware": {"version": "1.2"}} for number in range(50)}
    hosts["node7"] = {**facts, "firmware": {"version": "1.1"}}

    def rows(environment: Environment) -> dict[str, str]:
        run = replace(single, environment={"before": environment})
        report = build_report([run])
        return dict(cast(list[tuple[str, str]], table(report, "Facts of the hosts").rows))

    alone, many = rows(Environment({"one": facts}, reading.hadoop)), rows(Environment(hosts, reading.hadoop))
    assert len(many) <= len(alone) + 1
    assert many["hosts.*.kernel"] == alone["hosts.one.kernel"]
    assert many["hosts.*.firmware.version"] == "1.2 (node0, node1, node2, node3 and 45 more); 1.1 (node7)"
    assert {name for name in many if "hosts." not in name} == {name for name in alone if "hosts." not in name}


def ways_of(single: StoredRun, rates: dict[tuple[str, str], float]) -> Report:
    """The report of a run with these rates between hosts."""
    usual = single.samples[0]
    own = [
        replace(
            usual, metric="network_way", value=rate, unit="B/s", host=source, role=f"to {target}", phase="calibration"
        )
        for (source, target), rate in rates.items()
    ]
    return build_report([replace(single, samples=(*single.samples, *own))])


@pytest.mark.promise("The rates between hosts are kept, and shown in the report", "reference/run-directory")
def test_the_network_between_hosts_is_a_square_of_few_and_the_slowest_of_many(single: StoredRun) -> None:
    few = {("a", "b"): 110e6, ("b", "a"): 12e6}
    shown = table(ways_of(single, few), "One TCP stream")
    assert shown.rows == (("a", "–", "110 MB/s"), ("b", "12.0 MB/s", "–"))
    ring = {(f"n{one}", f"n{(one + 1) % 50}"): 1e6 * (one + 1) for one in range(50)}
    shown = table(ways_of(single, ring), "One TCP stream")
    assert len(shown.rows) == 10
    assert shown.rows[0] == ("n0", "n1", "1.00 MB/s")
    assert not [one for one in blocks(build_report([single])) if isinstance(one, Table) and "TCP" in one.caption]


@pytest.mark.promise("Every result on simulated hosts is labelled", "how-to/simulate")
def test_simulated_hosts_are_said_first(group: list[StoredRun], faster: list[StoredRun]) -> None:
    cluster = {**faster[0].run.cluster, "allocation": {"kind": "sim"}}
    on = [replace(one, run=replace(one.run, cluster=cluster)) for one in faster]
    report = build_report(on)
    assert report.headline.startswith("On simulated hosts: TeraSort of 1.00 GB on 3 nodes took")
    assert (report.glance.badge.kind, report.glance.badge.word) == ("good", "valid, simulated hosts")
    for compared in (build_comparison(group, on), build_many(group, [on[:3], on[3:]], ("a", "b", "c"))):
        assert compared.headline.startswith("On simulated hosts: ")
        assert compared.glance.badge.word.endswith(", simulated hosts")
    assert build_report(faster).glance.badge.word == "valid"


def test_that_a_program_ended_well_validates_no_output(single: StoredRun) -> None:
    made = (Check("exit code", True, "0"), Check("settings", True, "as asked"))
    run = replace(single, run=replace(single.run, checks=made))
    assert build_report([run]).headline.endswith("output not validated.")
    looked = replace(single, run=replace(single.run, checks=(*made, Check("verify", True, "0"))))
    assert build_report([looked]).headline.endswith("output validated.")


@pytest.mark.promise("One run has no interval, and the page says why", "explanation/reading-the-report")
def test_one_run_has_no_interval_and_says_why(single: StoredRun) -> None:
    report = build_report([single])
    assert "(1 run, no interval)" in report.headline
    assert any("One run cannot tell the spread" in text for text in caveats(report))


@pytest.mark.promise("Runs that are not valid are not compared, and are listed", "explanation/comparisons")
def test_runs_that_are_not_valid_are_listed_and_not_used(group: list[StoredRun]) -> None:
    report = build_report(group)
    said = next(text for text in caveats(report) if text.startswith("2 runs not used"))
    assert "base-6 invalid (checksum of the output differs)" in said
    assert "base-7 failed (the sort job failed)" in said
    rows = table(report, "Runs in order").rows
    assert [row[3] for row in rows[5:]] == ["–", "–"]
    assert report.facts["trials"][0]["metrics"][0]["summary"]["n"] == 5


def test_without_a_valid_run_there_is_no_number(group: list[StoredRun]) -> None:
    report = build_report([group[6]])
    assert report.headline.endswith("no valid run, so no number. base-7 failed (the sort job failed).")
    assert "metrics" not in [part.id for part in report.sections]
    assert table(report, "Attempts that failed").rows[0][1].endswith("m_000001_0")


def test_the_same_loss_in_several_runs_is_one_caveat(tmp_path: Path) -> None:
    def of(pid: int, time: str) -> tuple[Caveat, ...]:
        log = f"; its log: /runs/r{pid}/logs/daemons/datanode-node3.log"
        return (
            Caveat("run", f"datanode of node3 on sim3 (process {pid}) ended with code -9{log}"),
            Caveat("run", f"nodemanager of node3 on sim3 was lost at {time}: the host was lost"),
        )

    runs = [
        write_example(tmp_path, Example(f"r{one}", one, caveats=of(100 + one, f"20:0{one}:07"))) for one in range(3)
    ]
    assert [one.text for one in own_caveats(runs)] == [
        "Datanode of node3 on sim3 ended with code -9. (3 of 3 runs)",
        "Nodemanager of node3 on sim3 was lost: the host was lost. (3 of 3 runs)",
    ]
    assert "(process 100)" in next(own_caveats(runs[:1])).text


def test_the_runs_own_caveats_and_damage_are_said(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("run", 0, caveats=(Caveat("sort", "swapping was seen"),)))
    with (run.path / "samples.jsonl").open("a") as out:
        out.write('{"metric": "job_sec')
    said = caveats(build_report([read_run(run.path)]))
    assert "Swapping was seen." in said
    assert any("samples.jsonl is cut off" in text for text in said)


def test_caveats_that_differ_in_the_job_alone_are_said_once(tmp_path: Path) -> None:
    again = "2 task attempts of job_17_000{} failed or were killed and were run again"
    own = [(Caveat("sort", again.format(n)), Caveat("run", "the same")) for n in range(3)]
    runs = [write_example(tmp_path, Example(f"r{n}", n, caveats=own[n])) for n in range(3)]
    assert [text for text in caveats(build_report(runs)) if "attempts" in text or "same" in text] == [
        "2 task attempts of job_… failed or were killed and were run again. (3 of 3 runs)",
        "The same. (3 of 3 runs)",
    ]
    [alone] = [text for text in caveats(build_report(runs[:1])) if "attempts" in text]
    assert "job_17_0000 failed" in alone


def test_of_many_caveats_those_of_most_runs_are_said(tmp_path: Path) -> None:
    rare = [Caveat("run", f"rare {number}") for number in range(4)]
    own = [(Caveat("run", "common"), *rare), (Caveat("run", "common"),)]
    runs = [write_example(tmp_path, Example(f"r{n}", n, caveats=own[n])) for n in range(2)]
    assert [one.text for one in own_caveats(runs, most=2)] == [
        "Common. (2 of 2 runs)",
        "Rare 0. (1 of 2 runs)",
        "The runs' own pages have 3 more caveats.",
    ]


def test_a_wide_spread_is_said(tmp_path: Path) -> None:
    runs = [write_example(tmp_path, Example(f"r{n}", n, speed=speed)) for n, speed in enumerate((1.0, 2.0, 0.7))]
    assert any("coefficient of variation" in text for text in caveats(build_report(runs)))


@pytest.mark.promise("Runs that drift are a caveat", "explanation/reading-the-report")
def test_runs_that_drift_are_said_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [write_example(tmp_path, Example(f"r{place}", place, speed=1 - place / 25)) for place in range(6)]
    assert any("The runs drifted: by their order alone the last is 1.1" in text for text in caveats(build_report(runs)))
    print_result(runs)
    assert "Caveat: The runs drifted: by their order" in capsys.readouterr().out
    assert not any("drifted" in text for text in caveats(build_report(runs[:4])))


@pytest.mark.promise(
    "An environment that changes between runs is a caveat with every difference", "explanation/reading-the-report"
)
def test_a_changed_environment_is_never_pooled_silently(tmp_path: Path) -> None:
    runs = write_group(tmp_path, "a", 2)
    runs.append(write_example(tmp_path, Example("b", 3, hosts={"kernel": "6.8.0"})))
    report = build_report(runs)
    assert any("hosts.vm.kernel" in text for text in caveats(report))
    assert "6.8.0" in table(report, "Differences between the first run").rows[0]


@pytest.mark.promise("Runs of different trials are never pooled", "explanation/reading-the-report")
def test_trials_are_not_pooled(group: list[StoredRun], faster: list[StoredRun]) -> None:
    report = build_report([*group, *faster])
    assert report.headline == "2 trials of terasort, 12 runs. They are not pooled."
    ids = [part.id for part in report.sections]
    assert len(ids) == len(set(ids))
    assert [trial["metrics"][0]["summary"]["n"] for trial in report.facts["trials"]] == [5, 5]


def test_a_run_given_twice_counts_once(single: StoredRun) -> None:
    assert "(1 run, no interval)" in build_report([single, single]).headline


def test_nothing_to_report_on() -> None:
    with pytest.raises(UsageError, match="no run"):
        build_report([])


def test_no_phase_name_is_known(tmp_path: Path) -> None:
    """Another workload, with one phase of its own, gives the same sections."""
    run = write_example(tmp_path, Example("scan", 0, shapes=wide_shape(20), workload="logscan"))
    report = build_report([run])
    assert report.headline.startswith("Logscan of 1.00 GB on 3 nodes took ")
    names = ["result", "time", "timeline", "limits", "metrics", "counters", "environment", "repeat"]
    assert [part.id for part in report.sections] == names


@pytest.mark.promise("The run shown in detail is the one nearest to the median", "explanation/reading-the-report")
def test_the_run_shown_is_the_median_one(group: list[StoredRun]) -> None:
    members = Replicates(tuple(group))
    measure = Measure.parse("sort/job_seconds")
    ordered = sorted(run_value(run, measure) or 0.0 for run in group[:5])
    assert run_value(members.shown, measure) == ordered[2]


def test_the_important_counters_come_first(single: StoredRun) -> None:
    names = [row[0] for row in table(build_report([single]), "Totals of each job").rows]
    assert names[:3] == ["HDFS_BYTES_READ", "HDFS_BYTES_WRITTEN", "MAP_INPUT_RECORDS"]
    assert names[-1] == "BYTES_READ"


@pytest.mark.promise("The report has the exact command to repeat the run", "explanation/reading-the-report")
def test_the_command_to_repeat_it_is_exact(single: StoredRun) -> None:
    text = render_text(build_report([single]))
    assert "    howdah run terasort --size 1G --nodes 3\n" in text
    assert str(single.path) in text


@pytest.mark.promise("The report says whether the plugins served the run", "explanation/reading-the-report")
def test_the_accelerator_is_named_and_what_it_did_is_shown(tmp_path: Path) -> None:
    records = 10_000_000
    counters = {
        "org.apache.hadoop.mapreduce.TaskCounter": {"MAP_OUTPUT_RECORDS": records, "REDUCE_INPUT_RECORDS": records},
        "Howdah Sort": {"RECORDS": records, "SPILLS": 8},
        "Howdah Shuffle": {"RECORDS": records, "SEGMENTS_DIRECT": 24, "SEGMENTS_HTTP": 0, "FALLBACKS": 1},
    }
    run = write_example(tmp_path, Example("fast", 0, settings={"accelerator": "sort"}, counters=counters))
    report = build_report([run])
    assert report.headline.startswith("TeraSort of 1.00 GB on 3 nodes with accelerator sort took ")
    assert report.facts["trials"][0]["accelerator"] == "sort"
    names = [part.id for part in report.sections]
    assert names.index("accelerator") == names.index("limits") - 1
    rows = {row[:2]: row[2:] for row in table(report, "What its plugins did").rows}
    assert rows["gen", "SortingCollector"] == ("no part: nothing goes from maps to reduces", "–", "–", "–")
    assert rows["sort", "SortingCollector"] == ("yes", "10,000,000", "10,000,000", "SPILLS 8")
    assert rows["sort", "MergingShuffle"] == (
        *("in part", "10,000,000", "10,000,000"),
        "SEGMENTS_DIRECT 24, SEGMENTS_HTTP 0 and FALLBACKS 1",
    )
    assert "accelerator" in render_text(describe_run(run))


def test_the_storage_is_named_where_it_is_not_hdfs(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("shared", 0, settings={"storage": "posix:/mnt/shared"}))
    report = build_report([run])
    assert report.headline.startswith("TeraSort of 1.00 GB on 3 nodes in posix:/mnt/shared took ")
    assert report.facts["trials"][0]["storage"] == "posix:/mnt/shared"
    assert "posix:/mnt/shared" in render_text(describe_run(run))
    other = write_example(tmp_path, Example("hdfs", 0))
    assert run.run.trial.identity != other.run.trial.identity


def test_an_accelerator_that_was_asked_for_and_counted_nothing(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("idle", 0, settings={"accelerator": "sort"}))
    rows = {row[:2]: row[2:] for row in table(build_report([run]), "What its plugins did").rows}
    assert rows["sort", "SortingCollector"] == ("no: stock sort did", "0", "10,000,000", "–")
    assert rows["sort", "MergingShuffle"] == ("no: stock shuffle did", "0", "–", "–")


def test_a_run_without_an_accelerator_has_no_word_of_one(single: StoredRun) -> None:
    report = build_report([single])
    assert "accelerator" not in [part.id for part in report.sections]
    assert "ccelerator" not in render_text(report)
    assert "accelerator" not in render_text(describe_run(single))
    assert report.facts["trials"][0]["accelerator"] == "none"


def test_an_aborted_run_can_be_shown(tmp_path: Path) -> None:
    run = write_example(tmp_path, Example("stopped", 0, Outcome("aborted", "Ctrl-C"), series=False))
    text = render_text(describe_run(run))
    assert "aborted (Ctrl-C)" in text
    assert "Metrics" not in text


def test_a_description_has_the_facts_of_the_run(single: StoredRun) -> None:
    description = describe_run(single)
    text = render_text(description)
    for fact in ("single", "23.1 s", "✓ passed", "shuffle", "sort/job_seconds", str(single.path)):
        assert fact in text
    assert description.facts["outcome"] == "valid"


STORED = {"files": 4, "bytes": 10**9, "replication": 2, "block_size": 134217728}
DATA = {"generator": "teragen", "bytes": 10**9, "stored": STORED, "reused": False}


def with_data(run: StoredRun, **changes: Any) -> StoredRun:
    return replace(run, run=replace(run.run, dataset={**DATA, **changes}))


def test_which_run_has_made_the_data_is_shown(group: list[StoredRun]) -> None:
    fresh, *others = group[:4]
    runs = [with_data(fresh, made_by="base-1"), *(with_data(run, made_by="base-1", reused=True) for run in others)]
    report = build_report(runs)
    assert table(report, "Data").rows == (
        ("generated, and kept", "1", "1.00 GB", "4", "1.00 GB", "2", "134,217,728 B", "–"),
        ("kept, made by base-1", "3", "1.00 GB", "4", "1.00 GB", "2", "134,217,728 B", "–"),
    )
    assert "kept, made by base-1" in render_markdown(report)
    assert "kept, made by base-1" in render_html(report)
    assert report.facts["trials"][0]["runs"][1]["dataset"]["made_by"] == "base-1"
    shown = describe_run(runs[1])
    words = "1.00 GB, kept, made by base-1; 4 files of 1.00 GB, replicas 2, blocks 134,217,728 B"
    assert words in " ".join(render_text(shown).split())
    assert shown.facts["dataset"] == {**DATA, "reused": True, "made_by": "base-1"}


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({}, ("generated for this run", "1", "1.00 GB", "4", "1.00 GB", "2", "134,217,728 B", "–")),
        ({"reused": True, "stored": {}}, ("kept, made by an earlier run", "1", "1.00 GB", "–", "–", "–", "–", "–")),
        (
            {"stored": {"files": 2, "bytes": 9, "replication": [1, 2], "erasure_coding": "XOR-2-1-1024k"}},
            ("generated for this run", "1", "1.00 GB", "2", "9 B", "1, 2 and XOR-2-1-1024k", "–", "–"),
        ),
    ],
)
def test_how_the_data_is_stored_is_shown_as_it_was_read_back(
    single: StoredRun, changes: dict[str, Any], row: tuple[str, ...]
) -> None:
    assert table(build_report([with_data(single, **changes)]), "Data").rows == (row,)


def test_how_many_copies_of_its_output_a_run_asked_for_is_shown(single: StoredRun) -> None:
    settings = {**single.run.trial.settings, "workload": {"output_replication": 3}}
    changed = replace(single, run=replace(single.run, trial=replace(single.run.trial, settings=settings)))
    (row,) = table(build_report([with_data(changed)]), "Data").rows
    assert row[-1] == "3"
    assert "replicas 3, as asked for" in render_text(describe_run(changed))


def test_data_that_nothing_is_said_of(single: StoredRun) -> None:
    own = replace(single, run=replace(single.run, dataset={"bytes": 10**9, "generator": "TestDFSIO"}))
    assert table(build_report([own]), "Data").rows == (("the run's own", "1", "1.00 GB", "–", "–", "–", "–", "–"),)
    for dataset in (None, {"bytes": 10**9, "generator": None}):
        without = replace(single, run=replace(single.run, dataset=dataset))
        assert "data" not in [part.id for part in build_report([without]).sections]


def test_trials_of_data_of_other_sizes_are_not_drawn_on_one_axis(tmp_path: Path) -> None:
    small, large = (write_example(tmp_path, Example(f"r{size}", size, bytes=size * 10**9)) for size in (1, 2))
    again = write_example(tmp_path, Example("again", 3, settings={"nodes": 4}))

    def figures(*runs: StoredRun) -> list[str]:
        return [block.id for block in section(build_report(runs), "overview").blocks if isinstance(block, Figure)]

    assert figures(small, again) == ["overview-dots"]
    assert figures(small, large) == []
    assert "not drawn on one axis" in render_text(build_report([small, large]))


@pytest.mark.promise("Every page begins with a verdict, and four numbers at most", "CHANGELOG")
def test_what_is_seen_first(group: list[StoredRun], single: StoredRun, tmp_path: Path) -> None:
    whole = build_report(group).glance
    assert (whole.badge.kind, whole.badge.word, whole.badge.sign) == ("unsure", "5 of 7 valid", "?")
    assert [tile.name for tile in whole.tiles] == ["sort/job_seconds", "sort/throughput", "CPU in sort", "checks"]
    assert (whole.tiles[0].value, whole.tiles[0].note) == ("23.2 s", "95 %: 22.7–23.7 s, 5 runs")
    assert whole.tiles[2].note == "the processors limited it"
    assert "failed: checksum" in whole.tiles[3].note
    assert whole.caveats == len(caveats(build_report(group)))
    alone = build_report([single])
    assert (alone.glance.badge.word, alone.glance.badge.kind) == ("valid", "good")
    assert not [block for block in alone.sections[0].blocks if isinstance(block, Figure)], "one dot on an axis"
    wrong = write_example(tmp_path, Example("wrong", 40, Outcome("invalid", "the output is not sorted")))
    page = render_html(build_report([wrong]))
    assert '<header class="b-bad">' in page
    assert '<span class="sign" aria-hidden="true">✕</span> invalid' in page
    several = build_report([*group[:5], *write_group(tmp_path, "other", 2, settings={"nodes": 4})]).glance
    assert [tile.name for tile in several.tiles] == ["trial 1", "trial 2"]
