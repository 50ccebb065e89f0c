"""What limited a phase: cards of simulated hosts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from howdah.model.sample import Moment, Sample
from howdah.report.phases.limits import find_limits
from howdah.report.phases.series import HostSeries
from howdah.store import StoredRun

RATE = 12e6
"""Bytes a second of a card."""


def with_cards(run: StoredRun, *names: str) -> StoredRun:
    bounds = [
        Sample("bound_network", RATE, "B/s", "measured", "calibration", "vm", name, "calibration", Moment(0.0, 0.0))
        for name in names
    ]
    return replace(run, samples=tuple(bounds))


def cards(run: StoredRun) -> tuple[StoredRun, HostSeries]:
    """A run with two simulated hosts, one of which sends much in the first phase."""
    phase = run.run.phases[0]
    assert phase.end is not None
    rates = {"lo": (1e9, 1e9), "eth0": (1e9, 1e9), "sim1/eth0": (1e6, 0.95 * RATE), "sim2/eth0": (3e6, 2e6)}
    points = [
        {"kind": "network", "utc": utc, "interface": card, "receive_bytes": utc * received, "send_bytes": utc * sent}
        for second in range(int(phase.end.utc - phase.start.utc) + 2)
        for utc in (phase.start.utc + second,)
        for card, (received, sent) in rates.items()
    ]
    return with_cards(run, "sim1/eth0", "sim2/eth0"), HostSeries("vm", 1.0, {"network": points})


@pytest.mark.promise("The network of simulated hosts is named as the limit of a phase", "how-to/simulate")
def test_the_busiest_way_of_the_busiest_card_is_the_limit(single: StoredRun) -> None:
    run, series = cards(single)
    found = next(one for one in find_limits(run, (series,), ()) if one.phase == run.run.phases[0].name)
    assert {load.resource for load in found.loads} == {"network"}, "nobody reads the loopback networks of the hosts"
    shares = {load.disks: load.share for load in found.loads if load.resource == "network"}
    assert shares == {"sim1/eth0": pytest.approx(0.95), "sim2/eth0": pytest.approx(0.25)}
    assert found.verdict == "network of sim1/eth0 95 % of its bound: the network limited it"


@pytest.mark.promise("Cards of simulated hosts are in the time series", "how-to/simulate")
def test_what_this_machine_carries_of_it_does_not_count_again(single: StoredRun) -> None:
    run, series = cards(single)
    start = run.run.phases[0].start.utc
    assert series.network("receive_bytes", loopback=False).rate(start, start + 2) == pytest.approx(4e6)


@pytest.mark.promise("The network between hosts is named as the limit of a phase", "explanation/reading-the-report")
def test_all_cards_of_a_host_are_held_against_what_it_reached_with_another(single: StoredRun) -> None:
    run, series = cards(single)
    points = [point for point in series.points["network"] if "/" not in point["interface"]]
    found = find_limits(with_cards(run, "machine"), (HostSeries("vm", 1.0, {"network": points}),), ())
    (load,) = next(one.loads for one in found if one.phase == run.run.phases[0].name)
    assert load.used == pytest.approx(1e9), "eth0, and not lo"
    assert (load.resource, load.exceeded) == ("network", RATE)


@pytest.mark.promise("The processors of a simulated host are named as the limit of a phase", "how-to/simulate")
def test_a_simulated_host_whose_processors_are_busy_is_named(single: StoredRun) -> None:
    phase = single.run.phases[0]
    assert phase.end is not None
    points = [
        {"kind": "host", "utc": utc, "host": name, "cpu_user": utc * used, "cpu_system": utc * 0.1}
        for second in range(int(phase.end.utc - phase.start.utc) + 2)
        for utc in (phase.start.utc + second,)
        for name, used in (("sim1", 0.1), ("sim2", 0.28))
    ]
    cores = [
        Sample("bound_cpu_cores", 0.4, "cores", "measured", "calibration", "vm", name, "calibration", Moment(0.0, 0.0))
        for name in ("sim1", "sim2")
    ]
    found = find_limits(replace(single, samples=tuple(cores)), (HostSeries("vm", 1.0, {"host": points}),), ())
    limit = next(one for one in found if one.phase == phase.name)
    assert {load.disks: load.share for load in limit.loads} == {"sim1": pytest.approx(0.5), "sim2": pytest.approx(0.95)}
    assert limit.verdict == "CPU of sim2 95 % busy: the processors limited it"


def test_without_simulated_hosts_cards_are_no_resource(single: StoredRun) -> None:
    assert not [one for limit in find_limits(single, (), ()) for one in limit.loads if one.resource == "network"]
