"""The facts that the doctor's rules judge, gathered once."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from howdah.cluster.allocation import Allocation
from howdah.cluster.state import GONE, known_clusters
from howdah.errors import HostProblem
from howdah.hadoop.configuration.plan import Plan, Quarters
from howdah.hadoop.configuration.sizing import Sizing, size_cluster
from howdah.hadoop.distribution.distribution import managed
from howdah.hadoop.distribution.jdk import Jdk, choose_jdk, find_jdks
from howdah.host import Host, operations
from howdah.host.operations import Capacity, ResolvedName, Space, Stray
from howdah.store import howdah_home

TEMPORARY = "/tmp"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """The cluster that the machine is to run. `need` is bytes of disk space in `directory`."""

    directory: str
    nodes: int
    hadoop: str
    need: int


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about one host. A HostProblem in the place of a value is the reason why the value is missing.

    `machine`, `capacity`, `space` (of the directory), `name`, `strays` and `calibration` come from
    `howdah.host.operations`. `calibration` is None if it was left out. `leftovers` are clusters that no supervisor
    looks after any more, although they were not brought down. `release` is the reason why there is no cached Hadoop, or
    None if there is one.
    """

    request: Request
    machine: Mapping[str, Any]
    capacity: Capacity
    space: Space
    name: ResolvedName
    jdk: Jdk | HostProblem
    sizing: Sizing | HostProblem
    plan: Plan | HostProblem
    release: HostProblem | None
    maven: str | None
    strays: tuple[Stray, ...]
    leftovers: tuple[str, ...]
    calibration: Mapping[str, Any] | HostProblem | None


def gather(host: Host, request: Request, allocation: Allocation, *, calibrate: bool) -> Facts:
    """Return the facts about `host`. `allocation` lays out a cluster there and releases it; nothing is started.

    Takes about a second, and three more to calibrate. Raises HostProblem when the channel is lost.
    """
    return facts_of(host, request, _or_problem(lambda: _lay_out(allocation, request)), calibrate=calibrate)


def facts_of(host: Host, request: Request, plan: Plan | HostProblem, *, calibrate: bool) -> Facts:
    """Return the facts about `host` for an existing `plan`, or for the reason why there is none."""
    capacity = operations.capacity(host)
    space = operations.space(host, request.directory)
    return Facts(
        request=request,
        machine=operations.fingerprint(host, [request.directory, TEMPORARY]),
        capacity=capacity,
        space=space,
        name=operations.resolve_name(host),
        jdk=_or_problem(lambda: choose_jdk(find_jdks(host), request.hadoop)),
        sizing=_or_problem(
            lambda: size_cluster(
                request.nodes,
                capacity.processors,
                capacity.memory,
                capacity.memory_available,
                space.free,
            )
        ),
        plan=plan,
        release=_missing_release(request.hadoop, howdah_home() / "cache"),
        maven=operations.find_command(host, "mvn"),
        strays=tuple(operations.stray_processes(host)),
        leftovers=tuple(_leftovers()),
        calibration=_or_problem(lambda: _calibrate(host, request.directory)) if calibrate else None,
    )


def _or_problem(work: Callable[[], T]) -> T | HostProblem:
    try:
        return work()
    except HostProblem as problem:
        return problem


def _lay_out(allocation: Allocation, request: Request) -> Plan:
    try:
        return allocation.acquire("doctor", request.nodes, at_home(request.directory))
    finally:
        allocation.release()


def at_home(directory: str) -> Quarters:
    """Return the quarters of a cluster on this machine with its data in `directory`."""
    return Quarters(platform.node(), directory, directory, directory, directory)


def _calibrate(host: Host, directory: str) -> Mapping[str, Any]:
    place = operations.resolve_path(host, directory)
    while place is None:
        directory = str(Path(directory).parent)
        place = operations.resolve_path(host, directory)
    return operations.calibrate(host, [place], only_disks=False)


def _missing_release(version: str, cache: Path) -> HostProblem | None:
    try:
        managed(version, cache)
    except HostProblem as problem:
        return problem
    return None


def _leftovers() -> list[str]:
    """Return the names of clusters without a supervisor that were up, or that left data behind."""
    names = []
    for cluster in known_clusters():
        manifest = cluster.read()
        unfinished = manifest is not None and manifest.state not in GONE
        if cluster.elsewhere() is None and not cluster.is_held() and (unfinished or any(cluster.path.glob("work*"))):
            names.append(cluster.name)
    return names
