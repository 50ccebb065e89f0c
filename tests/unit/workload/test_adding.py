"""The page about adding a workload shows one that works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from howdah.workload import Asked, Session
from tests.unit.workload.sessions import FakeFiles, FakeSession

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "add-a-workload.md"


@pytest.fixture
def workload() -> Any:
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(code.splitlines()) <= 40
    made: dict[str, Any] = {}
    exec(code, made)
    return made["TeraGen"]()


@pytest.mark.promise("A workload takes one file of 40 lines", "how-to/add-a-workload")
@pytest.mark.parametrize("lost", [0, 1])
def test_the_workload_of_the_page_runs_and_verifies(workload: Any, lost: int) -> None:
    settings = workload.resolve(Asked(size=1000, maps=2), {"dfs.replication": "3"})
    assert workload.space_bytes(settings) == (3000, 0)
    files = {"/run/rows/part-m-00000": 500, "/run/rows/part-m-00001": 500 - lost}
    session = FakeSession(FakeFiles(lengths=files), counters={"files": {"written": 1000}})
    assert workload.prepare(session, settings) == {"generator": "teragen", "bytes": 1000}
    workload.run(session, settings)
    program = ("examples.jar", "teragen", "-Dmapreduce.job.maps=2", "10", "hdfs://here/run/rows")
    assert session.ran == [("write", "run", program)]
    checks = workload.verify(session, settings)
    assert [(check.name, check.passed) for check in checks] == [("bytes", not lost), ("counted", not lost)]


def test_a_session_stays_small_and_the_page_names_all_of_it() -> None:
    members = {name for name in vars(Session) if not name.startswith("_")}
    assert len(members) <= 10
    page = PAGE.read_text(encoding="utf-8")
    assert members == {name for name in members if f"`{name}" in page}
