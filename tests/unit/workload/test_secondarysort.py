from __future__ import annotations

import pytest

from howdah.errors import UsageError
from howdah.workload import Asked
from howdah.workload.secondarysort import SecondarySort
from tests.unit.workload.sessions import FakeFiles, FakeSession

GENERATED = {"gen": f"generated PAIRS 4001\ngenerated HASHES {-(1 << 63) + 0x7FFF}\n"}
PACKAGE = "org.howdah.workloads"


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ({"PAIRS": 4001, "HASHES": 0x7FFF, "GROUPS": 5, "ERRORS": 0}, []),
        ({"PAIRS": 4001, "HASHES": -(1 << 63) + 0x7FFF, "GROUPS": 5}, []),
        ({"PAIRS": 4001, "HASHES": 0x7FFF, "GROUPS": 5, "ERRORS": 1}, ["order"]),
        ({"PAIRS": 4001, "HASHES": 0x7FFF, "GROUPS": 6}, ["groups"]),
        ({"PAIRS": 4001, "HASHES": 0x7FFF, "GROUPS": 4}, ["groups"]),
        ({"PAIRS": 4001, "HASHES": 0x7FFF}, ["groups"]),
        ({"PAIRS": 4000, "HASHES": 0x7FFF, "GROUPS": 5}, ["pairs"]),
        ({"PAIRS": 4001, "HASHES": 0x7FFE, "GROUPS": 5}, ["checksum"]),
        ({}, ["groups", "pairs", "checksum"]),
    ],
)
def test_every_pair_must_be_there_and_in_order(found: dict[str, int], wrong: list[str]) -> None:
    session = FakeSession(FakeFiles(), counters={f"{PACKAGE}.PairCheck$Found": found}, output=GENERATED)
    workload = SecondarySort()
    settings = workload.resolve(Asked(size=4001, maps=2, reduces=3), {"dfs.replication": "1"})
    workload.prepare(session, settings)
    workload.run(session, settings)
    assert [check.name for check in workload.verify(session, settings) if not check.passed] == wrong
    assert [program[:2] for _, _, program in session.ran] == [
        ("workloads.jar", "pairgen"),
        ("examples.jar", "secondarysort"),
        ("workloads.jar", "paircheck"),
    ]
    assert session.identities == [{"generator": "pairgen", "version": 1, "pairs": 4001, "group": 1000, "maps": 2}]


def test_more_pairs_than_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="more than"):
        SecondarySort().resolve(Asked(size=1 << 31), {})
