"""The logs of a cluster's daemons: on this machine, or on its hosts while the cluster is up."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howdah.cluster.allocation import close_hosts, open_hosts
from howdah.cluster.state import ClusterDirectory
from howdah.errors import HostProblem
from howdah.hadoop.configuration.plan import Plan
from howdah.host import Host, operations

_KEEP_SECONDS = 60.0
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


class LogKeeper:
    """A thread that copies the logs of running daemons to this machine, as long as the process lives. It serves
    clusters whose hosts may be taken away at any moment."""

    def __init__(self, plan: Plan, hosts: Mapping[str, Host], directory: Path, every: float = _KEEP_SECONDS) -> None:
        """`directory` is where the copies go on this machine; the logs themselves are on `hosts`."""
        self._hosts = hosts
        self._logs = {(place.host, plan.log_of(role, place)): 0 for role, place in plan.daemons()}
        self._directory = directory
        self._every = every
        threading.Thread(target=self._run, daemon=True).start()

    def collect(self) -> None:
        """Append the new part of each log to its copy. Copies stay unchanged if the host does not answer."""
        for (host, path), offset in self._logs.items():
            kept = self._directory / Path(path).name
            if str(kept) == path:
                continue
            with suppress(HostProblem, OSError):  # It was lost, has no log yet, or there is no room here.
                new = operations.read_file(self._hosts[host], path, offset=offset)
                kept.touch(mode=0o600)
                with kept.open("ab") as copy:
                    copy.write(new)
                self._logs[host, path] = offset + len(new)

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
