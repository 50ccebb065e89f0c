from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address

import pytest

from howdah.cluster.allocation.holding import MOST_NODES
from howdah.cluster.allocation.ports import FIRST_PORT, LAST_PORT, STEP
from howdah.cluster.exposure import exposed, wildcard_ports
from howdah.hadoop.configuration.plan import JOBS, Plan, ports_needed
from tests.plans import plan_of


def fixed_ports(plan: Plan) -> list[int]:
    return [port for place in plan.places for port in place.ports.values()]


@pytest.mark.parametrize("nodes", [1, 3, 20])
def test_every_port_is_given_once_and_all_are_used(nodes: int) -> None:
    one = plan_of(nodes)
    ranges = [range(first, last + 1) for first, last in (one.application_ports, one.application_web_ports)]
    ports = [*fixed_ports(one), *ranges[0], *ranges[1]]
    assert sorted(ports) == list(range(20000, 20000 + ports_needed(nodes)))
    assert [len(one) for one in ranges] == [2 * JOBS, JOBS], "clients and tasks; the web"


def test_places_and_daemons() -> None:
    one = plan_of(2)
    assert [(role.name, place.name) for role, place in one.daemons()] == [
        ("namenode", "master"), ("resourcemanager", "master"), ("historyserver", "master"),
        ("datanode", "node1"), ("nodemanager", "node1"), ("datanode", "node2"), ("nodemanager", "node2"),
    ]  # fmt: skip
    assert len({place.directory for place in one.places}) == 3
    assert all(ip_address(place.address).is_loopback for place in one.places)
    assert one.endpoints["namenode_rpc"] == "127.77.0.1:20000"


def test_the_largest_cluster_fits_between_two_blocks() -> None:
    assert ports_needed(MOST_NODES) <= STEP
    assert (LAST_PORT - FIRST_PORT) // STEP <= 255, "a block's number is a byte of its addresses"


def test_what_listens_beyond_loopback_is_of_the_plan() -> None:
    one = plan_of(2)
    ranges = wildcard_ports(one)
    assert {name for name in ranges if name.startswith("shuffle")} == {"shuffle of node1", "shuffle of node2"}
    assert ranges["shuffle of node2"] == (one.nodes[1].ports["shuffle"],) * 2
    assert len(exposed(one)) == len(ranges) == 4
    assert any(f"{one.application_ports[0]}-{one.application_ports[1]}" in line for line in exposed(one))


def test_without_hdfs_there_are_no_daemons_of_it_and_own_files_are_apart() -> None:
    one = replace(plan_of(1), storage="posix:/mnt/shared")
    assert [role.name for role, _ in one.daemons()] == ["resourcemanager", "historyserver", "nodemanager"]
    assert one.directories("h") == ("/d", "/mnt/shared/.howdah-p")


def test_with_both_the_first_is_the_default_and_hdfs_has_its_daemons() -> None:
    one = replace(plan_of(1), storage="hdfs,posix:/mnt/shared")
    assert len(one.daemons()) == 5
    assert one.directories("h") == ("/d",)
