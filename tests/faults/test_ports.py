"""Ports that others have."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.allocation.here import local
from howdah.cluster.request import Links
from howdah.errors import HostProblem
from howdah.hadoop.configuration.plan import Plan
from tests.faults.conftest import Home, eventually, one_message
from tests.plans import HOME


def ports_of(plan: Plan) -> set[int]:
    fixed = {port for place in plan.places for port in place.ports.values()}
    for first, last in (plan.application_ports, plan.application_web_ports):
        fixed |= set(range(first, last + 1))
    return fixed


class Crowded:
    """A host on which every port is taken."""

    name = "crowded"

    def call(self, operation: str, /, **_: Any) -> Any:
        assert operation == "network.free_ports"
        return []

    def close(self) -> None:
        pass


def acquire() -> Plan:
    allocation = local(None, Links())
    try:
        return allocation.acquire("ports", 2, HOME)
    finally:
        allocation.release()


@pytest.mark.promise("A block with a port that is taken is skipped", "reference/ports")
@pytest.mark.parametrize("which", ["first", "last"])
@pytest.mark.parametrize("address", ["0.0.0.0", "127.0.0.1", "masters"])
def test_a_block_with_one_port_taken_is_passed_over(which: str, address: str) -> None:
    before = acquire()
    port = min(ports_of(before)) if which == "first" else max(ports_of(before))
    with socket.create_server((before.masters.address if address == "masters" else address, port)):
        after = acquire()
    assert port not in ports_of(after)
    assert before.masters.address != after.masters.address


def test_no_block_of_free_ports() -> None:
    allocation = local(None, Links(), lambda _: Crowded())  # type: ignore[arg-type,return-value]
    with pytest.raises(HostProblem) as caught:
        allocation.acquire("ports", 3, HOME)
    allocation.release()
    assert re.search(r"no block of \d+ free ports between 20000 and 32000", str(caught.value))
    assert "howdah status" in str(caught.value)


@pytest.mark.daemons
@pytest.mark.parametrize("web", ["namenode_web", "nodemanager_web"])
def test_a_port_that_is_taken_between_the_check_and_the_start(home: Home, web: str) -> None:
    up = home.begin("up", "--name", "race")
    manifest = home.path / "clusters/race/cluster.json"
    eventually(manifest.exists, 120, "the ports are chosen", begun=up)
    plan = json.loads(manifest.read_text())["plan"]
    place = plan["masters"] if web == "namenode_web" else plan["nodes"][0]
    with socket.create_server((place["address"], place["ports"][web])):
        ended = up.end()
    assert ended.code == 1, ended.said
    message = one_message(ended)
    assert f"{web.removesuffix('_web')} of {place['name']} ended with code" in message
    assert f"Port in use: {place['address']}:{place['ports'][web]}" in message
    log = next(word for word in message.split() if word.endswith((".log:", ".log"))).rstrip(":")
    assert "java.net.BindException" in Path(log).read_text()
