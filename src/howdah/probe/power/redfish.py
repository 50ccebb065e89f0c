"""A BMC that speaks Redfish: the present power of its chassis, and its energy counter if it has one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urljoin

from howdah.model.meter import POWER, SERIES, Meter, Reading, Side, encode_meter
from howdah.probe import Sink
from howdah.probe.power.web import NoAnswer, ask
from howdah.spec.meters import Source

_JOULES = 3.6e6
"""Joules of a kilowatt-hour."""
_LEAST = 1.0
"""Least number of seconds between two looks at a BMC."""


class Redfish:
    """A BMC that a thread asks at its interval. The first resource with a reading is kept: `EnvironmentMetrics` of a
    chassis before the older `Power`."""

    def __init__(self, source: Source, sink: Sink, absent: Callable[[str], None]) -> None:
        self._source, self._sink, self._absent = source, sink, absent
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._token: str | None = None
        self._session: str | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        try:
            self._log_in()
            self._watch(*self._find())
        except (NoAnswer, OSError, UnicodeDecodeError) as why:  # No answer, or no password in the file.
            self._absent(f"{self._source.name}: {why}")
        finally:
            self._log_out()

    def _watch(self, place: str, said: Mapping[str, Any]) -> None:
        meters = {one.name: (one, read) for one, read in self._meters(place, said)}
        for label, (meter, _) in meters.items():
            self._sink(SERIES + label, encode_meter(meter))
        begun, tick = time.monotonic(), 0
        interval = max(_LEAST, self._source.interval)
        while True:
            ended = self._ended.is_set()
            sent = time.time()
            try:
                said = self._get(place)
                fault = None
            except NoAnswer as why:
                fault = str(why)
            utc, monotonic = (sent + time.time()) / 2, time.monotonic()
            for label, (meter, read) in meters.items():
                value = None if fault else read(said)
                point = {"fault": fault or "no reading, or 0"} if not value else {meter.column: value}
                self._sink(SERIES + label, {"kind": POWER, "role": POWER, "utc": utc, "monotonic": monotonic, **point})
            if ended:
                break
            tick = max(tick + 1, int((time.monotonic() - begun) / interval))
            self._ended.wait(begun + tick * interval - time.monotonic())

    def _meters(
        self, place: str, said: Mapping[str, Any]
    ) -> Iterator[tuple[Meter, Callable[[Mapping[str, Any]], float | None]]]:
        def meter(name: str, reading: Reading, resolution: float) -> Meter:
            source = self._source
            side = cast("Side", source.settings.get("side", "ac"))
            place_words = f"redfish {place}"
            # By our clock, in the middle of question and answer; but the BMC may have read it some time earlier.
            return Meter(
                *(name, place_words, "node", side, reading, source.interval, source.accuracy, resolution),
                clock="here",
                offset_error=None,
                covers=source.covers or (),
                quality="measured",
            )

        name = self._source.name or "redfish"
        if watts_of(said):
            yield meter(name, "instant", 1.0), watts_of
        if energy_of(said):
            yield meter(f"{name}-energy", "counter", 1e-3 * _JOULES), energy_of

    def _find(self) -> tuple[str, Mapping[str, Any]]:
        """Return the resource with a reading, and its content now. Raises NoAnswer."""
        looked = []
        for chassis in _links(self._get("/redfish/v1/Chassis"), "Members"):
            told = self._get(chassis)
            for key in ("EnvironmentMetrics", "Power"):
                place = told.get(key, {}).get("@odata.id")
                if place is None:
                    continue
                said = self._get(place)
                looked.append(place)
                if watts_of(said) or energy_of(said):
                    return place, said
        raise NoAnswer(f"no chassis has a reading of power, in {', '.join(looked) or 'no place'}")

    def _get(self, path: str) -> Mapping[str, Any]:
        headers = {} if self._token is None else {"X-Auth-Token": self._token}
        verify = self._source.settings.get("verify", "yes") == "yes"
        said, _ = ask(urljoin(self._source.settings["url"], path), headers=headers, verify=verify)
        if not isinstance(said, dict):
            raise NoAnswer(f"{path} is no resource of Redfish")
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
            raise NoAnswer(f"{place} gave no token")

    def _log_out(self) -> None:
        """Log out. A BMC has few sessions: an open session is missing to others until it expires."""
        if self._session is None:
            return
        verify = self._source.settings.get("verify", "yes") == "yes"
        try:
            place = urljoin(self._source.settings["url"], self._session)
            ask(place, headers={"X-Auth-Token": self._token or ""}, verify=verify, method="DELETE")
        except NoAnswer:
            return


def watts_of(said: Mapping[str, Any]) -> float | None:
    """Return the power in watts in EnvironmentMetrics or Power; None if neither has a reading above 0."""
    found = said.get("PowerWatts")
    if isinstance(found, dict):
        return _positive(found.get("Reading"))
    controls = said.get("PowerControl")
    if isinstance(controls, list) and controls and isinstance(controls[0], dict):
        return _positive(controls[0].get("PowerConsumedWatts"))
    return None


def energy_of(said: Mapping[str, Any]) -> float | None:
    """Return the energy counter of EnvironmentMetrics in joules; None if there is none."""
    found = said.get("EnergykWh")
    kilowatt_hours = _positive(found.get("Reading")) if isinstance(found, dict) else None
    return None if kilowatt_hours is None else kilowatt_hours * _JOULES


def _positive(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _links(said: Mapping[str, Any], key: str) -> list[str]:
    members = said.get(key, [])
    return [one["@odata.id"] for one in members if isinstance(one, dict) and "@odata.id" in one]
