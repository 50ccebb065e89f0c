"""The logs of a cluster's daemons: on this machine, or on its hosts while the cluster is up."""

from __future__ import annotations

import codecs
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from howdah.cluster.allocation import close_hosts, open_hosts
from howdah.cluster.state import ClusterDirectory
from howdah.errors import HostProblem
from howdah.hadoop.configuration.plan import Plan
from howdah.host import Host, operations

CONTAINER_LOGS = ("syslog", "stderr", "stdout")
"""The files with the logs of a container; its other files are how YARN started it."""
_KEEP_SECONDS = 60.0
_LOOK_SECONDS = 0.5
_MOST_BYTES = 16 << 20
"""Bytes that are read from the end of a log; a daemon writes some KiB per hour."""


@dataclass(frozen=True, slots=True)
class Log:
    """The log of a daemon: a file of this machine, or of `host` in the allocation with the description `allocation`."""

    path: str
    host: str | None = None
    allocation: Mapping[str, Any] | None = None

    @property
    def place(self) -> str:
        """The place of the log, for people."""
        return self.path if self.host is None else f"{self.path} on {self.host}"

    def read(self) -> str:
        """Return the end of the log. Raises HostProblem if the log cannot be read."""
        if self.host is None or self.allocation is None:
            try:
                return Path(self.path).read_bytes()[-_MOST_BYTES:].decode(errors="replace")
            except OSError as error:
                raise HostProblem(f"{self.path} cannot be read: {error.strerror}") from error
        hosts = open_hosts(self.allocation, [self.host])
        try:
            return operations.read_file(hosts[self.host], self.path, offset=-_MOST_BYTES).decode(errors="replace")
        finally:
            close_hosts(hosts)

    def follow(self, sleep: Callable[[float], None] = time.sleep) -> Iterator[str]:
        """Yield the end of the log, then what is appended to it, until the caller stops. Raises HostProblem if the log
        cannot be read."""
        if self.host is None or self.allocation is None:
            yield from _growing(self._from, sleep)
            return
        hosts = open_hosts(self.allocation, [self.host])
        try:
            yield from _growing(partial(operations.read_file, hosts[self.host], self.path), sleep)
        finally:
            close_hosts(hosts)

    def _from(self, *, offset: int) -> bytes:
        try:
            with Path(self.path).open("rb") as file:
                file.seek(offset)
                return file.read()
        except OSError as error:
            raise HostProblem(f"{self.path} cannot be read: {error.strerror}") from error


def _growing(read: Callable[..., bytes], sleep: Callable[[float], None]) -> Iterator[str]:
    """Yield a file's end, then its new parts, as text. `read` returns its bytes from an `offset`."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    known = read(offset=0)
    seen = len(known)
    yield decoder.decode(known[-_MOST_BYTES:])
    while True:
        sleep(_LOOK_SECONDS)
        new = read(offset=seen)
        seen += len(new)
        if new:
            yield decoder.decode(new)


@dataclass(frozen=True, slots=True)
class ContainerLog:
    """A log of a container: its file name, its size, and the node that ran the container."""

    container: str
    node: str
    file: str
    size: int
    log: Log


def container_logs(directory: ClusterDirectory, application: str) -> list[ContainerLog]:
    """Return the logs of an application's containers on the nodes of a running cluster, by container; of a cluster that
    is down, those that were copied home. Raises HostProblem."""
    manifest = directory.read()
    if manifest is None or not directory.is_held():
        home = directory.logs / "containers"
        files = sorted((home / application).glob("*/*"))
        return [ContainerLog(one.parent.name, "", one.name, one.stat().st_size, Log(str(one))) for one in files]
    found = []
    hosts = open_hosts(manifest.allocation, {node.host for node in manifest.plan.nodes})
    try:
        for node in manifest.plan.nodes:
            place = f"{node.directory}/containers/{application}"
            with suppress(HostProblem):  # The node has had none.
                for name, (size, _) in operations.walk(hosts[node.host], place).items():
                    container, _, file = name.partition("/")
                    log = Log(f"{place}/{name}", node.host, manifest.allocation)
                    found.append(ContainerLog(container, node.name, file, size, log))
    finally:
        close_hosts(hosts)
    return sorted((one for one in found if one.file in CONTAINER_LOGS), key=lambda one: (one.container, one.file))


class LogKeeper:
    """A thread that copies the logs of running daemons and containers to this machine, as long as the process lives. It
    serves clusters whose hosts may be taken away at any moment."""

    def __init__(self, plan: Plan, hosts: Mapping[str, Host], directory: Path, every: float = _KEEP_SECONDS) -> None:
        """`directory` is where the copies go on this machine; the logs themselves are on `hosts`."""
        self._plan = plan
        self._hosts = hosts
        self._directory = directory
        self._copied: dict[Path, int] = {}
        self._every = every
        threading.Thread(target=self._run, daemon=True).start()

    def collect(self) -> None:
        """Append the new part of each log to its copy. Copies stay unchanged if the host does not answer."""
        for role, place in self._plan.daemons():
            path = self._plan.log_of(role, place)
            kept = self._directory / Path(path).name
            if str(kept) != path:
                with suppress(HostProblem, OSError):  # It was lost, has no log yet, or there is no room here.
                    self._append(self._hosts[place.host], path, kept)
        for node in self._plan.nodes:
            host, containers = self._hosts[node.host], f"{node.directory}/containers"
            with suppress(HostProblem, OSError):  # So too, if a container is being removed.
                for name, (size, _) in operations.walk(host, containers).items():
                    kept = self._directory / "containers" / name
                    known = self._copied.get(kept, 0)
                    if kept.name in CONTAINER_LOGS and known < size and size - known <= _MOST_BYTES:
                        self._append(host, f"{containers}/{name}", kept)

    def _append(self, host: Host, path: str, kept: Path) -> None:
        """Append the new part of a log to its copy. Raises HostProblem and OSError."""
        known = self._copied.get(kept, 0)
        new = operations.read_file(host, path, offset=known)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.touch(mode=0o600)
        with kept.open("ab") as copy:
            copy.write(new)
        self._copied[kept] = known + len(new)

    def _run(self) -> None:
        while True:
            time.sleep(self._every)
            self.collect()


def logs_of(directory: ClusterDirectory) -> Mapping[str, Log]:
    """Return the logs by the names of the daemons. Logs on the cluster's hosts are available until the cluster is
    down."""
    found = {file.stem: Log(str(file)) for file in sorted(directory.logs.glob("*.log"))}
    manifest = directory.read()
    if manifest is None or not directory.is_held():
        return found
    for role, place in manifest.plan.daemons():
        path = Path(manifest.plan.log_of(role, place))
        if path.parent != directory.logs:
            found[path.stem] = Log(str(path), place.host, manifest.allocation)
    return found
