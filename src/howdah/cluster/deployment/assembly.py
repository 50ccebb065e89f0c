"""Assembly of a cluster from a request, and its removal."""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from howdah.cluster.allocation import find_allocation, open_hosts, patient
from howdah.cluster.deployment.daemons import Daemons, Running
from howdah.cluster.deployment.health import wait_until_healthy
from howdah.cluster.deployment.persistence import Persistence
from howdah.cluster.deployment.provisioning import Provisioning
from howdah.cluster.deployment.realm import access_of, credentials_of
from howdah.cluster.deployment.resizing import Assembled, Resizing
from howdah.cluster.deployment.sizes import check_sizing, sizes
from howdah.cluster.faults import HostFault, check_host
from howdah.cluster.logs import LogKeeper
from howdah.cluster.ownership import claim_directories, remove_data
from howdah.cluster.request import ClusterRequest
from howdah.cluster.software.installation import Installation
from howdah.cluster.software.shipping import relocated
from howdah.cluster.state import GONE, ClusterDirectory, Manifest, write_private
from howdah.cluster.walltime import STAGE, Endings, check_time, expected
from howdah.errors import HostProblem
from howdah.hadoop.configuration import tuning
from howdah.hadoop.configuration.cluster import Configuration, configure, environment_script
from howdah.hadoop.configuration.plan import Plan, Quarters
from howdah.hadoop.configuration.roles import Role
from howdah.hadoop.configuration.security import Keys, check_overrides, principals
from howdah.hadoop.configuration.site_realm import SiteRealm, read_site_realm
from howdah.hadoop.configuration.sizing import Sizing
from howdah.hadoop.distribution.distribution import Distribution, sha256
from howdah.hadoop.distribution.namespace import namespace_key
from howdah.hadoop.interfaces.access import WebAccess
from howdah.hadoop.interfaces.history_server import HistoryServer
from howdah.hadoop.interfaces.namenode import NameNode
from howdah.hadoop.interfaces.resourcemanager import ResourceManager
from howdah.hadoop.interfaces.webhdfs import WebHdfs
from howdah.host import Host, operations
from howdah.host.over import over
from howdah.host.user import process_user
from howdah.model.quantity import format_bytes
from howdah.store import howdah_home

_HEALTHY_SECONDS = 120.0
# The NodeManager takes no disk with less than 512 MiB free, and HDFS places a block only where a whole one fits; the
# rest is for what the daemons write before the first job.
_LEAST_DISK = 2 << 30


