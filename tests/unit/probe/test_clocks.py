"""Readings of hosts whose clocks differ."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from howdah.probe.power import PowerProbe
from howdah.probe.system import SystemProbe
from howdah.spec.meters import Meters, MeterSource


class Ended:
    def stop(self) -> Mapping[str, float]:
        return {"cpu_seconds": 0.0}


class Skewed:
    """A host whose clock is ahead, with one meter."""

    lost = None

    def __init__(self, name: str, ahead: float) -> None:
        self.name, self._ahead = name, ahead

    def call(self, operation: str, /, **_: Any) -> Any:
        assert operation == "machine.moment"
        return {"utc": time.time() + self._ahead, "monotonic": time.monotonic()}

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /, **_: Any) -> Ended:
        header = {
            "source": "x", "domain": "node", "side": "ac", "reading": "instant", "interval_seconds": 1.0,
            "accuracy": None, "resolution": 1.0, "clock": "host", "offset_error": 0.0, "quality": "measured",
        }  # fmt: skip
        sink({"meter": "ipmi", "header": header})
        sink({"meter": "ipmi", "utc": time.time() + self._ahead, "monotonic": 1.0, "watts": 200.0})
        sink({"begun": True})
        return Ended()


@pytest.mark.promise("Readings of hosts whose clocks differ have one time", "how-to/energy")
def test_readings_have_the_time_of_this_machine() -> None:
    seen: dict[str, list[dict[str, Any]]] = {}
    probe = PowerProbe(Meters((MeterSource("ipmi", None, 1.0, None, None, None, {}),)))
    hosts: Any = {name: Skewed(name, ahead) for name, ahead in (("a", 0.0), ("b", 7.0))}
    probe.start(hosts, [], lambda name, record: seen.setdefault(name, []).append(record))
    assert probe.stop() == {"a": 0.0, "b": 0.0}
    assert sorted(seen) == ["power-ipmi@a", "power-ipmi@b"]
    for header, point in seen.values():
        assert abs(point["utc"] - time.time()) < 1
        assert header["meter"]["clock"] == "here"
        assert 0 <= header["meter"]["offset_error"] < 1
    assert [header["meter"]["covers"] for header, _ in seen.values()] == [["a"], ["b"]]


class Accounting(Skewed):
    """A host whose Slurm has a new value only some time after it was wanted."""

    def __init__(self, seconds: float) -> None:
        super().__init__("a", 0.0)
        self._seconds = seconds

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /, **_: Any) -> Ended:
        def value(joules: float) -> None:
            sink({"meter": "slurm", "utc": time.time(), "monotonic": 1.0, "joules": joules})

        header = {
            "source": "x", "domain": "node", "side": "dc", "reading": "counter", "interval_seconds": 1.0,
            "accuracy": None, "resolution": 1.0, "clock": "host", "offset_error": 1.0, "quality": "measured",
        }  # fmt: skip
        sink({"meter": "slurm", "header": header})
        value(500.0)
        sink({"begun": True})
        self.later = threading.Timer(self._seconds, value, (900.0,))
        self.later.start()
        return Ended()


@pytest.mark.promise("The run as a whole has an energy, from the first reading to the last", "how-to/energy")
@pytest.mark.parametrize(("whole", "values"), [(True, [500.0, 900.0]), (False, [500.0])])
def test_a_whole_run_waits_for_the_last_value_of_slurm(whole: bool, values: list[float]) -> None:
    seen: list[dict[str, Any]] = []
    host: Any = Accounting(0.6)
    probe = PowerProbe(Meters((MeterSource("slurm", None, 1.0, None, None, None, {}),)))
    probe.start({"a": host}, [], lambda _, record: seen.append(record))
    probe.stop(whole=whole)
    assert [one["joules"] for one in seen if "joules" in one] == values
    host.later.join()


class Unaccounted(Skewed):
    """A host whose Slurm counts no energy."""

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /, **_: Any) -> Ended:
        sink({"absent": "slurm", "why": "it has no energy of nodes"})
        sink({"begun": True})
        return Ended()


def test_nobody_waits_for_a_meter_that_is_absent() -> None:
    host: Any = Unaccounted("a", 0.0)
    probe = PowerProbe(Meters((MeterSource("slurm", None, 30.0, None, None, None, {}),)))
    probe.start({"a": host}, [], lambda *_: None)
    begun = time.monotonic()
    probe.stop(whole=True)
    assert time.monotonic() - begun < 20
    assert probe.absent == ("slurm on a: it has no energy of nodes",)


class Sampled(Skewed):
    """The same, with a sampler."""

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /, **_: Any) -> Ended:
        assert operation == "sampler.run"
        sink({"schema": 1, "host": self.name})
        sink({"kind": "machine", "utc": time.time() + self._ahead, "monotonic": 1.0})
        return Ended()


@pytest.mark.promise("Series of hosts whose clocks differ have one time", "reference/run-directory")
def test_series_have_the_time_of_this_machine() -> None:
    seen: dict[str, list[dict[str, Any]]] = {}
    probe = SystemProbe()
    hosts: Any = {name: Sampled(name, ahead) for name, ahead in (("a", 0.0), ("b", 7.0))}
    probe.start(hosts, [], lambda name, record: seen.setdefault(name, []).append(record))
    assert probe.stop() == {"a": 0.0, "b": 0.0}
    for name, (header, point) in seen.items():
        assert abs(point["utc"] - time.time()) < 1
        assert header["clock"]["corrected"] is (name == "b")
        assert abs(header["clock"]["ahead"] - (7.0 if name == "b" else 0.0)) < 0.5
