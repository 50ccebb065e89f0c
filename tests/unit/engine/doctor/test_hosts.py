"""The doctor on several hosts: with real agents, and with hosts by hand for what this machine is not."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.allocation import find_allocation
from howdah.cluster.allocation.holding import Holding, Wait, patient
from howdah.engine.doctor import DoctorFinding, Request, check_hosts, failed
from howdah.errors import HostProblem, HostProblems
from howdah.hadoop.configuration.plan import Plan, Quarters
from howdah.host import Host
from howdah.host.channel import open_local
from tests.plans import plan_of


def request(tmp_path: Path, nodes: int = 2) -> Request:
    return Request(str(tmp_path / "work"), nodes, "3.4.2", 1000)


class Listed(Holding):
    """Two hosts on machines of their own, which are this one; `problem` is what is wrong between them."""

    is_here = False

    def __init__(self, hosts: Mapping[str, Host], problem: HostProblem | None = None) -> None:
        super().__init__(tuple(hosts), hosts.__getitem__)
        self.open(hosts)
        self._problem = problem
        self.released = False

    def acquire(self, name: str, nodes: int, home: Quarters, wait: Wait = patient) -> Plan:
        if self._problem is not None:
            raise self._problem
        return plan_of(nodes, name=name, hosts=tuple(self.hosts), root=home.root)

    def release(self) -> None:
        self.released = True

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "listed"}


class Skewed:
    """A host whose clock is wrong by `seconds`."""

    lost: str | None = None

    def __init__(self, host: Host, seconds: float) -> None:
        self.name = host.name
        self._host = host
        self._seconds = seconds

    def call(self, operation: str, /, **arguments: Any) -> Any:
        answer = self._host.call(operation, **arguments)
        if operation == "machine.moment":
            return {**answer, "utc": time.time() + self._seconds}
        return answer

    def run(self, argv: Any, **arguments: Any) -> Any:
        return self._host.run(argv, **arguments)


@pytest.fixture(scope="module")
def two() -> Any:
    hosts = {name: open_local(name) for name in ("a", "b")}
    yield hosts
    for host in hosts.values():
        host.close()


def of(findings: tuple[DoctorFinding, ...], name: str) -> list[DoctorFinding]:
    return [one for one in findings if one.name == name]


def test_hosts_on_one_machine_are_looked_at_once(tmp_path: Path) -> None:
    found = check_hosts(find_allocation("channels:2"), request(tmp_path), calibrate=False)
    assert [one.finding for one in of(found, "hosts")] == ["channel1, channel2 reach each other"]
    assert {one.host for one in found if one.name == "memory"} == {"channel1"}
    assert not of(found, "leftovers"), "a rule about this machine"


@pytest.mark.promise("`howdah doctor --on` looks at every host, and between them", "how-to/doctor")
def test_clocks_are_compared_and_the_worst_comes_first(two: dict[str, Host], tmp_path: Path) -> None:
    allocation: Any = Listed({"a": two["a"], "b": Skewed(two["b"], 7.0)})  # type: ignore[dict-item]
    found = check_hosts(allocation, request(tmp_path), calibrate=False)
    clocks = {one.host: one for one in of(found, "clock") if "from this machine" in one.finding}
    assert clocks["a"].level == "ok"
    assert clocks["b"].level == "error"
    assert clocks["b"].finding.startswith("+7.0")
    assert found[0].level == "error"
    assert failed(found)
    assert allocation.released


def test_what_is_wrong_between_hosts_is_an_error_a_line_and_the_others_are_looked_at(
    two: dict[str, Host], tmp_path: Path
) -> None:
    problem = HostProblems.of(
        [HostProblem("no Python", host="c", hint="Install it."), HostProblem("no space", host="d")]
    )
    found = check_hosts(Listed(two, problem), request(tmp_path), calibrate=False)
    assert [one.finding for one in of(found, "hosts")] == ["[c] no Python", "[d] no space"]
    assert of(found, "hosts")[0].meaning == "Install it."
    assert {one.host for one in of(found, "memory")} == {"a", "b"}


class Jumbo(Skewed):
    """A host whose loopback takes packets of another size."""

    def __init__(self, host: Host) -> None:
        super().__init__(host, 0.0)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        answer = super().call(operation, **arguments)
        if operation == "machine.fingerprint":
            return {**answer, "network": {**answer["network"], "lo": {**answer["network"]["lo"], "mtu": 9000}}}
        if operation == "network.identity":
            return {**answer, "addresses": {"lo": LOOPBACK[self.name]}}
        return answer


LOOPBACK = {"a": "127.77.0.1", "b": "127.77.0.3"}


def test_packets_of_another_size_are_named(two: dict[str, Host], tmp_path: Path) -> None:
    found = check_hosts(Listed({"a": Jumbo(two["a"]), "b": two["b"]}), request(tmp_path), calibrate=False)  # type: ignore[dict-item]
    assert not of(found, "packets"), "of b nobody knows which card it is"
    both = {"a": Jumbo(two["a"]), "b": Small(two["b"])}
    (packets,) = of(check_hosts(Listed(both), request(tmp_path), calibrate=False), "packets")  # type: ignore[arg-type]
    assert packets.level == "warning"
    assert packets.finding == "the largest packet (MTU) is 1500 bytes for lo of b; 9000 bytes for lo of a"


class Small(Jumbo):
    def call(self, operation: str, /, **arguments: Any) -> Any:
        answer = super().call(operation, **arguments)
        if operation == "machine.fingerprint":
            return {**answer, "network": {**answer["network"], "lo": {**answer["network"]["lo"], "mtu": 1500}}}
        return answer


class Named(Skewed):
    """A host whose resolver gives its address a name that nobody else knows."""

    def __init__(self, host: Host) -> None:
        super().__init__(host, 0.0)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "network.resolve" and arguments.get("name") == LOOPBACK[self.name]:
            address = LOOPBACK[self.name]
            return {"name": address, "addresses": [address], "reverse": {address: "a.invalid"}, "seconds": 0.0}
        return super().call(operation, **arguments)


@pytest.mark.promise("The doctor names a host whose name for itself this machine does not know", "how-to/doctor")
def test_a_name_that_only_the_host_knows(two: dict[str, Host], tmp_path: Path) -> None:
    found = check_hosts(Listed({"a": Named(two["a"]), "b": two["b"]}), request(tmp_path), calibrate=False)  # type: ignore[dict-item]
    [names] = [one for one in of(found, "names") if one.host == "a"]
    assert names.level == "warning"
    assert names.finding.startswith("its address 127.77.0.1 is a.invalid to itself; to this machine that name is ")
