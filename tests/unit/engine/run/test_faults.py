"""When a daemon is killed in the middle of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from howdah.cluster.faults import HostFault
from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.observer import JobProgress
from howdah.engine.run.faults import Disturber, Fault, parse_fault
from howdah.errors import UsageError
from howdah.workload import measured_phases
from howdah.workload.hs import Hs


@dataclass
class Cluster:
    killed: list[str] = field(default_factory=list)
    faults: list[HostFault] = field(default_factory=list)
    hosts: tuple[str, ...] = ("sim1", "sim2")
    description: Mapping[str, Any] = field(default_factory=lambda: {"allocation": {"kind": "sim", "disks": 1}})

    def disturb(self, fault: HostFault) -> None:
        self.faults.append(fault)

    def kill_daemon(self, role: str) -> None:
        self.killed.append(role)


def half_done(map_share: float) -> JobProgress:
    return JobProgress(map_share, 0.0, 1.0)


def test_it_is_killed_once_when_a_measured_phase_has_come_so_far() -> None:
    cluster = Cluster()
    killer = Disturber(cast(LiveCluster, cluster), Fault("datanode", 0.5), measured_phases(Hs()))
    for phase in ("gen-1", "check-input-1"):
        killer.phase_started(phase, None)
        killer.progress(half_done(1.0))
    killer.phase_started("sort-1", None)
    killer.progress(half_done(0.9))
    assert (cluster.killed, killer.happened) == ([], False)
    killer.progress(half_done(1.0))
    killer.phase_started("sort-2", None)
    killer.progress(half_done(1.0))
    assert (cluster.killed, killer.happened) == (["datanode"], True)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("datanode@50%", Fault("datanode", 0.5)),
        ("nodemanager@sort-1:5%", Fault("nodemanager", 0.05, phase="sort-1")),
        ("kill:sim3@50%", Fault(None, 0.5, "kill", "sim3")),
        ("stop:sim3:nodemanager@20%", Fault("nodemanager", 0.2, "stop", "sim3")),
        ("cut:sim3@gen:1%", Fault(None, 0.01, "cut", "sim3", phase="gen")),
        ("slow:sim3:10mbit@50%", Fault(None, 0.5, "slow", "sim3", 10_000_000)),
        ("slow:sim3:0.2cpus@50%", Fault(None, 0.5, "slow", "sim3", 0.2, resource="cpus")),
        ("slow:sim3:10MB@sort:50%", Fault(None, 0.5, "slow", "sim3", 10_000_000, "sort", "disk_rate")),
        ("disk:sim3@50%", Fault(None, 0.5, "disk", "sim3")),
    ],
)
def test_faults_as_they_are_written(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault
    assert parse_fault("none") is None


@pytest.mark.parametrize(
    "text",
    ["", "kill@50%", "kill:sim3", "cut:sim3:datanode@5%", "kill:sim3:namenode@5%", "disk:a:b:c@5%", "slow:sim3@5%",
     "slow:sim3:10@5%", "slow:sim3:0.01cpus@5%", "slow:sim3:1KB@5%",
     "datanode:sim3@5%", "burn:sim3@5%", "kill:sim3@500%", "kill:sim3@a:b:5%"],
)  # fmt: skip
def test_words_that_are_no_fault(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no fault|is no rate|is no share"):
        parse_fault(text)


def test_a_trial_has_what_is_said_of_its_fault() -> None:
    assert Fault("datanode", 0.5).record() == {"role": "datanode", "at": 0.5}
    assert Fault(None, 0.5, "cut", "sim3").record() == {"at": 0.5, "kind": "cut", "host": "sim3"}
    slow = {"at": 0.5, "kind": "slow", "host": "sim3", "rate": 0.2, "resource": "cpus"}
    assert Fault(None, 0.5, "slow", "sim3", 0.2, resource="cpus").record() == slow


@pytest.mark.promise("A fault of a network ends with the phase in which it was wanted", "how-to/faults")
@pytest.mark.parametrize(
    ("kind", "undone"), [("cut", "join"), ("slow", "restore"), ("stop", "continue"), ("kill", None), ("disk", None)]
)
def test_what_can_be_made_good_is_at_the_end_of_the_phase(kind: str, undone: str | None) -> None:
    cluster, rate = Cluster(), 10**7 if kind == "slow" else None
    disturber = Disturber(cast(LiveCluster, cluster), Fault(None, 0.5, kind, "sim2", rate), {"sort"})
    disturber.phase_started("sort", None)
    disturber.progress(half_done(1.0))
    assert cluster.faults == [HostFault(kind, "sim2", None, rate)]
    disturber.undo()
    disturber.phase_started("validate", None)
    disturber.undo()
    assert cluster.faults[1:] == ([] if undone is None else [HostFault(undone, "sim2")])


def test_a_phase_can_be_named_and_a_host_that_there_is_not_is_refused() -> None:
    cluster = Cluster()
    disturber = Disturber(cast(LiveCluster, cluster), Fault(None, 0.0, "kill", "sim1", phase="gen"), {"sort"})
    for phase in ("sort", "gen"):
        disturber.phase_started(phase, None)
        disturber.progress(half_done(1.0))
        assert bool(cluster.faults) == (phase == "gen")
    with pytest.raises(UsageError, match="no host 'sim9'"):
        Disturber(cast(LiveCluster, cluster), Fault(None, 0.5, "kill", "sim9"), {"sort"})


@pytest.mark.promise("A fault that the hosts of a cluster cannot have is refused at once", "how-to/faults")
def test_a_fault_that_the_hosts_of_a_cluster_cannot_have_is_refused_at_once() -> None:
    listed = Cluster(description={"allocation": {"kind": "hosts"}})
    for kind, rate in (("cut", None), ("slow", 10**7), ("disk", None)):
        with pytest.raises(UsageError, match=f"is not simulated: {kind} would be yours to do"):
            Disturber(cast(LiveCluster, listed), Fault(None, 0.5, kind, "sim1", rate), {"sort"})
    Disturber(cast(LiveCluster, listed), Fault(None, 0.5, "kill", "sim1"), {"sort"})
    bare = Cluster(description={"allocation": {"kind": "sim", "hosts": 2}})
    for fault in (Fault(None, 0.5, "disk", "sim1"), Fault(None, 0.5, "slow", "sim1", 10**7, resource="disk_rate")):
        with pytest.raises(UsageError, match="sim1 has no disks of its own"):
            Disturber(cast(LiveCluster, bare), fault, {"sort"})
