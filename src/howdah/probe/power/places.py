"""The resources of a Redfish service that have readings of power: those of the standard, and of HPE and Dell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from howdah.model.meter import Reading
from howdah.probe.power.web import Unanswered

JOULES = 3.6e6
"""Joules of a kilowatt-hour."""
CHASSIS = "/redfish/v1/Chassis"
ENERGY = "-energy"
"""The end of the name of a meter that is the counter of a resource with both power and energy."""
_FAST = 10.0
"""Seconds of each mean in HPE's fast history of power."""

Get = Callable[[str], Mapping[str, Any]]
"""A function that returns the resource at a path. Raises Unanswered."""


class MeterPlace(Protocol):
    """Something that is read again and again."""

    @property
    def path(self) -> str:
        """The resource that is read, or that names what is read."""

    def read(self, get: Get) -> Mapping[str, float | None]:
        """Return the readings by the end of their meter's name: watts of "", joules of `ENERGY`. None is no reading.
        Raises Unanswered."""


@dataclass(frozen=True, slots=True)
class Sensors:
    """EnvironmentMetrics of a chassis, or the older Power."""

    path: str

    def read(self, get: Get) -> Mapping[str, float | None]:
        said = get(self.path)
        return {"": watts_of(said), ENERGY: energy_of(said)}


@dataclass(frozen=True, slots=True)
class Supplies:
    """The metrics of all power supplies of a chassis. A supply without a reading leaves no sum."""

    path: str
    metrics: tuple[str, ...]

    def read(self, get: Get) -> Mapping[str, float | None]:
        said = [get(path) for path in self.metrics]
        return {
            "": _sum([_reading(one.get("InputPowerWatts")) for one in said]),
            ENERGY: _sum([energy_of(one) for one in said]),
        }


@dataclass(frozen=True, slots=True)
class MetricReport:
    """The newest value of one metric in a report of the telemetry service, as iDRAC has them."""

    path: str
    metric: str

    def read(self, get: Get) -> Mapping[str, float | None]:
        values = get(self.path).get("MetricValues", [])
        own = [one for one in values if isinstance(one, dict) and one.get("MetricId") == self.metric]
        newest = max(own, key=lambda one: str(one.get("Timestamp", "")), default={})
        try:
            return {"": _positive(float(str(newest.get("MetricValue"))))}
        except ValueError:
            return {"": None}


@dataclass(frozen=True, slots=True)
class History:
    """Means of power that a BMC keeps: HPE's FastPowerMeter, twenty minutes of them by the clock of the BMC."""

    path: str
    interval: float = _FAST

    def means(self, get: Get) -> list[tuple[float, float]]:
        """Return the end of each interval by the BMC's clock, and its mean in watts. Raises Unanswered."""
        found = []
        for one in get(self.path).get("PowerDetail") or []:
            watts = _positive(one.get("Average"))
            if watts is not None:
                found.append((moment_of(one.get("Time")), watts))
        return sorted(found)


def find(get: Get) -> MeterPlace | History:
    """Return the first place with a reading, of all chassis: a history of means, EnvironmentMetrics, the power
    supplies, and the older Power. Raises Unanswered."""
    looked = list[str]()

    def get_or_nothing(path: str) -> Mapping[str, Any]:
        try:
            return get(path)
        except Unanswered:  # A link to nothing, or one that this user may not read: another place may do.
            return {}

    for chassis in _links(get(CHASSIS), "Members"):
        for place in _places(get_or_nothing, get(chassis)):
            looked.append(place.path)
            if _has_reading(place, get_or_nothing):
                return place
    raise Unanswered(f"no chassis has a reading of power, in {', '.join(looked) or 'no place'}")


def named(get: Get, path: str, metric: str | None) -> MeterPlace | History:
    """Return the place at a path that the user has named. Raises Unanswered if it has no reading."""
    places: tuple[MeterPlace | History, ...] = (History(path), Sensors(path))
    if metric is not None:
        places = (MetricReport(path, metric),)
    for place in places:
        if _has_reading(place, get):
            return place
    raise Unanswered(f"{path} has no reading of power" + (f" called {metric}" if metric else ""))


