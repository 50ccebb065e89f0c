"""Bounds of a session, and what a reader must know of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.live.network import Ways
from howdah.cluster.live.parts import Parts
from howdah.engine.run.bounds import Bounds
from howdah.model.sample import Moment

WAYS = Ways({("a", "b"): 100e6, ("b", "a"): 110e6, ("a", "c"): 105e6, ("c", "a"): 12e6, ("b", "c"): 11e6})


def test_a_host_may_do_with_the_network_what_it_reached_with_any_other() -> None:
    cluster = cast(LiveCluster, SimpleNamespace(client=SimpleNamespace(name="here"), parts=Parts()))
    measured = {"bound_cpu_cores": 2.0, "places": []}
    found = Bounds({"a": measured, "c": measured}, WAYS).samples(cluster, Moment(1.0, 1.0))
    assert {(one.host, one.role, one.value) for one in found if one.metric == "bound_network"} == {
        ("a", "machine", 110e6),
        ("c", "machine", 105e6),
    }
    # Every way is kept, too.
    ways = {(one.host, one.role): one.value for one in found if one.metric == "network_way"}
    assert ways == {(source, f"to {target}"): rate for (source, target), rate in WAYS.rates.items()}
    assert not [one for one in Bounds({"a": measured}).samples(cluster, Moment(1.0, 1.0)) if "network" in one.metric]


def test_slow_ways_are_named_and_no_others() -> None:
    (text,) = Bounds({}, WAYS).caveats()
    assert text == "the network is slow: b to c 11.0 MB/s, c to a 12.0 MB/s; the median here is 110 MB/s"
    # Between three hosts, most ways are those of the slow one.
    rates = {(one, other): 10e6 if "c" in (one, other) else 110e6 for one in "abc" for other in "abc" if one != other}
    (text,) = Bounds({}, Ways(rates)).caveats()
    assert text == "the network of some hosts is slow: c 10.0 MB/s; the median here is 110 MB/s"
    assert Bounds({}).caveats() == []
    assert Bounds({}, problem="b: no route").caveats() == ["what the network brings is not known: b: no route"]


@pytest.mark.promise(
    "A host whose disk is much slower than those of the others is named", "explanation/reading-the-report"
)
def test_a_slow_disk_of_one_host_is_named() -> None:
    def machine(read: float, write: float) -> dict[str, object]:
        good = {"disks": ["sda"], "bound_disk_read": 210e6, "bound_disk_write": 150e6}
        return {"places": [good, {"disks": ["sdb"], "bound_disk_read": read, "bound_disk_write": write}]}

    machines = {"a": machine(200e6, 150e6), "b": machine(90e6, 140e6), "c": machine(190e6, 100e6)}
    (text,) = Bounds(machines).caveats()
    assert text == "a disk of some hosts is slow when it is read: b 90.0 MB/s; the median here is 190 MB/s"
    del machines["a"]
    assert Bounds(machines).caveats() == [], "of two hosts, either may be the unusual one"
    assert Bounds({host: {"places": []} for host in "abc"}).caveats() == []
