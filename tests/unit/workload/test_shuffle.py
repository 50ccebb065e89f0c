from __future__ import annotations

import pytest

from howdah.errors import UsageError
from howdah.workload import Asked
from howdah.workload.shuffle import Shuffle
from tests.unit.workload.sessions import FakeFiles, FakeSession


def counters(sent: tuple[int, int], received: tuple[int, int, int, int]) -> dict[str, dict[str, int]]:
    names = ("RECORDS", "CHECKSUM", "DISORDER", "MISPLACED")
    return {
        "org.howdah.workloads.ShuffleLoad$Sent": dict(zip(names, sent, strict=False)),
        "org.howdah.workloads.ShuffleLoad$Received": dict(zip(names, received, strict=True)),
    }


@pytest.mark.parametrize(
    ("sent", "received", "passed"),
    [
        ((50, 7), (50, 7, 0, 0), [True, True, True, True]),
        ((50, 7), (49, 7, 0, 0), [False, True, True, True]),
        ((49, 7), (49, 7, 0, 0), [False, True, True, True]),
        ((50, 7), (50, 8, 0, 0), [True, False, True, True]),
        ((50, 7), (50, 7, 1, 0), [True, True, False, True]),
        ((50, 7), (50, 7, 0, 1), [True, True, True, False]),
    ],
)
def test_what_arrives_is_what_was_sent(
    sent: tuple[int, int], received: tuple[int, int, int, int], passed: list[bool]
) -> None:
    workload = Shuffle()
    settings = workload.resolve(Asked(size=1020, maps=2, reduces=3, own={"key": 8, "value": 12, "skew": 1.5}), {})
    assert settings["records"] == 51
    settings = workload.resolve(Asked(size=1000, maps=2, reduces=3, own={"key": 8, "value": 12, "skew": 1.5}), {})
    session = FakeSession(FakeFiles(), counters=counters(sent, received))
    workload.prepare(session, settings)
    workload.run(session, settings)
    assert [check.passed for check in workload.verify(session, settings)] == passed
    assert session.ran[0][2] == (
        *("workloads.jar", "shuffle", "-Dmapreduce.job.maps=2", "-Dmapreduce.job.reduces=3"),
        *("-Dhowdah.shuffle.key.bytes=8", "-Dhowdah.shuffle.value.bytes=12", "-Dhowdah.shuffle.key.prefix=0"),
        *("-Dhowdah.shuffle.key.distinct=0", "-Dhowdah.shuffle.key.text=false", "-Dhowdah.shuffle.key.reverse=false"),
        *("-Dhowdah.shuffle.skew=1.5", "50"),
    )


def test_keys_of_other_kinds() -> None:
    workload = Shuffle()
    own = {"key": 24, "prefix": 12, "distinct": 1000, "type": "text", "comparator": "reverse"}
    session = FakeSession(FakeFiles())
    workload.run(session, workload.resolve(Asked(size=1000, own=own), {}))
    assert {one.removeprefix("-Dhowdah.shuffle.key.") for one in session.ran[0][2] if ".key." in one} == {
        *("bytes=24", "prefix=12", "distinct=1000", "text=true", "reverse=true")
    }


def test_a_job_without_the_counters_is_not_right() -> None:
    workload = Shuffle()
    settings = workload.resolve(Asked(size=1000), {})
    session = FakeSession(FakeFiles())
    workload.run(session, settings)
    assert [check.passed for check in workload.verify(session, settings)] == [False, False, False, False]


def test_records_that_cannot_be_are_refused() -> None:
    with pytest.raises(UsageError, match="too short"):
        Shuffle().resolve(Asked(own={"key": 3}), {})
    with pytest.raises(UsageError, match="--prefix 7 is too much: 4 of the 10 bytes"):
        Shuffle().resolve(Asked(own={"prefix": 7}), {})
    with pytest.raises(UsageError, match="--distinct 10000001 is too much: 10000000 at most"):
        Shuffle().resolve(Asked(own={"distinct": 10_000_001}), {})
    with pytest.raises(UsageError, match="less than one record"):
        Shuffle().resolve(Asked(size=99), {})
