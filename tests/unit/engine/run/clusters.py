"""A cluster by hand: what the engine asks of one, answered from plain values."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from howdah.cluster.live.cluster import DataPlace, LiveCluster
from howdah.cluster.live.parts import Parts
from howdah.cluster.state import Daemon, Lost
from howdah.errors import ClusterProblem, HostsTaken
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.interfaces.http import Unreachable
from howdah.hadoop.interfaces.resourcemanager import Application, Resource, YarnNode
from howdah.host import Host

IDLE = {"seconds": {}, "adopted": 0.0, "containers": {}, "running": [], "steady": True}
"""What the agent's `accounting.cpu` returns where nothing runs."""
HADOOP = Distribution("3.4.2", Path("/hadoop"), "managed", (), (), ())


def application(state: str = "FINISHED", **changes: Any) -> Application:
    finished = Application(
        *("application_1_0001", "j", "u", "default", "MAPREDUCE", (), state, "SUCCEEDED", 1.0, "", None, None),
        *(1.0, 1.0, 2.0, 1, 1),
    )
    return replace(finished, **changes)


def node(memory: int, state: str = "RUNNING") -> YarnNode:
    return YarnNode("h:1", "h", "h:2", state, "", "3.4.2", 0, memory, 0, 3, 0)


@dataclass
class FakeProcess:
    """Runs for as many looks as `looks`, then has ended with `code`; what it `says`, if anything, is in its output."""

    code: int = 0
    looks: int = 2
    pid: int = 7
    cpu_seconds: float | None = 1.5
    signals: list[int] = field(default_factory=list)
    says: str | None = None
    ended_at: tuple[float, float] | None = None

    def poll(self) -> int | None:
        if self.looks > 0:
            return None
        if self.ended_at is None:
            self.ended_at = (time.time(), time.monotonic())
        return self.code

    def wait(self, timeout: float) -> int | None:
        self.looks -= 1
        return self.poll()

    def signal(self, number: int) -> None:
        self.signals.append(number)


@dataclass
class FakeHost:
    """`answers` gives each operation of the agent its answer; commands become `process`."""

    answers: Mapping[str, Callable[..., Any]]
    process: FakeProcess = field(default_factory=FakeProcess)
    name: str = "here"
    lost: str | None = None
    started: list[tuple[Sequence[str], Mapping[str, str]]] = field(default_factory=list)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        return self.answers[operation](**arguments)

    def start(self, argv: Sequence[str], *, output: str, env: Mapping[str, str]) -> FakeProcess:
        self.started.append((argv, env))
        if self.process.says is not None:
            Path(output).parent.mkdir(parents=True, exist_ok=True)
            Path(output).write_text(self.process.says, encoding="utf-8")
        return self.process


@dataclass
class FakeManager:
    """A ResourceManager: the applications of each look, the last again and again; None is a refused connection. `every`
    are those that it knows whatever the tag."""

    seen: list[tuple[Application, ...] | None] = field(default_factory=lambda: [()])
    live: tuple[YarnNode, ...] = ()
    most: int = 8192
    every: tuple[Application, ...] = ()

    def applications(self, *, tag: str | None = None) -> tuple[Application, ...]:
        if tag is None:
            return self.every
        found = self.seen.pop(0) if len(self.seen) > 1 else self.seen[0]
        if found is None:
            raise Unreachable("http://rm", "refused")
        return found

    def nodes(self) -> tuple[YarnNode, ...]:
        return self.live

    def maximum_allocation(self) -> Resource:
        return Resource(self.most, 3)


