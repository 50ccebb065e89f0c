"""A cluster that is up, as a run uses it: its interfaces, its configuration, its processes, a channel."""

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
    """Directories on `host`: `data` has the files of a storage, `work` what lies between map and reduce."""

    host: Host
    data: str
    work: str


@dataclass(frozen=True, slots=True)
class SeenDaemon:
    """A daemon as the `machine` sees it that its host is on: by `pid`. `host` is the simulated host whose network cards
    the process has; None where its cards are the machine's."""

    daemon: Daemon
    machine: str
    pid: int
    host: str | None = None


class LiveCluster(ABC):
    """A cluster during a run. `close` must be called; it may be called twice.

    Clusters that Howdah started (`ManagedCluster`) and others (`ForeignCluster`) differ in what they answer, and
    nobody else tells them apart. Where nothing is known, the answer is empty.
    """

    observed: bool
    """Whether channels reach the hosts of the daemons, so that environment and series are theirs."""
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
        """`client` is a channel to this machine, `hosts` are channels to those of the daemons, which may be the same.
        `client_flags` are JVM flags of job clients, `warnings` are about the configuration. `access` reaches the web
        servers, clients log in with `credentials`. `user` is who one is there, if that is another name than here."""
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
        self.webhdfs = WebHdfs(addresses.namenode, user=user, http=access.http)
        self._credentials = credentials
        self._client_flags = client_flags

    @property
    def python(self) -> str:
        """What runs scripts on every node: this interpreter, or whatever other hosts have."""
        return sys.executable if self.shares_files else "python3"

    @property
    def machines(self) -> Mapping[str, Host]:
        """A channel to every machine that can be observed, by its name, however many hosts are on it."""
        return {self.client.name: self.client}

    def machine_of(self, host: str) -> str:  # noqa: ARG002
        """The name of the machine that `host` is on."""
        return self.client.name

    def machine_at(self, node: str | None) -> str | None:  # noqa: ARG002
        """The name of the machine of a NodeManager, by its address as a job history names it; None where nobody
        knows."""
        return None

    def seen_daemons(self) -> Sequence[SeenDaemon]:
        """The daemons as machines see them. Raises HostProblem."""
        return [SeenDaemon(one, self.machine_of(one.host), one.pid) for one in self.daemons]

    @property
    def card_rates(self) -> Mapping[str, float]:
        """Bytes a second that each simulated network card brings, by its name in series; none where nobody knows."""
        return {}

    def check_cards(self) -> tuple[float, bool] | None:
        """Bytes a second that the slowest simulated network card brings now, and whether all still bring what they
        brought when the hosts started; None where there are none. Raises HostProblem."""
        return None

    def measure_network(self) -> Ways:
        """What the network brings between machines that have one each; nothing where they have not. Raises
        HostProblem."""
        return NO_WAYS

    @property
    def cores(self) -> Mapping[str, float]:
        """Processors' worth of time that each simulated host has; none where they have the machine's."""
        return {}

    @property
    def disk_rates(self) -> Mapping[str, tuple[float, float]]:
        """Bytes a second that each disk of simulated hosts reads and writes, by its name in series; none where hosts
        have the machine's."""
        return {}

    def check_disks(self) -> tuple[float, bool] | None:
        """Bytes a second of the slowest disk of simulated hosts now, read or written, and whether all still do what
        they did when the hosts started; None where no rate was asked for. Raises HostProblem."""
        return None

    def check_shares(self) -> tuple[str, bool] | None:
        """What simulated hosts have of processors and memory, and whether it is what was asked for; None where they
        have all. Raises HostProblem."""
        return None

    def daemons_by_host(self) -> Mapping[str, tuple[Host, tuple[Daemon, ...]]]:
        """The daemons on every host that can be reached, with its channel."""
        return {
            name: (host, found)
            for name, host in self.hosts.items()
            if (found := tuple(one for one in self.daemons if one.host == name))
        }

    def client_files(self, overrides: Mapping[str, str]) -> dict[str, bytes]:
        """The files of a conf directory for clients whose jobs have `overrides` beside the cluster's settings."""
        return with_overrides(read_client_files(self.conf), overrides)

    def client_command(self, program: tuple[str, ...], conf: Path) -> list[str]:
        """The command of `hadoop jar PROGRAM…` with the configuration directory `conf`, without a script in between."""
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
        """The environment of a job client with the configuration directory `conf`."""
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
        """The environment of any program that works on the cluster with the configuration directory `conf`."""
        jars, credentials = self.distribution.plugins, self._credentials
        return program_environment(self.distribution.home, self.jdk.home, conf, os.environ, jars, credentials)

    def check_hosts(self) -> float | None:
        """In how many seconds a batch system takes the hosts away, where it does. Raises HostsTaken once that has
        begun; a run cannot go on then."""
        return None

    def check_masters(self) -> None:
        """Raises DaemonLost when a master has ended on its own; a run cannot go on then."""
        masters = {role.name for role in MASTERS}
        for lost in self.lost_daemons():
            if lost.role in masters:
                raise DaemonLost(lost)

    @property
    @abstractmethod
    def web_servers(self) -> Mapping[str, str]:
        """`host:port` of every daemon's HTTP server that is known, by role, or role-node for those of a node."""

    @property
    @abstractmethod
    def is_one_node_here(self) -> bool:
        """Whether the cluster is one node, on the machine of the clients."""

    @property
    @abstractmethod
    def client_temporary(self) -> str:
        """A directory on this machine for temporary files of job clients, which some of them leave behind."""

    @property
    @abstractmethod
    def common_directory(self) -> str | None:
        """A directory that every node and this machine see at the same path; None where none is known."""

    @abstractmethod
    def data_directories(self, machine: str) -> Sequence[str]:
        """Where, on a machine, data of jobs is read and written."""

    @property
    @abstractmethod
    def work_directories(self) -> Sequence[tuple[Host, str]]:
        """Directories that daemons cannot do without."""

    @abstractmethod
    def mounts(self, machine: str) -> Mapping[str, str]:
        """Directories on a machine whose file systems are part of the environment, with what they are for."""

    @property
    @abstractmethod
    def own_names(self) -> Mapping[str, str]:
        """Words in settings that are of this cluster alone, with what stands for them in any cluster."""

    @property
    @abstractmethod
    def log_files(self) -> Sequence[tuple[Host, str]]:
        """The daemons' logs, those that may be there."""

    @property
    @abstractmethod
    def container_logs(self) -> Sequence[tuple[Host, str]]:
        """Directories with the logs of containers."""

    @abstractmethod
    def data_places(self, storage: str) -> Sequence[DataPlace]:
        """Where the files of the storage with this name are, in equal parts, and what jobs keep meanwhile."""

    @abstractmethod
    def spark_properties(self, spark_home: Path) -> Mapping[str, str]:
        """Properties with which Spark runs on this cluster, for Spark's directory `spark_home`."""

    @abstractmethod
    def claim(self) -> None:
        """From now on, until `close`, nobody else measures on this cluster by Howdah.

        Raises UsageError when somebody else does.
        """

    @abstractmethod
    def lease(self, tag: str) -> None:
        """From now on, applications with `tag` are killed when this process is gone, if anybody watches."""

    @abstractmethod
    def release(self) -> None:
        """Ends the lease: everything that was submitted has ended."""

    @abstractmethod
    def kill_daemon(self, role: str) -> None:
        """Kills the daemon of `role` on the last node. Raises UsageError for a cluster that Howdah has not started."""

    @abstractmethod
    def disturb(self, fault: HostFault) -> None:
        """Lets something go wrong on a host. Raises UsageError where there is nothing of that kind, and ClusterProblem
        where it cannot be done."""

    @abstractmethod
    def lost_daemons(self) -> tuple[Lost, ...]:
        """The daemons that ended on their own, as far as anybody has seen."""

    def close(self) -> None:
        """Closes the run's channels, which ends the job clients and probes of this run, and a lease."""
        close_hosts({**self.hosts, self.client.name: self.client})


def _active(namenodes: tuple[str, ...], access: WebAccess) -> str:
    """The NameNode that is active now; the only one, whatever its state, where there is one, and an address at which
    nobody listens where there is none."""
    for address in namenodes[:-1]:
        with suppress(Unreachable, Rejected, Garbled):
            if NameNode(address, access.http).status().state == "active":
                return address
    return namenodes[-1] if namenodes else "127.0.0.1:0"