class Assembly:
    """The parts of one cluster. Call `bring_up` once and `take_down` always; the supervisor calls both."""

    def __init__(self, request: ClusterRequest, directory: ClusterDirectory) -> None:
        self._request = request
        self._directory = directory
        self._allocation = find_allocation(request.allocation, request.links)
        self._daemons: Daemons | None = None
        self._plan: Plan | None = None
        self._persistence: Persistence | None = None
        self._assembled: Assembled | None = None

    def bring_up(
        self, announce: Callable[[str], None], check_wanted: Callable[[], None], wait: Callable[[str], None]
    ) -> Manifest:
        """Bring up a cluster, from hosts to health. `announce` gets each step that is done. `check_wanted` raises when
        nobody wants the cluster any more. `wait` does, too, and gets the reason why hosts are not there yet.

        Raises:
            HowdahError: the cluster could not come up. `take_down` must be called all the same.
        """
        request = self._request
        check_overrides(request.settings, request.security)
        plan, free = self._acquire(wait)
        plan, site = self._in_realm(plan)
        announce("allocation")
        tuned = tuning.select(stock=request.stock, without=request.without)
        shared = any(one.name == "class-data-sharing" for one in tuned)
        software = Provisioning(request, self._quarters_here(), archive=shared)
        distribution = software.choose(self._allocation.hosts[plan.masters.host])
        plan = self._with_data(plan, distribution)
        installed, own = software.install(plan, self._allocation.hosts, distribution)
        sizing = sizes(plan, self._allocation.hosts, free, request.processors)
        if request.sizing is not None:
            sizing = check_sizing(request.sizing, sizing, plan.masters.host)
        facts = tuning.TuningFacts(sizing, own.jdk, own.archive)
        announce("hadoop")
        check_wanted()
        manifest = self._manifest(plan, own, sizing, clients := tuning.client_flags(tuned, facts))
        self._take_place(manifest)
        daemons = self._daemons = self._make_daemons(plan, installed, distribution, sizing, tuned)
        sent = any(one.distribution != distribution for one in installed.values())
        jobs = relocated(distribution, Path("$HADOOP_MAPRED_HOME")) if sent else distribution
        settings, of_nodes = tuning.resolve(tuned, facts, request.task_flags), tuning.for_nodes(tuned, sizing)

        def settle(places: Plan) -> Configuration:
            return configure(places, jobs, settings, request.settings, of_nodes, owner=process_user())

        configuration = settle(plan)
        if (keys := daemons.start_realm(site)) is not None:
            announce("realm")
        daemons.write_configuration(configuration, clients)
        _write_client(self._directory, plan, configuration, own, clients, keys)
        announce("configuration")
        daemons.start(announce)
        self._wait(announce, check_wanted)
        self._assembled = Assembled(
            self._allocation,
            daemons,
            (self._namenode(), self._resourcemanager()),
            self._quarters_here(),
            sizing.node_mib,
            clients,
            self._prepare,
            lambda new, quarters: software.install_more(new, quarters, distribution, daemons.installed),
            # What all have stays as it was when they started.
            lambda more: replace(configuration, nodes=settle(more).nodes),
        )
        if self._persistence is not None:
            self._persistence.keep(distribution.version)
        return replace(manifest, state="up", daemons=tuple(running.daemon for running in daemons.running))

    def _make_daemons(
        self,
        plan: Plan,
        installed: Mapping[str, Installation],
        distribution: Distribution,
        sizing: Sizing,
        tuned: tuple[tuning.Tuning, ...],
    ) -> Daemons:
        request, store = self._request, plan.quarters[plan.masters.host].store
        key = namespace_key(distribution, process_user(), request.settings)

        def flags(role: Role, on: Installation) -> tuple[str, ...]:
            there = tuning.TuningFacts(sizing, on.jdk, on.archive)
            return tuning.joined(tuning.daemon_flags(tuned, there, role), request.jvm_flags)

        return Daemons(
            plan,
            self._allocation.hosts,
            installed,
            flags=flags,
            reopen=lambda name: open_hosts(self._allocation.describe(), [name])[name],
            namespace=key and f"{store}/namespaces/{key}",
            formatted=self._persistence is not None and not self._persistence.is_new,
        )

    def _with_data(self, plan: Plan, distribution: Distribution) -> Plan:
        """Return the plan with nodes at their data, if these stay. Raises HowdahError."""
        if self._request.persist is None:
            return plan
        self._persistence = Persistence(self._request.persist, self._allocation.hosts)
        self._plan = self._persistence.take(plan, distribution.version, platform.node())
        return self._plan

    def _prepare(self, host: Host, quarters: Quarters) -> None:
        """Prepare and check a host that a running cluster takes in, as `_acquire` does. Raises HostProblem."""
        assert self._plan is not None
        if (processors := self._request.processors) is not None:
            operations.confine(host, processors)
        if _check_directory([host], self._plan) != self._plan.mount_types:
            directory = self._plan.storages.directory
            raise HostProblem(f"{directory} is not mounted as on the hosts of the cluster", host=host.name)
        _check_disks(host, quarters)

    def resizing(self, save: Callable[[Plan, Sequence[Running]], None], check_wanted: Callable[[], None]) -> Resizing:
        """Return the object that takes hosts out of the running cluster, and in. Its class explains the arguments."""
        assert self._assembled is not None

        def keep(plan: Plan, running: Sequence[Running]) -> None:
            self._plan = plan
            save(plan, running)

        return Resizing(self._assembled, self._directory.logs, keep, check_wanted)

    def _quarters_here(self) -> Quarters:
        request, home = self._request, self._directory
        work = str(home.path / "work") if request.work_directory is None else f"{request.work_directory}/{request.name}"
        return Quarters(platform.node(), work, str(home.conf), str(home.logs), str(_cache()))

    def offered_sizes(self) -> Sizing:
        """Return the sizes that the cluster would have now. Nothing of it is started or left. Raises HowdahError."""
        try:
            plan, free = self._acquire(patient)
            return sizes(plan, self._allocation.hosts, free, self._request.processors)
        finally:
            self._allocation.release()

    def _acquire(self, wait: Callable[[str], None]) -> tuple[Plan, int]:
        """Open the hosts; return the plan, and the free bytes of the host whose data disks have the least. Raises
        HowdahError."""
        request = self._request
        plan = self._allocation.acquire(request.name, request.nodes, self._quarters_here(), wait)
        left = None
        with suppress(HostProblem):  # The batch system is busy: nobody knows how much time there is.
            left = self._allocation.seconds_left()
        check_time(left, start=expected("start"))
        described = self._allocation.describe()
        plan = replace(plan, storage=request.storage, security=request.security, job=described.get("key"))
        if request.shuffle_directory is not None:
            plan = replace(plan, shuffle=f"{request.shuffle_directory}/howdah-{request.name}-{os.getpid()}")
        self._plan = plan
        hosts = self._allocation.hosts
        if (processors := request.processors) is not None:
            over(hosts, lambda one: operations.confine(one, processors))
        plan = self._plan = replace(plan, mount_types=_check_directory(hosts.values(), plan))
        free = min(over(hosts, lambda one: _check_disks(one, plan.quarters[one.name])).values())
        return plan, free

    def _in_realm(self, plan: Plan) -> tuple[Plan, SiteRealm | None]:
        """Return the plan in the realm of the site, if the request names one, with that realm. Raises UsageError."""
        if self._request.realm is None:
            return plan, None
        site = read_site_realm(Path(self._request.realm))
        plan = self._plan = replace(plan, realm=site.name)
        site.check(principals(plan, process_user()))
        return plan, site

    def _take_place(self, manifest: Manifest) -> None:
        """Create the cluster's directories, in place of a dead cluster of the same name. The dead cluster may have had
        another work directory, so it is forgotten only when nothing of it is left."""
        home = self._directory
        dead = home.read()
        if dead is not None and dead.state not in GONE:
            remove_data(dead)
        home.write(manifest)
        for leftover in (home.logs, home.conf, home.client):
            with suppress(FileNotFoundError):
                shutil.rmtree(leftover)
        claim_directories(self._allocation.hosts.values(), manifest.plan)

    def ended(self) -> list[tuple[Running, int]]:
        """Return the daemons that ended on their own, with their exit codes."""
        return [] if self._daemons is None else self._daemons.ended()

    def kill_applications(self, tag: str | None = None) -> None:
        """Kill every application with this tag, whose run is gone. Without a tag, kill every one that is no stage."""
        for application in (manager := self._resourcemanager()).applications(tag=tag):
            if not application.ended and (tag or not any(one.startswith(STAGE) for one in application.tags)):
                manager.kill(application.id)

    def endings(self) -> Endings:
        """Return the object that notices when a batch system takes the hosts away. For clusters in batch jobs, whose
        logs are copied to this machine from now on."""
        assert self._plan is not None
        LogKeeper(self._plan, self._allocation.hosts, self._directory.logs)
        return Endings(self._allocation.hosts, self._allocation.seconds_left, self._allocation.leash)

    def call_in(self, name: str, program: str, invitation: str) -> None:
        """Have another agent of the host call the sender of the invitation. Raises HostProblem."""
        if (host := self._allocation.hosts.get(name)) is None:
            raise HostProblem("the cluster has no such host", host=name)
        operations.call_in(host, program, invitation)

    def resident_memory(self) -> dict[str, int]:
        """As `Daemons.resident_memory`."""
        return {} if self._daemons is None else self._daemons.resident_memory()

    def kill_daemon(self, role: str) -> None:
        """Kill the daemon of `role` on the last node, to show the effect of its loss."""
        assert self._daemons is not None
        self._daemons.kill(role)

    def fault(self, fault: HostFault) -> None:
        """Inject a fault on a host. Raises UsageError if the cluster has nothing of that kind there, and HostProblem if
        the fault cannot be injected."""
        assert self._daemons is not None
        assert self._plan is not None
        check_host(fault, self._plan.quarters)
        if fault.device is not None:
            self._allocation.disturb(fault)
        else:
            self._daemons.suffer(fault)

    def take_down(self) -> None:
        """Stop the daemons, remove their data and configuration, and release the hosts. Logs stay on this machine."""
        try:
            if self._daemons is not None:
                self._allocation.rejoin()
                self._daemons.stop()
                self._daemons.remove(self._directory.logs)
                for own in (self._directory.conf, self._directory.client):
                    shutil.rmtree(own, ignore_errors=True)
        finally:
            if self._persistence is not None:
                self._persistence.release()
            self._allocation.release()

    def _wait(self, announce: Callable[[str], None], check_wanted: Callable[[], None]) -> None:
        def check_alive() -> None:
            check_wanted()
            assert self._daemons is not None
            self._daemons.check_alive()

        plan, access = self._plan, self._access()
        assert plan is not None
        hdfs = WebHdfs(self._endpoints("namenode_web"), user=process_user(), http=access.http)
        wait_until_healthy(
            self._namenode(),
            self._resourcemanager(),
            HistoryServer(self._endpoints("historyserver_web")[0], access.history),
            hdfs if plan.storages.hdfs else None,
            nodes=self._request.nodes,
            timeout=_HEALTHY_SECONDS,
            check_alive=check_alive,
            announce=announce,
        )

    def _namenode(self) -> NameNode:
        return NameNode(self._endpoints("namenode_web")[0], self._access().http)

    def _resourcemanager(self) -> ResourceManager:
        return ResourceManager(self._endpoints("resourcemanager_web"), process_user(), self._access().resourcemanager)

    def length(self, path: str) -> int:
        """Return the bytes of a path of HDFS. Raises HowdahError."""
        webhdfs = WebHdfs(self._endpoints("namenode_web"), process_user(), self._access().http)
        return webhdfs.content_summary(path).length

    def _access(self) -> WebAccess:
        assert self._plan is not None
        return access_of(self._plan, self._directory)

    def _endpoints(self, name: str) -> tuple[str, ...]:
        assert self._plan is not None
        return (self._plan.endpoints[name],)

    def _manifest(self, plan: Plan, own: Installation, sizing: Sizing, clients: tuple[str, ...]) -> Manifest:
        distribution, jdk = own.distribution, own.jdk
        request = self._request
        return Manifest(
            name=request.name,
            state="starting",
            machine=platform.node(),
            supervisor=os.getpid(),
            started=time.time(),
            plan=plan,
            hadoop={
                "version": distribution.version,
                "home": str(distribution.home),
                "source": distribution.source,
                "substitutes": dict(distribution.substitutes),
            },
            jdk={"home": str(jdk.home), "version": ".".join(map(str, jdk.version)), "vendor": jdk.vendor},
            sizing=sizing.as_record(),
            defaults=_defaults(request, clients),
            allocation=self._allocation.describe(),
            plugins={str(jar): sha256(jar) for jar in distribution.plugins},
            spare=tuple(name for name in self._allocation.names if name not in plan.quarters),
        )


