"""What every Probe must do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from howdah.host import Host
from howdah.host.channel import open_local
from howdah.probe import Probe, Subject
from howdah.probe.registry import PROBES
from howdah.spec.meters import Meters, MeterSource
from tests.contract.test_host import wait_for

METERS = Meters((MeterSource("simulated", None, 1.0, None, None, None, {"idle": "90", "busy": "240"}),))
Seen = dict[str, list[dict[str, Any]]]


@pytest.fixture
def host() -> Iterator[Host]:
    host = open_local("here")
    yield host
    host.close()


@pytest.fixture(params=sorted(PROBES))
def probe(request: pytest.FixtureRequest) -> Probe:
    return PROBES[request.param](METERS)


def watch(probe: Probe, host: Host, subject: Subject) -> Seen:
    """What `probe` sees until it was asked to stop, after its second look at least."""
    seen: Seen = {}
    probe.start({"here": host}, [subject], lambda series, record: seen.setdefault(series, []).append(record))
    wait_for(lambda: seen and all(len({r.get("monotonic") for r in records[1:]}) >= 2 for records in seen.values()))
    spent = probe.stop()["here"]
    assert isinstance(spent, float)
    assert spent >= 0
    return seen


def test_a_header_comes_first_and_declares_every_column(probe: Probe, host: Host) -> None:
    for header, *points in watch(probe, host, Subject("here", os.getpid(), "test", None)).values():
        assert header["schema"] == 1
        assert {"host", "source", "interval_seconds", "kinds"} <= header.keys()
        about = {"kind", "utc", "monotonic", "role", "node", "pid", "container", "device", "interface"}
        for point in points:
            assert point.keys() - about <= header["kinds"][point["kind"]]["columns"].keys()


def test_time_never_goes_back_and_counters_only_grow(probe: Probe, host: Host) -> None:
    for header, *points in watch(probe, host, Subject("here", os.getpid(), "test", None)).values():
        assert [point["monotonic"] for point in points] == sorted(point["monotonic"] for point in points)
        for kind, declared in header["kinds"].items():
            counters = [name for name, column in declared["columns"].items() if column["type"] == "counter"]
            latest: dict[Any, dict[str, float]] = {}
            for point in (point for point in points if point["kind"] == kind):
                who = tuple(point.get(name) for name in ("role", "pid", "device", "interface"))
                for name in counters:
                    if name in point:
                        assert point[name] >= latest.get(who, {}).get(name, 0.0)
                latest[who] = point


def test_nothing_arrives_after_stop(probe: Probe, host: Host) -> None:
    seen = watch(probe, host, Subject("here", os.getpid(), "test", None))
    counts = {series: len(records) for series, records in seen.items()}
    time.sleep(1.2)
    assert {series: len(records) for series, records in seen.items()} == counts


def test_a_subject_that_ends_is_absent_from_then_on(probe: Probe, host: Host, tmp_path: Path) -> None:
    process = host.start(["sleep", "600"], output=str(tmp_path / "out"))
    process.signal(signal.SIGKILL)
    process.wait(10)
    seen = watch(probe, host, Subject("here", process.pid, "victim", None))
    assert not [record for records in seen.values() for record in records if record.get("role") == "victim"]


def test_a_host_that_is_lost_while_it_is_watched_does_not_stop_the_others(probe: Probe, host: Host) -> None:
    seen: Seen = {}
    other = open_local("other")
    agent = int(other.run(["sh", "-c", "echo $PPID"], timeout=5).stdout)
    probe.start({"other": other, "here": host}, [], lambda name, record: seen.setdefault(name, []).append(record))
    wait_for(lambda: len(seen) == 2)
    os.kill(agent, signal.SIGKILL)
    [here] = [name for name in seen if name.endswith("here")]
    before = len(seen[here])
    wait_for(lambda: len(seen[here]) > before + 1)
    assert "here" in probe.stop()
    other.close()
