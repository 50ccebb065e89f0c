from __future__ import annotations

import pytest

from howdah.errors import UsageError
from howdah.workload import Asked
from howdah.workload.distcp import DistCp
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
    assert session.programs[1] == (
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


def test_files_without_a_byte_are_refused() -> None:
    with pytest.raises(UsageError, match="too few for 4 files"):
        DistCp().resolve(Asked(size=3, maps=1), {})
