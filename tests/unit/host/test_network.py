"""Ports and names: recorded tables, and sockets of this machine."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.host.agent import network, queueing
from howdah.host.agent.queueing import parse

TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0200007F:4E20 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000000000000000 100
   1: 0100007F:A1B2 0100007F:4E20 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0000000000000000 20
"""
TCP6 = """  sl  local_address                         remote_address                        st tx_queue rx_queue tr
   0: 00000000000000000000000000000000:59D8 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 99 1 0
   1: 0000000000000000FFFF00000200007F:59D9 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 98 1 0
"""


def test_only_listening_sockets_are_read():
    assert network.parse_sockets(TCP, "little") == [{"address": "127.0.0.2", "port": 20000, "uid": 1000, "inode": 4711}]


def test_the_jvm_listens_on_ipv6_and_means_ipv4():
    assert [entry["address"] for entry in network.parse_sockets(TCP6, "little")] == ["::", "127.0.0.2"]


def test_the_tables_are_in_the_byte_order_of_the_machine():
    assert network.parse_address("7F000002", "big") == "127.0.0.2"
    assert network.parse_address("B80D0120000000000000000001000000", "little") == "2001:db8::1"


def test_a_socket_of_this_process_is_found_and_its_port_is_not_free():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (found,) = [entry for entry in network.listening([os.getpid()]) if entry["port"] == port]
        assert found == {"address": "127.0.0.1", "port": port, "uid": os.getuid(), "pid": os.getpid()}
        assert found in network.listening()
        assert network.free_ports("127.0.0.1", [port]) == []
        assert network.free_ports("127.0.0.5", [port]) == [], "the wildcard is taken where one address is"
    assert network.free_ports("127.0.0.5", [port]) == [port]


def test_who_listens_already_listens_for_longer():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    for _ in range(2):
        network.listen("127.0.0.1", port, 30.0)
    assert network.unreachable([("127.0.0.1", port)], 2.0) == []
    network.listen("127.0.0.1", port, 0.0)
    deadline = time.monotonic() + 10
    while network.unreachable([("127.0.0.1", port)], 2.0) == []:
        assert time.monotonic() < deadline


def test_a_process_that_is_gone_listens_nowhere():
    assert network.listening([2**22 + 1]) == []


def test_an_address_of_another_machine_is_an_error():
    with pytest.raises(OSError, match=r"192\.0\.2\.1"):
        network.free_ports("192.0.2.1", [20000])


def test_names_resolve_or_say_why_not():
    here = network.resolve("localhost")
    assert "127.0.0.1" in here["addresses"] or "::1" in here["addresses"]
    assert here["seconds"] >= 0
    nowhere = network.resolve("no-such-name.invalid")
    assert nowhere["addresses"] == []
    assert nowhere["error"]
    assert network.resolve()["name"] == socket.gethostname()


def test_the_queueing_of_interfaces_is_told_and_a_rate_shows():
    found = queueing.disciplines() or {}
    assert set(found) <= {name for _, name in socket.if_nameindex()}
    assert found["lo"], "every interface that is up has one"
    slow, slower = (parse(qdisc(2, "tbf", options)) for options in (b"100 Mbit", b"10 Mbit"))
    assert slow != slower
    assert parse(qdisc(2, "fq_codel", b"counters") + qdisc(3, "mq", b"") + last()) == (
        [(2, "fq_codel"), (3, "mq")],
        True,
    )
    delay = b"\1" * 24
    seeds = [struct.pack("=HH", 12, 14) + bytes([seed]) * 8 for seed in (1, 2)]
    assert len({str(parse(qdisc(2, "netem", delay + seed))) for seed in seeds}) == 1, "the kernel draws it"
    assert parse(qdisc(2, "netem", delay)) != parse(qdisc(2, "netem", b"\2" * 24))
    with pytest.raises(OSError, match="refused"):
        parse(struct.pack("=IHHII", 20, 2, 0, 1, 0) + b"\0\0\0\0")


@given(st.binary(max_size=200))
def test_no_answer_of_the_kernel_makes_it_go_on_for_ever(answer):
    with contextlib.suppress(OSError, struct.error):
        parse(answer)


def qdisc(index, kind, options):
    """A message as the kernel's: header, tcmsg, and two attributes."""
    name = kind.encode() + b"\0"
    attributes = b"".join(
        struct.pack("=HH", 4 + len(value), number) + value + b"\0" * (-len(value) % 4)
        for number, value in ((1, name), (2, options))
    )
    body = struct.pack("=BBHiIII", 0, 0, 0, index, 0x80010000, 0xFFFFFFFF, 2) + attributes
    return struct.pack("=IHHII", 16 + len(body), 36, 2, 1, 0) + body


def last():
    return struct.pack("=IHHII", 20, 3, 2, 1, 0) + b"\0\0\0\0"
