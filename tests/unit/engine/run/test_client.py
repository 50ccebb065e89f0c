from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from howdah.engine.observer import JobProgress
from howdah.engine.run.client import Client, Submission, submit
from howdah.errors import ClusterProblem, HostProblem
from howdah.hadoop.interfaces.resourcemanager import Application
from howdah.model.sample import Moment
from tests.unit.engine.run.clusters import FakeCluster, FakeHost, FakeManager, FakeProcess, application

FULL_DISK = Path(__file__).parents[3] / "golden/hadoop/3.4.2/textgen_full_disk.log"
COUNTERS = b"""2026-11-25 12:51:08,118 INFO mapreduce.Job: Counters: 17
\tFile System Counters
\t\tFILE: Number of bytes read=56307
\tMap-Reduce Framework
\t\tMap input records=3815
\tFile Input Format Counters\x20
\t\tBytes Read=0
\torg.howdah.workloads.TextGenerator$Generated
\t\tBYTES=-1000000000
\tShuffle Errors
\t\tBAD_ID=0
"""
LOG = b"""2026-11-20 10:00:00,000 INFO mapreduce.Job: Running job: job_1_0001
Error: java.io.IOException: no space
\tat org.apache.hadoop.Foo(Foo.java:1)
\t... 12 more

2026-11-20 10:00:09,000 ERROR terasort.TeraSort: it failed
"""


def run(
    process: FakeProcess,
    seen: list[tuple[Application, ...] | None],
    check: Any = lambda: None,
    fatal: str | None = None,
    log: bytes = LOG,
) -> tuple[Submission, FakeHost, list[JobProgress]]:
    host = FakeHost({"files.read": lambda **_: log}, process)
    told: list[JobProgress] = []
    cluster = FakeCluster(host, FakeManager(seen)).live()
    client = Client(("hadoop", "jar", "x.jar"), {"HADOOP_CONF_DIR": "/conf/sort"}, "run-sort", "/log", fatal)
    return submit(cluster, client, progress=told.append, check=check), host, told


def test_the_client_has_its_own_configuration() -> None:
    _, host, _ = run(FakeProcess(), [()])
    assert host.started == [(("hadoop", "jar", "x.jar"), {"HADOOP_CONF_DIR": "/conf/sort"})]


def test_why_a_job_in_its_client_failed_is_what_is_left_of_what_it_said() -> None:
    done, _, _ = run(FakeProcess(code=1), [()], log=FULL_DISK.read_bytes() + COUNTERS)
    reason = "java.io.IOException: No space left on device"
    error = f"org.apache.hadoop.fs.FSError: {reason}"
    assert done.said == (f"java.lang.Exception: {error}", f"Caused by: {error}", f"Caused by: {reason}")


def test_a_client_that_can_only_wait_is_killed() -> None:
    process = FakeProcess(looks=2)
    run(process, [()], fatal="no space")
    assert process.signals == [signal.SIGKILL]
    silent = FakeProcess(looks=2)
    run(silent, [()], fatal="not in what it says")
    assert silent.signals == []


class Lost(FakeProcess):
    """One whose agent is gone."""

    def signal(self, number: int) -> None:
        raise HostProblem(f"process.signal {number}: the channel was lost", host="here")


def test_a_client_that_is_lost_with_its_agent_is_said() -> None:
    with pytest.raises(HostProblem, match="the agent that ran the client was lost"):
        run(Lost(code=-9, cpu_seconds=None), [()])


def test_who_is_interrupted_when_the_agent_is_gone_is_interrupted() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Lost(looks=2), [()], check=stop)


def test_the_end_is_when_the_agent_tells_of_it() -> None:
    """Not when somebody has looked how far its job was."""
    process = FakeProcess(ended_at=(100.0, 50.0))
    assert run(process, [()])[0].end == Moment(100.0, 50.0)


def test_what_the_client_says_is_kept_without_noise() -> None:
    done, _, _ = run(FakeProcess(code=1), [()])
    assert done.code == 1
    assert done.said == (
        "Error: java.io.IOException: no space",
        "2026-11-20 10:00:09,000 ERROR terasort.TeraSort: it failed",
    )
    assert done.client_cpu_seconds == 1.5
    assert done.start.monotonic <= done.end.monotonic


def test_no_application_is_none() -> None:
    assert run(FakeProcess(), [()])[0].applications == ()
    assert run(FakeProcess(), [None])[0].applications == ()


def test_the_end_is_waited_for_where_the_client_sees_it_first() -> None:
    ended = application()
    # The first look is the follower's, for progress.
    done, _, _ = run(FakeProcess(looks=2), [(), (application("RUNNING"),), (ended,)])
    assert done.applications == (ended,)


def test_a_resourcemanager_that_does_not_answer_is_no_failure_of_the_job() -> None:
    done, _, told = run(FakeProcess(looks=3), [None, None, (application(),)])
    assert done.code == 0
    assert [(one.map, one.reduce) for one in told] == [(None, None), (None, None)]


def test_the_client_is_killed_when_the_run_must_stop() -> None:
    process = FakeProcess(looks=100)

    def check() -> None:
        raise ClusterProblem("namenode of master ended")

    with pytest.raises(ClusterProblem, match="namenode"):
        run(process, [()], check)
    assert process.signals == [signal.SIGKILL]
