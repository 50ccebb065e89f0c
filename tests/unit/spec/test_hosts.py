from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import UsageError
from howdah.spec.hosts import ListedHost, check_network, is_on_network, parse_hosts, read_hosts

FILE = Path("hosts.yaml")
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}(-[0-9]{1,3})?(\.[a-z]{2,5}){0,2}", fullmatch=True)


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_names_are_hosts_in_their_order_whichever_way_they_are_written(names: list[str]) -> None:
    expected = tuple(map(ListedHost, names))
    assert parse_hosts("\n".join(names), FILE) == expected
    assert parse_hosts("\n\n".join(f"  {name}  # one" for name in names), FILE) == expected
    assert parse_hosts("hosts:\n" + "".join(f"- {name}\n" for name in names), FILE) == expected
    assert read_hosts(",".join(names)) == expected


def test_two_names_that_differ_after_the_first_dot_are_two_hosts() -> None:
    assert len(read_hosts("node1.lab,node1.office")) == 2


def test_details_are_of_one_host_or_of_all() -> None:
    text = """
    scratch: /scratch
    python: python3.9
    hosts:
    - ann@node1
    - {host: node2, user: bob, port: 2222, address: 10.1.0.2, scratch: /ssd}
    """
    assert parse_hosts(text, FILE) == (
        ListedHost("node1", "ann", python="python3.9", scratch="/scratch"),
        ListedHost("node2", "bob", 2222, "10.1.0.2", "python3.9", "/ssd"),
    )
    for host in parse_hosts(text, FILE):
        assert ListedHost(**host.to_json()) == host


@pytest.mark.promise("A host list with a mistake names the line and the mistake", "reference/allocations")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# nobody\n", "hosts.yaml names no host"),
        ("node1\nnode1\n", "the host node1 is there twice"),
        ("node1\nnode 2\n", "hosts.yaml, line 2: not a host: 'node 2'"),
        ("-oProxyCommand=x\n", "must be a mapping"),
        ("hosts: [node1, {host: node2, prot: 22}]\n", "hosts.yaml, line 1: unknown key 'prot' in hosts"),
        ("hosts:\n- {host: node2, port: 70000}\n", "hosts.yaml, line 2: port is '70000', which is no port"),
        ("hosts:\n- {host: node2, address: node2}\n", "line 2: address is 'node2', which is no IPv4 address"),
        ("hosts:\n- {port: 22}\n", "a host has no `host`"),
        ("scratch: ssd\nhosts: [a]\n", "line 1: scratch is 'ssd', which is no absolute path"),
        ("scratch: /ssd\n", "hosts.yaml has no `hosts`"),
        ("hosts: [a, a]\n", "the host a is there twice"),
        ("java: jdk\nhosts: [a]\n", "line 1: java is 'jdk', which is no absolute path"),
        ("network: 10.1.0.0/40\nhosts: [a]\n", "line 1: network 10.1.0.0/40: '40' is not a valid netmask"),
        ("disks: /data\nhosts: [a]\n", "line 1: disks must be a list"),
        ("hosts:\n- {host: a, disks: [data]}\n", "line 2: disks has 'data', which is no absolute path"),
        ("disks: [/d, /d]\nhosts: [a]\n", "line 1: disks has /d twice"),
        ("roles: []\nhosts: [a]\n", "line 1: roles is empty"),
        ("roles: [master]\nhosts: [a]\n", "line 1: roles has 'master'"),
        ("roles: [masters]\nhosts: [a, b]\n", "hosts.yaml: no host may have the nodes"),
        ("rack: r1\nhosts: [a]\n", "line 1: rack is 'r1', which is no rack"),
        ("hosts: [{host: a, rack: /r1}, b]\n", "racks have several depths"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_hosts(text, FILE)
    assert message in caught.value.message


@pytest.mark.parametrize("argument", ["", "a,,b", "a b", "-x", "a,/no/such/file", "./hosts", "hosts.yaml"])
def test_an_argument_that_names_no_hosts_is_refused(argument: str) -> None:
    with pytest.raises(UsageError):
        read_hosts(argument)


def test_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("node1\nnode2\n")
    assert [host.name for host in read_hosts(str(tmp_path / "mine"))] == ["node1", "node2"]


def test_lists_and_places_of_a_host() -> None:
    text = "network: ib*\nhosts: [{host: a, roles: [masters], java: /j}, {host: b, disks: [/d1, /d2], rack: /r/1}]\n"
    text = text.replace("java: /j", "java: /j, rack: /r/2")
    one, two = parse_hosts(text, FILE)
    assert (one.roles, one.java, one.network, one.disks) == (("masters",), "/j", "ib*", ())
    assert (two.roles, two.disks, two.rack) == (("masters", "nodes"), ("/d1", "/d2"), "/r/1")
    for host in (one, two):
        assert ListedHost(**json.loads(json.dumps(host.to_json()))) == host


@pytest.mark.parametrize(
    ("network", "found"),
    [("10.1.0.0/16", True), ("10.1.2.3/16", True), ("10.2.0.0/16", False), ("ib0", True), ("ib*", True), ("i", False)],
)
def test_a_network_is_a_range_or_a_pattern(network: str, found: bool) -> None:
    check_network(network)
    assert is_on_network(network, "ib0", "10.1.0.7") is found
