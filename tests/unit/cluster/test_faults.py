from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from howdah.cluster.allocation import find_allocation
from howdah.cluster.faults import HostFault, read_fault
from howdah.errors import UsageError


def test_a_fault_of_a_daemon_or_of_a_network() -> None:
    assert read_fault({"kind": "kill", "host": "sim2", "role": "datanode"}) == HostFault("kill", "sim2", "datanode")
    assert read_fault({"kind": "slow", "host": "sim2", "rate": 10**7}) == HostFault("slow", "sim2", None, 10**7)
    asked = {"kind": "slow", "host": "sim2", "rate": 0.2, "resource": "cpus"}
    assert read_fault(asked) == HostFault("slow", "sim2", None, 0.2, "cpus")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kind": "kil"}, "there is no fault 'kil'"),
        ({"kind": "slow"}, "slow needs a rate"),
        ({"kind": "cut", "rate": 1}, "cut has no rate"),
        ({"kind": "cut", "role": "datanode"}, "cut is about a host's network, not about its datanode"),
    ],
)
def test_what_is_none(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_fault({"host": "sim2", **asked})
    assert message in caught.value.message


@pytest.mark.promise("A run while a fault of a cluster lasts is invalid", "how-to/faults")
def test_faults_that_last_and_those_that_are_undone() -> None:
    lasting: Mapping[str, str] = {}
    for fault in (
        HostFault("slow", "sim3", rate=0.2, resource="cpus"),
        HostFault("slow", "sim3", rate=10**7),
        HostFault("cut", "sim2"),
        HostFault("stop", "sim2", "datanode"),
        HostFault("stop", "sim2"),
        HostFault("kill", "sim1"),
        HostFault("disk", "sim1"),
    ):
        lasting = fault.changed(lasting)
    slow = {"processors of sim3": "slow", "network of sim3": "slow"}
    stopped = {"datanode of sim2": "stop", "daemons of sim2": "stop"}
    assert lasting == {**slow, "network of sim2": "cut", **stopped}
    lasting = HostFault("restore", "sim3").changed(lasting)
    assert lasting == {"network of sim2": "cut", **stopped}
    lasting = HostFault("join", "sim2").changed(lasting)
    assert lasting == stopped
    assert HostFault("continue", "sim2", "datanode").changed(lasting) == {"daemons of sim2": "stop"}
    assert HostFault("continue", "sim2").changed(lasting) == {}


@pytest.mark.promise("A network that is not simulated is left alone", "how-to/faults")
@pytest.mark.parametrize("allocation", ["local", "channels:2", "hosts:a,b"])
def test_a_network_that_is_not_simulated_is_left_alone(allocation: str) -> None:
    hosts = find_allocation(allocation)
    [first, *_] = hosts.names
    with pytest.raises(UsageError, match=f"the network of {first} is not simulated: cut would be yours to do"):
        hosts.disturb(HostFault("cut", first))
    with pytest.raises(UsageError, match="the cluster has no host 'sim9'"):
        hosts.check_fault(HostFault("kill", "sim9"))
