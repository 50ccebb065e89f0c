from __future__ import annotations

import pytest

from howdah.errors import UsageError
from howdah.workload import Asked
from howdah.workload.distcp import DistCp
from howdah.workload.registry import check_storages
from tests.unit.workload.sessions import FakeFiles, FakeSession

SOURCE = {f"/run/input/io_data/test_io_{number}": b"abc" for number in range(4)}
COPY = {f"/run/copy/test_io_{number}": b"abc" for number in range(4)}


def run(files: dict[str, bytes]) -> tuple[FakeSession, dict[str, bool]]:
    session, workload = FakeSession(FakeFiles(files)), DistCp()
    settings = workload.resolve(Asked(size=13, maps=1), {})
    assert (settings["files"], settings["file_bytes"], settings["moved_bytes"]) == (4, 3, 12)
    workload.prepare(session, settings)
    workload.run(session, settings)
    return session, {check.name: check.passed for check in workload.verify(session, settings)}


def test_a_whole_copy() -> None:
    session, checks = run({**SOURCE, **COPY})
    assert checks == {"files": True, "checksums": True}
    assert session.ran[1] == (
        *("copy", "run"),
        ("distcp.jar", "-m", "1", "hdfs://here/run/input/io_data", "hdfs://here/run/copy"),
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"/run/copy/test_io_3": b"abd"}, {"files": True, "checksums": False}),
        ({"/run/copy/test_io_3": b"ab"}, {"files": False, "checksums": False}),
        ({"/run/copy/other": b"abc"}, {"files": False, "checksums": True}),
    ],
)
def test_what_differs_is_seen(change: dict[str, bytes], expected: dict[str, bool]) -> None:
    assert run({**SOURCE, **COPY, **change})[1] == expected


def test_what_is_missing_is_seen() -> None:
    assert run(SOURCE)[1] == {"files": False, "checksums": False}
    assert run({})[1] == {"files": False, "checksums": False}


def test_a_copy_out_of_hdfs_is_judged_by_what_comes_back() -> None:
    local = {f"/run/copy/test_io_{number}": b"abc" for number in range(4)}
    back = {f"/run/back/test_io_{number}": b"abc" for number in range(4)}
    for change, passed in ({}, True), ({"/run/back/test_io_2": b"abd"}, False):
        session = FakeSession(FakeFiles({**SOURCE, **back, **change}), elsewhere=FakeFiles(local, root="file:///here"))
        checks = judged(session, {"to": "file"})
        assert checks == {"files": True, "checksums": passed}
        assert [phase for phase, _, _ in session.ran] == ["gen", "copy", "back"]
        assert session.ran[1][2][-1] == "file:///here/run/copy"
        assert session.ran[2][2][-2:] == ("file:///here/run/copy", "hdfs://here/run/back")


def test_a_copy_into_hdfs_starts_from_files_that_came_from_there() -> None:
    staged = {f"/run/staged/test_io_{number}": b"abc" for number in range(4)}
    session = FakeSession(FakeFiles({**SOURCE, **COPY}), elsewhere=FakeFiles(staged))
    assert judged(session, {"from": "file", "directory": "/scratch"}) == {"files": True, "checksums": True}
    assert [(phase, kind) for phase, kind, _ in session.ran] == [
        ("gen", "prepare"),
        ("stage", "prepare"),
        ("copy", "run"),
    ]
    assert session.ran[2][2][-2:] == ("file:///scratch/run/staged", "hdfs://here/run/copy")


def test_a_copy_to_another_storage_of_the_cluster_has_checksums_that_both_know() -> None:
    back = {f"/run/back/test_io_{number}": b"abc" for number in range(4)}
    posix = FakeFiles({f"/run/copy/test_io_{number}": b"abc" for number in range(4)}, root="posixfs://")
    session = FakeSession(FakeFiles({**SOURCE, **back}), elsewhere=posix)
    assert judged(session, {"from": "hdfs", "to": "posix"}) == {"files": True, "checksums": True}
    assert session.ran[1][2] == (
        *("distcp.jar", "-Ddfs.checksum.combine.mode=COMPOSITE_CRC", "-m", "1"),
        *("hdfs://here/run/input/io_data", "posixfs:///run/copy"),
    )
    assert session.ran[2][2][-2:] == ("posixfs:///run/copy", "hdfs://here/run/back")


def judged(session: FakeSession, own: dict[str, str]) -> dict[str, bool]:
    workload = DistCp()
    settings = workload.resolve(Asked(size=12, maps=1, own=own), {})
    workload.prepare(session, settings)
    workload.run(session, settings)
    return {check.name: check.passed for check in workload.verify(session, settings)}


def test_a_number_of_files_is_taken() -> None:
    settings = DistCp().resolve(Asked(size=12, maps=1, own={"files": 2}), {})
    assert (settings["files"], settings["file_bytes"]) == (2, 6)


def test_a_storage_that_the_cluster_lacks_is_known_before_anything_runs() -> None:
    def check(own: dict[str, str], *there: str) -> None:
        check_storages(DistCp(), DistCp().resolve(Asked(size=12, maps=1, own=own), {}), there[0], there)

    check({}, "posix")
    check({"from": "file", "to": "hdfs"}, "posix", "hdfs")
    with pytest.raises(UsageError, match="--to hdfs: the cluster has no such storage; it has posix"):
        check({"to": "hdfs"}, "posix")


def test_a_relative_directory_is_refused() -> None:
    with pytest.raises(UsageError, match="'here' is not an absolute path"):
        DistCp().resolve(Asked(size=12, own={"to": "file", "directory": "here"}), {})


def test_a_directory_without_its_storage_is_refused() -> None:
    with pytest.raises(UsageError, match="--directory is for storage file"):
        DistCp().resolve(Asked(own={"directory": "/scratch"}), {})


def test_files_without_a_byte_are_refused() -> None:
    with pytest.raises(UsageError, match="too few for 4 files"):
        DistCp().resolve(Asked(size=3, maps=1), {})
