"""What a program that ended amounts to, in a phase of each kind, and what is known of its throughput."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from howdah.engine.observer import Silent
from howdah.engine.run.judge import failed_by_its_tasks
from howdah.engine.run.phase import Hooks
from howdah.engine.run.session import JobSession
from howdah.errors import Untrusted, WorkloadFailed
from howdah.hadoop.distribution.distribution import Distribution
from howdah.model.run import Outcome, PhaseKind, Run, Trial
from howdah.model.sample import Moment
from howdah.store import RunWriter
from howdah.workload.programs import JarProgram, ShellLine, SparkProgram
from tests.unit.engine.run.clusters import (
    IDLE,
    ClientsOnly,
    FakeHost,
    FakeProcess,
    TaggedManager,
    application,
    lost,
    space_of,
)
from tests.unit.engine.run.test_failure import ATTEMPT, JOB
from tests.unit.workload.sessions import FakeFiles

NOW = Moment(0.0, 0.0)
RUN = Run("r", "R", Trial("command", {}), Outcome("running"), NOW, None, "0", (), {})


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[RunWriter]:
    one = RunWriter(tmp_path, RUN)
    for phase in ("x", "y"):
        one.keep(f"logs/{phase}-client.log", b"it says so")
    yield one
    one.close()


def session(
    writer: RunWriter,
    process: FakeProcess,
    *,
    seen: Any = (),
    free: int = 1 << 40,
    ready: Callable[[], None] = lambda: None,
    ended: Callable[[], None] = lambda: None,
    clients: list[tuple[Sequence[str], Mapping[str, str]]] | None = None,
    **changes: Any,
) -> JobSession:
    """Its clients are `process`, and their commands and environments go to `clients`; YARN has `seen` of their
    applications."""
    answers = {
        "accounting.cpu": lambda **_: IDLE,
        "files.read": lambda **_: b"it says so",
        "files.space": lambda **_: space_of(free),
    }
    host = FakeHost(answers, process, started=[] if clients is None else clients)
    cluster = ClientsOnly(
        host,
        TaggedManager([tuple(seen)]),
        **{"directories": (str(writer.path),), "observed": True, "shares_files": True, **changes},
    )
    storage: Any = FakeFiles()
    return JobSession(
        cluster.live(),
        storage,
        writer,
        Silent(),
        Hooks(check=lambda: None, save=lambda: None, ready=ready, ended=ended),
        run_id="r",
        settings={},
        defaults={},
        reuse=False,
    )


def error_of(one: JobSession, kind: PhaseKind, *, judged: bool = False) -> Exception | None:
    try:
        one.run("x", kind, ShellLine("true", judged) if judged else JarProgram(("x.jar",)))
    except (Untrusted, WorkloadFailed) as error:
        return error
    return None


@pytest.mark.parametrize(("kind", "times"), [("prepare", 0), ("run", 2), ("verify", 0)])
def test_what_has_to_be_so_is_so_before_each_phase_of_the_workload(
    writer: RunWriter, kind: PhaseKind, times: int
) -> None:
    made: list[int] = []
    one = session(writer, FakeProcess(looks=0), ready=lambda: made.append(len(one.record.phases)))
    for phase in ("x", "y"):
        one.run(phase, kind, JarProgram(("x.jar",)))
    assert made == list(range(times))


def test_what_ends_with_a_phase_ends_with_its_client_whatever_comes_of_it(writer: RunWriter) -> None:
    ended: list[str | None] = []
    one = session(writer, FakeProcess(1, looks=0), ended=lambda: ended.append(one.record.phases[-1].error))
    assert isinstance(error_of(one, "run"), WorkloadFailed)
    assert ended == [None], "before anybody judged it"


def test_a_verification_that_ends_badly_says_that_the_result_is_wrong(writer: RunWriter) -> None:
    error = error_of(session(writer, FakeProcess(1, looks=0)), "verify")
    assert isinstance(error, Untrusted)
    assert "x: the client ended with code 1\nit says so" in str(error)


@pytest.mark.parametrize("kind", ["prepare", "run"])
def test_anything_else_that_ends_badly_has_failed(writer: RunWriter, kind: PhaseKind) -> None:
    assert isinstance(error_of(session(writer, FakeProcess(1, looks=0)), kind), WorkloadFailed)


@pytest.mark.promise(
    "A verification that could not do its work is a failure of the run, not of the data", "reference/exit-codes"
)
def test_a_verification_that_was_killed_says_nothing(writer: RunWriter) -> None:
    assert isinstance(error_of(session(writer, FakeProcess(-9, looks=0)), "verify"), WorkloadFailed)


@pytest.mark.promise(
    "A verification that could not do its work is a failure of the run, not of the data", "reference/exit-codes"
)
@pytest.mark.parametrize("changes", [{"lost": (lost("nodemanager"),)}, {"free": 1 << 20}])
def test_a_verification_says_nothing_where_the_cluster_lost_what_it_needs(
    writer: RunWriter, changes: dict[str, Any]
) -> None:
    assert isinstance(error_of(session(writer, FakeProcess(1, looks=0), **changes), "verify"), WorkloadFailed)


def test_a_supervisor_that_is_silent_tells_of_no_loss(writer: RunWriter) -> None:
    assert isinstance(error_of(session(writer, FakeProcess(1, looks=0), silent=True), "verify"), Untrusted)


def test_a_code_that_is_judged_is_an_answer(writer: RunWriter) -> None:
    assert error_of(session(writer, FakeProcess(1, looks=0)), "verify", judged=True) is None


def test_an_application_that_leaves_no_history_was_stopped(writer: RunWriter) -> None:
    gone = application("FAILED", final_status="FAILED", kind="SPARK")
    assert isinstance(error_of(session(writer, FakeProcess(1, looks=0), seen=[gone]), "verify"), WorkloadFailed)


@dataclass
class HistoryFile:
    """The file system of one job's history, which is `content`, and of its configuration."""

    content: bytes

    def list(self, path: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(path=f"{path}/{name}") for name in ("job_1_0001-1.jhist", "job_1_0001_conf.xml")]

    def read(self, path: str) -> bytes:
        return self.content if path.endswith(".jhist") else b"<configuration/>"


