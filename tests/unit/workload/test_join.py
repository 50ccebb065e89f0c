from __future__ import annotations

import pytest

from howdah.workload import Asked
from howdah.workload.join import Join
from tests.unit.workload.sessions import FakeFiles, FakeSession

WRITER = "org.apache.hadoop.examples.RandomWriter$Counters"
SORTED, EXPECTED, JOINED = (f"org.howdah.workloads.JoinCheck${side}" for side in ("Sorted", "Expected", "Joined"))
RIGHT: dict[str, dict[str, int]] = {
    WRITER: {"RECORDS_WRITTEN": 97, "BYTES_WRITTEN": 10**6},
    SORTED: {"RECORDS": 97, "BYTES": 10**6, "DISORDER": 0},
    EXPECTED: {"RECORDS": 99, "HASHES": -5},
    JOINED: {"RECORDS": 99, "HASHES": -5},
}


def run(counters: dict[str, dict[str, int]]) -> tuple[FakeSession, list[str]]:
    """The session, and the checks that failed."""
    session, workload = FakeSession(FakeFiles(), counters=counters), Join()
    settings = workload.resolve(Asked(size=10**6, maps=2, reduces=3), {})
    workload.prepare(session, settings)
    workload.run(session, settings)
    return session, [check.name for check in workload.verify(session, settings) if not check.passed]


def test_sorted_data_meets_itself() -> None:
    session, failed = run(RIGHT)
    assert failed == []
    assert [(phase, kind) for phase, kind, _ in session.ran] == [
        *(("gen", "prepare"), ("sort", "prepare"), ("join", "run"), ("validate", "verify")),
    ]
    here = "hdfs://here/run"
    sort, join, check = (program for _, _, program in session.ran[1:])
    assert sort == ("examples.jar", "sort", "-r", "3", f"{here}/input", f"{here}/sorted")
    both = (f"{here}/sorted", f"{here}/sorted", f"{here}/output")
    assert join == ("examples.jar", "join", "-r", "0", "-joinOp", "inner", *both)
    assert check == ("workloads.jar", "joincheck", f"{here}/sorted", f"{here}/output")


@pytest.mark.parametrize(
    ("group", "counted", "failed"),
    [
        (JOINED, {"RECORDS": 98}, ["records"]),
        (JOINED, {"HASHES": 5}, ["hashes"]),
        (SORTED, {"DISORDER": 1}, ["order"]),
        (SORTED, {"RECORDS": 96}, ["sides"]),
        (WRITER, {"BYTES_WRITTEN": 10**6 + 1}, ["sides"]),
    ],
)
def test_each_error_fails_its_check(group: str, counted: dict[str, int], failed: list[str]) -> None:
    assert run({**RIGHT, group: RIGHT[group] | counted})[1] == failed


def test_what_was_not_counted_is_not_right() -> None:
    assert run({})[1] == ["order", "sides", "records", "hashes"]
    assert run({**RIGHT, JOINED: {"RECORDS": 99}})[1] == ["hashes"]
