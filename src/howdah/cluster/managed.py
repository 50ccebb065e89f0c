"""A cluster that Howdah started: its supervisor is asked, its plan says where everything is."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from howdah.cluster.allocation import open_host
from howdah.cluster.control import ControlClient
from howdah.cluster.existing import WebAddresses
from howdah.cluster.live import DataPlace, LiveCluster
from howdah.cluster.state import Lost, Manifest, cluster_directory
from howdah.errors import ClusterProblem, HostProblem, UsageError
from howdah.hadoop.configuration.plan import Plan
from howdah.hadoop.configuration.site import read_conf_dir
from howdah.hadoop.distribution.distribution import from_home, managed
from howdah.hadoop.distribution.jdk import Jdk, find_jdks
from howdah.host import Host, operations
from howdah.model.storage import HDFS


class ManagedCluster(LiveCluster):
    """See `LiveCluster`. Its hosts are this machine."""

    observed = runs_distribution = True

    def __init__(
        self, plan: Plan, logs: Path, control: ControlClient, *, client_flags: tuple[str, ...] = (), **shared: Any
    ) -> None:
        """`logs` are the daemons'; `shared` is what every cluster has."""
        self._plan = plan
        # Where a client that is killed leaves its unpacked jar.
        super().__init__(client_flags=(*client_flags, f"-Djava.io.tmpdir={self.client_temporary}"), **shared)
        self._logs = logs
        self._control: ControlClient | None = control
        self.shares_files = self._is_on_one_host

    @property
    def _is_on_one_host(self) -> bool:
        return {place.host for place in self._plan.places} == {self._plan.masters.host}

    @property
    def web_servers(self) -> Mapping[str, str]:
        return {
            f"{role.name}-{place.name}" if role.per_node else role.name: place.at(role.web)
            for role, place in self._plan.daemons()
        }

    @property
    def is_one_node_here(self) -> bool:
        return [node.host for node in self._plan.nodes] == [self._plan.masters.host]

    @property
    def client_temporary(self) -> str:
        return f"{self._plan.masters.directory}/tmp"  # Goes with the cluster.

    @property
    def common_directory(self) -> str | None:
        return f"{self._plan.directory}/files" if self._is_on_one_host else None

    @property
    def data_directories(self) -> Sequence[str]:
        return self._plan.data_directories

    @property
    def work_directories(self) -> Sequence[str]:
        return (self._plan.directory,)

    @property
    def mounts(self) -> Mapping[str, str]:
        shuffle = {} if self._plan.shuffle is None else {self._plan.shuffle: "shuffle"}
        return {"/": "/", self._plan.directory: "cluster", **shuffle}

    @property
    def own_names(self) -> Mapping[str, str]:
        plan = self._plan
        names = {str(self.conf): "CONF", str(self._logs): "LOGS", plan.directory: "CLUSTER"}
        if plan.shuffle is not None:
            names[Path(plan.shuffle).name] = "CLUSTER"
        if plan.own_files:
            names[plan.own_files] = ""
        return names

    @property
    def log_files(self) -> Sequence[Path]:
        return sorted(self._logs.glob("*.log"))

    @property
    def container_logs(self) -> Sequence[str]:
        return [f"{node.directory}/containers" for node in self._plan.nodes]

    def data_places(self, storage: str) -> Sequence[DataPlace]:
        work = self._plan.directory
        return (DataPlace(self.host, work if storage == HDFS else str(self._plan.storages.directory), work),)

    def spark_properties(self, spark_home: Path) -> Mapping[str, str]:
        return {
            # Nodes on this machine find Spark where it is; otherwise it is sent to them each time.
            "spark.yarn.jars": f"local:{spark_home}/jars/*",
            "spark.pyspark.python": sys.executable,
            "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": self._plan.masters.address,
        }

    def _ask(self, request: str, **arguments: Any) -> Mapping[str, Any]:
        if self._control is None:
            raise ClusterProblem("the cluster was closed by this process")
        return self._control.ask(request, **arguments)

    def claim(self) -> None:
        own = f"process {os.getpid()}"
        holder = self._ask("claim", by=own)["claimed_by"]
        if holder != own:
            raise UsageError(
                f"the cluster {self.description['name']!r} is in use: {holder} measures on it",
                hint="Two runs at once would measure each other. Wait for it, or use another cluster.",
            )

    def lease(self, tag: str) -> None:
        self._ask("lease", tag=tag)

    def release(self) -> None:
        self._ask("release")

    def kill_daemon(self, role: str) -> None:
        self._ask("kill", role=role)

    def lost_daemons(self) -> tuple[Lost, ...]:
        return tuple(Lost(**one) for one in self._ask("status")["lost"])

    def close(self) -> None:
        super().close()
        if self._control is not None:
            self._control.close()
            self._control = None


def open_managed(manifest: Manifest) -> ManagedCluster:
    """The running cluster that `manifest` describes, with a channel of its own. Raises HowdahError."""
    directory = cluster_directory(manifest.name)
    control = ControlClient(directory)
    home = Path(manifest.hadoop["home"])
    version = manifest.hadoop["version"]
    distribution = managed(version, home.parent.parent) if manifest.hadoop["source"] == "managed" else from_home(home)
    there = tuple(jar for jar in map(Path, manifest.plugins) if jar.is_file())
    host = open_host(manifest.allocation, manifest.plan.masters.host)
    try:
        processors = manifest.defaults.get("processors")
        if processors is not None:
            # Clients, too; and what the machine can do is found out with what the cluster has of it.
            operations.confine(host, processors)
        jdk = _jdk_at(host, manifest.jdk["home"])
        settings = read_conf_dir(directory.conf)
    except BaseException:
        host.close()
        raise
    ends = manifest.plan.endpoints
    return ManagedCluster(
        manifest.plan,
        directory.logs,
        control,
        description=_describe(manifest),
        conf=directory.conf,
        settings=settings,
        addresses=WebAddresses((ends["namenode_web"],), (ends["resourcemanager_web"],), (ends["historyserver_web"],)),
        distribution=replace(distribution, plugins=there),
        jdk=jdk,
        host=host,
        client_flags=tuple(manifest.defaults["client_flags"]),
        daemons=manifest.daemons,
    )


def _describe(manifest: Manifest) -> Mapping[str, Any]:
    return {
        "kind": "managed",
        "name": manifest.name,
        "nodes": len(manifest.plan.nodes),
        "allocation": manifest.allocation,
        "hadoop": manifest.hadoop,
        "jdk": manifest.jdk,
        "sizing": manifest.sizing,
        "defaults": manifest.defaults,
        "security": manifest.plan.security,
        "daemons": [asdict(daemon) for daemon in manifest.daemons],
        "addresses": {place.address: place.name for place in manifest.plan.places},
        "plugins": dict(manifest.plugins),
    }


def _jdk_at(host: Host, home: str) -> Jdk:
    for jdk in find_jdks(host):
        if str(jdk.home) == home:
            return jdk
    raise HostProblem(f"the JDK of the cluster, {home}, is gone", host=host.name)
