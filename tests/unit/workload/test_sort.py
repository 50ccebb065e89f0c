from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from howdah.errors import UsageError
from howdah.report.compare import DATA
from howdah.workload import Asked
from howdah.workload.sort import Sort
from tests.unit.workload.sessions import FakeFiles, FakeSession

SUCCESS = "SUCCESS! Validated the MapReduce framework's 'sort' successfully."


def run(said: str, written: int = 10, out: int = 10) -> tuple[FakeSession, dict[str, bool]]:
    counters = {
        "org.apache.hadoop.examples.RandomWriter$Counters": {"RECORDS_WRITTEN": written, "BYTES_WRITTEN": 1},
        "org.apache.hadoop.mapreduce.TaskCounter": {"REDUCE_OUTPUT_RECORDS": out},
    }
    session, workload = FakeSession(FakeFiles(), counters, {"validate": f"INFO something\n{said}\n"}), Sort()
    settings = workload.resolve(Asked(size=1_000_001, maps=3, reduces=2), {})
    workload.prepare(session, settings)
    workload.run(session, settings)
    return session, {check.name: check.passed for check in workload.verify(session, settings)}


def test_maps_have_equal_shares() -> None:
    session, checks = run(SUCCESS)
    assert checks == {"order": True, "records": True}
    assert [program[1:] for _, _, program in session.programs] == [
        (
            *("randomwriter", "-Dmapreduce.randomwriter.bytespermap=333333"),
            *("-Dmapreduce.randomwriter.totalbytes=999999", "hdfs://here/run/input"),
        ),
        ("sort", "-r", "2", "hdfs://here/run/input", "hdfs://here/run/output"),
        ("testmapredsort", "-sortInput", "hdfs://here/run/input", "-sortOutput", "hdfs://here/run/output"),
    ]


def test_silence_is_no_success() -> None:
    assert run("")[1] == {"order": False, "records": True}


def test_lost_records_are_seen() -> None:
    assert run(SUCCESS, out=9)[1] == {"order": True, "records": False}


def test_data_of_one_size_is_comparable_whatever_was_drawn() -> None:
    def drawn(records: int, size: int) -> Mapping[str, Any]:
        counters = {
            "org.apache.hadoop.examples.RandomWriter$Counters": {"RECORDS_WRITTEN": records, "BYTES_WRITTEN": size}
        }
        workload = Sort()
        return workload.prepare(
            FakeSession(FakeFiles(), counters), workload.resolve(Asked(size=1_000_001, maps=3, reduces=2), {})
        )

    one, other = drawn(10, 1234), drawn(11, 1300)
    assert (one["written_records"], other["written_records"]) == (10, 11)
    assert (one["written_bytes"], other["written_bytes"]) == (1234, 1300)
    assert [one.get(fact) for fact in DATA] == [other.get(fact) for fact in DATA]
    assert one["bytes"] == 1_000_001


def test_less_than_a_few_records_per_map_is_refused() -> None:
    with pytest.raises(UsageError, match="too few for 3 maps"):
        Sort().resolve(Asked(size=299_999, maps=3), {})
