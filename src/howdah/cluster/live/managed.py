"""A cluster that Howdah started: its supervisor answers, and its plan says where everything is."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from howdah.cluster.allocation import close_hosts, open_hosts
from howdah.cluster.control import ControlClient, ask_fault, raise_problem
from howdah.cluster.deployment.realm import access_of, credentials_of
from howdah.cluster.faults import HostFault
from howdah.cluster.live.cluster import DataPlace, LiveCluster, SeenDaemon
from howdah.cluster.live.existing import WebAddresses
from howdah.cluster.live.network import NO_WAYS, Ways, measure_ways
from howdah.cluster.live.parts import Parts, parts_of
from howdah.cluster.state import ClusterDirectory, Lost, Manifest, cluster_directory
from howdah.errors import ClusterProblem, HostProblem, HostsTaken, UsageError
from howdah.hadoop.configuration.plan import Plan, Quarters
from howdah.hadoop.configuration.roles import KDC
from howdah.hadoop.configuration.site import read_conf_dir
from howdah.hadoop.distribution.distribution import from_home, managed
from howdah.hadoop.distribution.jdk import Jdk, find_jdks
from howdah.host import Host, operations
from howdah.host.channel import open_local
from howdah.host.over import over
from howdah.model.quantity import format_bytes
from howdah.model.storage import HDFS


class ManagedCluster(LiveCluster):
    """See `LiveCluster`."""

    observed = runs_distribution = True

    def __init__(
        self,
        plan: Plan,
        directory: ClusterDirectory,
        control: ControlClient,
        *,
        client: Host,
        client_flags: tuple[str, ...] = (),
        **shared: Any,
    ) -> None:
        """`directory` is the cluster's directory on this machine; `shared` has the arguments that every cluster
        takes."""
        self._plan = plan
        self._directory = directory
        self._client_is_master = client.name == plan.masters.host
        # Where a client that is killed leaves its unpacked jar.
        flags = (*client_flags, f"-Djava.io.tmpdir={self.client_temporary}")
        super().__init__(client=client, client_flags=flags, **shared)
        self._control: ControlClient | None = control
        self.shares_files = set(plan.machines) == {client.name}

    @property
    def machines(self) -> Mapping[str, Host]:
        found = {machine: self.hosts[host] for machine, host in self._plan.machines.items()}
        return {machine: self.client if machine == self.client.name else host for machine, host in found.items()}

    def machine_of(self, host: str) -> str:
        return self._plan.quarters[host].machine

    def machine_at(self, node: str | None) -> str | None:
        name = (node or "").rpartition(":")[0]
        found = [one for one in self._plan.nodes if name in (one.address, one.host)]
        return self.machine_of(found[0].host) if found else None

    def seen_daemons(self) -> Sequence[SeenDaemon]:
        if self.description["allocation"]["kind"] != "sim":
            return super().seen_daemons()
        found = []
        for host, (_, daemons) in self.daemons_by_host().items():
            # Simulated hosts count their processes by themselves.
            root = self._plan.quarters[host].root
            pids = operations.outer_pids(self.client, root, [one.pid for one in daemons])
            known = [one for one in daemons if one.pid in pids]
            found += [SeenDaemon(one, self.machine_of(host), pids[one.pid], host) for one in known]
        return found

    @property
    def parts(self) -> Parts:
        allocation = self.description.get("allocation", {})
        return parts_of(self._plan, allocation, self.hosts, self._lost_hosts, self._disturbed)

    def measure_network(self) -> Ways:
        lost = self._lost_hosts()
        places = {self.machine_of(place.host): place for place in self._plan.places if place.host not in lost}
        if len(places) < 2 or len(places) < len(self._plan.quarters) - len(lost):
            return NO_WAYS  # Several hosts on one machine have no network of their own, or a simulated one.
        first, last = self._plan.application_ports
        hosts = {machine: host for machine, host in self.machines.items() if machine in places}
        addresses = {machine: place.address for machine, place in places.items()}
        return measure_ways(hosts, addresses, dict.fromkeys(places, range(first, last + 1)))

    def _disturbed(self) -> Mapping[str, str]:
        found: Mapping[str, str] = self._ask("status").get("disturbed", {})
        return found

    def _lost_hosts(self) -> set[str | None]:
        return {one.host for one in self.lost_daemons() if one.why is not None}

    def _quarters_on(self, machine: str) -> Mapping[str, Quarters]:
        """Return the cluster's quarters on a machine, by host."""
        return {host: one for host, one in self._plan.quarters.items() if one.machine == machine}

    @property
    def web_servers(self) -> Mapping[str, str]:
        return {
            f"{role.name}-{place.name}" if role.per_node else role.name: place.at(role.web)
            for role, place in self._plan.daemons()
            if role.web is not None
        }

    @property
    def is_one_node_here(self) -> bool:
        return len(self._plan.nodes) == 1 and self.shares_files

    @property
    def client_temporary(self) -> str:
        # Goes with the cluster.
        return f"{self._plan.masters.directory}/tmp" if self._client_is_master else str(self._directory.client)

    @property
    def common_directory(self) -> str | None:
        return f"{self._plan.quarters[self._plan.masters.host].root}/files" if self.shares_files else None

    def data_directories(self, machine: str) -> Sequence[str]:
        if self.parts.disk_rates:  # Only their hosts see them, and what they bring is known.
            return ()
        found = (self._plan.data_directories(host) for host in self._quarters_on(machine))
        return tuple(dict.fromkeys(itertools.chain.from_iterable(found)))

    @property
    def work_directories(self) -> Sequence[tuple[Host, str]]:
        return [(self.hosts[host], one.root) for host, one in self._plan.quarters.items()]

    def mounts(self, machine: str) -> Mapping[str, str]:
        shuffle = {} if self._plan.shuffle is None else {self._plan.shuffle: "shuffle"}
        roots = {one.root: "cluster" for one in self._quarters_on(machine).values()}
        # The machine does not see what simulated hosts have mounted.
        seen = () if self.parts.disk_rates else self._quarters_on(machine).values()
        disks = {disk: f"disk {number}" for one in seen for number, disk in enumerate(one.disks, start=1)}
        return {"/": "/", **roots, **disks, **shuffle}

    @property
    def own_names(self) -> Mapping[str, str]:
        plan = self._plan
        names = {str(self.conf): "CONF"}
        for one in plan.quarters.values():
            names |= {one.conf: "CONF", one.logs: "LOGS", one.root: "CLUSTER"} | dict.fromkeys(one.disks, "CLUSTER")
        if plan.shuffle is not None:
            names[Path(plan.shuffle).name] = "CLUSTER"
        if plan.own_files:
            names[plan.own_files] = ""
        # A directory before the one that it is in.
        return dict(sorted(names.items(), key=lambda one: -len(one[0])))

    @property
    def log_files(self) -> Sequence[tuple[Host, str]]:
        plan = self._plan
        return [(self.hosts[place.host], plan.log_of(role, place)) for role, place in plan.daemons()]

    @property
    def container_logs(self) -> Sequence[tuple[Host, str]]:
        return [(self.hosts[node.host], f"{node.directory}/containers") for node in self._plan.nodes]

    def data_places(self, storage: str) -> Sequence[DataPlace]:
        plan, found = self._plan, []
        for host in plan.machines.values():
            for work in plan.quarters[host].data:
                data = work if storage == HDFS else str(plan.storages.directory)
                found.append(DataPlace(self.hosts[host], data, work))
        return found

    def spark_properties(self, spark_home: Path) -> Mapping[str, str]:
        jars = {"spark.yarn.jars": f"local:{spark_home}/jars/*"} if self.shares_files else {}
        # The driver is where its node is, of which YARN tells it the address.
        found = {**jars, "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": "$NM_HOST"}
        return found if self._credentials is None else {**found, **self._credentials.spark}

    def _ask(self, request: str, **arguments: Any) -> Mapping[str, Any]:
        if self._control is None:
            raise ClusterProblem("the cluster was closed by this process")
        return self._control.ask(request, **arguments)

    def claim(self) -> None:
        own = f"process {os.getpid()}"
        answer = self._ask("claim", by=own)
        raise_problem(answer)
        if answer["claimed_by"] != own:
            raise UsageError(
                f"the cluster {self.description['name']!r} is in use: {answer['claimed_by']} measures on it",
                hint="Two runs at once would measure each other. Wait for it, or use another cluster.",
            )
        nodes = [node["name"] for node in self._ask("status")["plan"]["nodes"]]
        if nodes != [node.name for node in self._plan.nodes]:
            raise UsageError("the hosts of this cluster have changed a moment ago", hint="Start the run again.")

    def lease(self, tag: str) -> None:
        self._ask("lease", tag=tag)

    def release(self) -> None:
        self._ask("release")

    def kill_daemon(self, role: str) -> None:
        self._ask("kill", role=role)

    def disturb(self, fault: HostFault) -> None:
        ask_fault(self._ask, fault)

    def lost_daemons(self) -> tuple[Lost, ...]:
        return tuple(Lost(**one) for one in self._ask("status")["lost"])

    def check_login(self) -> None:
        for lost in self.lost_daemons():
            if lost.role == KDC.name:
                hint = "Jobs that run go on. A new cluster has a new KDC: `howdah down`, `howdah up`."
                raise ClusterProblem(f"no program can log in any more: {lost.sentence}", hint=hint)

    def check_hosts(self) -> float | None:
        status = self._ask("status")
        if status["taken"] is not None:
            raise HostsTaken(f"the hosts are taken away: {status['taken']}")
        return None if status["ends"] is None else status["ends"] - status.get("reserved", 0.0) - time.time()

    def close(self) -> None:
        super().close()
        if self._control is not None:
            self._control.close()
            self._control = None


