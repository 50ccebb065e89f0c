"""Processor, memory, disks, network and Hadoop's processes, once a second, from /proc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from howdah.errors import HostProblem
from howdah.host import Host, Stream
from howdah.probe import Sink, Subject

INTERVAL_SECONDS = 1.0


class SystemProbe:
    """See `howdah.probe.Probe`. The readings are made by the agent on each host (`host/agent/sampler.py`)."""

    name = "system"
    overhead = "a few milliseconds of CPU per second and host; docs/performance.md has the measurement"

    absent: Sequence[str] = ()

    def __init__(self) -> None:
        self._streams: dict[str, Stream] = {}

    def start(self, hosts: Mapping[str, Host], subjects: Sequence[Subject], sink: Sink) -> None:
        for name, host in hosts.items():
            roots = [
                {"pid": subject.pid, "role": subject.role, "node": subject.node, "network": subject.network}
                for subject in subjects
                if subject.host == name
            ]
            self._streams[name] = host.stream(
                "sampler.run", partial(sink, name), interval=INTERVAL_SECONDS, roots=roots, host=name
            )

    def stop(self) -> Mapping[str, float | HostProblem]:
        spent: dict[str, float | HostProblem] = {}
        for name, stream in self._streams.items():
            try:
                spent[name] = stream.stop()["cpu_seconds"]
            except HostProblem as problem:
                spent[name] = problem
        return spent
