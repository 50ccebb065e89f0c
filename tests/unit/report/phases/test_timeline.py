"""The use of each host on the timeline of a job."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from howdah.report.document.blocks import Figure
from howdah.report.document.drawing import Timeline
from howdah.report.figures.picture import picture
from howdah.report.page.detail import Detail
from howdah.report.page.detail import timeline_section as section
from howdah.report.phases.series import HostSeries
from howdah.report.phases.timeline import CELLS, HOSTS, build_timeline, names_of
from howdah.store import StoredRun


def host(name: str, cores: float, start: float, received: float | None = None) -> HostSeries:
    """Readings of a host that uses so many processors, and receives so many bytes per second."""
    machine, card = [], []
    for second in range(600):
        at = {"utc": start - 60 + second}
        machine.append({**at, "kind": "machine", "cpu_user": cores * second})
        if received is not None:
            moved = {"receive_bytes": received * second, "send_bytes": 0.0}
            card.append({**at, "kind": "network", "interface": "eth0", **moved})
    return HostSeries(name, 1.0, {"machine": machine, "network": card})


def simulated(start: float, cores: dict[str, float]) -> HostSeries:
    """Readings of a machine on which hosts are simulated; each has a disk and a card."""
    points: dict[str, list[dict[str, object]]] = {"host": [], "disk": [], "network": [], "machine": []}
    for second in range(600):
        at = {"utc": start - 60 + second}
        points["machine"].append({**at, "cpu_user": 2.0 * second})
        for number, (name, used) in enumerate(cores.items(), 1):
            points["host"].append({**at, "host": name, "cpu_user": used * second})
            moved = 1e6 * number * second
            points["disk"].append({**at, "device": f"{name}/loop{number}", "read_bytes": 0.0, "write_bytes": moved})
            points["network"].append({**at, "interface": f"{name}/eth0", "receive_bytes": moved, "send_bytes": moved})
    return HostSeries("vm", 1.0, points)


def drawn(run: StoredRun, *series: HostSeries) -> Timeline:
    return build_timeline(run, Detail(run).jobs[1], series)


def begin(run: StoredRun) -> float:
    return Detail(run).jobs[1].job.submit


@pytest.mark.promise("The timeline shows the use of each host", "explanation/reading-the-report")
def test_each_host_has_a_strip_for_each_resource(single: StoredRun) -> None:
    start = begin(single)
    found = drawn(single, host("a", 0.5, start, 3e6), host("b", 1.5, start, 1e6)).strips
    assert [(one.title, one.unit) for one in found] == [
        ("processors of each host", "cores"),
        ("network of each host", "B/s"),
    ]
    processors, network = found
    assert [name for name, _ in processors.rows] == ["a", "b"]
    assert processors.peak == pytest.approx(1.5)
    assert network.peak == pytest.approx(3e6)
    for _, steps in processors.rows:
        assert 1 < len(steps) <= CELLS + 1
        assert steps[0].start == 0
    assert not drawn(single, host("a", 0.5, start)).strips, "one host: the panels have it"


def test_hosts_that_are_simulated_have_what_their_own_groups_disks_and_cards_count(single: StoredRun) -> None:
    found = drawn(single, simulated(begin(single), {"sim1": 0.25, "sim2": 0.75})).strips
    assert [one.title.partition(" ")[0] for one in found] == ["processors", "disks", "network"]
    means = {one.title.partition(" ")[0]: [steps[0].value for _, steps in one.rows] for one in found}
    assert means["processors"] == pytest.approx([0.25, 0.75])
    assert means["disks"] == pytest.approx([1e6, 2e6])
    assert means["network"] == pytest.approx([2e6, 4e6]), "received and sent"


def test_of_many_hosts_those_with_the_most_and_the_least_are_shown(single: StoredRun) -> None:
    start = begin(single)
    (found,) = drawn(single, *(host(f"h{number:02}", 0.1 + 0.01 * number, start) for number in range(50))).strips
    names = [name for name, _ in found.rows]
    assert len(names) == HOSTS
    assert names[0] == "h49"
    assert names[-1] == "h00"
    assert found.title == "processors of each host, the 12 highest and lowest of 50"


def test_the_page_draws_them_and_says_who_used_most(single: StoredRun) -> None:
    detail = Detail(single)
    vars(detail)["series"] = (host("quick", 0.5, begin(single)), host("lazy", 0.01, begin(single)))
    made = section(detail, "")
    assert made is not None
    figure = next(block for block in made.blocks if isinstance(block, Figure) and isinstance(block.drawing, Timeline)
                  and block.drawing.strips)  # fmt: skip
    assert "Mean processors: most on quick (0.50 cores), least on lazy (0.01 cores)" in figure.alternative
    for size in ("wide", "narrow"):
        svg = picture(figure, size)
        text = "".join(ElementTree.fromstring(svg).itertext())
        assert "processors of each host, darkest 0.50 cores" in text
        assert {"quick", "lazy"} <= set(re.findall("quick|lazy", text))


def test_nodes_have_the_names_of_their_hosts_where_these_tell_them_apart() -> None:
    addresses = {"10.0.0.1": "node1", "10.0.0.2": "node2", "10.0.0.3": "node3"}
    places = (("namenode", "masters", "a"), ("nodemanager", "node1", "a"), ("nodemanager", "node2", "b"))
    daemons = [{"role": role, "place": place, "host": host} for role, place, host in places]
    last = {"role": "nodemanager", "place": "node3", "host": "c"}
    cluster = {"addresses": addresses, "daemons": [*daemons, last]}
    assert names_of(cluster) == {"10.0.0.1": "a", "10.0.0.2": "b", "10.0.0.3": "c"}
    shared = {**cluster, "daemons": [*daemons, {**last, "host": "b"}]}
    assert names_of(shared) == {"10.0.0.1": "a", "10.0.0.2": "node2", "10.0.0.3": "node3"}
    one = {**cluster, "daemons": [{**daemon, "host": "a"} for daemon in (*daemons, last)]}
    assert names_of(one) == addresses