def _write_client(
    home: ClusterDirectory,
    plan: Plan,
    configuration: Configuration,
    own: Installation,
    flags: tuple[str, ...],
    keys: Keys | None,
) -> None:
    """The conf directory of clients, where it is not that of the masters."""
    conf = str(home.conf)
    if any(quarters.conf == conf for quarters in plan.quarters.values()):
        return
    credentials = credentials_of(plan, home)
    script = environment_script(own.distribution, own.jdk, flags, str(home.logs), credentials)
    files = {**configuration.files(None, script), **({} if keys is None else keys.of_clients(plan, conf))}
    for directory in (home.conf, home.client, home.logs):
        directory.mkdir(mode=0o700, exist_ok=True)
    for name, content in files.items():
        (home.conf / name).parent.mkdir(mode=0o700, exist_ok=True)
        write_private(home.conf / name, content)


def _defaults(request: ClusterRequest, clients: tuple[str, ...]) -> Mapping[str, Any]:
    return {
        "kind": "stock" if request.stock else "tuned",
        "without": list(request.without),
        "settings": dict(request.settings),
        "jvm_flags": list(request.jvm_flags),
        "client_flags": list(clients),
        # Only where they were asked for: what nobody asked for does not tell trials apart.
        **({"task_flags": list(request.task_flags)} if request.task_flags else {}),
        **({} if request.processors is None else {"processors": request.processors}),
        **({} if request.shuffle_directory is None else {"shuffle_directory": request.shuffle_directory}),
    }


