from __future__ import annotations

from typing import Any

import pytest

from howdah.errors import HostProblem, UsageError
from howdah.hadoop.distribution.jars import place_of
from howdah.report.comparison.compare import DATA
from howdah.workload import Asked
from howdah.workload.registry import check_installed, find_workload
from howdah.workload.sort import Sort
from tests.unit.workload.sessions import FakeFiles, FakeSession

WRITER = "org.apache.hadoop.examples.RandomWriter$Counters"
INPUT = "org.howdah.workloads.SortCheck$Input"
OUTPUT = "org.howdah.workloads.SortCheck$Output"
SUMS = {"RECORDS": 10, "BYTES": 1234, "HASHES": -77}
RIGHT: dict[str, dict[str, int]] = {
    WRITER: {"RECORDS_WRITTEN": 10, "BYTES_WRITTEN": 1234},
    INPUT: SUMS,
    OUTPUT: {**SUMS, "FILES": 2, "DISORDER": 0, "MISPLACED": 0},
}


def run(counters: dict[str, dict[str, int]]) -> tuple[FakeSession, dict[str, bool], Any]:
    session, workload = FakeSession(FakeFiles(lengths={"/run/output/part-r-00000": 1300}), counters), Sort()
    settings = workload.resolve(Asked(size=1_000_001, maps=3, reduces=2), {})
    dataset = workload.prepare(session, settings)
    workload.run(session, settings)
    return session, {check.name: check.passed for check in workload.verify(session, settings)}, dataset


def wrong(group: str, **counted: int | None) -> list[str]:
    """The checks that fail when some counters are others; None is one that is missing."""
    changed = {name: number for name, number in (RIGHT[group] | counted).items() if number is not None}
    return [name for name, passed in run({**RIGHT, group: changed})[1].items() if not passed]


@pytest.mark.parametrize(("written", "passed"), [(1300, True), (1234, False)])
def test_what_the_job_says_it_wrote_is_compared_with_what_is_there(written: int, passed: bool) -> None:
    assert run({**RIGHT, "files": {"written": written}})[1]["counted"] is passed


def test_maps_have_equal_shares() -> None:
    session, checks, _ = run(RIGHT)
    assert checks == {"order": True, "partitions": True, "records": True, "bytes": True, "hashes": True}
    assert [program for _, _, program in session.ran] == [
        (
            *("examples.jar", "randomwriter", "-Dmapreduce.randomwriter.bytespermap=333333"),
            *("-Dmapreduce.randomwriter.totalbytes=999999", "hdfs://here/run/input"),
        ),
        ("examples.jar", "sort", "-r", "2", "hdfs://here/run/input", "hdfs://here/run/output"),
        ("workloads.jar", "sortcheck", "hdfs://here/run/input", "hdfs://here/run/output"),
    ]


@pytest.mark.parametrize(
    ("group", "counted", "failed"),
    [
        (OUTPUT, {"DISORDER": 1}, ["order"]),
        (OUTPUT, {"MISPLACED": 1}, ["partitions"]),
        (OUTPUT, {"FILES": 1}, ["partitions"]),
        (OUTPUT, {"RECORDS": 9}, ["records"]),
        (OUTPUT, {"BYTES": 1233}, ["bytes"]),
        (OUTPUT, {"HASHES": 77}, ["hashes"]),
        (INPUT, {"RECORDS": 9}, ["records"]),
        (WRITER, {"RECORDS_WRITTEN": 11}, ["records"]),
        (WRITER, {"BYTES_WRITTEN": 1235}, ["bytes"]),
    ],
)
def test_each_error_fails_its_check(group: str, counted: dict[str, int], failed: list[str]) -> None:
    assert wrong(group, **counted) == failed


@pytest.mark.parametrize(
    ("group", "name", "failed"),
    [
        *((OUTPUT, name, ["order"] if name == "DISORDER" else ["partitions"]) for name in ("DISORDER", "MISPLACED")),
        *((OUTPUT, "FILES", ["partitions"]), (INPUT, "HASHES", ["hashes"]), (WRITER, "BYTES_WRITTEN", ["bytes"])),
    ],
)
def test_what_was_not_counted_is_not_right(group: str, name: str, failed: list[str]) -> None:
    assert wrong(group, **{name: None}) == failed


def test_silence_is_no_success() -> None:
    assert set(run({})[1].values()) == {False}


def test_data_of_one_size_is_comparable_whatever_was_drawn() -> None:
    _, _, one = run(RIGHT)
    _, _, other = run({**RIGHT, WRITER: {"RECORDS_WRITTEN": 11, "BYTES_WRITTEN": 1300}})
    assert (one["written_records"], other["written_records"]) == (10, 11)
    assert (one["written_bytes"], other["written_bytes"]) == (1234, 1300)
    assert [one.get(fact) for fact in DATA] == [other.get(fact) for fact in DATA]
    assert one["bytes"] == 1_000_001


def test_less_than_a_few_records_per_map_is_refused() -> None:
    with pytest.raises(UsageError, match="too few for 3 maps"):
        Sort().resolve(Asked(size=299_999, maps=3), {})


@pytest.mark.parametrize("name", ["sort", "join"])
def test_without_our_jar_it_says_what_builds_it(name: str) -> None:
    if place_of("howdah-workloads").is_file():
        check_installed(find_workload(name))
        return
    with pytest.raises(HostProblem, match=r"howdah-workloads\.jar has not been built") as caught:
        check_installed(find_workload(name))
    assert "make jars" in str(caught.value.hint)
