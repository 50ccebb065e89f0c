from __future__ import annotations

import pytest

from howdah.workload import Asked
from howdah.workload.join import Join
from tests.unit.workload.sessions import FakeFiles, FakeSession

WRITER = "org.apache.hadoop.examples.RandomWriter$Counters"
TASK = "org.apache.hadoop.mapreduce.TaskCounter"


@pytest.mark.parametrize(("joined", "passed"), [(97, True), (96, False), (None, False)])
def test_sorted_data_meets_itself(joined: int | None, passed: bool) -> None:
    counted = {} if joined is None else {"MAP_OUTPUT_RECORDS": joined}
    counters = {WRITER: {"RECORDS_WRITTEN": 97, "BYTES_WRITTEN": 10**6}, TASK: counted}
    session = FakeSession(FakeFiles(), counters=counters)
    workload = Join()
    settings = workload.resolve(Asked(size=10**6, maps=2, reduces=3), {})
    workload.prepare(session, settings)
    workload.run(session, settings)
    assert [(phase, kind) for phase, kind, _ in session.programs] == [
        *(("gen", "prepare"), ("sort", "prepare"), ("join", "run")),
    ]
    here = "hdfs://here/run"
    sort, join = (program for _, _, program in session.programs[1:])
    assert sort == ("examples.jar", "sort", "-r", "3", f"{here}/input", f"{here}/sorted")
    both = (f"{here}/sorted", f"{here}/sorted", f"{here}/output")
    assert join == ("examples.jar", "join", "-r", "0", "-joinOp", "inner", *both)
    [check] = workload.verify(session, settings)
    assert check.passed is passed
    assert check.detail == f"97 keys on both sides, {joined} joined"
