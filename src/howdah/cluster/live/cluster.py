"""A cluster that is up, as a run uses it: its interfaces, its configuration, its processes, its channels."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howdah.cluster.allocation import close_hosts
from howdah.cluster.faults import HostFault
from howdah.cluster.live.environment import program_environment
from howdah.cluster.live.existing import WebAddresses
from howdah.cluster.live.network import NO_WAYS, Ways
from howdah.cluster.live.parts import Parts
from howdah.cluster.state import Daemon, DaemonLost, Lost
from howdah.hadoop.configuration.cluster import with_overrides
from howdah.hadoop.configuration.roles import MASTERS
from howdah.hadoop.configuration.security import Credentials
from howdah.hadoop.configuration.site import read_client_files
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk, jvm_flags
from howdah.hadoop.interfaces.access import OPEN, WebAccess
from howdah.hadoop.interfaces.history_server import HistoryServer
from howdah.hadoop.interfaces.http import Garbled, Rejected, Unreachable
from howdah.hadoop.interfaces.namenode import NameNode
from howdah.hadoop.interfaces.resourcemanager import ResourceManager
from howdah.hadoop.interfaces.webhdfs import WebHdfs
from howdah.host import Host
from howdah.host.user import process_user


@dataclass(frozen=True, slots=True)
class DataPlace:
    """Directories on `host`: `data` has the files of a storage, `work` the files between map and reduce."""

    host: Host
    data: str
    work: str


@dataclass(frozen=True, slots=True)
class SeenDaemon:
    """A daemon as the `machine` of its host sees it, with its `pid` there. `host` is the simulated host whose network
    cards the process has; None if its cards are the machine's."""

    daemon: Daemon
    machine: str
    pid: int
    host: str | None = None


