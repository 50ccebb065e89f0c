"""Processor, memory, disks, network and Hadoop's processes, once a second, from /proc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from howdah.errors import HostProblem
from howdah.host import Host, Stream, operations
from howdah.host.over import over
from howdah.probe import Sink, Subject

INTERVAL_SECONDS = 1.0


class SystemProbe:
    """See `howdah.probe.Probe`. The agent on each host makes the readings (`host/agent/sampler.py`)."""

    name = "system"
    overhead = "a few milliseconds of CPU per second and host; docs/performance.md has the measurement"

    absent: Sequence[str] = ()

    def __init__(self) -> None:
        self._streams: dict[str, Stream] = {}

    def start(self, hosts: Mapping[str, Host], subjects: Sequence[Subject], sink: Sink) -> None:
        clocks = over(hosts, operations.clock_offset)
        for name, host in hosts.items():
            roots = [
                {"pid": subject.pid, "role": subject.role, "node": subject.node, "network": subject.network}
                for subject in subjects
                if subject.host == name
            ]
            heard = _Heard(name, sink, *clocks[name])
            self._streams[name] = host.stream("sampler.run", heard, interval=INTERVAL_SECONDS, roots=roots, host=name)

    def stop(self, *, whole: bool = False) -> Mapping[str, float | HostProblem]:  # noqa: ARG002
        spent: dict[str, float | HostProblem] = {}
        for name, stream in self._streams.items():
            try:
                spent[name] = stream.stop()["cpu_seconds"]
            except HostProblem as problem:
                spent[name] = problem
        return spent


class _Heard:
    """A receiver of records from the agent of `host`, for the sink, by this machine's clock. The host's clock is
    `ahead` by so many seconds, give or take `error`. A clock that cannot be distinguished from this machine's is not
    corrected."""

    def __init__(self, host: str, sink: Sink, ahead: float, error: float) -> None:
        self._host, self._sink = host, sink
        self._clock = {"ahead": ahead, "error": error, "corrected": abs(ahead) > error}

    def __call__(self, record: dict[str, Any]) -> None:
        if "schema" in record:
            self._sink(self._host, {**record, "clock": self._clock})
        elif self._clock["corrected"]:
            self._sink(self._host, {**record, "utc": record["utc"] - self._clock["ahead"]})
        else:
            self._sink(self._host, record)
