"""How a run ends: whatever its workload raises, the directory is closed and says it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from howdah.cluster.faults import HostFault
from howdah.cluster.state import Lost
from howdah.engine.observer import JobProgress, Observer, Silent
from howdah.engine.run.bounds import Bounds
from howdah.engine.run.execution import Execution, RunOptions, RunPlan, _hosts_asked
from howdah.engine.run.faults import Fault
from howdah.errors import ClusterProblem, HostsTaken, HowdahError, Untrusted, UsageError, WorkloadFailed
from howdah.hadoop.distribution.jdk import Jdk
from howdah.model.run import Check
from howdah.storage import Storage
from howdah.store import read_run
from howdah.workload import Session, Settings
from howdah.workload.command import Command
from tests.unit.engine.run.clusters import IDLE, ClientsOnly, FakeHost, TaggedManager, application, lost


class Ends(Command):
    """Raises `error` in its step `where`."""

    def __init__(self, where: str, error: BaseException | None) -> None:
        self._where = where
        self._error = error

    def _step(self, name: str) -> None:
        if name == self._where and self._error is not None:
            raise self._error

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._step("prepare")
        return {}

    def run(self, session: Session, settings: Settings) -> None:
        self._step("run")

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        self._step("verify")
        return (Check("order", True, "fine"),)


@dataclass
class Whole(ClientsOnly):
    """Enough of a cluster for a run that starts nothing; `conf` is an empty directory."""

    conf: Path = Path("/none")
    jdk: Jdk = field(default_factory=lambda: Jdk("/jdk", (17, 0, 1), "x", "x86_64", ()))
    web_servers: Mapping[str, str] = field(default_factory=dict)

    def check_masters(self) -> None: ...

    def lease(self, tag: str) -> None: ...

    def release(self) -> None: ...


@dataclass
class Killing(TaggedManager):
    """Keeps the applications that it was asked to kill."""

    killed: list[str] = field(default_factory=list)

    def kill(self, application_id: str) -> None:
        self.killed.append(application_id)


class Nothing:
    """A storage of which only the name is asked."""

    name = "hdfs"

    def remove(self, path: str) -> None: ...


def execution(
    tmp_path: Path,
    where: str,
    error: BaseException | None,
    *,
    gone: tuple[Lost, ...] = (),
    warnings: tuple[str, ...] = (),
    manager: TaggedManager | None = None,
    taken: bool = False,
    observer: Observer | None = None,
    fault: Fault | None = None,
) -> Execution:
    answers = {
        "machine.moment": lambda **_: {"utc": time.time(), "monotonic": time.monotonic()},
        "machine.fingerprint": lambda **_: {"mounts": {}},
        "machine.command_lines": lambda **_: [],
        "accounting.cpu": lambda **_: IDLE,
    }
    cluster = Whole(FakeHost(answers), manager or TaggedManager(), lost=gone, conf=tmp_path, warnings=warnings)
    cluster.taken = taken
    storage: Any = Nothing()
    plan = RunPlan(Ends(where, error), {"conf": {}}, _storage(storage), {})
    options = RunOptions(tmp_path / "runs", ("howdah",), (), fault=fault)
    return Execution(cluster.live(), plan, options, observer or Silent(), Bounds({}))


def _storage(storage: Any) -> Storage:
    return storage  # type: ignore[no-any-return]


def test_a_run_whose_checks_pass_is_valid(tmp_path: Path) -> None:
    one = execution(tmp_path, "nowhere", None)
    assert one.execute().outcome.kind == "valid"
    assert read_run(one.path).run.outcome.kind == "valid"


@pytest.mark.promise("Warnings about the configuration are caveats of the run", "how-to/existing-cluster")
def test_warnings_about_the_clusters_configuration_are_caveats(tmp_path: Path) -> None:
    run = execution(tmp_path, "nowhere", None, warnings=("core-site.xml, line 3: x",)).execute()
    assert "core-site.xml, line 3: x" in [caveat.text for caveat in run.caveats]


@pytest.mark.promise("A run that does not validate has no numbers and exits with 3", "README")
@pytest.mark.parametrize("where", ["prepare", "run", "verify"])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Untrusted("write: TestDFSIO printed 0 reports, not one"), "invalid"),
        (WorkloadFailed("sort failed"), "failed"),
        (ClusterProblem("namenode of master ended"), "failed"),
        (UsageError("no directory is known", hint="--directory DIR"), "failed"),
    ],
)
def test_what_is_not_trusted_is_invalid_and_everything_else_failed(
    tmp_path: Path, where: str, error: HowdahError, kind: str
) -> None:
    one = execution(tmp_path, where, error)
    outcome = one.execute().outcome
    assert (outcome.kind, outcome.reason) == (kind, str(error))
    stored = read_run(one.path)
    assert stored.run.outcome == outcome
    assert not stored.samples
    assert (one.refused is error) == isinstance(error, UsageError)


@pytest.mark.promise("A run that is stopped kills its applications", "how-to/existing-cluster")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), WorkloadFailed("sort failed"), None])
def test_a_run_that_is_not_valid_kills_what_still_runs_of_it(tmp_path: Path, error: BaseException | None) -> None:
    manager = Killing([(application("RUNNING"), application(id="application_1_0002"))])
    one = execution(tmp_path, "run", error, manager=manager)
    with suppress(KeyboardInterrupt):
        one.execute()
    assert manager.killed == ([] if error is None else ["application_1_0001"])


def test_what_the_cluster_lost_is_said_whatever_ended_the_run(tmp_path: Path) -> None:
    for error in (Untrusted("no report"), WorkloadFailed("no report")):
        one = execution(tmp_path, "run", error, gone=(lost("datanode"),))
        outcome = one.execute().outcome
        [first, then] = (outcome.reason or "").splitlines()
        assert first == "no report"
        assert then.startswith("datanode of node1 (process 7) ended with code -9; its log: ")
        assert then.endswith(f" {one.path}/logs/daemons/datanode-node1.log"), "the run's copy"


@pytest.mark.promise("A fault of a network ends with the phase in which it was wanted", "how-to/faults")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), WorkloadFailed("sort failed"), KeyError("x")])
def test_a_fault_does_not_outlive_its_run(tmp_path: Path, error: BaseException) -> None:
    asked: list[HostFault] = []
    one = execution(tmp_path, "run", error, fault=Fault(None, 0.5, "stop", "here"))
    assert one._disturber is not None
    vars(one._cluster)["disturb"] = asked.append
    one._disturber.phase_started("run", None)
    one._disturber.progress(JobProgress(1.0, 0.0, 1.0))
    with suppress(KeyboardInterrupt, KeyError):
        one.execute()
    assert [one.kind for one in asked] == ["stop", "continue"]


@pytest.mark.promise("A run whose hosts a batch system takes away is aborted, and kept", "how-to/batch")
@pytest.mark.parametrize("error", [HostsTaken("the hosts are taken away: walltime"), WorkloadFailed("sort failed")])
def test_a_run_whose_hosts_are_taken_away_is_aborted(tmp_path: Path, error: HowdahError) -> None:
    one = execution(tmp_path, "run", error, taken=True)
    with pytest.raises(HostsTaken, match="walltime") as caught:
        one.execute()
    assert str(one.path) in str(caught.value)
    outcome = read_run(one.path).run.outcome
    assert (outcome.kind, outcome.reason) == ("aborted", "the hosts are taken away: walltime: 30 s are left")


@pytest.mark.promise("Ten minutes before the walltime is over, a run says so, once", "how-to/batch")
def test_a_run_warns_once_before_its_hosts_are_taken_away(tmp_path: Path) -> None:
    class Steps(Silent):
        said: ClassVar[list[str]] = []

        def step(self, text: str) -> None:
            self.said.append(text)

    one = execution(tmp_path, "nowhere", None, observer=Steps())
    one._check()
    one._check()
    assert Steps.said == ["the batch system takes the hosts away in 5 min"]


def test_a_fault_of_ours_closes_the_directory_and_is_raised_again(tmp_path: Path) -> None:
    one = execution(tmp_path, "verify", KeyError("x"))
    with pytest.raises(KeyError):
        one.execute()
    assert read_run(one.path).run.outcome.reason == "a fault in Howdah: KeyError('x')"


@pytest.mark.promise("Trials on equal hosts with other names are equal", "explanation/reading-the-report")
def test_what_was_asked_of_hosts_is_not_their_names() -> None:
    def asked(*names: str, **changes: Any) -> dict[str, Any]:
        listed = [
            {"name": name, "user": "me", "port": None, "address": None, "rack": None, **changes} for name in names
        ]
        return _hosts_asked({"kind": "hosts", "silence": 15.0, "listed": listed})

    assert asked("a", "b") == asked("c", "d", user="you")
    assert asked("a", "b") != asked("a", "b", "c")
    assert asked("a", "b") != asked("a", "b", rack="/r1")
    assert _hosts_asked({"kind": "slurm", "job": "17", "hosts": ["n1"]}) == {"kind": "slurm"}
    assert _hosts_asked({"kind": "sim", "hosts": 3, "network": None, "holder": 7}) == {
        "kind": "sim",
        "hosts": 3,
        "network": None,
    }