class LiveCluster(ABC):
    """A cluster during a run. `close` must be called, and may be called twice.

    The subclasses are for clusters that Howdah started (`ManagedCluster`) and for others (`ForeignCluster`). They
    differ in their answers, and no caller distinguishes them. If nothing is known, the answer is empty.
    """

    observed: bool
    """Whether channels reach the hosts of the daemons, so that environment and time series describe these hosts."""
    runs_distribution: bool
    """Whether the daemons run `distribution`, with its plugins on their class paths; otherwise only clients do."""
    shares_files: bool
    """Whether every node sees the files of this machine at the same paths."""

    def __init__(
        self,
        *,
        description: Mapping[str, Any],
        conf: Path,
        settings: Mapping[str, str],
        addresses: WebAddresses,
        distribution: Distribution,
        jdk: Jdk,
        client: Host,
        hosts: Mapping[str, Host] | None = None,
        client_flags: tuple[str, ...] = (),
        daemons: tuple[Daemon, ...] = (),
        warnings: tuple[str, ...] = (),
        access: WebAccess = OPEN,
        credentials: Credentials | None = None,
        user: str | None = None,
    ) -> None:
        """`client` is a channel to this machine. `hosts` are channels to the daemons' hosts, which may include this
        machine. `client_flags` are JVM flags of job clients, `warnings` are about the configuration. `access` reaches
        the web servers; clients log in with `credentials`. `user` is the user's name on the cluster, if it differs from
        the name here."""
        self.description = description
        self.conf = conf
        self.settings = settings
        self.addresses = addresses
        self.distribution = distribution
        self.jdk = jdk
        self.client = client
        self.hosts = {client.name: client} if hosts is None else hosts
        self.daemons = daemons
        self.warnings = warnings
        self.access = access
        self.namenode = NameNode(_active(addresses.namenode, access), access.http)
        user = user or process_user()
        self.resourcemanager = ResourceManager(addresses.resourcemanager, user, access.resourcemanager)
        self.history = HistoryServer(addresses.history[0], access.history)
        locate = None if addresses.mounts is None else addresses.locate
        self.webhdfs = WebHdfs(addresses.namenode, user=user, http=access.http, locate=locate)
        self._credentials = credentials
        self._client_flags = client_flags

    @property
    def parts(self) -> Parts:
        """The parts of their machine that simulated hosts have; empty for other hosts."""
        return Parts()

    @property
    def python(self) -> str:
        """The Python that runs scripts on every node: this interpreter, or `python3` on other hosts."""
        return sys.executable if self.shares_files else "python3"

    @property
    def machines(self) -> Mapping[str, Host]:
        """A channel to every machine that can be observed, by its name. Several hosts may be on one machine."""
        return {self.client.name: self.client}

    def machine_of(self, host: str) -> str:  # noqa: ARG002
        """Return the name of the machine that `host` is on."""
        return self.client.name

    def machine_at(self, node: str | None) -> str | None:  # noqa: ARG002
        """Return the machine of a NodeManager, from its address in a job history; None if unknown."""
        return None

    def seen_daemons(self) -> Sequence[SeenDaemon]:
        """Return the daemons as machines see them. Raises HostProblem."""
        return [SeenDaemon(one, self.machine_of(one.host), one.pid) for one in self.daemons]

    def measure_network(self) -> Ways:
        """Measure the network between machines that have one each; return nothing if they have not. Raises
        HostProblem."""
        return NO_WAYS

    def daemons_by_host(self) -> Mapping[str, tuple[Host, tuple[Daemon, ...]]]:
        """Return the daemons on every reachable host, with the host's channel."""
        return {
            name: (host, found)
            for name, host in self.hosts.items()
            if (found := tuple(one for one in self.daemons if one.host == name))
        }

    def client_files(self, overrides: Mapping[str, str]) -> dict[str, bytes]:
        """Return the files of a conf directory for clients whose jobs have `overrides` in addition to the cluster's
        settings."""
        return with_overrides(read_client_files(self.conf), overrides)

    def client_command(self, program: tuple[str, ...], conf: Path) -> list[str]:
        """Return the command of `hadoop jar PROGRAM…` with the configuration directory `conf`, without a script in
        between."""
        tests = Path(program[0]).name.endswith("-tests.jar")
        distribution = self.distribution
        return [
            f"{self.jdk.home}/bin/java",
            *jvm_flags(self.jdk, distribution.version),
            "-Xmx512m",
            *self._client_flags,
            *(() if self._credentials is None else self._credentials.flags),
            "-cp",
            distribution.tests_classpath(conf) if tests else distribution.classpath(conf),
            "org.apache.hadoop.util.RunJar",
            *program,
        ]

    def client_environment(self, conf: Path) -> dict[str, str]:
        """Return the environment of a job client with the configuration directory `conf`."""
        return {
            "JAVA_HOME": str(self.jdk.home),
            "HADOOP_HOME": str(self.distribution.home),
            "HADOOP_CONF_DIR": str(conf),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(Path.home()),
            **({} if self._credentials is None else self._credentials.environment),
        }

    def shell_environment(self, conf: Path) -> dict[str, str]:
        """Return the environment of any program that works on the cluster with the configuration directory `conf`."""
        jars, credentials = self.distribution.plugins, self._credentials
        return program_environment(self.distribution.home, self.jdk.home, conf, os.environ, jars, credentials)

    def check_hosts(self) -> float | None:
        """Return the seconds until a batch system takes the hosts away, without those that are reserved for copies;
        None if none does. Raises HostsTaken once that has begun: a run cannot continue then."""
        return None

    def check_masters(self) -> None:
        """Raise DaemonLost if a master has ended on its own: a run cannot continue then."""
        masters = {role.name for role in MASTERS}
        for lost in self.lost_daemons():
            if lost.role in masters:
                raise DaemonLost(lost)

    @property
    @abstractmethod
    def web_servers(self) -> Mapping[str, str]:
        """`host:port` of every known HTTP server of a daemon, by role, or by role-node for the daemons of nodes."""

    @property
    @abstractmethod
    def is_one_node_here(self) -> bool:
        """Whether the cluster is one node, on the machine of the clients."""

    @property
    @abstractmethod
    def client_temporary(self) -> str:
        """A directory on this machine for temporary files of job clients. Some clients leave files behind."""

    @property
    @abstractmethod
    def common_directory(self) -> str | None:
        """A directory that every node and this machine see at the same path; None where none is known."""

    @abstractmethod
    def data_directories(self, machine: str) -> Sequence[str]:
        """Return the directories of a machine in which jobs read and write data."""

    @property
    @abstractmethod
    def work_directories(self) -> Sequence[tuple[Host, str]]:
        """Directories without which daemons cannot work."""

    @abstractmethod
    def mounts(self, machine: str) -> Mapping[str, str]:
        """Return the directories of a machine whose file systems are part of the environment, with their purposes."""

    @property
    @abstractmethod
    def own_names(self) -> Mapping[str, str]:
        """Words in settings that occur in this cluster only, with their replacements for any cluster."""

    @property
    @abstractmethod
    def log_files(self) -> Sequence[tuple[Host, str]]:
        """Logs of daemons that may exist."""

    @property
    @abstractmethod
    def container_logs(self) -> Sequence[tuple[Host, str]]:
        """Directories with the logs of containers."""

    @abstractmethod
    def data_places(self, storage: str) -> Sequence[DataPlace]:
        """Return the directories with the files of this storage, in equal parts, and with the intermediate files of
        jobs."""

    @abstractmethod
    def spark_properties(self, spark_home: Path) -> Mapping[str, str]:
        """Return the properties with which Spark runs on this cluster, for Spark's directory `spark_home`."""

    @abstractmethod
    def claim(self) -> None:
        """Reserve this cluster for measurements by this process until `close`.

        Raises UsageError if somebody else measures on it.
        """

    @abstractmethod
    def lease(self, tag: str) -> None:
        """Have applications with `tag` killed when this process is gone, if anybody watches. Lasts until `release` or
        `close`."""

    @abstractmethod
    def release(self) -> None:
        """End the lease, after everything that was submitted has ended."""

    @abstractmethod
    def kill_daemon(self, role: str) -> None:
        """Kill the daemon of `role` on the last node. Raises UsageError for a cluster that Howdah did not start."""

    @abstractmethod
    def disturb(self, fault: HostFault) -> None:
        """Inject a fault on a host. Raises UsageError if there is nothing of that kind, and ClusterProblem if the fault
        cannot be injected."""

    def check_login(self) -> None:  # noqa: B027, most clusters ask nobody
        """Raise HostProblem or ClusterProblem if job clients can no longer log in."""

    @abstractmethod
    def lost_daemons(self) -> tuple[Lost, ...]:
        """Return the daemons that ended on their own, as far as known."""

    def close(self) -> None:
        """Close the run's channels, which stops the job clients and probes of this run, and ends a lease."""
        close_hosts({**self.hosts, self.client.name: self.client})


def _active(namenodes: tuple[str, ...], access: WebAccess) -> str:
    """Return the active NameNode. A single NameNode is returned whatever its state. Without a NameNode, an address is
    returned at which nobody listens."""
    for address in namenodes[:-1]:
        with suppress(Unreachable, Rejected, Garbled):
            if NameNode(address, access.http).status().state == "active":
                return address
    return namenodes[-1] if namenodes else "127.0.0.1:0"
