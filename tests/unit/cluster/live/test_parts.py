"""The parts of simulated hosts: their bounds, and what is found when they are measured again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from howdah.cluster.live.parts import PartCheck, Parts, parts_of
from tests.plans import plan_of
from tests.unit.engine.run.clusters import FakeHost

PLAN = plan_of(3, hosts=("sim1", "sim2", "sim3"))
ALLOCATION: Mapping[str, Any] = {
    "kind": "sim",
    "payload": 95e6,
    "cpus": 0.5,
    "memory": 1 << 30,
    "disk_rate": 50_000_000,
    "devices": {
        "loop0": {"host": "sim1", "directory": "/d/1", "read": 50e6, "write": 49e6},
        "loop1": {"host": "sim2", "directory": "/d/2", "read": 50e6, "write": 50e6},
        "loop9": {"host": "sim4", "directory": "/d/9", "read": 50e6, "write": 50e6},
    },
}


def parts(
    *, payload: float = 95e6, disk: float = 49.5e6, cores: float = 0.5, lost: frozenset[str | None] = frozenset()
) -> Parts:
    """The parts of three hosts, of which `sim2` has these now."""

    def host(name: str) -> FakeHost:
        own = name == "sim2"
        return FakeHost(
            {
                "network.swallow": lambda **_: None,
                "network.payload_rate": lambda **_: payload if own else 95e6,
                "calibration.disk_rates": lambda **_: dict.fromkeys(("read", "write"), disk if own else 49.5e6),
                "machine.fingerprint": lambda **_: {
                    "control_groups": {"cpu_cores": cores if own else 0.5, "memory": 1 << 30}
                },
            },
            name=name,
        )

    hosts: Any = {name: host(name) for name in PLAN.quarters}
    return parts_of(PLAN, ALLOCATION, hosts, lambda: set(lost), dict)


def test_hosts_with_a_whole_machine_have_no_parts() -> None:
    assert parts_of(PLAN, {"kind": "local"}, {}, set, dict).card_rates == {}
    assert list(parts_of(PLAN, {"kind": "local"}, {}, set, dict).check()) == list(Parts().check()) == []


def test_a_fault_that_lasts_is_a_failed_check() -> None:
    lasting = {"processors of sim3": "slow", "network of sim2": "cut"}
    [check] = parts_of(PLAN, {"kind": "local"}, {}, set, lambda: lasting).check()
    assert (check.name, check.held) == ("disturbed", False)
    assert check.words == "a fault lasts, cut: network of sim2, slow: processors of sim3; `howdah fault` undoes it"


def test_bounds_are_of_the_hosts_that_the_cluster_has() -> None:
    found = parts()
    assert found.cores == {"sim1": 0.5, "sim2": 0.5, "sim3": 0.5}
    assert found.card_rates == {f"sim{number}/eth0": 95e6 / 8 for number in (1, 2, 3)}
    assert found.disk_rates == {"sim1/loop0": (50e6, 49e6), "sim2/loop1": (50e6, 50e6)}


def test_parts_that_hold() -> None:
    assert list(parts().check()) == [
        PartCheck("network", True, "cards brought 11.9 MB/s at first, and 11.9 MB/s now"),
        PartCheck("disks", True, "the disk that changed most did 49.0 MB/s at first, and 49.5 MB/s now"),
        PartCheck("shares", True, "of the machine, each host has cpus 0.5, memory 1073741824"),
    ]


@pytest.mark.promise("A run is invalid when simulated disks or shares are others after it", "how-to/simulate")
@pytest.mark.parametrize(
    ("change", "name"), [({"payload": 80e6}, "network"), ({"disk": 40e6}, "disks"), ({"cores": 2.0}, "shares")]
)
def test_one_host_with_another_part_is_found(change: dict[str, Any], name: str) -> None:
    assert [one.name for one in parts(**change).check() if not one.held] == [name]
    words = {one.name: one.words for one in parts(disk=40e6).check()}
    assert words["disks"] == "the disk that changed most did 50.0 MB/s at first, and 40.0 MB/s now"
    alone = parts(**change, lost=frozenset({"sim2"}))
    assert all(one.held for one in alone.check()), "it is lost"