def test_a_history_that_cannot_be_read_is_named_by_phase_and_job(writer: RunWriter) -> None:
    changes: dict[str, Any] = {"settings": {"fs.defaultFS": "hdfs://nn"}, "webhdfs": HistoryFile(b"")}
    error = error_of(session(writer, FakeProcess(looks=0), seen=[application()], **changes), "run")
    assert isinstance(error, Untrusted)
    assert error.message == "x, job_1_0001: not a history file: it is empty (0 bytes)"
    assert "The job may still run" in (error.hint or "")


def test_a_program_that_runs_one_job_has_failed_without_it(writer: RunWriter) -> None:
    one = session(writer, FakeProcess(looks=0))
    with pytest.raises(WorkloadFailed, match="x: YARN knows 0 jobs of a program that runs one"):
        one.run("x", "run", JarProgram(("x.jar",)), one_job=True)


def test_a_job_fails_by_its_tasks_or_is_stopped() -> None:
    assert failed_by_its_tasks(JOB)
    assert not failed_by_its_tasks(None)
    assert not failed_by_its_tasks(replace(JOB, state="KILLED"))
    assert not failed_by_its_tasks(replace(JOB, attempts=(replace(ATTEMPT, state="KILLED"),)))


def samples(one: JobSession) -> dict[tuple[str | None, str], tuple[float, str]]:
    return {(sample.phase, sample.metric): (sample.value, sample.source) for sample in one.record.samples}


def test_without_a_job_the_client_tells_the_throughput(writer: RunWriter) -> None:
    one = session(writer, FakeProcess(looks=0))
    one.run("x", "run", ShellLine("true"), data_bytes=1000)
    one.run("y", "run", ShellLine("true"))
    found = samples(one)
    value, source = found["x", "throughput"]
    assert value == pytest.approx(1000 / found["x", "client_seconds"][0])
    assert source == "1000 B ÷ client_seconds"
    assert ("y", "throughput") not in found


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="an optional extra: make spark")
def test_to_a_cluster_that_howdah_did_not_start_our_jars_are_sent_with_spark(writer: RunWriter, tmp_path: Path) -> None:
    examples = tmp_path / "share/hadoop/mapreduce/hadoop-mapreduce-examples-3.4.2.jar"
    examples.parent.mkdir(parents=True)
    examples.touch()
    hadoop = Distribution("3.4.2", tmp_path, "managed", (), (), (), plugins=(Path("/jars/a.jar"),))
    clients: list[tuple[Sequence[str], Mapping[str, str]]] = []
    spark = application(kind="SPARK", start=10.0, finish=14.0)
    ours = {"fs.hdfs.impl": "org.howdah.hdfs.BufferedFileSystem"}
    of_others: dict[str, Any] = {"shares_files": False, "settings": ours, "distribution": hadoop}
    one = session(writer, FakeProcess(looks=0), seen=[spark], clients=clients, **of_others)
    one.run("x", "run", SparkProgram(("x.py",), {"spark.yarn.dist.files": "own"}))
    [(argv, environment)] = clients
    assert "spark.yarn.dist.files=own,file:///jars/a.jar" in argv
    assert environment["SPARK_DIST_CLASSPATH"] == "/jars/a.jar:a.jar"


def test_what_a_program_says_it_moved_is_divided_by_the_time_of_its_jobs(writer: RunWriter) -> None:
    spark = application(kind="SPARK", start=10.0, finish=14.0)
    one = session(writer, FakeProcess(looks=0), seen=[spark])
    one.run("x", "run", JarProgram(("x.jar",)))
    assert ("x", "throughput") not in samples(one)
    one.moved("x", 1000)
    one.moved("y", 1000)
    assert samples(one)["x", "throughput"] == (250.0, "1000 B ÷ job_seconds")
    assert ("y", "throughput") not in samples(one), "nothing is known of its time"
