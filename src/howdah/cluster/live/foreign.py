"""A cluster that Howdah did not start: its daemons' pages answer, its hosts are out of reach."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from howdah.cluster.faults import HostFault
from howdah.cluster.live.cluster import DataPlace, LiveCluster
from howdah.cluster.live.existing import ExistingCluster
from howdah.cluster.live.login import Cookies, Login, ending_ticket, log_in, login_urls
from howdah.cluster.state import Lost
from howdah.errors import HostProblem, HowdahError, UsageError
from howdah.hadoop.configuration.security import Credentials
from howdah.hadoop.distribution.distribution import Distribution, from_home, managed
from howdah.hadoop.distribution.jars import place_of, plugin_jars
from howdah.hadoop.distribution.jdk import Jdk, choose_jdk, find_jdks
from howdah.hadoop.interfaces.access import OPEN, WebAccess, known_access
from howdah.host import Host
from howdah.host.channel import open_local
from howdah.model.storage import FILESYSTEM_JAR, POSIX_SCHEME
from howdah.store import howdah_home


class ForeignCluster(LiveCluster):
    """See `LiveCluster`. Howdah never starts, stops or restarts it, and others may use it at the same time."""

    observed = runs_distribution = shares_files = False
    is_one_node_here = False
    common_directory = None
    work_directories: Sequence[tuple[Host, str]] = ()
    log_files: Sequence[tuple[Host, str]] = ()
    container_logs: Sequence[tuple[Host, str]] = ()
    cookies: Cookies | None = None

    def check_login(self) -> None:
        if self.cookies is not None:
            self.cookies.check()

    @property
    def client_temporary(self) -> str:
        return tempfile.gettempdir()

    @property
    def web_servers(self) -> Mapping[str, str]:
        found = {
            "namenode": self.addresses.namenode,
            "resourcemanager": self.addresses.resourcemanager,
            "historyserver": self.addresses.history,
        }
        return {role: addresses[0] for role, addresses in found.items() if addresses}

    def data_directories(self, machine: str) -> Sequence[str]:  # noqa: ARG002
        return ()

    def mounts(self, machine: str) -> Mapping[str, str]:  # noqa: ARG002
        return {"/": "/"}

    @property
    def own_names(self) -> Mapping[str, str]:
        return {str(self.conf): "CONF"}

    def data_places(self, storage: str) -> Sequence[DataPlace]:  # noqa: ARG002
        return ()

    def spark_properties(self, spark_home: Path) -> Mapping[str, str]:  # noqa: ARG002
        return {}

    def claim(self) -> None: ...

    def lease(self, tag: str) -> None: ...

    def release(self) -> None: ...

    def kill_daemon(self, role: str) -> None:
        raise UsageError(f"a {role} can only be killed on a cluster that Howdah started")

    def disturb(self, fault: HostFault) -> None:
        raise UsageError(f"{fault.host} can only be disturbed in a cluster that Howdah started")

    def lost_daemons(self) -> tuple[Lost, ...]:
        return ()


def open_existing(existing: ExistingCluster, *, hadoop: str, hadoop_home: Path | None) -> ForeignCluster:
    """Open a cluster that Howdah did not start. Howdah never starts, stops or restarts it.

    Raises HostProblem if there is no distribution or JDK for the client, or if nobody can log in.
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
        secured = _Secured.of(existing, host, jdk, distribution) if existing.secured else None
    except BaseException:
        host.close()
        raise
    found = ForeignCluster(
        description={"kind": "conf", "conf": str(existing.directory), "hadoop": {"version": distribution.version}},
        conf=existing.directory,
        settings=settings,
        addresses=existing.addresses,
        distribution=distribution,
        jdk=jdk,
        client=host,
        warnings=(*existing.warnings, *(() if secured is None else secured.warnings)),
        access=OPEN if secured is None else secured.access,
        credentials=None if secured is None else secured.credentials,
        user=None if secured is None else secured.user,
    )
    found.cookies = None if secured is None else secured.cookies
    with suppress(HowdahError):  # What needs the ResourceManager says why it does not answer.
        running = sum(one.state == "RUNNING" for one in found.resourcemanager.nodes())
        found.description = {**found.description, "nodes_running": running}
    return found


@dataclass(frozen=True, slots=True)
class _Secured:
    """The access to a cluster with Kerberos."""

    user: str
    access: WebAccess
    credentials: Credentials
    warnings: tuple[str, ...]
    cookies: Cookies

    @classmethod
    def of(cls, existing: ExistingCluster, host: Host, jdk: Jdk, distribution: Distribution) -> _Secured:
        """Log in. Raises HostProblem if this is not possible, or if a server does not know the user."""
        names = ("KRB5PRINCIPAL", "KRB5KEYTAB", "KRB5_CONFIG", "KRB5CCNAME")
        principal, keytab, krb5_conf, cache = (os.environ.get(name) or None for name in names)
        credentials = Credentials(principal, keytab, krb5_conf, cache)
        addresses, urls = existing.addresses, login_urls(existing.addresses)

        def login() -> Login:
            return log_in(host, jdk, distribution, existing.directory, urls, credentials)

        first = login()
        if first.failed:
            url, why = next(iter(first.failed.items()))
            raise HostProblem(f"{first.user} is not let in at {url}: {why}")
        if first.away and not first.cookies and not first.open:  # Or no KDC gives a ticket for them.
            url, why = next(iter(first.away.items()))
            raise HostProblem(f"no server of the cluster lets {first.user} in: {url}: {why}")
        cookies = Cookies(first, login)
        schemes = (addresses.hdfs, addresses.yarn, addresses.jobhistory)
        access = known_access(cookies.of, first.certificates, *schemes)
        warning = ending_ticket(first, credentials, time.time())
        return cls(first.user, access, credentials, () if warning is None else (warning,), cookies)
