from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import Untrusted, UsageError
from howdah.workload import Asked
from howdah.workload.namenode import NameNodeThroughput, OperationReport, expected_counts, parse_reports
from howdah.workload.registry import check_storages
from tests.unit.workload.sessions import FakeFiles, FakeSession

GOLDEN = (Path(__file__).parents[2] / "golden/hadoop/3.4.2/nnthroughput.log").read_text()
COUNTERS = ("CreateFileOps", "GetBlockLocations", "FileInfoOps", "FilesRenamed", "DeleteFileOps")
OPERATIONS = {"create": "create", "open": "open", "file-status": "fileStatus", "rename": "rename", "delete": "delete"}


def said(operation: str, operations: int = 1000, milliseconds: int = 2000) -> str:
    return f"--- {operation} stats  ---\n# operations: {operations}\nElapsed Time: {milliseconds}\n"


def test_what_a_real_one_prints() -> None:
    [report] = parse_reports(GOLDEN)
    assert report == OperationReport("fileStatus", 1000, 0.234)


def test_several_operations_and_no_log_prefixes() -> None:
    found = parse_reports(f"noise\n{said('create', 10, 5)}\n Ops per sec: 2000.0\n{said('open', 7, 1)}")
    assert found == (OperationReport("create", 10, 0.005), OperationReport("open", 7, 0.001))
    assert parse_reports("# operations: 7\nElapsed Time: 3") == ()


@pytest.mark.parametrize("lines", [1, 2])
def test_statistics_that_end_early_are_not_trusted(lines: int) -> None:
    with pytest.raises(Untrusted, match="create end early"):
        parse_reports("\n".join(said("create").splitlines()[:lines]))


def test_a_block_without_its_time_is_not_dropped_for_the_next() -> None:
    cut = "\n".join(said("create").splitlines()[:2])
    for text in (f"{cut}\n{said('open')}", f"{cut}\n# operations: 7\nElapsed Time: 3"):
        with pytest.raises(Untrusted, match="the statistics of create end early"):
            parse_reports(text)


@given(
    st.lists(
        st.text(max_size=12)
        | st.sampled_from([*GOLDEN.splitlines()[-7:], *said("create").splitlines(), "Elapsed Time: -1"]),
        max_size=12,
    )
)
def test_any_text_has_whole_statistics_or_is_not_trusted(lines: list[str]) -> None:
    with suppress(Untrusted):
        heads = sum(" stats " in line for line in lines)
        assert len(parse_reports("\n".join(lines))) == heads


def run(session: FakeSession, threads: int | None = None) -> tuple[NameNodeThroughput, list[bool]]:
    workload = NameNodeThroughput()
    own = {} if threads is None else {"threads": threads}
    settings = workload.resolve(Asked(size=1000, own=own), {})
    workload.prepare(session, settings)
    workload.run(session, settings)
    return workload, [check.passed for check in workload.verify(session, settings)]


def test_every_operation_is_a_phase_and_the_namenodes_own_counts_are_believed() -> None:
    before = dict.fromkeys(COUNTERS, 50)
    now = {name: 50 + count for name, count in expected_counts(1000).items()}
    now["FilesRenamed"] -= 1
    output = {phase: said(operation) for phase, operation in OPERATIONS.items()}
    session = FakeSession(FakeFiles(before=before, now=now), output=output)
    _, passed = run(session, threads=8)
    assert passed == [True, True, True, False, True]
    assert session.samples == {(phase, "namenode_rate"): 500.0 for phase in OPERATIONS}
    assert set(session.sources.values()) == {("derived", "1000 operations ÷ 2.0 s")}
    assert session.ran[0] == (
        *("create", "run"),
        (
            *("hdfs-tests.jar", "-fs", "hdfs://here", "-op", "create", "-threads", "8", "-files", "1000"),
            *("-filesPerDir", "100", "-baseDirName", "/run/create", "-close"),
        ),
    )
    assert all("-keepResults" not in program for _, _, program in session.ran), "it leaves safe mode on"


def test_what_the_phases_do_beside_what_is_measured_is_counted_too() -> None:
    # Each of the five makes its files and removes their directory; four rename it and look for it three times.
    expected = {
        "CreateFileOps": 5000, "GetBlockLocations": 1000, "FileInfoOps": 1012, "FilesRenamed": 1004,
        "DeleteFileOps": 1005,
    }  # fmt: skip
    assert expected_counts(1000) == expected
    output = {phase: said(operation) for phase, operation in OPERATIONS.items()}
    for phase, counter in zip(OPERATIONS, COUNTERS, strict=True):
        for missing, passed in ((0, True), (1, False)):
            now = {**expected, counter: expected[counter] - missing}
            files = FakeFiles(before=dict.fromkeys(COUNTERS, 0), now=now)
            checks = dict(zip(OPERATIONS, run(FakeSession(files, output=output))[1], strict=True))
            assert checks == {**dict.fromkeys(OPERATIONS, True), phase: passed}


@pytest.mark.parametrize(
    ("create", "message"),
    [(said("open"), "reported \\['open'\\]"), ("", "reported \\[\\]"), (said("create", 9, 0), "less than a milli")],
)
def test_a_report_of_something_else_is_not_trusted(create: str, message: str) -> None:
    session = FakeSession(FakeFiles(before=dict.fromkeys(COUNTERS, 0)), output={"create": create})
    with pytest.raises(Untrusted, match=message):
        run(session)


def test_fewer_operations_than_asked_are_wrong() -> None:
    output = {phase: said(operation, 999) for phase, operation in OPERATIONS.items()}
    session = FakeSession(
        FakeFiles(before=dict.fromkeys(COUNTERS, 0), now=dict.fromkeys(COUNTERS, 5000)), output=output
    )
    assert run(session)[1] == [False] * 5


def test_a_storage_without_a_namenode_is_known_before_anything_runs() -> None:
    check_storages(NameNodeThroughput(), {}, "hdfs", ["hdfs", "posix"])
    with pytest.raises(UsageError, match="the run's storage has none"):
        check_storages(NameNodeThroughput(), {}, "posix", ["posix", "hdfs"])


def test_a_storage_without_a_namenode_is_refused() -> None:
    session = FakeSession(FakeFiles())
    with pytest.raises(UsageError, match="the run's storage has none"):
        run(session)
    assert session.ran == []
