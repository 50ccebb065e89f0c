"""The software of a cluster on one of its hosts: Hadoop with Howdah's jars, a JDK, the class archive."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from howdah.cluster.ownership import refuse_exposed
from howdah.cluster.software.shipping import ship, spread_files
from howdah.errors import HostProblem
from howdah.hadoop.configuration.plan import Quarters
from howdah.hadoop.distribution.archive import ensure_archive
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk, choose_jdk, find_jdks
from howdah.host import Host, operations
from howdah.host.over import over


@dataclass(frozen=True, slots=True)
class Installation:
    """The software that daemons and containers of a host run. `archive` is None if there is none."""

    distribution: Distribution
    jdk: Jdk
    archive: str | None


def install(host: Host, distribution: Distribution, quarters: Quarters, *, here: str, archive: bool) -> Installation:
    """Send or create the parts of the software that `host` lacks; return its installation. A host with the store `here`
    sees the files of this machine.

    Raises HostProblem.
    """
    store = quarters.store
    jdk = choose_jdk(find_jdks(host, quarters.java), distribution.version)
    there = distribution
    if store != here:
        refuse_exposed(host, store)
        there = ship(host, distribution, store)
    made = ensure_archive(host, distribution, jdk, store, installed=there) if archive else None
    return Installation(there, jdk, made)


def install_all(
    hosts: Mapping[str, Host],
    distribution: Distribution,
    quarters: Mapping[str, Quarters],
    points: Mapping[str, tuple[str, int]],
    *,
    here: str,
    archive: bool,
) -> dict[str, Installation]:
    """Call `install` on every host, at once. If hosts share one store, the first of them fills it before the others
    look at it. Hosts copy files from each other at `points`. Raises HostProblem."""

    def one(host: Host) -> Installation:
        return install(host, distribution, quarters[host.name], here=here, archive=archive)

    stores = {name: quarters[name].store for name in hosts}
    first = first_with_store(hosts, stores)
    apart = {name: hosts[name] for name in hosts if first[name] == name and name in points and stores[name] != here}
    spread_files(apart, distribution, stores, points)
    leading = over({name: hosts[name] for name in hosts if first[name] == name}, one)
    following = over({name: hosts[name] for name in hosts if first[name] != name}, one)
    return {name: {**leading, **following}[name] for name in hosts}


def first_with_store(hosts: Mapping[str, Host], stores: Mapping[str, str]) -> dict[str, str]:
    """Return for every host the first host whose store is the same directory; this may be the host itself. Each host
    leaves a mark in its store and looks for the marks of the others. One path is two directories on two local disks,
    but one directory on a network file system. Raises HostProblem."""
    if len(hosts) < 2:
        return {name: name for name in hosts}
    marks = {name: f"{stores[name]}/.{secrets.token_hex(8)}" for name in hosts}

    def leave(host: Host) -> None:
        refuse_exposed(host, stores[host.name])
        operations.make_directory(host, stores[host.name])
        operations.write_file(host, marks[host.name], b"")

    over(hosts, leave)
    seen = over(hosts, lambda host: {entry.name for entry in operations.list_directory(host, stores[host.name])})
    over(hosts, lambda host: operations.remove(host, marks[host.name]))
    return {name: next(one for one in hosts if marks[one].rpartition("/")[2] in seen[name]) for name in hosts}


def check_alike(installed: Mapping[str, Installation]) -> None:
    """Raise HostProblem if hosts have JDKs of several lines: a job has one set of flags for all its tasks."""
    lines = {one.jdk.major: host for host, one in installed.items()}
    if len(lines) > 1:
        words = ", ".join(f"{line} on {host}" for line, host in sorted(lines.items()))
        raise HostProblem(f"hosts have different lines of Java: {words}", hint="Install the same line everywhere.")
