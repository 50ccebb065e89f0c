from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.cluster.allocation.holding import MOST_NODES
from howdah.cluster.allocation.ports import FIRST_PORT, LAST_PORT, STEP
from howdah.cluster.exposure import exposed, wildcard_ports
from howdah.hadoop.configuration.cluster import configure
from howdah.hadoop.configuration.plan import JOBS, Plan, Quarters, Spot, lay_out, ports_needed, spread
from howdah.hadoop.distribution.distribution import Distribution
from tests.plans import plan_of

DISTRIBUTION = Distribution("3.4.2", Path("/hadoop"), "home", (), (), (), plugins=())


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
    first, second = (node.ports["shuffle"] for node in one.nodes)
    assert ranges["shuffle"] == [(first, first), (second, second)]
    assert f"ports {first}, {second} (shuffle), " in exposed(one)
    assert "and 2 more (shuffle), " in exposed(plan_of(6))
    assert len(ranges) == 3
    assert all(what in exposed(one) for what in ranges)
    assert f"{one.application_ports[0]}-{one.application_ports[1]}" in exposed(one)
    assert "with --secure they want a key" in exposed(one)


def test_without_hdfs_there_are_no_daemons_of_it_and_own_files_are_apart() -> None:
    one = replace(plan_of(1), storage="posix:/mnt/shared")
    assert [role.name for role, _ in one.daemons()] == ["resourcemanager", "historyserver", "nodemanager"]
    assert one.directories("h") == ("/d", "/mnt/shared/.howdah-p")


def test_with_both_the_first_is_the_default_and_hdfs_has_its_daemons() -> None:
    one = replace(plan_of(1), storage="hdfs,posix:/mnt/shared")
    assert len(one.daemons()) == 5
    assert one.directories("h") == ("/d",)


HOSTS = [f"h{number}" for number in range(5)]


@given(st.integers(1, 12), st.sets(st.sampled_from(HOSTS), min_size=1), st.sets(st.sampled_from(HOSTS), min_size=1))
def test_nodes_and_masters_are_where_they_may_be(nodes: int, some: set[str], others: set[str]) -> None:
    masters, workers = sorted(some), sorted(others)
    first, *rest = spread(HOSTS, nodes, masters, workers)
    assert first == masters[0]
    assert set(rest) <= others
    counts = [rest.count(host) for host in set(rest)]
    assert max(counts) - min(counts) <= 1
    if nodes < len(workers):
        assert first not in rest


def test_hosts_that_are_apart_have_the_same_ports() -> None:
    spots = [Spot(host, f"10.0.0.{number}") for number, host in enumerate(["a", "a", "b", "a", "b"])]
    quarters = {host: Quarters(host, f"/d-{host}", "/conf", "/logs", "/store") for host in "ab"}
    plan = lay_out("p", spots, quarters, first_port=20000, apart=True)
    one, two, three, four = (set(node.ports.values()) for node in plan.nodes)
    assert (one, three) == (two, four)
    assert not one & three
    assert max(three) == 20000 + ports_needed(2) - 1
    many = [Spot(f"h{number}", f"10.0.{number // 250}.{number % 250}") for number in range(500)]
    one_each = {spot.host: Quarters(spot.host, "/d", "/conf", "/logs", "/store") for spot in many}
    large = lay_out("p", [many[0], *many], one_each, first_port=20000, apart=True)
    assert len(large.nodes) == 500
    assert max(max(node.ports.values()) for node in large.nodes) < 20000 + STEP


@pytest.mark.promise("`disks` have the data of nodes", "reference/allocations")
def test_data_is_on_the_disks_and_nothing_else() -> None:
    quarters = {"a": Quarters("a", "/d", "/conf", "/logs", "/store", ("/data1/p", "/data2/p"))}
    plan = lay_out("p", [Spot("a", "10.0.0.1")] * 2, quarters, first_port=20000)
    (node,) = plan.nodes
    own = configure(plan, DISTRIBUTION, {}, {}).nodes["node1"]
    assert own["dfs.datanode.data.dir"] == "file:///data1/p/node1/data,file:///data2/p/node1/data"
    assert own["yarn.nodemanager.local-dirs"] == "/data1/p/node1/local,/data2/p/node1/local"
    assert own["yarn.nodemanager.log-dirs"] == "/d/node1/containers"
    assert plan.masters.disks == ()
    assert plan.directories("a") == ("/d", "/data1/p", "/data2/p")
    assert plan.data_directories("a") == ("/data1/p", "/data2/p")
    shuffled = replace(plan, shuffle="/fast")
    assert shuffled.container_files(node) == ("/fast/10.0.0.1",)


@pytest.mark.promise("Racks are told to Hadoop by address", "reference/allocations")
def test_racks_are_in_a_table_that_every_conf_directory_has() -> None:
    quarters = {host: Quarters(host, f"/d-{host}", "/conf", "/logs", "/store") for host in "ab"}
    spots = [Spot("a", "10.0.0.1", "/r1"), Spot("a", "10.0.0.1", "/r1"), Spot("b", "10.0.0.2", "/r2")]
    made = configure(lay_out("p", spots, quarters, first_port=20000), DISTRIBUTION, {}, {})
    for place in (None, "node1", "node2"):
        assert made.files(place, "")["topology.table"] == b"10.0.0.1 /r1\n10.0.0.2 /r2\n"
    assert made.common["net.topology.table.file.name"] == "${env.HADOOP_CONF_DIR}/topology.table"
    without = configure(plan_of(2), DISTRIBUTION, {}, {})
    assert "topology.table" not in without.files(None, "")
    assert not [key for key in without.common if key.startswith("net.topology")]
