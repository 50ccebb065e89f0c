from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from howdah.errors import UsageError
from howdah.workload import Asked
from howdah.workload.registry import find_workload
from howdah.workload.terasort import TeraSort, judge
from tests.unit.workload.sessions import FakeFiles, FakeSession

SUM = "c327a1c42c28"


def verdicts(report: str, generated: int | None) -> dict[str, bool]:
    return {check.name: check.passed for check in judge(report, generated)}


def test_a_sorted_output_with_the_same_rows_passes() -> None:
    assert verdicts(f"checksum\t{SUM}\n", int(SUM, 16)) == {"order": True, "checksum": True}


def test_a_checksum_past_63_bits_is_compared_by_its_low_64() -> None:
    # TeraGen counts in a signed long what TeraValidate sums without a limit.
    assert verdicts("checksum\t1ffffffffffffffff\n", -1) == {"order": True, "checksum": True}


@pytest.mark.promise("A TeraSort's output is validated, and its checksum is compared with the input's", "README")
@pytest.mark.parametrize(
    ("report", "generated", "expected"),
    [
        ("", 5, {"order": False, "checksum": False}),
        ("\n", 5, {"order": False, "checksum": False}),
        ("checksum\t5\n", 6, {"order": True, "checksum": False}),
        ("checksum\t5\n", None, {"order": True, "checksum": False}),
        ("checksum\t5\nchecksum\t5\n", 5, {"order": False, "checksum": False}),
        ("error\tmisordered keys\nchecksum\t5\n", 5, {"order": False, "checksum": True}),
        ("checksum\t\n", 5, {"order": False, "checksum": False}),
        ("checksum\n", 5, {"order": False, "checksum": False}),
        ("checksum\tzz\n", 5, {"order": False, "checksum": False}),
        ("checksum\t-5\n", 5, {"order": False, "checksum": False}),
        ("checksum\t0x5\n", 5, {"order": False, "checksum": False}),
    ],
)
def test_everything_else_fails(report: str, generated: int | None, expected: dict[str, bool]) -> None:
    assert verdicts(report, generated) == expected


def test_the_first_misplaced_record_is_named() -> None:
    order, _ = judge("error\tbad key partitioning: file part-r-00001\nerror\tother\nchecksum\t5\n", 5)
    assert order.detail == "2 errors, the first: bad key partitioning: file part-r-00001"


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("", "TeraValidate's report is empty"),
        ("other\t1", "TeraValidate's report has 0 checksums, not one: 'other\\t1'"),
        ("checksum\t5\nchecksum\t5", "TeraValidate's report has 2 checksums, not one: 'checksum\\t5\\nchecksum\\t5'"),
        ("checksum\tzz", "TeraValidate's report has a checksum that is none: 'zz'"),
        ("checksum\t5", "every record is in order"),
    ],
)
def test_what_the_report_lacks_is_said(report: str, said: str) -> None:
    assert judge(report, 5)[0].detail == said


def test_settings_are_asked_then_the_clusters_then_hadoops() -> None:
    cluster = {"mapreduce.job.maps": "3", "mapreduce.job.reduces": "4", "dfs.replication": "2"}
    assert TeraSort().resolve(Asked(), {}) == {
        "size_bytes": 10**9, "rows": 10**7, "maps": 2, "reduces": 1,
        "input_replication": 3, "output_replication": 1, "conf": {},
    }  # fmt: skip
    found = TeraSort().resolve(Asked(size=1000, maps=7, conf={"dfs.replication": "1"}), cluster)
    assert (found["maps"], found["reduces"], found["input_replication"]) == (7, 4, 1)


def test_half_a_row_is_refused() -> None:
    with pytest.raises(UsageError, match="150 bytes are not a whole number of rows"):
        TeraSort().resolve(Asked(size=150), {})


def test_space_counts_replicas_and_what_lies_between() -> None:
    settings = TeraSort().resolve(Asked(size=1000), {"dfs.replication": "3"})
    assert TeraSort().space_bytes(settings) == (4000, 2040)


def run(report: bytes, length: int = 1000, **written: int) -> tuple[FakeSession, Mapping[str, Any], dict[str, bool]]:
    """Ten rows, of which `length` bytes came out, and TeraValidate's report; TeraGen counted the checksum 5."""
    lengths = {"input/part-m-00000": 600, "input/part-m-00001": 400, "input/_SUCCESS": 0}
    lengths |= {"output/part-r-00000": length, "output/_partition.lst": 11}
    files = FakeFiles({"/run/report/part-r-00000": report}, {f"/run/{name}": size for name, size in lengths.items()})
    counters = {"org.apache.hadoop.examples.terasort.TeraGen$Counters": {"CHECKSUM": 5}, "files": written}
    session, workload = FakeSession(files, counters), TeraSort()
    settings = workload.resolve(Asked(size=1000, maps=2, reduces=1, conf={"io.seqfile": "x"}), {})
    dataset = workload.prepare(session, settings)
    workload.run(session, settings)
    return session, dataset, {check.name: check.passed for check in workload.verify(session, settings)}


def test_three_jobs_and_a_verdict() -> None:
    session, dataset, checks = run(b"checksum\t5\n")
    assert checks == {"order": True, "checksum": True, "length": True}
    assert [(phase, kind) for phase, kind, _ in session.ran] == [
        ("gen", "prepare"), ("sort", "run"), ("validate", "verify"),
    ]  # fmt: skip
    assert session.ran[0][2] == (
        "examples.jar", "teragen", "-Dmapreduce.job.maps=2", "10", "hdfs://here/run/input",
    )  # fmt: skip
    validate = session.ran[2][2]
    assert "-Dmapreduce.output.fileoutputformat.compress=false" in validate, "its report is read here"
    assert (dataset["rows"], dataset["files"], dataset["checksum"], dataset["reused"]) == (10, 2, "5", False)


@pytest.mark.parametrize(("written", "passed"), [(1000, True), (999, False), (2000, False)])
def test_what_the_job_says_it_wrote_is_compared_with_what_is_there(written: int, passed: bool) -> None:
    assert run(b"checksum\t5\n", written=written)[2]["counted"] is passed


def test_a_report_that_is_no_text_is_wrong_and_no_fault() -> None:
    assert run(b"\x78\x9c\xff\xfe")[2] == {"order": False, "checksum": False, "length": True}


@pytest.mark.promise("A TeraSort's output is validated, and its checksum is compared with the input's", "README")
def test_lost_rows_are_seen_even_if_the_rest_is_in_order() -> None:
    assert run(b"checksum\t4\n", 900)[2] == {"order": True, "checksum": False, "length": False}


def test_a_workload_by_name_or_nearly() -> None:
    assert find_workload("terasort").name == "terasort"
    with pytest.raises(UsageError) as raised:
        find_workload("TeraSrot")
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("Did you mean terasort?")
