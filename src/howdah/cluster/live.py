"""A cluster that is up, as a run uses it: its interfaces, its configuration, its processes, a channel."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from howdah.cluster.allocation import open_host
from howdah.cluster.control import ControlClient
from howdah.cluster.environment import program_environment
from howdah.cluster.existing import ExistingCluster, WebAddresses
from howdah.cluster.state import Daemon, Manifest, cluster_directory
from howdah.errors import ClusterProblem, HostProblem, UsageError
from howdah.hadoop.configuration.cluster import with_overrides
from howdah.hadoop.configuration.plan import Plan
from howdah.hadoop.configuration.roles import MASTERS
from howdah.hadoop.configuration.site import read_client_files, read_conf_dir
from howdah.hadoop.distribution.distribution import Distribution, from_home, managed
from howdah.hadoop.distribution.jars import place_of, plugin_jars
from howdah.hadoop.distribution.jdk import Jdk, choose_jdk, find_jdks, jvm_flags
from howdah.hadoop.interfaces.history_server import HistoryServer
from howdah.hadoop.interfaces.http import Garbled, Rejected, Unreachable
from howdah.hadoop.interfaces.namenode import NameNode
from howdah.hadoop.interfaces.resourcemanager import ResourceManager
from howdah.hadoop.interfaces.webhdfs import WebHdfs
from howdah.host import Host
from howdah.host.channel import open_local
from howdah.host.user import process_user
from howdah.model.storage import FILESYSTEM_JAR, POSIX_SCHEME
from howdah.store import howdah_home


class LiveCluster:
    """A cluster during a run. `close` must be called; it may be called twice."""

    def __init__(
        self,
        *,
        description: Mapping[str, Any],
        conf: Path,
        settings: Mapping[str, str],
        addresses: WebAddresses,
        distribution: Distribution,
        jdk: Jdk,
        host: Host,
        control: ControlClient | None = None,
        client_flags: tuple[str, ...] = (),
        plan: Plan | None = None,
        daemons: tuple[Daemon, ...] = (),
        logs: Path | None = None,
        warnings: tuple[str, ...] = (),
    ) -> None:
        """`plan`, `daemons`, `logs` (the daemons' logs) and `control` are there for clusters that Howdah started,
        `warnings` (about its configuration) for others."""
        self.description = description
        self.conf = conf
        self.settings = settings
        self.distribution = distribution
        self.jdk = jdk
        self.host = host
        self.plan = plan
        self.daemons = daemons
        self.logs = logs
        self.warnings = warnings
        self.addresses = addresses
        self.namenode = NameNode(_active(addresses.namenode))
        self.resourcemanager = ResourceManager(addresses.resourcemanager, process_user())
        self.history = HistoryServer(addresses.history[0])
        self.webhdfs = WebHdfs(addresses.namenode, user=process_user())
        self._client_flags = client_flags
        self._control = control

    @property
    def hosts(self) -> Mapping[str, Host]:
        """The hosts that can be observed, by name."""
        return {self.host.name: self.host}

    @property
    def web_servers(self) -> Mapping[str, str]:
        """`host:port` of every daemon's HTTP server that is known, by role, or role-node for those of a node."""
        if self.plan is None:
            found = {
                "namenode": self.addresses.namenode,
                "resourcemanager": self.addresses.resourcemanager,
                "historyserver": self.addresses.history,
            }
            return {role: addresses[0] for role, addresses in found.items() if addresses}
        return {
            f"{role.name}-{place.name}" if role.per_node else role.name: place.at(role.web)
            for role, place in self.plan.daemons()
        }

    def check_masters(self) -> None:
        """Raises ClusterProblem when a master of a cluster that Howdah started has ended; a run cannot go on then."""
        masters = {role.name for role in MASTERS}
        for sentence in self.lost_daemons():
            if sentence.split(" ", 1)[0] in masters:
                raise ClusterProblem(sentence)

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
            # Where a client that is killed leaves its unpacked jar: in a place that goes with the cluster.
            *(() if self.plan is None else (f"-Djava.io.tmpdir={self.plan.masters.directory}/tmp",)),
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
        }

    def shell_environment(self, conf: Path) -> dict[str, str]:
        """The environment of any program that works on the cluster with the configuration directory `conf`."""
        return program_environment(self.distribution.home, self.jdk.home, conf, os.environ, self.distribution.plugins)

    def claim(self) -> None:
        """From now on, until `close`, nobody else measures on this cluster (a `conf:` cluster is also others').

        Raises UsageError when somebody else does.
        """
        if self._control is None:
            return
        own = f"process {os.getpid()}"
        holder = self._control.ask("claim", by=own)["claimed_by"]
        if holder != own:
            raise UsageError(
                f"the cluster {self.description['name']!r} is in use: {holder} measures on it",
                hint="Two runs at once would measure each other. Wait for it, or use another cluster.",
            )

    def lease(self, tag: str) -> None:
        """From now on, the supervisor kills applications with `tag` when this process is gone (not for `conf:`)."""
        if self._control is not None:
            self._control.ask("lease", tag=tag)

    def release(self) -> None:
        """Ends the lease: everything that was submitted has ended."""
        if self._control is not None:
            self._control.ask("release")

    def kill_daemon(self, role: str) -> None:
        """Kills the daemon of `role` on the last node. Raises UsageError for a cluster that Howdah has not started."""
        if self._control is None:
            raise UsageError(f"a {role} can only be killed on a cluster that Howdah started")
        self._control.ask("kill", role=role)

    def lost_daemons(self) -> tuple[str, ...]:
        """Sentences about daemons that ended on their own, as the supervisor has seen them."""
        return () if self._control is None else tuple(self._control.ask("status")["lost"])

    def close(self) -> None:
        """Closes the run's channel, which ends the job clients and probes of this run, and a lease."""
        self.host.close()
        if self._control is not None:
            self._control.close()
            self._control = None


