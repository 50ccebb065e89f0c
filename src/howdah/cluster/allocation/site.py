"""Checks that a host is as its site file says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from howdah.errors import HowdahError
from howdah.hadoop.distribution.jdk import read_jdk
from howdah.host import Host, operations
from howdah.host.batch import BATCH_SYSTEMS
from howdah.host.user import process_user
from howdah.spec.hosts import is_on_network
from howdah.spec.site import Site, expand

_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Checked:
    """One statement of a site file, and its problem; None if there is no problem."""

    what: str
    problem: str | None


def check_site(site: Site, host: Host) -> tuple[Checked, ...]:
    """Check all statements of a site file about `host`."""
    return tuple(_checks(site, host))


def _checks(site: Site, host: Host) -> Iterator[Checked]:
    if site.batch is not None:
        yield Checked(f"batch: {site.batch}", _answers(site.batch))
    if site.network is not None:
        there = operations.identity(host).addresses
        found = [name for name, address in there.items() if is_on_network(site.network, name, address)]
        problem = None if len(found) == 1 else f"{len(found)} of its interfaces are on it ({', '.join(there)})"
        yield Checked(f"network: {site.network}", problem)
    job = next((number for system in BATCH_SYSTEMS.values() if (number := system.current())), None)
    for name, place in (("scratch", site.scratch), *(("disks", disk) for disk in site.disks)):
        if place is not None:
            yield Checked(f"{name}: {place}", _place(host, place, job))
    for place in site.shared:
        yield Checked(f"shared: {place}", _directory(host, place))
    if site.java is not None:
        yield Checked(f"java: {site.java}", _java(host, site.java))
    if site.python is not None:
        yield Checked(f"python: {site.python}", _python(host, site.python))
    if site.modules:
        run = host.run(("bash", "-lc", " && ".join(site.loads)), timeout=_SECONDS)
        said = run.stderr.decode(errors="replace").strip().splitlines()
        yield Checked(f"modules: {', '.join(site.modules)}", None if run.code == 0 else " ".join(said[-1:]) or "no")


def _answers(kind: str) -> str | None:
    try:
        BATCH_SYSTEMS[kind].own_jobs()
    except HowdahError as error:
        return error.message
    return None


def _place(host: Host, place: str, job: str | None) -> str | None:
    if "${JOB_ID}" in place and job is None:
        return "this is in no job; type it inside one"
    path = expand(place, process_user(), job or "")
    if not operations.is_writable(host, path):
        return f"no directory {path} that one can write to"
    return operations.exposed(host, path)


def _directory(host: Host, place: str) -> str | None:
    try:
        operations.list_directory(host, place)
    except HowdahError:
        return "there is no such directory"
    return None


def _java(host: Host, home: str) -> str | None:
    try:
        jdk = read_jdk(host, home)
    except HowdahError as error:
        return error.message
    return None if jdk is not None else "there is no Java"


def _python(host: Host, python: str) -> str | None:
    try:
        run = host.run((python, "-c", "import sys, ssl; print(sys.version_info >= (3, 8))"), timeout=_SECONDS)
    except HowdahError as error:
        return error.message
    return None if run.stdout.strip() == b"True" else "it is no Python 3.8 or newer with the module ssl"
