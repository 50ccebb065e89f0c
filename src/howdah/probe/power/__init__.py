"""Power and energy from all kinds of meters: the hosts' own meters, their BMCs, a monitoring system."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from howdah.errors import HostProblem
from howdah.host import Host, Stream, operations
from howdah.model.meter import POWER, SERIES, Meter, encode_meter
from howdah.probe import Sink, Subject
from howdah.probe.power.imported import Imported
from howdah.probe.power.prometheus import Prometheus
from howdah.probe.power.redfish import Redfish
from howdah.spec.meters import Meters, MeterSource


class Remote(Protocol):
    """Meters that this machine asks over the network."""

    def start(self) -> None:
        """Begin to ask."""

    def wait(self, seconds: float) -> None:
        """Return when a first reading was asked for, so that readings cover what begins now; after `seconds` at the
        latest."""

    def stop(self) -> None:
        """Stop, within five seconds if the other side does not answer, and within fifteen if it does."""


class Past(Protocol):
    """Meters whose readings another program has kept."""

    def collect(self, start: float, end: float) -> None:
        """Give the sink the readings between two moments."""


_REMOTE: Mapping[str, Callable[[MeterSource, Sink, Callable[[str], None]], Remote]] = {
    "redfish": Redfish,
    "prometheus": Prometheus,
    "csv": Imported,
}
_FIRST = 10.0
"""Seconds to wait for the first readings; a BMC may take some for its log-in."""
_LATE = ("slurm",)
"""Kinds whose source repeats its value until it has read the meters again."""
_LATER, _MOST_LATE = 2.0, 30.0
_OF_ALL = ("slurm",)
"""Kinds that are about all hosts of a run, though they name none."""
_PAST: Mapping[str, Callable[[MeterSource, Sink, Callable[[str], None]], Past]] = {
    "prometheus": Prometheus,
    "csv": Imported,
}


class PowerProbe:
    """See `howdah.probe.Probe`. The sink gets the series of every meter: its header first, then its readings."""

    name = "power"
    overhead = "0.14 % of a processor for four meters; docs/performance/control-plane.md has the measurement"

    def __init__(self, meters: Meters) -> None:
        self._meters = meters
        self._streams: dict[str, Stream] = {}
        self._remote: list[Remote] = []
        self._heard: list[_Heard] = []
        self._absent: list[str] = []

    @property
    def absent(self) -> Sequence[str]:
        return tuple(self._absent)

    def start(self, hosts: Mapping[str, Host], subjects: Sequence[Subject], sink: Sink) -> None:  # noqa: ARG002
        here, until = next(iter(hosts)), time.monotonic() + _FIRST
        asked: dict[str, list[MeterSource]] = {name: [] for name in hosts}
        for source in self._meters.sources:
            if missing := _unknown(source, list(hosts)) or _unreadable(source):
                self._absent.append(missing)
            elif source.kind in _REMOTE:
                self._remote.append(_REMOTE[source.kind](source, sink, self._absent.append))
            else:
                # What covers several hosts is asked by one of them, of the others each about itself.
                whole = replace(source, covers=tuple(hosts)) if source.kind in _OF_ALL else source
                for name in hosts if whole.covers is None else (here,):
                    if whole.hosts is None or name in whole.hosts:
                        asked[name].append(whole)
        for name, sources in asked.items():
            if sources:
                clock = operations.clock_offset(hosts[name])
                heard = _Heard(name, sources, len(hosts) > 1, clock, sink, self._absent)
                own = [_own(one, len(hosts)) for one in sources]
                self._streams[name] = hosts[name].stream("power.run", heard, sources=own)
                self._heard.append(heard)
        for one in self._remote:
            one.start()
        waited: list[_Heard | Remote] = [*self._heard, *self._remote]
        for each in waited:
            each.wait(max(0.0, until - time.monotonic()))

    def stop(self, *, whole: bool = False) -> Mapping[str, float | HostProblem]:
        if whole:
            now = time.time()
            for heard in self._heard:
                heard.wait_for_late(now)

        def end(stream: Stream) -> float | HostProblem:
            try:
                return float(stream.stop()["cpu_seconds"])
            except HostProblem as problem:
                return problem

        # At once: each may wait for an answer that does not come.
        with ThreadPoolExecutor(len(self._remote) + len(self._streams) or 1) as pool:
            remote = [pool.submit(one.stop) for one in self._remote]
            spent = dict(zip(self._streams, pool.map(end, self._streams.values()), strict=True))
            for one in remote:
                one.result()
        return spent


def past_meters(
    meters: Meters, hosts: Sequence[str], start: float, end: float
) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Return the series of a stretch of time from meters that keep their readings. Also return the missing ones, with
    the reason."""
    series, absent = dict[str, list[dict[str, Any]]](), list[str]()

    def sink(name: str, record: dict[str, Any]) -> None:
        series.setdefault(name, []).append(record)

    for source in meters.sources:
        if missing := _unknown(source, hosts):
            absent.append(missing)
        else:
            _PAST[source.kind](source, sink, absent.append).collect(start, end)
    return series, absent