def open_managed(manifest: Manifest) -> ManagedCluster:
    """Open the running cluster that `manifest` describes, with a channel of its own. Raises HowdahError."""
    directory = cluster_directory(manifest.name)
    control = ControlClient(directory)
    home = Path(manifest.hadoop["home"])
    version = manifest.hadoop["version"]
    distribution = managed(version, home.parent.parent) if manifest.hadoop["source"] == "managed" else from_home(home)
    there = tuple(jar for jar in map(Path, manifest.plugins) if jar.is_file())
    hosts = open_hosts(manifest.allocation, manifest.plan.quarters)
    try:
        client = hosts.get(manifest.machine) or open_local(manifest.machine)
    except BaseException:
        close_hosts(hosts)
        raise
    opened = {**hosts, client.name: client}
    try:
        processors = manifest.defaults.get("processors")
        if processors is not None:
            # Clients, too; and what the machine can do is found out with what the cluster has of it.
            over(opened, lambda host: operations.confine(host, processors))
        jdk = _jdk_at(client, manifest.jdk["home"])
        settings = read_conf_dir(directory.conf)
    except BaseException:
        close_hosts(opened)
        raise
    ends = manifest.plan.endpoints
    return ManagedCluster(
        manifest.plan,
        directory,
        control,
        description=_describe(manifest),
        conf=directory.conf,
        settings=settings,
        addresses=WebAddresses((ends["namenode_web"],), (ends["resourcemanager_web"],), (ends["historyserver_web"],)),
        distribution=replace(distribution, plugins=there),
        jdk=jdk,
        client=client,
        hosts=hosts,
        client_flags=tuple(manifest.defaults["client_flags"]),
        daemons=manifest.daemons,
        warnings=_warnings(manifest.allocation, operations.capacity(client).processors),
        access=access_of(manifest.plan, directory),
        credentials=credentials_of(manifest.plan, directory),
    )


def _warnings(allocation: Mapping[str, Any], processors: int) -> tuple[str, ...]:
    """Return warnings about a cluster's hosts that everybody should know. `processors` are those of this machine."""
    if allocation.get("shared"):
        return ("other jobs may be on the same hosts: bounds and energy of the hosts are not this job's alone",)
    if allocation["kind"] != "sim":
        return ()
    own = ["a network card"]
    own += [f"{allocation['disks']} {'disk' if allocation['disks'] == 1 else 'disks'}"] if "disks" in allocation else []
    own += [f"{allocation['cpus']:g} of its processors' time"] if "cpus" in allocation else []
    own += [f"{format_bytes(allocation['memory'])} of its memory"] if "memory" in allocation else []
    has = own[0] if len(own) == 1 else f"{', '.join(own[:-1])} and {own[-1]}"
    words = f"the hosts are simulated: each has {has}, and all share the processors, memory and disks of one machine"
    found = [f"{words}. There is no delay between them, and disks do not seek"]
    if (wanted := allocation.get("cpus", 0.0) * allocation["hosts"]) > processors:
        found.append(f"the hosts may use {wanted:g} processors together, and the machine has {processors}")
    return tuple(found)


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
