"""What BMCs and Prometheus answer, and what is made of it."""

from __future__ import annotations

from typing import Any

import pytest

from howdah.probe.power.places import energy_of, watts_of
from howdah.probe.power.prometheus import samples_of, scale_of, unbroken
from howdah.probe.power.web import Unanswered


@pytest.mark.parametrize(
    ("said", "watts", "joules"),
    [
        ({"PowerWatts": {"Reading": 374}}, 374, None),
        ({"PowerWatts": {"Reading": 374}, "EnergykWh": {"Reading": 2.5}}, 374, 9e6),
        ({"PowerControl": [{"PowerConsumedWatts": 232.0, "PowerMetrics": {"AverageConsumedWatts": 319}}]}, 232, None),
        ({"PowerControl": [{"PowerConsumedWatts": None}]}, None, None),
        ({"PowerControl": []}, None, None),
        ({"PowerWatts": {"Reading": 0}}, None, None),
        # A supply's rating is no reading.
        ({"PowerSupplies": [{"LastPowerOutputWatts": None, "PowerInputWatts": 900}]}, None, None),
        ({}, None, None),
    ],
)
def test_readings_of_redfish(said: dict[str, Any], watts: float | None, joules: float | None) -> None:
    assert (watts_of(said), energy_of(said)) == (watts, joules)


def test_samples_of_prometheus() -> None:
    series = {"metric": {}, "values": [[1.0, "200"], [2.0, "NaN"], [3.0, "210.5"]]}
    assert samples_of({"data": {"result": [series]}}) == [(1.0, 200.0), (3.0, 210.5)]
    for said, why in (
        ({"data": {"result": []}}, "gives 0 series"),
        ({"data": {"result": [series, series]}}, "gives 2 series"),
        ({"status": "error"}, "none of Prometheus"),
        (None, "none of Prometheus"),
    ):
        with pytest.raises(Unanswered, match=why):
            samples_of(said)


@pytest.mark.promise("A counter that its exporter began again goes on", "how-to/energy")
def test_a_counter_that_its_exporter_began_again() -> None:
    assert unbroken([(1, 50.0), (2, 80.0), (3, 5.0), (4, 25.0)]) == [(1, 50.0), (2, 80.0), (3, 85.0), (4, 105.0)]


@pytest.mark.parametrize(
    ("query", "scale"),
    [("scaph_host_power_microwatts", 1e-6), ("node_rapl_package_joules_total", 1.0), ("x_milliwatts{a='b'}", 1e-3)],
)
def test_units_in_names(query: str, scale: float) -> None:
    assert scale_of(query) == scale
