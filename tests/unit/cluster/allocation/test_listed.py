"""A list of hosts, without any: which address, which port, which hosts are one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from howdah.cluster.allocation.listed import ListedAllocation
from howdah.errors import HostProblem, UsageError
from howdah.hadoop.configuration.plan import Plan
from howdah.spec.hosts import ListedHost
from tests.plans import HOME


class Far:
    """A host with these addresses; `taken` are ports on which somebody listens, `walled` addresses that it does not
    reach."""

    lost: str | None = None

    def __init__(
        self,
        name: str,
        addresses: Mapping[str, str],
        *,
        boot: str | None = None,
        taken: tuple[int, ...] = (),
        walled: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.closed = False
        self._identity = {"boot": boot or name, "network": "net:[1]", "name": f"{name}.lab", "user": "ann"}
        self._addresses = addresses
        self._taken = taken
        self._walled = walled

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "network.identity":
            return {**self._identity, "addresses": self._addresses}
        if operation == "network.free_ports":
            return [port for port in arguments["ports"] if port not in self._taken]
        if operation == "network.unreachable":
            return [(address, port, "timed out") for address, port in arguments["targets"] if address in self._walled]
        assert operation == "network.listen"
        return None

    def close(self) -> None:
        self.closed = True


def acquired(*hosts: Far, addresses: Mapping[str, str] | None = None, nodes: int | None = None, **common: Any) -> Plan:
    """The plan on these hosts, all of which this machine reaches; `common` is what is written down for all."""
    listed = [ListedHost(host.name, address=(addresses or {}).get(host.name), **common) for host in hosts]
    found = {host.name: host for host in hosts}
    opened: Any = found.__getitem__
    allocation = ListedAllocation(listed, {"kind": "hosts"}, opened, lambda _: [])
    try:
        return allocation.acquire("c", nodes or len(hosts), HOME)
    finally:
        allocation.release()
        assert all(host.closed for host in hosts)


LO = {"lo": "127.0.0.1"}


def test_another_host_stands_where_those_reach_it_that_the_cluster_has_now() -> None:
    hosts = {name: Far(name, {"eth0": f"10.0.0.{number}"}) for number, name in enumerate("abcd", start=1)}
    opened: Any = hosts.__getitem__
    listed = [ListedHost(name, roles=("masters",) if name == "d" else ("masters", "nodes")) for name in hosts]
    tried: list[list[str]] = []

    def from_here(targets: Sequence[tuple[str, int]]) -> list[tuple[str, int, str]]:
        tried.append([address for address, _ in targets])
        return []

    allocation = ListedAllocation(listed, {"kind": "hosts"}, opened, from_here)
    plan = allocation.acquire("c", 1, HOME)
    assert (list(plan.quarters), allocation.names) == (["a", "b"], ("a", "b", "c", "d"))
    allocation.drop("b")  # It has left, and may come back.
    allocation.add("c")
    spot, quarters = allocation.stand("c", plan, HOME)
    assert (spot.address, quarters.root) == ("10.0.0.3", "/tmp/howdah-ann/c-c")
    assert tried[-1] == ["10.0.0.1", "10.0.0.3"]
    with pytest.raises(UsageError, match="d is listed for masters, not for nodes"):
        allocation.stand("d", plan, HOME)
    allocation.release()


def test_the_only_address_of_a_network_is_taken_and_bridges_are_none() -> None:
    one, two = Far("a", {**LO, "eth0": "10.0.0.1", "docker0": "172.17.0.1"}), Far("b", {**LO, "eth0": "10.0.0.2"})
    plan = acquired(one, two)
    assert [place.address for place in plan.places] == ["10.0.0.1", "10.0.0.1", "10.0.0.2"]
    assert plan.quarters["b"].root == "/tmp/howdah-ann/c-b"
    assert plan.quarters["b"].calls_itself == "b.lab"
    assert plan.machines == {"a": "a", "b": "b"}


def test_one_of_several_addresses_has_to_be_named() -> None:
    several = Far("a", {**LO, "eth0": "10.0.0.1", "ib0": "10.1.0.1"})
    with pytest.raises(HostProblem, match=r"\[a\] which network is it\? It has 10.0.0.1 \(eth0\), 10.1.0.1 \(ib0\)"):
        acquired(several)
    assert acquired(several, addresses={"a": "10.1.0.1"}).masters.address == "10.1.0.1"
    with pytest.raises(HostProblem, match=r"\[a\] 10.9.0.1 is none of its addresses"):
        acquired(several, addresses={"a": "10.9.0.1"})


@pytest.mark.promise("`--network` chooses the network of the daemons", "reference/allocations")
def test_a_network_chooses_among_several_addresses() -> None:
    several = Far("a", {**LO, "eth0": "10.0.0.1", "ib0": "10.1.0.1", "docker0": "172.17.0.1"})
    for network, address in (("10.1.0.0/16", "10.1.0.1"), ("eth*", "10.0.0.1"), ("docker0", "172.17.0.1")):
        assert acquired(several, network=network).masters.address == address
    assert acquired(several, network="eth0", addresses={"a": "10.1.0.1"}).masters.address == "10.1.0.1"
    with pytest.raises(HostProblem, match=r"\[a\] no address on the network 10.9.0.0/16; it has 127"):
        acquired(several, network="10.9.0.0/16")
    with pytest.raises(HostProblem, match=r"which network is it\? It has 10.0.0.1 \(eth0\), 10.1.0.1 \(ib0\)"):
        acquired(several, network="10.0.0.0/8")


def test_disks_and_java_are_of_the_cluster_on_each_host() -> None:
    plan = acquired(Far("a", {"eth0": "10.0.0.1"}), disks=("/data1", "/data2/"), scratch="/ssd", java="/opt/jdk")
    own = plan.quarters["a"]
    assert own.root == "/ssd/howdah-ann/c-a"
    assert own.disks == ("/data1/howdah-ann/c-a", "/data2/howdah-ann/c-a")
    assert plan.nodes[0].data == ("/data1/howdah-ann/c-a/node1", "/data2/howdah-ann/c-a/node1")
    assert (own.store, own.java) == ("/ssd/howdah-ann/store", "/opt/jdk")


def test_there_are_as_many_nodes_as_hosts_can_have() -> None:
    hosts = [Far(f"h{number}", {"eth0": f"10.0.0.{number}"}) for number in range(40)]
    plan = acquired(*hosts)
    assert len(plan.nodes) == 40
    assert len({node.host for node in plan.nodes}) == 40
    with pytest.raises(UsageError, match="41 nodes on 2 hosts are more than the 20 on each"):
        acquired(*hosts[:2], nodes=41)


def test_a_host_without_a_network_is_refused() -> None:
    with pytest.raises(HostProblem, match=r"\[a\] it has no address but its own"):
        acquired(Far("a", LO))


def test_names_of_one_host_are_refused() -> None:
    one, two = Far("a", {"eth0": "10.0.0.1"}, boot="x"), Far("b", {"eth0": "10.0.0.1"}, boot="x")
    with pytest.raises(UsageError, match=r"a and b are one host, which calls itself b\.lab"):
        acquired(one, two)


def test_the_first_block_that_is_free_on_every_host_is_taken() -> None:
    one, two = Far("a", {"eth0": "10.0.0.1"}, taken=(20003,)), Far("b", {"eth0": "10.0.0.2"}, taken=(20250,))
    first = acquired(one, two).masters.ports["namenode_rpc"]
    assert first % 250 == 0
    assert first >= 20500, "other clusters of this machine may have more of them"


def test_whoever_is_not_reached_is_named_with_the_port() -> None:
    one, two = Far("a", {"eth0": "10.0.0.1"}, walled=("10.0.0.2",)), Far("b", {"eth0": "10.0.0.2"})
    with pytest.raises(HostProblem) as caught:
        acquired(one, two)
    assert re.fullmatch(r"a does not reach b at 10\.0\.0\.2:\d{5} \(timed out\)", caught.value.message)
    assert "firewall" in str(caught.value.hint)
