"""The software of a cluster on one of its hosts: Hadoop with our jars, a JDK, the class archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from howdah.cluster.ownership import refuse_exposed
from howdah.cluster.shipping import ship
from howdah.errors import HostProblem
from howdah.hadoop.distribution.archive import ensure_archive
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk, choose_jdk, find_jdks
from howdah.host import Host


@dataclass(frozen=True, slots=True)
class Installation:
    """What daemons and containers of a host run. `archive` is None where they have none."""

    distribution: Distribution
    jdk: Jdk
    archive: str | None


def install(host: Host, distribution: Distribution, store: str, *, here: str, archive: bool) -> Installation:
    """Whatever of it is missing on `host` is sent or made. A host with the store `here` sees the files of this machine.

    Raises HostProblem.
    """
    jdk = choose_jdk(find_jdks(host), distribution.version)
    there = distribution
    if store != here:
        refuse_exposed(host, store)
        there = ship(host, distribution, store)
    made = ensure_archive(host, distribution, jdk, store, installed=there) if archive else None
    return Installation(there, jdk, made)


def check_alike(installed: Mapping[str, Installation]) -> None:
    """Raises HostProblem where hosts have JDKs of several lines: a job has one set of flags for all its tasks."""
    lines = {one.jdk.major: host for host, one in installed.items()}
    if len(lines) > 1:
        words = ", ".join(f"{line} on {host}" for line, host in sorted(lines.items()))
        raise HostProblem(f"hosts have different lines of Java: {words}", hint="Install the same line everywhere.")
