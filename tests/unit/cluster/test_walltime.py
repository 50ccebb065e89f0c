"""The end of a batch job, seen from its cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.walltime import Endings, Walltime, check_time, end_is_near, expected, needed_to_stop, remember
from howdah.errors import HostProblem, HostsTaken
from tests.contract.test_host import wait_for


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    (tmp_path / "clusters").mkdir()
    return tmp_path


def test_what_it_takes_is_the_longest_of_the_last_five_times() -> None:
    assert (expected("start"), needed_to_stop()) == (60.0, 30.0)
    for seconds in (300.0, 10.0, 12.0, 11.0, 10.0, 10.0):
        remember("start", seconds)
    remember("stop", 40.0)
    assert (expected("start"), expected("stop"), needed_to_stop()) == (12.0, 40.0, 80.0)


@pytest.mark.parametrize("content", ["", "[]", '{"start": "x"}', '{"start": []}', '{"stop": [1]}'])
def test_times_that_cannot_be_read_are_the_usual_ones(home: Path, content: str) -> None:
    (home / "clusters" / "times.json").write_text(content)
    assert expected("start") == 60.0


def test_what_cannot_fit_is_refused_with_the_numbers() -> None:
    remember("start", 20.0)
    check_time(None)
    check_time(50.0, start=20.0)
    with pytest.raises(HostsTaken, match="away in 49 s, and 50 s are needed: 20 s to start, 30 s to stop"):
        check_time(49.0, start=20.0)
    with pytest.raises(HostsTaken, match="and 130 s are needed: 100 s to run, as it took before, 30 s to stop"):
        check_time(129.0, run=100.0)


class Told:
    """A host that is told to end when the test says so."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tell: Callable[[dict[str, Any]], None] = lambda _: None

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /) -> None:
        assert operation == "process.endings"
        self.tell = sink


@pytest.mark.promise("Ten minutes before its end, a job's programs are warned", "how-to/batch")
def test_the_last_ten_minutes_are_warned_of() -> None:
    assert end_is_near(None) is None
    assert end_is_near(600) is None
    assert end_is_near(599) == "the batch system takes the hosts away in 9 min"
    assert end_is_near(-3) == "the batch system takes the hosts away in 0 s"


def test_hosts_are_taken_when_all_are_told_or_the_job_has_ended() -> None:
    answers: list[float | HostProblem] = []

    def left() -> float:
        answer = answers.pop(0)
        if isinstance(answer, HostProblem):
            raise answer
        return answer

    def two() -> tuple[Endings, Told, Told]:
        first, second = Told("n1"), Told("n2")
        hosts: Any = {"n1": first, "n2": second}
        return Endings(hosts, left), first, second

    endings, first, second = two()
    assert not endings.is_taken()
    first.tell({})
    second.tell({})
    assert endings.is_taken(), "nobody has to be asked"
    endings, first, second = two()
    first.tell({})
    answers += [HostProblem("squeue has not answered"), 0.0]
    assert not endings.is_taken()
    assert endings.is_taken()
    endings, first, second = two()
    first.tell({})
    answers.append(100.0)
    assert not endings.is_taken()
    assert not endings.is_taken(), "it was asked once"
    second.tell({})
    assert endings.is_taken()


@pytest.mark.promise("A deleted job of PBS takes its cluster with it at once", "how-to/batch")
def test_the_agent_that_ends_with_its_job_is_enough() -> None:
    host, leash = Told("n1"), Told("the job")
    hosts: Any = {"n1": host}
    endings = Endings(hosts, lambda: pytest.fail("nobody has to be asked"), leash)  # type: ignore[arg-type]
    assert not endings.is_taken()
    leash.tell({})
    assert endings.is_taken()


def test_a_batch_system_that_does_not_answer_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("howdah.cluster.walltime._LOOK_SECONDS", 0.01)
    answers: list[float | HostProblem | None] = [100.0]
    asked = threading.Event()

    def left() -> float | None:
        asked.set()
        answer = answers[-1]
        if isinstance(answer, HostProblem):
            raise answer
        return answer

    seen = Walltime(left)
    wait_for(lambda: seen.left is not None)
    answers.append(HostProblem("squeue has not answered"))
    time.sleep(0.05)
    asked.clear()
    assert asked.wait(5)
    assert 90 < (seen.left or 0) < 101
    answers.append(20.0)  # Somebody has changed the limit.
    wait_for(lambda: (seen.left or 100) < 21)
    answers.append(None)
    wait_for(lambda: seen.left is None)
