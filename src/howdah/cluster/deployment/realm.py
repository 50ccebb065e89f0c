"""The Kerberos realm of a cluster: a process on the masters' host, whose keys go to the places that need them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from ipaddress import ip_address

from howdah.cluster.software.installation import Installation
from howdah.cluster.state import ClusterDirectory
from howdah.errors import ClusterProblem, HostProblem
from howdah.hadoop.configuration.plan import KDC_PORT, NONE, Plan
from howdah.hadoop.configuration.roles import KDC
from howdah.hadoop.configuration.security import (
    CERTIFICATE,
    KEYS,
    KEYTABS,
    SECRET,
    TLS_FILES,
    Credentials,
    Keys,
    own_credentials,
    principals,
    realm_of,
)
from howdah.hadoop.configuration.site_realm import SiteRealm
from howdah.hadoop.distribution.jdk import check_kerberos
from howdah.hadoop.interfaces.access import OPEN, WebAccess, signed_access
from howdah.host import Host, Process, operations
from howdah.host.channel import this_host
from howdah.host.over import over
from howdah.host.user import process_user

_READY_SECONDS = 60.0
_LOG_TAIL = 1000
_POLL_SECONDS = 0.05
_READY = "ready"
_SKEW_SECONDS = 240.0
"""Seconds of clock difference that Howdah allows: a minute less than the five minutes of Kerberos."""


def access_of(plan: Plan, directory: ClusterDirectory) -> WebAccess:
    """Return how this machine reaches the web servers of a cluster. Raises HostProblem if the cluster's keys cannot be
    read."""
    if plan.security == NONE:
        return OPEN
    keys = directory.conf / KEYS
    try:
        secret, certificate = (keys / SECRET).read_bytes(), (keys / CERTIFICATE).read_text(encoding="utf-8")
    except OSError as error:
        raise HostProblem(f"the keys of the cluster {plan.name!r} cannot be read: {error}") from error
    return signed_access(secret, certificate, process_user(), realm_of(plan))


def credentials_of(plan: Plan, directory: ClusterDirectory) -> Credentials | None:
    """Return how this user's programs on this machine log in to a cluster; None if no login is needed."""
    return None if plan.security == NONE else own_credentials(plan, process_user(), str(directory.conf))


def check_can_log_in(installed: Mapping[str, Installation]) -> None:
    """Raise HostProblem if the Java of a host has no support for Kerberos."""
    for host, one in installed.items():
        hint = "Name another one for this host (`java: DIR` in the list, JAVA_HOME here), or use --insecure."
        check_kerberos(one.jdk, host, hint)


def check_clocks(hosts: Mapping[str, Host], masters: str) -> None:
    """Raise HostProblem if the clock of a host, or of this machine, is too far from that of the `masters` host. No
    ticket would be valid then."""
    ahead = {name: offset for name, (offset, _) in over(hosts, operations.clock_offset).items()}
    for name, seconds in (("this machine", 0.0), *ahead.items()):
        apart = seconds - ahead[masters]
        if abs(apart) > _SKEW_SECONDS:
            raise HostProblem(
                f"its clock is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} that of {masters}; Kerberos "
                f"allows {_SKEW_SECONDS:.0f} s",
                host=name,
                hint="Set it, or have it kept by NTP. --insecure makes a cluster without Kerberos.",
            )


def check_names(hosts: Mapping[str, Host], addresses: Mapping[str, str]) -> None:
    """Raise HostProblem if a host's name for itself means nothing there, as a NodeManager logs in only if it does; or
    if this machine does not know the name that a host has for its own address."""
    for name, found in over(hosts, operations.resolve_name).items():
        if found.error is not None:
            raise HostProblem(
                f"{found.name!r}, its name for itself, does not resolve there: {found.error}",
                host=name,
                hint='`echo "127.0.1.1 $(hostname)" >> /etc/hosts` as root there; any address will do.',
            )
    beyond = {name: address for name, address in addresses.items() if not ip_address(address).is_loopback}
    for name, words in misnamed(hosts, beyond):
        raise HostProblem(
            f"{words}; clients could not follow their jobs",
            host=name,
            hint="Give the address one name in /etc/hosts or DNS, on both machines. --insecure needs no names.",
        )


def misnamed(hosts: Mapping[str, Host], addresses: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each host whose own name for its address means something else to this machine, with a sentence about it."""

    def own_name(host: str) -> str | None:
        return operations.resolve_name(hosts[host], addresses[host]).reverse.get(addresses[host])

    with this_host() as here:
        for host, name in over({host: host for host in addresses}, own_name).items():
            found = None if name is None else operations.resolve_name(here, name)
            if found is not None and addresses[host] not in found.addresses:
                known = ", ".join(found.addresses) or found.error or "nothing"
                yield host, f"its address {addresses[host]} is {name} to itself; to this machine that name is {known}"


def realm_directory(plan: Plan) -> str:
    """Return the directory on the masters' host in which the realm finds its request and leaves its keys."""
    return f"{plan.masters.directory}/realm"


def realm_arguments(plan: Plan) -> tuple[str, ...]:
    """Return the arguments of `org.howdah.security.Realm`."""
    return (realm_directory(plan), realm_of(plan), plan.masters.address, str(plan.masters.ports[KDC_PORT]))


def make_keys(host: Host, plan: Plan, owner: str, start: Callable[[], Process], site: SiteRealm | None = None) -> Keys:
    """Start the realm on `host` by `start`, and return the keys that it makes for the cluster of `owner`. The keys are
    then nowhere else. In the realm of a `site`, it makes only those of TLS, and ends.

    Raises ClusterProblem if the realm ends, or makes no keys in time.
    """
    directory = realm_directory(plan)
    own = principals(plan, owner) if site is None else {}
    wanted = [f"principal {keytab} {name}" for keytab, names in own.items() for name in names]
    addresses = dict.fromkeys(place.address for place in plan.places)
    request = "".join(f"{line}\n" for line in (*wanted, *(f"address {address}" for address in addresses)))
    operations.make_directory(host, directory, mode=0o700)
    operations.write_file(host, f"{directory}/request", request.encode())
    _await(host, directory, start(), plan.log_of(KDC, plan.masters))
    made = (*TLS_FILES, *(KEYTABS if site is None else ()))
    files = {name: operations.read_file(host, f"{directory}/{name}") for name in made}
    operations.remove(host, directory)
    return Keys({**files, **({} if site is None else site.files), SECRET: secrets.token_hex(32).encode()}, owner)


def _await(host: Host, directory: str, realm: Process, log: str) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while _READY not in {entry.name for entry in operations.list_directory(host, directory)}:
        code = realm.poll()
        if code not in (None, 0):  # With 0, it has made what it was to make.
            said = f"the {KDC.name} ended with code {code}"
            with suppress(HostProblem):  # It may have said nothing.
                end = operations.read_file(host, log, offset=-_LOG_TAIL).decode(errors="replace")
                said += f"; the end of {log}:\n{end}"
            raise ClusterProblem(said.strip(), host=host.name)
        if time.monotonic() > deadline:
            raise ClusterProblem(f"the {KDC.name} has made no keys within {_READY_SECONDS:.0f} s", host=host.name)
        time.sleep(_POLL_SECONDS)
