from __future__ import annotations

import re
from pathlib import Path

import pytest

from howdah.errors import WorkloadFailed
from howdah.workload import Asked, measured_phases
from howdah.workload.hs import NOTICE, Hs, judge_files, judge_lengths
from tests.unit.workload.sessions import FakeFiles, FakeSession

FSCK = (Path(__file__).parents[2] / "golden/hadoop/3.4.2/fsck.log").read_text()
FSCK_3_5 = (Path(__file__).parents[2] / "golden/hadoop/3.5.0/fsck.log").read_text()
CODED = re.sub(r"replicated: replication=\d+", "erasure-coded: policy=XOR-2-1-1024k", FSCK)
LATE = " Under replicated BP-1:blk_1_1. Target Replicas is 3 but found 2 live replica(s)."
"""As HDFS has it since 3.0."""
CHECKSUM = 0xC327
COUNTERS = {
    "org.apache.hadoop.examples.terasort.TeraGen$Counters": {"CHECKSUM": CHECKSUM},
    "org.apache.hadoop.mapreduce.TaskCounter": {"REDUCE_OUTPUT_RECORDS": 100_000},
}


def test_fsck_of_hadoop_3_5() -> None:
    assert judge_files("check", FSCK_3_5, 10_000_000, 1).passed
    assert not judge_files("check", FSCK_3_5, 10_000_001, 1).passed


def test_parts_of_the_right_size_and_replication_pass_whatever_lies_beside_them() -> None:
    assert "_partition.lst 11 bytes, replicated: replication=10" in FSCK
    check = judge_files("check", FSCK, 10_000_000, 1)
    assert check.passed
    assert check.detail == "10000000 of 10000000 bytes in 2 files, stored 1 times of 1, healthy"


@pytest.mark.parametrize(
    ("said", "size", "replication"),
    [
        (FSCK, 10_000_001, 1),
        (FSCK, 10_000_000, 2),
        (FSCK.replace("HEALTHY", "CORRUPT"), 10_000_000, 1),
        (FSCK.replace("1 block(s):  OK", "1 block(s):  MISSING!", 1), 10_000_000, 1),
        (FSCK.replace("1 block(s):  OK", f"1 block(s): {LATE}", 1), 10_000_000, 1),
        (CODED, 10_000_001, 3),
        (CODED.replace("1 block(s):  OK", f"1 block(s): {LATE}", 1), 10_000_000, 3),
        ("", 10_000_000, 1),
        ("fsck: no such directory", 0, 1),
    ],
)
def test_anything_else_does_not(said: str, size: int, replication: int) -> None:
    assert not judge_files("check", said, size, replication).passed


def test_erasure_coded_parts_have_a_policy_in_the_place_of_replicas() -> None:
    assert "part-r-00000 5000000 bytes, erasure-coded: policy=XOR-2-1-1024k, 1 block(s):  OK" in CODED
    check = judge_files("check", CODED, 10_000_000, 3)
    assert check.passed
    assert check.detail == "10000000 of 10000000 bytes in 2 files, stored by XOR-2-1-1024k, healthy"


def test_lengths_are_added_up_where_there_is_no_fsck() -> None:
    said = "5000000 part-m-00000\n5000000 part-m-00001\n"
    assert judge_lengths("check", said, 10_000_000).passed
    assert not judge_lengths("check", "stat: `posixfs:///x': No such file or directory\n", 10_000_000).passed
    assert judge_lengths("check", said, 9_999_999).detail == "10000000 of 9999999 bytes in 2 files"


def run(session: FakeSession, **own: float) -> list[tuple[str, bool]]:
    workload = Hs(sleep=lambda _: None)
    settings = workload.resolve(Asked(size=10_000_000, own=own), {"dfs.replication": "1"})
    workload.prepare(session, settings)
    workload.run(session, settings)
    return [(check.name, check.passed) for check in workload.verify(session, settings)]


def whole_session(**changes: dict[str, str]) -> FakeSession:
    reports = {f"/run/pass-{number}/report/part-r-00000": b"checksum\tc327\n" for number in (1, 2)}
    checks = {f"check-{what}-{number}": FSCK for what in ("input", "output") for number in (1, 2)}
    output = {**checks, **changes.get("output", {})}
    return FakeSession(FakeFiles(reports), counters=COUNTERS, output=output, between=7.0)


