"""A BMC that speaks Redfish: the present power of its chassis, its energy counter, or the means that it keeps."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urljoin

from howdah.model.meter import AROUND, POWER, SERIES, Clock, Meter, Reading, Side, encode_meter
from howdah.probe import Sink
from howdah.probe.power.places import History, MeterPlace, clock_of, columns_of, find, named
from howdah.probe.power.web import Unanswered, ask
from howdah.spec.meters import MeterSource

_LEAST = 1.0
"""Least number of seconds between two looks at a BMC."""
_PATIENCE = 5.0
"""Seconds to wait for the end of a BMC's last answer."""
_OFTEN = 300.0
"""Seconds between two looks at a history. HPE's has twenty minutes."""


class Redfish:
    """A BMC that a thread asks at its interval. `place` in the settings names the resource; without it, the first one
    with a reading is kept (`howdah.probe.power.places.find`)."""

    def __init__(
        self,
        source: MeterSource,
        sink: Sink,
        absent: Callable[[str], None],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._source, self._sink, self._absent, self._sleep = source, sink, absent, sleep
        self._name = source.name or "redfish"
        self._ended = threading.Event()
        self._asked = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._token: str | None = None
        self._session: str | None = None
        self._last = _PATIENCE

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float) -> None:
        self._asked.wait(seconds)

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(self._last)

    def _run(self) -> None:
        settings = self._source.settings
        try:
            self._log_in()
            chosen = settings.get("place")
            place = find(self._get) if chosen is None else named(self._get, chosen, settings.get("metric"))
            if isinstance(place, History):
                self._collect(place)
            else:
                self._watch(place)
        except (Unanswered, OSError, UnicodeDecodeError) as why:  # No answer, or no password in the file.
            self._absent(f"{self._name}: {why}")
        finally:
            self._asked.set()
            self._log_out()

    def _watch(self, place: MeterPlace) -> None:
        # By our clock, in the middle of question and answer; but the BMC may have read it some time earlier.
        meters = {
            end: self._meter(self._name + end, place.path, reading, self._source.interval, resolution, "here", None)
            for end, reading, resolution in columns_of(place.read(self._get))
        }
        for meter in meters.values():
            self._sink(SERIES + meter.name, encode_meter(meter))
        begun, tick = time.monotonic(), 0
        interval = max(_LEAST, self._source.interval)
        while True:
            ended = self._ended.is_set()
            sent = time.time()
            said: Mapping[str, float | None] = {}
            try:
                said = place.read(self._get)
                fault = "no reading, or 0"
            except Unanswered as why:
                fault = str(why)
            utc = (sent + time.time()) / 2
            for end, meter in meters.items():
                value = said.get(end)
                self._point(meter, utc, {"fault": fault} if value is None else {meter.column: value})
            self._asked.set()
            if ended:
                break
            tick = max(tick + 1, int((time.monotonic() - begun) / interval))
            self._ended.wait(begun + tick * interval - time.monotonic())

    def _collect(self, place: History) -> None:
        """Take the means of a history, those of the run's end when they are there."""
        ahead, error = self._clock()
        meter = self._meter(self._name, place.path, "mean", place.interval, 1.0, "meter", error)
        self._last = _PATIENCE + place.interval
        self._sink(SERIES + meter.name, encode_meter(meter))
        newest = time.time() - AROUND

        def take() -> bool:
            nonlocal newest
            try:
                means = [(there - ahead, watts) for there, watts in place.means(self._get)]
            except Unanswered as why:
                self._point(meter, time.time(), {"fault": str(why)})
                return False
            for utc, watts in means:
                if utc > newest:
                    newest = utc
                    self._point(meter, utc, {meter.column: watts})
            return True

        take()
        self._asked.set()
        while not self._ended.wait(_OFTEN):
            take()
        end = time.time()
        if take() and newest < end:
            self._sleep(place.interval)  # The mean with the run's end is there by then.
            take()

    def _clock(self) -> tuple[float, float | None]:
        """Return how far the BMC's clock is ahead of ours, and the limit of the error; 0 and None if it tells no
        time."""
        sent = time.time()
        there = clock_of(self._get)
        if there is None:
            return 0.0, None
        answered = time.time()
        # It tells whole seconds: it is half a second later there, give or take as much.
        return there + 0.5 - (sent + answered) / 2, 0.5 + (answered - sent) / 2

    def _point(self, meter: Meter, utc: float, said: Mapping[str, Any]) -> None:
        monotonic = utc - time.time() + time.monotonic()
        self._sink(SERIES + meter.name, {"kind": POWER, "role": POWER, "utc": utc, "monotonic": monotonic, **said})

    def _meter(
        self,
        name: str,
        path: str,
        reading: Reading,
        interval: float,
        resolution: float,
        clock: Clock,
        offset_error: float | None,
    ) -> Meter:
        source = self._source
        return Meter(
            name=name,
            source=f"redfish {path}",
            domain="node",
            side=cast("Side", source.settings.get("side", "ac")),
            reading=reading,
            interval_seconds=interval,
            accuracy=source.accuracy,
            resolution=resolution,
            clock=clock,
            offset_error=offset_error,
            covers=source.covers or (),
            quality="measured",
        )

    def _get(self, path: str) -> Mapping[str, Any]:
        headers = {} if self._token is None else {"X-Auth-Token": self._token}
        verify = self._source.settings.get("verify", "yes") == "yes"
        said, _ = ask(urljoin(self._source.settings["url"], path), headers=headers, verify=verify)
        if not isinstance(said, dict):
            raise Unanswered(f"{path} is no resource of Redfish")
        return said

    def _log_in(self) -> None:
        settings = self._source.settings
        if "user" not in settings:
            return
        password = Path(settings["password_file"]).read_text(encoding="utf-8").strip()
        place = urljoin(settings["url"], "/redfish/v1/SessionService/Sessions")
        verify = settings.get("verify", "yes") == "yes"
        _, headers = ask(place, send={"UserName": settings["user"], "Password": password}, verify=verify)
        self._token, self._session = headers.get("x-auth-token"), headers.get("location")
        if self._token is None:
            raise Unanswered(f"{place} gave no token")

    def _log_out(self) -> None:
        """Log out. A BMC has few sessions: an open session is missing to others until it expires."""
        if self._session is None:
            return
        verify = self._source.settings.get("verify", "yes") == "yes"
        try:
            place = urljoin(self._source.settings["url"], self._session)
            ask(place, headers={"X-Auth-Token": self._token or ""}, verify=verify, method="DELETE")
        except Unanswered:
            return
