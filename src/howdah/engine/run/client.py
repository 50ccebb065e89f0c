"""Running one client, which submits jobs or none, and following the client and its jobs until all have ended."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.observer import JobProgress
from howdah.errors import HostProblem
from howdah.hadoop.interfaces.application_master import ApplicationMaster, bytes_so_far
from howdah.hadoop.interfaces.http import Garbled, Rejected, Unreachable
from howdah.hadoop.interfaces.resourcemanager import Application
from howdah.host import operations
from howdah.model.sample import Moment

_INTERVAL_SECONDS = 0.5
# The master sums the counters over all tasks each time.
_COUNTERS_SECONDS = 3.0
_SETTLE_SECONDS = 5.0
_LOG_TAIL = 30000
_JAVA_NOISE = re.compile(
    r"^\s+at |^\s*\.\.\. \d+ more|^\S+ \S+ (INFO|DEBUG|WARN) "
    r"|^\t\t\S.*=-?\d+$|^\t(\S.* (Counters|Framework|Errors) ?|[\w$]+(\.[\w$]+)+)$"  # The counters of a job.
)


@dataclass(frozen=True, slots=True)
class Submission:
    """A client that has ended, well if `code` is 0, and its applications in their order.

    `said` is the end of the client's output, without log levels below ERROR, stack traces and counters.
    """

    code: int
    applications: tuple[Application, ...]
    start: Moment
    end: Moment
    client_cpu_seconds: float
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Client:
    """A program that works on the cluster. All that it submits has `tag`, which nothing else has: its `environment`
    names a configuration directory with that tag.

    `log` is its output file on the host. A client that prints `fatal` would never stop, and is killed.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    tag: str
    log: str
    fatal: str | None = None


def submit(
    cluster: LiveCluster, client: Client, *, progress: Callable[[JobProgress], None], check: Callable[[], None]
) -> Submission:
    """Run `client` to its end. `check` is called twice a second, and raises when the run must stop; then the client is
    killed."""
    start = now()
    process = cluster.client.start(client.argv, output=client.log, env=client.environment)
    follower = Follower(cluster, client.tag, start)
    try:
        while (code := process.wait(_INTERVAL_SECONDS)) is None:
            check()
            progress(follower.look())
            if client.fatal is not None and client.fatal in _tail(cluster, client.log):
                process.signal(signal.SIGKILL)
    except BaseException:
        with suppress(HostProblem):  # Where the agent is gone, too, the process is.
            process.signal(signal.SIGKILL)
        raise
    if process.cpu_seconds is None or process.ended_at is None:
        raise HostProblem("the agent that ran the client was lost, and the client with it", host=cluster.client.name)
    end = Moment(*process.ended_at)
    lines = _tail(cluster, client.log).splitlines()
    said = tuple(line for line in lines if line.strip() and not _JAVA_NOISE.match(line))
    return Submission(code, _settled(cluster, client.tag), start, end, process.cpu_seconds, said)


def _tail(cluster: LiveCluster, log: str) -> str:
    return operations.read_file(cluster.client, log, offset=-_LOG_TAIL).decode(errors="replace")


def now() -> Moment:
    """Return this moment on this machine, where the clients run."""
    return Moment(time.time(), time.monotonic())


class Follower:
    """Finds the newest application of a tag, and asks its application master for its progress."""

    def __init__(self, cluster: LiveCluster, tag: str, start: Moment) -> None:
        self._cluster = cluster
        self._tag = tag
        self._start = start
        self._master: ApplicationMaster | None = None
        self._last = JobProgress(None, None, 0.0)
        self._counted = start.monotonic

    def look(self) -> JobProgress:
        elapsed = time.monotonic() - self._start.monotonic
        try:
            job = None if self._master is None else self._master.progress()
            if job is None:  # None yet, or the next of several.
                found = self._cluster.resourcemanager.applications(tag=self._tag)
                if not found:
                    return JobProgress(None, None, elapsed)
                self._master = ApplicationMaster(self._cluster.resourcemanager, found[-1].id)
                job = self._master.progress()
            moved = self._count(self._master) if self._master is not None else None
        except (Unreachable, Rejected, Garbled):
            job = moved = None  # What is shown is a courtesy: the client's end decides how it went.
        if moved is not None:
            self._last = replace(self._last, bytes_read=moved[0], bytes_written=moved[1])
        if job is not None:  # None: it does not serve yet, or has ended a moment ago.
            reduces = job.reduces.progress if job.reduces.total else None
            self._last = replace(self._last, map=job.maps.progress, reduce=reduces)
        self._last = replace(self._last, elapsed_seconds=elapsed)
        return self._last

    def _count(self, master: ApplicationMaster) -> tuple[int, int] | None:
        if time.monotonic() - self._counted < _COUNTERS_SECONDS:
            return None
        self._counted = time.monotonic()
        return bytes_so_far(master.counters() or {})


def _settled(cluster: LiveCluster, tag: str) -> tuple[Application, ...]:
    """Return the applications of `tag` once all are finished: the client may see the end before the ResourceManager
    does."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        try:
            found = cluster.resourcemanager.applications(tag=tag)
        except Unreachable:
            return ()
        if all(one.ended for one in found) or time.monotonic() > deadline:
            return found
        time.sleep(0.1)