def open_managed(manifest: Manifest) -> LiveCluster:
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
            host.call("machine.confine", processors=processors)
        jdk = _jdk_at(host, manifest.jdk["home"])
        settings = read_conf_dir(directory.conf)
    except BaseException:
        host.close()
        raise
    ends = manifest.plan.endpoints
    return LiveCluster(
        description=_describe(manifest),
        conf=directory.conf,
        settings=settings,
        addresses=WebAddresses((ends["namenode_web"],), (ends["resourcemanager_web"],), (ends["historyserver_web"],)),
        distribution=replace(distribution, plugins=there),
        jdk=jdk,
        host=host,
        control=control,
        client_flags=tuple(manifest.defaults["client_flags"]),
        plan=manifest.plan,
        daemons=manifest.daemons,
        logs=directory.logs,
    )


def open_existing(existing: ExistingCluster, *, hadoop: str, hadoop_home: Path | None) -> LiveCluster:
    """A cluster that Howdah did not start. It is never started, stopped or restarted.

    Raises HostProblem where there is no distribution or JDK for the client.
    """
    settings = existing.settings
    distribution = from_home(hadoop_home) if hadoop_home is not None else managed(hadoop, howdah_home() / "cache")
    # A distribution of the user's own may have the file system's jar already.
    files = place_of(FILESYSTEM_JAR)
    needed = (files,) if f"fs.{POSIX_SCHEME}.impl" in settings and files.is_file() else ()
    distribution = replace(distribution, plugins=(*plugin_jars(), *needed))
    host = open_local(platform.node())
    try:
        jdk = choose_jdk(find_jdks(host), distribution.version)
    except BaseException:
        host.close()
        raise
    return LiveCluster(
        description={"kind": "conf", "conf": str(existing.directory), "hadoop": {"version": distribution.version}},
        conf=existing.directory,
        settings=settings,
        addresses=existing.addresses,
        distribution=distribution,
        jdk=jdk,
        host=host,
        warnings=existing.warnings,
    )


def _active(namenodes: tuple[str, ...]) -> str:
    """The NameNode that is active now; the only one, whatever its state, where there is one, and an address at which
    nobody listens where there is none."""
    for address in namenodes[:-1]:
        with suppress(Unreachable, Rejected, Garbled):
            if NameNode(address).status().state == "active":
                return address
    return namenodes[-1] if namenodes else "127.0.0.1:0"


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
        "plugins": dict(manifest.plugins),
    }


def _jdk_at(host: Host, home: str) -> Jdk:
    for jdk in find_jdks(host):
        if str(jdk.home) == home:
            return jdk
    raise HostProblem(f"the JDK of the cluster, {home}, is gone", host=host.name)
