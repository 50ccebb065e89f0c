"""The walltime of a batch job, as the cluster in the job sees it: the time left, and when the cluster must stop."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from howdah.errors import HostProblem, HostsTaken
from howdah.host import Host
from howdah.spec.jobs import format_time
from howdah.store import howdah_home

STAGE = "howdah-stage"
"""Tags of applications that copy data begin so."""
_WARNED_SECONDS = 600.0
_LOOK_SECONDS = 30.0
_COARSE_SECONDS = 180.0
_LEAST_STOP = 30.0
"""A cluster stops at least this many seconds before its hosts are taken away; earlier if stopping took longer
before."""
_USUAL = {"start": 60.0, "stop": 15.0}
_REMEMBERED = 5
_RATES, _USUAL_RATE = "rates", 20e6
_COPY_STARTS = 30.0
"""Seconds for a copy of little data: a Hadoop job, and the comparison at its end."""
_COPY_TELLS = 10**9
"""Only copies of at least this many bytes give a rate."""
_COPY_MARGIN = 1.5


class Walltime:
    """The time left to the hosts. A thread asks for it from time to time, as long as the process lives."""

    def __init__(self, seconds_left: Callable[[], float | None]) -> None:
        """`seconds_left` may be slow, and may raise HostProblem."""
        self._ask = seconds_left
        self._ends: float | None = None
        threading.Thread(target=self._look, daemon=True).start()

    @property
    def left(self) -> float | None:
        """The seconds left now; None if unknown or unlimited."""
        ends = self._ends
        return None if ends is None else ends - time.monotonic()

    def _believed(self, ends: float) -> float:
        """Return the known end if the new one is only a little later: some batch systems count used time in steps."""
        known = self._ends
        return known if known is not None and known < ends < known + _COARSE_SECONDS else ends

    def _look(self) -> None:
        while True:
            with suppress(HostProblem):  # What was known before holds, and the next answer may come.
                asked = time.monotonic()
                left = self._ask()
                self._ends = None if left is None else self._believed(asked + left)
            time.sleep(_LOOK_SECONDS)


class Endings:
    """Whether the batch system takes the hosts away. It signals every process a while before it kills the process."""

    def __init__(
        self, hosts: Mapping[str, Host], seconds_left: Callable[[], float | None], leash: Host | None = None
    ) -> None:
        """Watch `hosts`, whose channels are open. `seconds_left` is 0 once their job has ended, and may raise
        HostProblem. The agent of the `leash` ends with the job, and the agents of the hosts may not."""
        self._job_ends = threading.Event()
        if leash is not None:
            with suppress(HostProblem):
                leash.stream("process.endings", lambda _: self._job_ends.set())
        self._hosts = frozenset(hosts)
        self._told: set[str] = set()
        self._alone: set[str] = set()
        self.seconds_left = seconds_left
        for host in hosts.values():
            self._watch(host)

    def is_taken(self) -> bool:
        """Return whether all hosts are taken away. A host that goes alone counts as lost, as any host may be lost."""
        if self._job_ends.is_set():
            return True
        new = self._told - self._alone
        if not new:
            return False
        if self._told >= self._hosts:
            return True
        try:
            ended = self.seconds_left() == 0
        except HostProblem:  # The next look will tell.
            return False
        if not ended:
            self._alone |= new
        return ended

    def _watch(self, host: Host) -> None:
        with suppress(HostProblem):  # It is lost already.
            host.stream("process.endings", lambda _: self._told.add(host.name))


def remember(what: str, seconds: float) -> None:
    """Remember how long a cluster took to `start` or to `stop` in a batch job (or a rate)."""
    times = dict(_times())
    times[what] = [*times.get(what, []), round(seconds, 1)][-_REMEMBERED:]
    file = _file()
    fresh = file.with_suffix(".new")
    with suppress(OSError):  # It is of use, not needed.
        fresh.write_text(json.dumps(times), encoding="utf-8")
        fresh.replace(file)


def expected(what: str) -> float:
    """Return the expected seconds to `start` or to `stop` a cluster: the longest of the remembered times."""
    return max(_times().get(what, [_USUAL[what]]))


def remember_copy(size: int, seconds: float) -> None:
    """Remember the rate of a copy of `size` bytes out of HDFS in `seconds`, if the copy was large enough to give
    one."""
    if size >= _COPY_TELLS:
        remember(_RATES, size / seconds)


def expected_copy(size: int) -> float:
    """Return the seconds to reserve for a copy of `size` bytes out of HDFS. A copy has a fixed start, and then takes
    1.5 times the time at the lowest remembered rate."""
    return _COPY_STARTS + _COPY_MARGIN * size / min(_times().get(_RATES, [_USUAL_RATE]))


def needed_to_stop() -> float:
    """Return how many seconds before the end of a job its cluster must stop."""
    return max(_LEAST_STOP, 2 * expected("stop"))


def end_is_near(left: float | None) -> str | None:
    """Return a warning in words if less than ten minutes are `left`; None otherwise, and where no end is known."""
    if left is None or left >= _WARNED_SECONDS:
        return None
    return f"the batch system takes the hosts away in {format_time(max(0.0, left))}"


def check_time(left: float | None, *, start: float = 0.0, run: float = 0.0) -> None:
    """Raise HostsTaken if the time `left` is too short to start a cluster (`start` seconds), use it (`run` seconds) and
    stop it."""
    stop = needed_to_stop()
    if left is not None and start + run + stop > left:
        parts = [(start, "to start"), (run, "to run, as it took before"), (stop, "to stop")]
        of = ", ".join(f"{seconds:.0f} s {what}" for seconds, what in parts if seconds)
        raise HostsTaken(
            f"the batch system takes the hosts away in {left:.0f} s, and {start + run + stop:.0f} s are needed: {of}",
            hint="Ask for more time, or for less work.",
        )


def _times() -> Mapping[str, list[float]]:
    try:
        read = json.loads(_file().read_text(encoding="utf-8"))
        return {what: [float(one) for one in read[what]] for what in (*_USUAL, _RATES) if read.get(what)}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _file() -> Path:
    return howdah_home() / "clusters" / "times.json"
