"""Starting and stopping the daemons of a planned cluster on its hosts."""

from __future__ import annotations

import re
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from howdah.cluster.deployment.realm import make_keys, realm_arguments
from howdah.cluster.faults import SIGNALS, HostFault
from howdah.cluster.ownership import refuse_exposed, remove_directories
from howdah.cluster.software.installation import Installation
from howdah.cluster.state import Daemon
from howdah.errors import ClusterProblem, HostProblem, UsageError
from howdah.hadoop.configuration.cluster import Configuration, environment_script
from howdah.hadoop.configuration.plan import NONE, Place, Plan
from howdah.hadoop.configuration.roles import KDC, NAMENODE, Role
from howdah.hadoop.configuration.security import SECURE_IO, Keys, krb5_flag, own_credentials
from howdah.hadoop.configuration.site_realm import SiteRealm
from howdah.hadoop.distribution.archive import task_arguments
from howdah.hadoop.distribution.jars import SECURE_IO_JAR, SECURITY_JAR
from howdah.hadoop.distribution.jdk import jvm_flags
from howdah.hadoop.distribution.namespace import keep_namespace, lay_namespace
from howdah.host import Host, Process, operations
from howdah.host.agent.strays import ROOT
from howdah.host.over import over
from howdah.host.user import process_user

_FORMAT_SECONDS = 60.0
_COMMAND_SECONDS = 60.0
_AT_ONCE = 64
"""Number of daemons that are started at the same time."""
_LOG_TAIL = 16000
_LOG_LINES = 8
_LOG_NOISE = re.compile(r"\s+at |\s*\.\.\. \d+ more|\S+ \S+ (INFO|DEBUG|WARN) |/?\*+/?$|(STARTUP|SHUTDOWN)_MSG")
_GRACE_SECONDS = 1.5
_HOMES = ("HADOOP_HOME", "HADOOP_COMMON_HOME", "HADOOP_HDFS_HOME", "HADOOP_YARN_HOME", "HADOOP_MAPRED_HOME")


@dataclass(frozen=True, slots=True)
class Running:
    """A started daemon and its process."""

    daemon: Daemon
    process: Process
    log: str