def _unknown(source: MeterSource, hosts: Sequence[str]) -> str:
    """Return the problem with the hosts of a source; empty if there is none."""
    missing = sorted({*(source.covers or ()), *(source.hosts or ())} - set(hosts))
    name = source.name or source.kind
    return f"{name} is about hosts that are not in this run: {', '.join(missing)}" if missing else ""


def _unreadable(source: MeterSource) -> str:
    """Return the problem with the password that a host needs; empty if there is none."""
    try:
        _password(source)
    except (OSError, UnicodeDecodeError) as problem:
        return f"{source.name}: {problem}"
    return ""


def _password(source: MeterSource) -> dict[str, str]:
    file = source.settings.get("password_file")
    return {} if file is None else {"password": Path(file).read_text(encoding="utf-8").strip()}


def _own(source: MeterSource, hosts: int) -> dict[str, Any]:
    """Return what the agent needs to know of a source. It gets passwords themselves: their file is here, not there."""
    settings = {name: value for name, value in source.settings.items() if name != "password_file"}
    return {
        "kind": source.kind,
        "run_hosts": hosts,
        "interval": source.interval,
        "accuracy": source.accuracy,
        **({} if source.name is None else {"name": source.name}),
        **settings,
        **_password(source),
    }


class _Heard:
    """A receiver of records from the agent of a host, for the sink, by this machine's clock. The host's clock is ahead
    by the first value of `clock`, give or take the second. If there are several hosts, meters of a host itself are
    named after it."""

    def __init__(
        self,
        host: str,
        sources: Sequence[MeterSource],
        several: bool,
        clock: tuple[float, float],
        sink: Sink,
        absent: list[str],
    ) -> None:
        self._host, self._several, self._sink, self._absent = host, several, sink, absent
        self._ahead, self._unsure = clock
        self._begun = threading.Event()
        self._late = {source.name or source.kind: source.interval for source in sources if source.kind in _LATE}
        self._newest: dict[str, float] = {}
        self._named = {source.name or source.kind: source for source in sources if source.covers is not None}

    def wait(self, seconds: float) -> None:
        """As `Remote.wait`."""
        self._begun.wait(seconds)

    def wait_for_late(self, now: float) -> None:
        """Wait until meters that are read only now and then have a reading of `now` or later: one interval and a little
        more, but `_MOST_LATE` seconds at most. Without it, the end of a run would have no energy."""
        for meter in self._newest:
            until = time.monotonic() + min(self._late[meter] + _LATER, _MOST_LATE)
            while self._newest[meter] < now and time.monotonic() < until:
                time.sleep(0.1)

    def __call__(self, record: dict[str, Any]) -> None:
        if "begun" in record:
            self._begun.set()
            return
        if "absent" in record:
            self._absent.append(f"{record['absent']} on {self._host}: {record['why']}")
            return
        meter = record["meter"]
        source = self._named.get(meter)
        covers = None if source is None else source.covers
        name = f"{meter}@{self._host}" if self._several and covers is None else meter
        if "header" in record:
            self._newest |= {meter: 0.0} if meter in self._late else {}
            header = record["header"]
            of_clock = {"clock": "here", "offset_error": self._unsure + header["offset_error"]}
            feed = None if source is None else source.feed
            about = {**header, **of_clock, "name": name, "covers": covers or (self._host,), "feed": feed}
            self._sink(SERIES + name, encode_meter(Meter(**about)))
        else:
            reading = {key: value for key, value in record.items() if key != "meter"}
            point = {"kind": POWER, "role": POWER, **reading, "utc": reading["utc"] - self._ahead}
            if meter in self._newest and "fault" not in reading:
                self._newest[meter] = point["utc"]
            self._sink(SERIES + name, point)
