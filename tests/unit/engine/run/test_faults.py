"""When a daemon is killed in the middle of a job."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from howdah.cluster.live import LiveCluster
from howdah.engine.observer import JobProgress
from howdah.engine.run.faults import Fault, Killer
from howdah.workload import measured_phases
from howdah.workload.hs import Hs


@dataclass
class Cluster:
    killed: list[str] = field(default_factory=list)

    def kill_daemon(self, role: str) -> None:
        self.killed.append(role)


def half_done(map_share: float) -> JobProgress:
    return JobProgress(map_share, 0.0, 1.0)


def test_it_is_killed_once_when_a_measured_phase_has_come_so_far() -> None:
    cluster = Cluster()
    killer = Killer(cast(LiveCluster, cluster), Fault("datanode", 0.5), measured_phases(Hs()))
    for phase in ("gen-1", "check-input-1"):
        killer.phase_started(phase, None)
        killer.progress(half_done(1.0))
    killer.phase_started("sort-1", None)
    killer.progress(half_done(0.9))
    assert (cluster.killed, killer.killed) == ([], False)
    killer.progress(half_done(1.0))
    killer.phase_started("sort-2", None)
    killer.progress(half_done(1.0))
    assert (cluster.killed, killer.killed) == (["datanode"], True)
