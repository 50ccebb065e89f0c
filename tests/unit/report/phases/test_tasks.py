"""How even tasks were, and what of their memory was used."""

from __future__ import annotations

from typing import Any

import pytest

from howdah.model.job import Attempt, Job, Span, TaskKind
from howdah.report.phases.jobs import PhaseJob
from howdah.report.phases.series import HostSeries
from howdah.report.phases.tasks import memory_asked, memory_used, skews


def attempt(task: str, kind: TaskKind, seconds: float, waits: float = 0.0, state: str = "SUCCEEDED") -> Attempt:
    steps = {"shuffle": Span(0.0, waits)} if kind == "reduce" else {}
    return Attempt(f"{task}_0", task, kind, state, "n:1", None, Span(0.0, seconds), steps, {})


def job(*attempts: Attempt, memory: Any = None) -> PhaseJob:
    done = Job("job_1", "j", "u", "q", "SUCCEEDED", 0.0, 0.0, 9.0, 2, 1, {}, {}, {}, attempts)
    return PhaseJob("sort", done, {} if memory is None else {"memory_seconds": memory})


@pytest.mark.promise("Reports say how uneven the tasks of a job were", "explanation/reading-the-report")
def test_the_longest_task_is_held_against_the_median() -> None:
    maps = [attempt(f"m{number}", "map", seconds) for number, seconds in enumerate((4.0, 5.0, 20.0))]
    reduces = [attempt("r0", "reduce", 30.0, waits=28.0), attempt("r1", "reduce", 9.0, waits=1.0)]
    found = list(skews([job(*maps, *reduces, attempt("m9", "map", 99.0, state="KILLED"))]))
    assert [(one.kind, one.tasks, one.middle, one.longest, one.task) for one in found] == [
        ("map", 3, 5.0, 20.0, "m2"),
        ("reduce", 2, 5.0, 8.0, "r1"),
    ]
    assert list(skews([job(attempt("m0", "map", 4.0))])) == [], "one alone is not uneven"


def reading(utc: float, value: float, pid: int = 1, role: str = "container") -> dict[str, Any]:
    return {"kind": "process", "utc": utc, "role": role, "pid": pid, "container": "c", "memory_resident": value}


@pytest.mark.promise("Reports say how much of the memory of containers was used", "explanation/reading-the-report")
def test_memory_is_summed_over_the_time_that_it_was_held() -> None:
    points = [reading(10.0, 100.0), reading(11.0, 200.0), reading(12.0, 200.0), reading(10.0, 50.0, pid=2)]
    others = [reading(11.0, 9e9, role="datanode"), reading(99.0, 9e9)]
    series = HostSeries("vm", 1.0, {"process": [*points, *others]})
    assert memory_used([series], 10.0, 13.0) == 100.0 + 200.0 + 200.0 + 50.0
    assert memory_used([series], 50.0, 60.0) is None, "nothing was seen"
    gap = HostSeries("vm", 1.0, {"process": [reading(10.0, 100.0), reading(30.0, 100.0)]})
    assert memory_used([gap], 0.0, 40.0) == 100.0 * 3 + 100.0


def test_what_was_asked_for_is_known_of_all_jobs_or_not_at_all() -> None:
    assert memory_asked([job(memory=2), job(memory=3)]) == 5 << 20
    assert memory_asked([job(memory=2), job()]) is None
    assert memory_asked([]) is None