class Daemons:
    """The daemons of one cluster. Not thread-safe; the supervisor owns them."""

    def __init__(
        self,
        plan: Plan,
        hosts: Mapping[str, Host],
        installed: Mapping[str, Installation],
        *,
        flags: Callable[[Role, Installation], tuple[str, ...]],
        reopen: Callable[[str], Host],
        namespace: str | None = None,
        formatted: bool = False,
    ) -> None:
        """`installed` is the software of each host; `flags` returns a role's JVM flags for it. `reopen` opens another
        channel to a host by its name, when the first channel is lost. `namespace` is the directory on the masters' host
        for an empty namespace; None if every cluster must be formatted. A cluster that is `formatted` has a file system
        already."""
        self._plan = plan
        self._hosts = hosts
        self._installed = installed
        self._flags = flags
        self._reopen = reopen
        self._namespace = namespace
        self._formatted = formatted
        self._secured = plan.security != NONE
        self._keys: Keys | None = None
        self._leaving: frozenset[str] = frozenset()
        self.running: list[Running] = []

    @property
    def plan(self) -> Plan:
        """The plan with the hosts of this moment."""
        return self._plan

    @property
    def installed(self) -> Mapping[str, Installation]:
        """The software of each host."""
        return self._installed

    def start_realm(self, site: SiteRealm | None) -> Keys | None:
        """Start the cluster's Kerberos realm, and return the keys that it makes; None if the cluster has no realm. In
        the realm of a `site`, nothing is left running. Raises ClusterProblem."""
        if not self._secured:
            return None
        masters = self._plan.masters
        host = self._hosts[masters.host]
        operations.make_directory(host, self._plan.quarters[host.name].logs, mode=0o700)

        def start() -> Process:
            realm = self.launch(KDC, masters)
            if site is None:
                self.running.append(realm)
            return realm.process

        self._keys = make_keys(host, self._plan, process_user(), start, site)
        return self._keys

    def write_configuration(self, configuration: Configuration, client_flags: tuple[str, ...]) -> None:
        """Write the conf directory of each place, and create the private directories of the place. `client_flags` are
        for the `hadoop` command of a host."""
        over(self._hosts, lambda host: self._write(host, configuration, client_flags))

    def _files(self, place: Place, configuration: Configuration, client_flags: tuple[str, ...]) -> Mapping[str, bytes]:
        plan, on = self._plan, self._installed[place.host]
        conf, logs = plan.conf_of(place), plan.quarters[place.host].logs
        credentials = None if self._keys is None else own_credentials(plan, process_user(), conf)
        script = environment_script(on.distribution, on.jdk, client_flags, logs, credentials)
        files = configuration.files(None if place == plan.masters else place.name, script)
        if on.archive is not None:
            own = task_arguments(on.distribution, on.archive, conf)
            files |= {name: text.encode() for name, text in own.items()}
        return files if self._keys is None else {**files, **self._keys.of_place(plan, place, conf)}

    def _write(self, host: Host, configuration: Configuration, client_flags: tuple[str, ...]) -> None:
        plan, quarters = self._plan, self._plan.quarters[host.name]
        refuse_exposed(host, quarters.conf)
        operations.make_directory(host, quarters.logs, mode=0o700)
        for place in (one for one in plan.places if one.host == host.name):
            conf, masters = plan.conf_of(place), place == plan.masters
            operations.make_directory(host, conf, mode=0o700)
            for name, content in self._files(place, configuration, client_flags).items():
                if "/" in name:
                    operations.make_directory(host, str(Path(conf, name).parent), mode=0o700)
                operations.write_file(host, f"{conf}/{name}", content)
            made = [f"{place.directory}/tmp"]
            if masters:
                made.append(plan.name_directory)
            else:
                made += [f"{place.directory}/containers", *plan.block_directories(place), *plan.container_files(place)]
            for directory in made:
                operations.make_directory(host, directory, mode=0o700)

    def start(self, announce: Callable[[str], None]) -> None:
        """Format HDFS, if there is one, and start all daemons at once. The NameNode starts as soon as HDFS is
        formatted.

        Raises:
            ClusterProblem: the format failed.
        """
        with ThreadPoolExecutor(min(_AT_ONCE, len(self._plan.daemons()) + 1)) as pool:
            formatting = pool.submit(self.format) if self._plan.storages.hdfs else None
            others = [
                pool.submit(self.launch, role, place)
                for role, place in self._plan.daemons()
                if role not in (NAMENODE, KDC)
            ]
            self.running += [future.result() for future in others]
            if formatting is not None:
                formatting.result()
                announce("data" if self._formatted else "format")
                self.running.insert(0, self.launch(NAMENODE, self._plan.masters))
        announce("start")

    def resident_memory(self) -> dict[str, int]:
        """Return the bytes that every daemon has in memory, by role and place, except on lost hosts."""
        found = dict[str, int]()
        for name, host in self._hosts.items():
            there = [one.daemon for one in self.running if one.daemon.host == name]
            with suppress(HostProblem):
                sizes = operations.resident_memory(host, [one.pid for one in there])
                found |= {f"{one.role}-{one.place}": sizes[one.pid] for one in there if one.pid in sizes}
        return found

    def ended(self) -> list[tuple[Running, int]]:
        """The daemons that have ended on their own, with their exit codes."""
        stay = [one for one in self.running if one.daemon.host not in self._leaving]
        return [(daemon, code) for daemon in stay if (code := daemon.process.poll()) is not None]

    def leave(self, hosts: Collection[str]) -> None:
        """From now on, daemons of these hosts alone may end on their own."""
        self._leaving = frozenset(hosts)

    def part(self, host: Host, before: Plan, after: Plan, logs: Path) -> None:
        """Stop the daemons of a host that `before` has and `after` has not, and remove their data and configuration
        there, as `remove`. Raises HostProblem or ClusterProblem for leftovers; the host has left all the same."""
        leaving = [one for one in self.running if one.daemon.host == host.name]
        try:
            _ask_to_end(leaving)
            _wait_for(leaving)
            _clear(host, before, logs, self._reopen, shared=False)
        finally:
            self.running = [one for one in self.running if one not in leaving]
            self._plan = after
            self._hosts = {name: one for name, one in self._hosts.items() if name != host.name}
            self._installed = {name: one for name, one in self._installed.items() if name != host.name}

    def join(
        self,
        host: Host,
        plan: Plan,
        installed: Installation,
        configuration: Configuration,
        client_flags: tuple[str, ...],
    ) -> list[Running]:
        """Starts the daemons that `plan` has on a host that the cluster did not have. Raises HostProblem; `part`
        removes what was made then."""
        self._plan = plan
        self._hosts = {**self._hosts, host.name: host}
        self._installed = {**self._installed, host.name: installed}
        self._write(host, configuration, client_flags)
        started = [self.launch(role, place) for role, place in plan.daemons() if place.host == host.name]
        self.running = [*self.running, *started]
        return started

    def administer(self, program: str, *arguments: str) -> None:
        """Runs one of Hadoop's administration programs, a class, on the masters' host. Raises ClusterProblem."""
        masters = self._plan.masters
        own = (
            own_credentials(self._plan, process_user(), self._plan.conf_of(masters)).environment
            if self._secured
            else {}
        )
        done = self._hosts[masters.host].run(
            [*self._java(NAMENODE), program, *arguments],
            timeout=_COMMAND_SECONDS,
            env={**self._environment(masters), **own},
            cwd=masters.directory,
        )
        if done.code != 0:
            said = _last_words(done.stdout + done.stderr, cut=False)
            raise ClusterProblem(f"{program} {' '.join(arguments)} failed (exit code {done.code}):\n{said}")

    def suffer(self, fault: HostFault) -> None:
        """Kill, stop or continue the daemons that `fault` affects. If all of a host are killed, their containers are,
        too: these outlive a NodeManager. Raises UsageError if none of them runs."""
        found = [one for one in self.running if one.daemon.host == fault.host and fault.role in (None, one.daemon.role)]
        alive = [one for one in found if one.process.poll() is None]
        if not alive:
            raise UsageError(f"no {fault.role or 'daemon'} of the cluster runs on {fault.host}")
        for one in alive:
            one.process.signal(SIGNALS[fault.kind])
        if fault.kind == "kill" and fault.role is None:
            operations.end_strays(self._hosts[fault.host], self._plan.quarters[fault.host].root)

    def kill(self, role: str) -> None:
        """Kill the daemon of `role` on the last node."""
        *_, last = (running for running in self.running if running.daemon.role == role)
        last.process.signal(signal.SIGKILL)

    def check_alive(self, only: Collection[Running] | None = None) -> None:
        """Raises HostProblem or ClusterProblem for the first daemon that has ended on its own, of these `only`."""
        for running, code in self.ended():
            if only is not None and running not in only:
                continue
            daemon, lost = running.daemon, running.process.lost_with
            if lost is not None:
                raise HostProblem(f"{lost}, with {daemon.role} of {daemon.place}", host=daemon.host)
            ended = f"{daemon.role} of {daemon.place} ended with code {code}"
            said = f"{ended}; the end of {running.log}:\n{self._tail(running)}"
            raise ClusterProblem(said, host=daemon.host)

    def _tail(self, running: Running) -> str:
        """Return the last messages of a daemon that ended, from the end of its log."""
        content = operations.read_file(self._hosts[running.daemon.host], running.log, offset=-_LOG_TAIL)
        return _last_words(content, cut=len(content) == _LOG_TAIL)

    def stop(self) -> None:
        """Ask every daemon to stop, and wait a moment. A daemon that does not stop is killed when the channels
        close."""
        of_host: defaultdict[str, list[Running]] = defaultdict(list)
        for running in self.running:
            of_host[running.daemon.host].append(running)
        over(of_host, _ask_to_end)
        _wait_for(self.running)

    def remove(self, logs: Path) -> None:
        """Kill the remaining daemons, and remove their data and configuration on every host that answers. The channels
        are still open. Logs stay in `logs`.

        Raises HostProblem or ClusterProblem for anything that is left.
        """
        over(self._hosts, lambda host: _clear(host, self._plan, logs, self._reopen, shared=True))

    def format(self) -> None:
        """Create an empty file system, unless there is one. Raises ClusterProblem with the output of the NameNode."""
        host, name_directory = self._hosts[self._plan.masters.host], self._plan.name_directory
        if self._formatted:
            return
        if self._namespace is None:
            self._format()
        elif not lay_namespace(host, self._namespace, name_directory):
            self._format()
            keep_namespace(host, name_directory, self._namespace)

    def _format(self) -> None:
        masters = self._plan.masters
        argv = [*self._java(NAMENODE), NAMENODE.main_class, "-format", "-nonInteractive", "-force"]
        done = self._hosts[masters.host].run(
            argv, timeout=_FORMAT_SECONDS, env=self._environment(masters), cwd=masters.directory
        )
        if done.code != 0:
            said = _last_words(done.stdout + done.stderr, cut=False)
            raise ClusterProblem(f"formatting the NameNode failed (exit code {done.code}):\n{said}")

    def launch(self, role: Role, place: Place) -> Running:
        """Start one daemon without waiting for it."""
        log = self._plan.log_of(role, place)
        arguments = realm_arguments(self._plan) if role is KDC else role.arguments
        argv = [*self._java(role, place), role.main_class, *arguments]
        process = self._hosts[place.host].start(argv, output=log, env=self._environment(place), cwd=place.directory)
        return Running(Daemon(role.name, place.name, place.host, process.pid), process, log)

    def _java(self, role: Role, place: Place | None = None) -> list[str]:
        place = place or self._plan.masters
        on, conf = self._installed[place.host], self._plan.conf_of(place)
        secured = (on.distribution.jar_beside(SECURITY_JAR),) if self._secured else ()
        return [
            f"{on.jdk.home}/bin/java",
            f"-Dproc_{role.name}",
            f"-Xmx{role.heap_mib}m",
            *jvm_flags(on.jdk, on.distribution.version),
            *self._flags(role, on),
            *((krb5_flag(conf),) if self._secured else ()),
            f"-Dhadoop.log.dir={self._plan.quarters[place.host].logs}",
            f"-Djava.io.tmpdir={place.directory}/tmp",
            "-cp",
            on.distribution.classpath(conf, *secured),
        ]

    def _environment(self, place: Place) -> dict[str, str]:
        on = self._installed[place.host]
        return {
            "JAVA_HOME": str(on.jdk.home),
            **({SECURE_IO: str(on.distribution.jar_beside(SECURE_IO_JAR))} if self._secured else {}),
            # The NodeManager hands these on to containers: yarn.application.classpath is made of them.
            **dict.fromkeys(_HOMES, str(on.distribution.home)),
            # Tasks find the file with their class path by it (`tuning.TASK_FILE`).
            "HADOOP_CONF_DIR": self._plan.conf_of(place),
            "HADOOP_LOG_DIR": self._plan.quarters[place.host].logs,
            "HOWDAH_CLUSTER": self._plan.name,
            ROOT: self._plan.quarters[place.host].root,
            # Whatever the user's name there is: who starts the cluster owns it.
            "HADOOP_USER_NAME": process_user(),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": place.directory,
            # glibc otherwise keeps an arena per thread, which shows as hundreds of MiB of resident memory.
            "MALLOC_ARENA_MAX": "4",
        }


