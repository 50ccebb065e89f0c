"""The end of a batch job, seen from the cluster in it: how long the hosts are left to it, and when it must go."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from howdah.errors import HostProblem, HostsTaken
from howdah.host import Host
from howdah.store import howdah_home

WARNED_SECONDS = 600.0
"""How long before the end a warning is given."""
_LOOK_SECONDS = 30.0
_COARSE_SECONDS = 180.0
_LEAST_STOP = 30.0
"""A cluster is ended so long before its hosts are taken away, or earlier where ending took longer before."""
_USUAL = {"start": 60.0, "stop": 15.0}
_REMEMBERED = 5
_RATES, _USUAL_RATE = "rates", 20e6
_COPY_STARTS = 30.0
"""A copy of little takes so long: a job of Hadoop, and the comparison at its end."""
_COPY_TELLS = 10**9
"""A copy of so many bytes tells a rate."""
_COPY_MARGIN = 1.5


class Walltime:
    """Asks from time to time how many seconds are left, from a thread of its own, as long as the process lives."""

    def __init__(self, seconds_left: Callable[[], float | None]) -> None:
        """`seconds_left` may take long, and raise HostProblem."""
        self._ask = seconds_left
        self._ends: float | None = None
        threading.Thread(target=self._look, daemon=True).start()

    @property
    def left(self) -> float | None:
        """The seconds that are left now, as far as is known."""
        ends = self._ends
        return None if ends is None else ends - time.monotonic()

    def _believed(self, ends: float) -> float:
        """Some batch systems count used time in steps: an end that seems to move on by little has not."""
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
    """Whether the batch system takes the hosts away: it signals every process a while before it kills them."""

    def __init__(self, hosts: Mapping[str, Host], seconds_left: Callable[[], float | None]) -> None:
        """Watches `hosts` from now on, whose channels are open; `seconds_left` is 0 once their job has ended, and may
        raise HostProblem."""
        self._hosts = frozenset(hosts)
        self._told: set[str] = set()
        self._alone: set[str] = set()
        self.seconds_left = seconds_left
        for host in hosts.values():
            self._watch(host)

    def is_taken(self) -> bool:
        """Whether all hosts go. One that goes alone is lost, as any host may be."""
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
    """Remembers how long a cluster took to `start` or to `stop` in a batch job (or a rate)."""
    times = dict(_times())
    times[what] = [*times.get(what, []), round(seconds, 1)][-_REMEMBERED:]
    file = _file()
    fresh = file.with_suffix(".new")
    with suppress(OSError):  # It is of use, not needed.
        fresh.write_text(json.dumps(times), encoding="utf-8")
        fresh.replace(file)


def expected(what: str) -> float:
    """The seconds that it takes to `start` or to `stop` a cluster: the longest of the last times."""
    return max(_times().get(what, [_USUAL[what]]))


def remember_copy(size: int, seconds: float) -> None:
    """Remembers how long it took to copy so many bytes out of HDFS."""
    if size >= _COPY_TELLS:
        remember(_RATES, size / seconds)


def expected_copy(size: int) -> float:
    """The seconds to set aside for a copy of so many bytes out of HDFS: half as long again as at the least of the last
    rates."""
    return _COPY_STARTS + _COPY_MARGIN * size / min(_times().get(_RATES, [_USUAL_RATE]))


def needed_to_stop() -> float:
    """How many seconds before the end of a job its cluster is ended."""
    return max(_LEAST_STOP, 2 * expected("stop"))


def check_time(left: float | None, *, start: float = 0.0, run: float = 0.0) -> None:
    """Raises HostsTaken where a cluster cannot be started, which takes `start` seconds, used for `run` seconds and
    ended in the time that is left to its hosts."""
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