def _has_reading(place: MeterPlace | History, get: Get) -> bool:
    return bool(place.means(get)) if isinstance(place, History) else any(place.read(get).values())


def clock_of(get: Get) -> float | None:
    """Return the present time by the clock of the first manager, in whole seconds; None if no manager tells it. Raises
    Unanswered."""
    for manager in _links(get("/redfish/v1/Managers"), "Members"):
        said = get(manager).get("DateTime")
        if said is not None:
            return moment_of(said)
    return None


def moment_of(text: object) -> float:
    """Return a time with its zone as seconds. Raises Unanswered for other times: nobody knows when they were."""
    try:
        parsed = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        parsed = None
    if parsed is None or parsed.tzinfo is None:
        raise Unanswered(f"{text!r} is no time with a zone")
    return parsed.timestamp()


def columns_of(readings: Mapping[str, float | None]) -> Iterator[tuple[str, Reading, float]]:
    """Yield the meters of a place by its first readings: the end of the name, the kind, the step in watts or joules."""
    for end, value in readings.items():
        if value is not None:
            yield (end, "counter", 1e-3 * JOULES) if end == ENERGY else (end, "instant", 1.0)


def watts_of(said: Mapping[str, Any]) -> float | None:
    """Return the power in watts in EnvironmentMetrics or Power; None if neither has a reading above 0."""
    if isinstance(said.get("PowerWatts"), dict):
        return _reading(said["PowerWatts"])
    controls = said.get("PowerControl")
    if isinstance(controls, list) and controls and isinstance(controls[0], dict):
        return _positive(controls[0].get("PowerConsumedWatts"))
    return None


def energy_of(said: Mapping[str, Any]) -> float | None:
    """Return the energy counter of EnvironmentMetrics or of a supply in joules; None if there is none."""
    joules = _reading(said.get("EnergyJoules"))
    if joules is not None:
        return joules
    kilowatt_hours = _reading(said.get("EnergykWh"))
    return None if kilowatt_hours is None else kilowatt_hours * JOULES


def _places(get: Get, chassis: Mapping[str, Any]) -> Iterator[MeterPlace | History]:
    """Yield the places of a chassis, the preferred ones first."""
    power = _link(chassis, "Power")
    if power is not None:
        vendors = get(power).get("Oem") or {}
        own = [one["Links"] for one in vendors.values() if isinstance(one, dict) and "Links" in one]
        links: Mapping[str, Any] = own[0] if own else {}
        if (fast := _link(links, "FastPowerMeter")) is not None:
            yield History(fast)
    if (metrics := _link(chassis, "EnvironmentMetrics")) is not None:
        yield Sensors(metrics)
    if (subsystem := _link(chassis, "PowerSubsystem")) is not None:
        supplies = _link(get(subsystem), "PowerSupplies")
        members = [] if supplies is None else [get(one) for one in _links(get(supplies), "Members")]
        found = [_link(one, "Metrics") for one in members if (one.get("Status") or {}).get("State") != "Absent"]
        if found and None not in found:
            yield Supplies(subsystem, tuple(path for path in found if path is not None))
    if power is not None:
        yield Sensors(power)


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if values and len(known) == len(values) else None


def _reading(value: Any) -> float | None:
    return _positive(value.get("Reading")) if isinstance(value, dict) else None


def _positive(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _link(said: Mapping[str, Any], key: str) -> str | None:
    found = said.get(key)
    place = found.get("@odata.id") if isinstance(found, dict) else None
    return place if isinstance(place, str) else None


def _links(said: Mapping[str, Any], key: str) -> list[str]:
    members = said.get(key, [])
    return [one["@odata.id"] for one in members if isinstance(one, dict) and "@odata.id" in one]