def _cache() -> Path:
    # Without symbolic links: class-data sharing compares the names of jars.
    return (howdah_home() / "cache").resolve()


def _check_directory(hosts: Iterable[Host], plan: Plan) -> tuple[str, ...]:
    """Return the types of file system that are mounted at the root of the storage `posix`; none if it is on the hosts'
    own disks. Raises HostProblem if a host cannot write to the root, or if only some hosts have it mounted."""
    directory = plan.storages.directory
    if directory is None:
        return ()
    mounted: dict[str, str | None] = {}
    for host in hosts:
        if not operations.is_writable(host, directory):
            raise HostProblem(
                f"--storage posix:{directory}: no directory {directory} that one can write to",
                hint="Make it, or mount it, on every host; Howdah never makes it itself.",
                host=host.name,
            )
        mounted[host.name] = operations.mounted_type(host, directory)
    lacking = next((name for name, found in mounted.items() if found is None), None)
    there = next((name for name, found in mounted.items() if found is not None), None)
    if there is not None and lacking is not None:
        raise HostProblem(
            f"--storage posix:{directory}: nothing is mounted there, as it is on {there}",
            hint="Mount it on every host.",
            host=lacking,
        )
    return tuple(sorted({found for found in mounted.values() if found is not None}))


def _check_disks(host: Host, quarters: Quarters) -> int:
    """Return the free bytes of all disks with the data of nodes together. Raises HostProblem if a disk is full."""
    free: dict[int, int] = {}
    for directory in (*quarters.data, quarters.root):
        found = operations.space(host, directory)
        if found.free < _LEAST_DISK:
            raise HostProblem(
                f"{format_bytes(found.free)} are free on the disk of {directory}; a cluster needs "
                f"{format_bytes(_LEAST_DISK)}",
                hint="Free some, or choose another disk with --work-dir.",
                host=host.name,
            )
        if directory in quarters.data:
            free[found.device] = found.free
    return sum(free.values())