@dataclass
class FakeCluster:
    client: FakeHost
    resourcemanager: FakeManager = field(default_factory=FakeManager)
    namenode: Any = None
    daemons: tuple[Daemon, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    webhdfs: Any = None
    description: Mapping[str, Any] = field(default_factory=dict)
    distribution: Distribution = HADOOP
    warnings: tuple[str, ...] = ()
    observed: bool = False
    runs_distribution: bool = False
    shares_files: bool = False
    is_one_node_here: bool = False
    client_temporary: str = "/c/master/tmp"
    common_directory: str | None = None
    directories: tuple[str, ...] = ()
    places: tuple[tuple[str, str], ...] = ()
    own_names: Mapping[str, str] = field(default_factory=dict)
    log_files: tuple[tuple[FakeHost, str], ...] = ()
    container_logs: tuple[tuple[FakeHost, str], ...] = ()
    others: tuple[FakeHost, ...] = ()
    left: float | None = None

    def check_hosts(self) -> float | None:
        return self.left

    def check_login(self) -> None: ...

    @property
    def hosts(self) -> Mapping[str, FakeHost]:
        return {host.name: host for host in (self.client, *self.others)}

    @property
    def machines(self) -> Mapping[str, FakeHost]:
        return self.hosts

    def machine_of(self, host: str) -> str:
        return host

    parts: Parts = field(default_factory=Parts)

    def seen_daemons(self) -> Any:
        return LiveCluster.seen_daemons(self.live())

    def daemons_by_host(self) -> Any:
        return LiveCluster.daemons_by_host(self.live())

    def mounts(self, machine: str) -> Mapping[str, str]:
        return {"/": "/"}

    @property
    def work_directories(self) -> tuple[tuple[FakeHost, str], ...]:
        return tuple((self.client, directory) for directory in self.directories)

    def data_places(self, storage: str) -> tuple[DataPlace, ...]:
        return tuple(DataPlace(cast(Host, self.client), data, work) for data, work in self.places)

    @property
    def python(self) -> str:
        return sys.executable if self.shares_files else "python3"

    def spark_properties(self, spark_home: Path) -> Mapping[str, str]:
        return {}

    def client_files(self, overrides: Mapping[str, str]) -> dict[str, bytes]:
        return {"mapred-site.xml": "\n".join(f"{key}={value}" for key, value in overrides.items()).encode()}

    def client_command(self, program: tuple[str, ...], conf: Path) -> list[str]:
        return ["java", *program]

    def client_environment(self, conf: Path) -> dict[str, str]:
        return {"HADOOP_CONF_DIR": str(conf)}

    def shell_environment(self, conf: Path) -> dict[str, str]:
        return self.client_environment(conf)

    def live(self) -> LiveCluster:
        return cast(LiveCluster, self)


@dataclass
class TaggedManager(FakeManager):
    """Knows applications by their tag; nothing else runs."""

    def applications(self, *, tag: str | None = None) -> tuple[Application, ...]:
        return () if tag is None else super().applications(tag=tag)


@dataclass
class ClientsOnly(FakeCluster):
    """One whose clients are started and nothing else, and which has `lost` daemons. Its hosts are `taken` away once
    there is something wrong."""

    distribution: Distribution = field(default_factory=lambda: Distribution("3.4.2", Path("/"), "managed", (), (), ()))
    lost: tuple[Lost, ...] = ()
    silent: bool = False
    taken: bool = False

    def check_hosts(self) -> float | None:
        if self.taken:
            raise HostsTaken("the hosts are taken away: walltime: 30 s are left")
        return 300.0

    def client_files(self, settings: Any) -> dict[str, bytes]:
        return {"mapred-site.xml": repr(settings).encode()}

    def client_command(self, program: tuple[str, ...], conf: Path) -> list[str]:
        return list(program)

    def client_environment(self, conf: Path) -> dict[str, str]:
        return {}

    def shell_environment(self, conf: Path) -> dict[str, str]:
        return {}

    def lost_daemons(self) -> tuple[Lost, ...]:
        if self.silent:
            raise ClusterProblem("the supervisor is gone")
        return self.lost


def lost(role: str, place: str = "node1") -> Lost:
    """A daemon that was killed."""
    return Lost(role, place, 7, -9, f"/cluster/logs/{role}-{place}.log")


def space_of(free: int, device: int = 1) -> dict[str, int]:
    """What the agent's `files.space` returns."""
    return {"total": 2 * free, "free": free, "inodes_free": 9, "inodes_total": 10, "device": device}
