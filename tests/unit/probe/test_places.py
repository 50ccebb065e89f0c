"""The places where BMCs of several vendors have their power, and the histories that they keep."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from howdah.probe.power.places import ENERGY, History, MetricReport, Sensors, Supplies, clock_of, find, named
from howdah.probe.power.redfish import Redfish
from howdah.probe.power.web import Unanswered
from howdah.spec.meters import MeterSource

ONE = "/redfish/v1/Chassis/1"
POWER, FAST, METRICS, SUBSYSTEM = f"{ONE}/Power", f"{ONE}/Power/FastPowerMeter", f"{ONE}/Metrics", f"{ONE}/Subsystem"
REPORT = "/redfish/v1/TelemetryService/MetricReports/PowerMetrics"


def link(path: str) -> dict[str, str]:
    return {"@odata.id": path}


class Bmc:
    """A tree of resources, as `Get` sees it."""

    def __init__(self, resources: Mapping[str, Mapping[str, Any]], **chassis: str) -> None:
        links = {name: link(path) for name, path in chassis.items()}
        self.resources: dict[str, Mapping[str, Any]] = {
            "/redfish/v1/Chassis": {"Members": [link(ONE)]},
            ONE: links,
            **resources,
        }

    def __call__(self, path: str) -> Mapping[str, Any]:
        if path not in self.resources:
            raise Unanswered(f"{path} answered 404")
        return self.resources[path]


def supplies(*metrics: Mapping[str, Any], absent: int = 0) -> dict[str, Mapping[str, Any]]:
    """A power subsystem, in the paths that a service may choose."""
    members = [f"{SUBSYSTEM}/PowerSupplies/{number}" for number in range(len(metrics) + absent)]
    found: dict[str, Mapping[str, Any]] = {
        SUBSYSTEM: {"PowerSupplies": link(f"{SUBSYSTEM}/PowerSupplies")},
        f"{SUBSYSTEM}/PowerSupplies": {"Members": [link(path) for path in members]},
    }
    for path, said in zip(members, [*metrics, *[None] * absent], strict=True):
        found[path] = {"Status": {"State": "Absent"}} if said is None else {"Metrics": link(f"{path}/Metrics")}
        if said is not None:
            found[f"{path}/Metrics"] = said
    return found


def test_the_preferred_place_of_each_vendor() -> None:
    hpe = {"Oem": {"Hpe": {"Links": {"FastPowerMeter": link(FAST)}}}, "PowerControl": [{"PowerConsumedWatts": 121}]}
    detail = {"PowerDetail": [{"Time": "2026-11-30T08:00:10Z", "Average": 120}]}
    assert find(Bmc({POWER: hpe, FAST: detail}, Power=POWER)) == History(FAST)
    # Without power metering, the history is empty, and the present power may be there all the same.
    assert find(Bmc({POWER: hpe, FAST: {"PowerDetail": None}}, Power=POWER)) == Sensors(POWER)
    assert find(Bmc({POWER: hpe}, Power=POWER)) == Sensors(POWER)
    environment: dict[str, Mapping[str, Any]] = {
        METRICS: {"PowerWatts": {"Reading": 200}},
        POWER: {"PowerControl": [{"PowerConsumedWatts": 9}]},
    }
    assert find(Bmc(environment, EnvironmentMetrics=METRICS, Power=POWER)) == Sensors(METRICS)
    with pytest.raises(Unanswered, match=rf"no chassis has a reading of power, in {POWER}"):
        find(Bmc({POWER: {"PowerControl": []}}, Power=POWER))
    with pytest.raises(Unanswered, match="in no place"):
        find(Bmc({}))


@pytest.mark.promise("Power supplies are added, and one without a reading leaves no sum", "how-to/energy")
def test_power_supplies_are_added() -> None:
    first = {"InputPowerWatts": {"Reading": 90.5}, "EnergykWh": {"Reading": 2}}
    second = {"InputPowerWatts": {"Reading": 80}, "EnergyJoules": {"Reading": 5e6}}
    bmc = Bmc(supplies(first, second, absent=1), PowerSubsystem=SUBSYSTEM)
    place = find(bmc)
    assert isinstance(place, Supplies)
    assert place.read(bmc) == {"": 170.5, ENERGY: 2 * 3.6e6 + 5e6}
    bmc.resources[place.metrics[1]] = {"InputPowerWatts": {"Reading": None}}
    assert place.read(bmc) == {"": None, ENERGY: None}


def test_a_report_of_the_telemetry_service() -> None:
    def values(*pairs: tuple[str, str]) -> dict[str, Any]:
        keys = {"MetricId": "SystemInputPower"}
        return {"MetricValues": [{**keys, "Timestamp": when, "MetricValue": value} for when, value in pairs]}

    bmc = Bmc({REPORT: values(("2026-11-30T08:00:05Z", "212"), ("2026-11-30T08:00:00Z", "180"))})
    place = named(bmc, REPORT, "SystemInputPower")
    assert place == MetricReport(REPORT, "SystemInputPower")
    assert place.read(bmc) == {"": 212.0}, "the newest"
    for said in (values(("2026-11-30T08:00:05Z", "0")), values(("x", "none")), values(), {}):
        bmc.resources[REPORT] = said
        assert place.read(bmc) == {"": None}
        with pytest.raises(Unanswered, match="no reading of power called SystemInputPower"):
            named(bmc, REPORT, "SystemInputPower")
    bmc.resources[REPORT] = {"PowerWatts": {"Reading": 5}}
    assert named(bmc, REPORT, None) == Sensors(REPORT)


def test_the_clock_of_a_bmc() -> None:
    managers = {"/redfish/v1/Managers": {"Members": [link("/m1"), link("/m2")]}, "/m1": {}}
    moment = datetime(2026, 11, 30, 8, 0, 5, tzinfo=UTC).timestamp()
    assert clock_of(Bmc({**managers, "/m2": {"DateTime": "2026-11-30T10:00:05+02:00"}})) == moment
    assert clock_of(Bmc({**managers, "/m2": {}})) is None
    with pytest.raises(Unanswered, match="no time with a zone"):
        clock_of(Bmc({**managers, "/m2": {"DateTime": "2026-11-30T10:00:05"}}))


class Kept:
    """A BMC of HPE: its clock is an hour ahead, and it adds a mean of 10 s when it is told to."""

    AHEAD = 3600.0

    def __init__(self) -> None:
        self.means: list[tuple[float, float]] = []
        self.asked = 0
        self.dead = False

    def answer(self, path: str) -> Mapping[str, Any] | None:
        there = datetime.fromtimestamp(time.time() + self.AHEAD, UTC).isoformat(timespec="seconds")
        resources: dict[str, Mapping[str, Any]] = {
            "/redfish/v1/Chassis": {"Members": [link(ONE)]},
            ONE: {"Power": link(POWER)},
            POWER: {"Oem": {"Hpe": {"Links": {"FastPowerMeter": link(FAST)}}}},
            "/redfish/v1/Managers": {"Members": [link("/redfish/v1/Managers/1")]},
            "/redfish/v1/Managers/1": {"DateTime": there},
            FAST: {"PowerDetail": [self._detail(utc, watts) for utc, watts in self.means]},
        }
        return resources.get(path)

    def add(self, utc: float, watts: float) -> None:
        self.means.append((utc, watts))

    def _detail(self, utc: float, watts: float) -> dict[str, Any]:
        return {"Time": datetime.fromtimestamp(utc + self.AHEAD, UTC).isoformat(), "Average": watts, "Peak": 999}


@contextmanager
def served(bmc: Kept) -> Iterator[str]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            said = None if bmc.dead else bmc.answer(self.path)
            bmc.asked += self.path == FAST
            body = json.dumps(said).encode()
            self.send_response(404 if said is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def watched(bmc: Kept, *, dies: bool) -> tuple[list[dict[str, Any]], list[str], list[float]]:
    """The records of a meter, what was absent, and the waits; the mean of the end is there after the last wait."""
    records, absent, waits = list[dict[str, Any]](), list[str](), list[float]()

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        bmc.add(time.time() + 1, 250)

    with served(bmc) as url:
        source = MeterSource("redfish", "ilo", 5.0, 0.02, None, ("h",), {"url": url})
        meter = Redfish(source, lambda _, record: records.append(record), absent.append, sleep)
        meter.start()
        deadline = time.monotonic() + 20
        while bmc.asked < 2:  # Once to find it, once to take what is there.
            assert time.monotonic() < deadline, absent
            time.sleep(0.02)
        bmc.dead = dies
        meter.stop()
    return records, absent, waits


@pytest.mark.promise("Means that a BMC of HPE keeps are read by its clock, to the run's end", "how-to/energy")
def test_a_history_is_read_to_the_end_of_the_run() -> None:
    bmc, now = Kept(), time.time()
    for number in range(120):
        bmc.add(now - 1200 + 10 * number, 100 + number)
    (header, *points), absent, waits = watched(bmc, dies=False)
    assert not absent
    about = header["meter"]
    assert (about["reading"], about["clock"], header["interval_seconds"]) == ("mean", "meter", 10)
    assert 0.5 <= about["offset_error"] < 1.5
    assert waits == [10]
    assert points[-1]["watts"] == 250
    times = [point["utc"] for point in points]
    assert times == sorted(set(times)), "each mean once"
    assert now - 151 <= times[0] < now - 130, "what was long before the run is not of it"
    assert times[-2] == pytest.approx(now - 10, abs=1.5), "by our clock"


def test_a_bmc_that_dies_holds_up_nobody() -> None:
    bmc = Kept()
    bmc.add(time.time() - 10, 100)
    (_, *points), absent, waits = watched(bmc, dies=True)
    assert not waits
    assert not absent
    assert [sorted(set(point) & {"watts", "fault"}) for point in points] == [["watts"], ["fault"]]