def test_two_passes_of_five_phases_and_the_slower_counts() -> None:
    session = whole_session()
    checks = run(session, price=1000, watts=500)
    names = ("gen", "check-input", "sort", "check-output", "validate")
    assert [phase for phase, _, _ in session.ran] == [f"{name}-{number}" for number in (1, 2) for name in names]
    assert {kind for _, kind, _ in session.ran} == {"run"}
    assert measured_phases(Hs()) == tuple(phase for phase, _, _ in session.ran if phase.startswith("sort"))
    assert all(passed for _, passed in checks)
    assert len(checks) == 10
    assert session.samples["pass-1", "hs_seconds"] == 50.0
    rate = 1e-5 / (50 / 3600)
    assert session.samples["slower", "hsph"] == pytest.approx(rate)
    assert session.samples["slower", "hs_price"] == pytest.approx(1000 / rate)
    assert session.samples["slower", "hs_energy"] == pytest.approx(500 / rate)
    assert session.storage.content == {}, "each pass leaves the storage as it was"


@pytest.mark.promise("`hs` is never called a TPC result", "issue 3")
def test_it_is_never_called_a_tpc_result() -> None:
    session = whole_session()
    run(session)
    assert session.caveats == [NOTICE]
    assert NOTICE.startswith("not a TPC result")
    assert not {("slower", "hs_price"), ("slower", "hs_energy")} & session.samples.keys(), "nothing made up"


def test_the_output_has_as_many_replicas_as_the_input() -> None:
    session = whole_session()
    run(session)
    programs = {phase: program for phase, _, program in session.ran}
    assert "-Dmapreduce.terasort.output.replication=1" in programs["sort-1"]
    assert "-Dmapreduce.output.fileoutputformat.compress=false" in programs["validate-1"], "its report is read here"
    assert programs["check-output-2"] == ("sh", "-c", "hdfs fsck /run/pass-2/output -files")


def test_jobs_that_yarn_no_longer_knows_are_a_failure_and_no_fault() -> None:
    session = whole_session()
    session.forgotten = "sort-1"
    with pytest.raises(WorkloadFailed, match="sort-1: YARN knows 0 jobs of a program that runs one"):
        run(session)


def test_a_check_that_fails_in_one_pass_is_named() -> None:
    session = whole_session(output={"check-output-2": ""})
    assert [name for name, passed in run(session) if not passed] == ["check-output-2"]


def test_the_time_is_that_of_the_programs_without_what_lies_between_them() -> None:
    session = whole_session()
    run(session, price=1000)
    assert session.between > 0
    assert session.samples["pass-2", "hs_seconds"] == pytest.approx(50.0)
    assert session.sources["pass-2", "hs_seconds"] == ("derived", "Σ client_seconds of its five phases")
    assert session.sources["slower", "hsph"] == ("derived", "10000000 B ÷ 10¹² ÷ (50.000 s ÷ 3600)")
    assert session.sources["slower", "hs_price"] == ("derived", "--price 1000 ÷ 0.00072 TB/h")


def test_late_replicas_are_waited_for_and_the_last_look_counts() -> None:
    late = FSCK.replace("1 block(s):  OK", f"1 block(s): {LATE}")
    session = whole_session(
        output={"check-input-1": late, "check-input-1-again-1": late, "check-input-1-again-2": FSCK}
    )
    waits: list[float] = []
    workload = Hs(sleep=waits.append)
    settings = workload.resolve(Asked(size=10_000_000), {"dfs.replication": "1"})
    workload.prepare(session, settings)
    workload.run(session, settings)
    assert len(waits) == 2
    assert all(check.passed for check in workload.verify(session, settings))
    assert session.samples["pass-1", "hs_seconds"] == pytest.approx(50.0)


def test_replicas_that_never_come_are_no_pass() -> None:
    late = FSCK.replace("1 block(s):  OK", f"1 block(s): {LATE}")
    again = {f"check-input-1-again-{look}": late for look in range(1, 9)}
    assert [name for name, passed in run(whole_session(output={"check-input-1": late, **again})) if not passed] == [
        "check-input-1"
    ]