def _ask_to_end(daemons: Sequence[Running]) -> None:
    for running in daemons:
        if running.process.poll() is None:
            with suppress(HostProblem):  # Its host was lost a moment ago.
                running.process.signal(signal.SIGTERM)


def _clear(host: Host, plan: Plan, logs: Path, reopen: Callable[[str], Host], *, shared: bool) -> None:
    if host.lost is None:
        operations.end_all(host)
        _remove_files(host, plan, logs, shared=shared)
    elif plan.job is None:  # Agents of batch jobs leave nothing.
        _clear_lost(host, plan, logs, reopen, shared=shared)


def _remove_files(host: Host, plan: Plan, logs: Path, *, shared: bool) -> None:
    remove_directories(host, plan, logs, shared=shared)
    operations.remove(host, plan.quarters[host.name].conf)


def _clear_lost(lost: Host, plan: Plan, logs: Path, reopen: Callable[[str], Host], *, shared: bool) -> None:
    """Ends and removes what a host has whose channel is lost, through another one, if it can be reached again."""
    quarters = plan.quarters[lost.name]
    try:
        host = reopen(lost.name)
    except HostProblem as problem:
        left = " and ".join(plan.directories(lost.name) if shared else plan.own_directories(lost.name))
        raise HostProblem(
            f"{lost.lost}, and cannot be reached again ({problem.message}); it may still have {left}, and "
            f"processes with {ROOT}={quarters.root} in their environment",
            host=lost.name,
            hint=f"`howdah down --name {plan.name}` tries again." if shared else "Remove it when the host is back.",
        ) from problem
    try:
        operations.end_strays(host, quarters.root)
        _remove_files(host, plan, logs, shared=shared)
    finally:
        host.close()


def _wait_for(daemons: Sequence[Running]) -> None:
    deadline = time.monotonic() + _GRACE_SECONDS
    for running in daemons:
        running.process.wait(max(0.0, deadline - time.monotonic()))


def _last_words(log: bytes, *, cut: bool) -> str:
    """Return the last lines of `log` without stack traces and lines that are no errors. With `cut`, the first line is
    incomplete."""
    lines = [line for line in log.decode(errors="replace").splitlines()[cut:] if line.strip()]
    telling = [line for line in lines if not _LOG_NOISE.match(line)]
    return "\n".join((telling or lines)[-_LOG_LINES:])
