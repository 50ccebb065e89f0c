"""Run directories like those of TeraSort, written through RunWriter. Every number follows from the seed."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from howdah.model.environment import Environment
from howdah.model.job import Attempt, Job, Span
from howdah.model.metric import Metric
from howdah.model.run import Caveat, Check, Outcome, Phase, Run, Trial
from howdah.model.sample import Moment, Sample
from howdah.store import RunWriter, StoredRun, read_run

ZERO = 1_770_000_000.0
BOOT = 1_769_000_000.0
HOST = "vm"
SIZE = 1_000_000_000

METRICS = (
    Metric("job_seconds", "s", "lower", "Job finish minus job submission.", "job history"),
    Metric("client_seconds", "s", "lower", "Start to end of the client's process.", "howdah"),
    Metric("client_start_seconds", "s", "lower", "Start of the client's process to job submission.", "howdah"),
    Metric("throughput", "B/s", "higher", "Bytes of the data set divided by job_seconds.", "derived"),
    Metric("cpu_seconds", "s", "lower", "Processor seconds of the cluster's processes and the client.", "/proc"),
    Metric("container_memory_seconds", "MB s", "lower", "Memory times time that YARN gave to containers.", "YARN"),
    Metric("container_vcore_seconds", "s", "lower", "Virtual cores times time that YARN gave to containers.", "YARN"),
    Metric(
        "bound_cpu_cores", "cores", "higher", "Processor seconds per second of as many spinning processes.", "howdah"
    ),
    Metric("bound_disk_write", "B/s", "higher", "Sequential write with fsync at the end.", "howdah"),
    Metric("bound_disk_read", "B/s", "higher", "Sequential read past the cache.", "howdah"),
    Metric("bound_loopback", "B/s", "higher", "One TCP stream through 127.0.0.1.", "howdah"),
)
BOUNDS = {"bound_cpu_cores": 1.97, "bound_disk_write": 472e6, "bound_disk_read": 910e6, "bound_loopback": 3.1e9}


@dataclass(frozen=True, slots=True)
class Shape:
    """How a phase looks: maps and reduces, the seconds of each of their steps, and what the host does meanwhile."""

    name: str
    kind: str
    maps: int
    map_seconds: float
    reduces: int
    reduce_seconds: tuple[float, float, float]
    busy: float
    write: float
    read: float


SHAPES = (
    Shape("gen", "prepare", 4, 6.0, 0, (0, 0, 0), 0.72, 210e6, 1e6),
    Shape("sort", "run", 8, 5.2, 3, (6.5, 1.1, 4.2), 0.96, 95e6, 12e6),
    Shape("validate", "verify", 3, 3.1, 1, (0.6, 0.1, 0.4), 0.41, 2e6, 40e6),
)


@dataclass(frozen=True, slots=True)
class Example:
    """One run to write. `speed` divides the time of the tasks; `order` is its place among the runs of the day."""

    name: str
    order: int
    outcome: Outcome = field(default_factory=lambda: Outcome("valid"))
    speed: float = 1.0
    settings: Mapping[str, Any] | None = None
    held: Mapping[str, list[str]] | None = None
    series: bool = True
    lost_attempt: bool = False
    shapes: tuple[Shape, ...] = SHAPES
    hadoop: Mapping[str, Any] | None = None
    hosts: Mapping[str, Any] | None = None
    bytes: int = SIZE
    drawn: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the data set that a generator without a seed drew."""
    workload: str = "terasort"
    caveats: tuple[Caveat, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    counters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Counters of every job with reduces, by group, beside Hadoop's own."""


def write_example(root: Path, example: Example) -> StoredRun:
    """The run directory of `example` under `root`, read back."""
    return _Writing(root, example).write()


def write_group(root: Path, name: str, count: int, *, start: int = 0, **changes: Any) -> list[StoredRun]:
    """`count` runs of one trial, `NAME-1` and so on, made one after the other from place `start`."""
    return [write_example(root, Example(f"{name}-{number + 1}", start + number, **changes)) for number in range(count)]


def wide_shape(tasks: int) -> tuple[Shape, ...]:
    """A phase with many short tasks."""
    return (Shape("scan", "run", tasks, 1.4, 4, (9.0, 0.4, 2.0), 0.9, 40e6, 200e6),)


class _Writing:
    def __init__(self, root: Path, example: Example) -> None:
        self.random = random.Random(f"{example.name} {example.order}")
        self.example = example
        self.start = ZERO + 600 * example.order
        self.run = self._opening()
        self.writer = RunWriter(root, self.run)
        self.jobs: list[tuple[str, Job]] = []

    def write(self) -> StoredRun:
        self._environment()
        phases, now = [], self.start + 3.0
        for number, shape in enumerate(self.example.shapes, 1):
            phase, now = self._phase(shape, number, now)
            phases.append(phase)
            if self.example.outcome.kind in ("failed", "aborted") and shape.kind == "run":
                phases[-1] = replace(phase, error=self.example.outcome.reason)
                break
        checks = self._checks(len(phases) == len(self.example.shapes))
        end = self._moment(now + 1)
        self.writer.save(replace(self.run, phases=tuple(phases), checks=checks, end=end, outcome=self.example.outcome))
        if self.example.held is not None:
            self.writer.readback(self.example.held)
        if self.example.series:
            self._series(now + 1, phases)
        if self.example.outcome.kind == "valid":
            self.writer.samples(self._samples(phases))
        self.writer.close()
        return read_run(self.writer.path)

    def _opening(self) -> Run:
        settings = {"size": self.example.bytes, "nodes": 3, "seed": 7, "mapreduce.task.io.sort.mb": 100}
        return Run(
            id=self.example.name,
            title={"terasort": "TeraSort"}.get(self.example.workload, self.example.workload),
            trial=Trial(self.example.workload, {**settings, **(self.example.settings or {})}),
            outcome=Outcome("running"),
            start=self._moment(self.start),
            end=None,
            howdah="0.1.0",
            command=("howdah", "run", "terasort", "--size", "1G", "--nodes", "3"),
            cluster={"name": "local-3", "nodes": 3, "hadoop": "3.4.2"},
            dataset={
                "bytes": self.example.bytes,
                "rows": self.example.bytes // 100,
                "checksum": "4c49607ac53602",
                **self.example.drawn,
            },
            primary=f"{self._primary().name}/job_seconds",
            caveats=self.example.caveats,
            metrics=METRICS,
            labels=self.example.labels,
        )

    def _primary(self) -> Shape:
        return next(shape for shape in self.example.shapes if shape.kind == "run")

    def _moment(self, utc: float) -> Moment:
        return Moment(round(utc, 3), round(utc - BOOT, 3))

    def _environment(self) -> None:
        facts = {
            "cpu": {"model": "EPYC 7B13", "processors": 2},
            "memory": {"total": 24_696_061_952},
            "kernel": "6.1.0-18-amd64",
            "java": {"version": "17.0.15", "vendor": "Debian"},
            "now": {"load1": 0.3},
        }
        hadoop = {"version": "3.4.2", "home": "/opt/hadoop-3.4.2", "jars": {"a.jar": "11aa", "b.jar": "22bb"}}
        hosts = {HOST: {**facts, **(self.example.hosts or {})}}
        reading = Environment(hosts, {**hadoop, **(self.example.hadoop or {})})
        self.writer.environment({"before": reading, "after": reading})

    def _phase(self, shape: Shape, number: int, start: float) -> tuple[Phase, float]:
        submit = start + 1.6 + self.random.uniform(0, 0.3)
        job = self._job(shape, f"job_1770000000_{self.example.order:02d}{number:02d}", submit)
        self.jobs.append((shape.name, job))
        application = {"id": "application_1", "memory_seconds": 2048 * job.seconds, "vcore_seconds": 2 * job.seconds}
        record = {"schema": 1, **asdict(job), "phase": shape.name, "application": application}
        self.writer.keep(f"jobs/{job.id}.json", json.dumps(record).encode())
        end = job.finish + 0.4
        command = ("hadoop", "jar", "examples.jar", shape.name)
        kind: Any = shape.kind
        return Phase(shape.name, kind, self._moment(start), self._moment(end), (job.id,), command), end + 0.5

    def _job(self, shape: Shape, job_id: str, submit: float) -> Job:
        first = submit + 3.2
        slots = [first] * 6
        attempts: list[Attempt] = []
        for task in range(shape.maps):
            if task == 1 and self.example.lost_attempt and shape.kind == "run":
                attempts.append(self._attempt(job_id, "map", task, 0, slots, {"map": 1.8}, "FAILED"))
            again = 1 if attempts and attempts[-1].state == "FAILED" else 0
            seconds = shape.map_seconds * self.random.uniform(0.9, 1.15) / self.example.speed
            attempts.append(self._attempt(job_id, "map", task, again, slots, {"map": seconds}, "SUCCEEDED"))
        names = ("shuffle", "merge", "reduce")
        for task in range(shape.reduces):
            parts = [seconds * self.random.uniform(0.9, 1.1) / self.example.speed for seconds in shape.reduce_seconds]
            steps = dict(zip(names, parts, strict=True))
            attempts.append(self._attempt(job_id, "reduce", task, 0, slots, steps, "SUCCEEDED"))
        finish = max(attempt.whole.end for attempt in attempts) + 0.7
        counters = self._counters(shape)
        failed = self.example.outcome.kind == "failed" and shape.kind == "run"
        return Job(
            id=job_id,
            name=shape.name,
            user="root",
            queue="default",
            state="FAILED" if failed else "SUCCEEDED",
            submit=round(submit, 3),
            launch=round(submit + 1.1, 3),
            finish=round(finish, 3),
            maps=shape.maps,
            reduces=shape.reduces,
            counters=counters,
            map_counters=counters,
            reduce_counters={},
            attempts=tuple(attempts),
            diagnostics="Task failed task_m_000001" if failed else None,
        )

    def _attempt(
        self, job_id: str, kind: Any, task: int, again: int, slots: list[float], steps: Mapping[str, float], state: str
    ) -> Attempt:
        slot = min(range(len(slots)), key=lambda index: slots[index])
        start = slots[slot] + self.random.uniform(0.05, 0.3)
        spans, now = {}, start + 0.6
        for name, seconds in steps.items():
            spans[name] = Span(round(now, 3), round(now + seconds, 3))
            now += seconds
        slots[slot] = now + 0.1
        stem = f"{job_id.removeprefix('job_')}_{kind[0]}_{task:06d}"
        return Attempt(
            id=f"attempt_{stem}_{again}",
            task=f"task_{stem}",
            kind=kind,
            state=state,
            node=f"127.0.0.{2 + slot // 2}:4{2 + slot // 2}000",
            container=f"container_{stem}",
            whole=Span(round(start, 3), round(now, 3)),
            steps=spans if state == "SUCCEEDED" else {},
            counters={},
            error=None
            if state == "SUCCEEDED"
            else "Error: java.io.IOException: No space left on device\n\tat A.b(A.java:1)",
        )

    def _counters(self, shape: Shape) -> dict[str, dict[str, int]]:
        records = self.example.bytes // 100
        return {
            "org.apache.hadoop.mapreduce.FileSystemCounter": {"HDFS_BYTES_READ": 84, "HDFS_BYTES_WRITTEN": SIZE},
            "org.apache.hadoop.mapreduce.TaskCounter": {
                "MAP_INPUT_RECORDS": records,
                "MAP_OUTPUT_RECORDS": records,
                "SPILLED_RECORDS": 2 * records if shape.reduces else 0,
                "CPU_MILLISECONDS": round(1000 * shape.busy * shape.maps * shape.map_seconds),
                "GC_TIME_MILLIS": 512,
            },
            "File Input Format Counters ": {"BYTES_READ": SIZE},
            **({group: dict(found) for group, found in self.example.counters.items()} if shape.reduces else {}),
        }

    def _checks(self, complete: bool) -> tuple[Check, ...]:
        kind = self.example.outcome.kind
        if kind not in ("valid", "invalid") or not complete:
            return ()
        held = kind == "valid"
        return (
            Check("order", True, "TeraValidate reported no misordered key"),
            Check("checksum", held, "4c49607ac53602 = 4c49607ac53602" if held else "4c49607ac53602 ≠ 4c49607ac53601"),
            Check("rows", True, f"{self.example.bytes // 100:,} of {self.example.bytes // 100:,}"),
        )

    def _samples(self, phases: Sequence[Phase]) -> list[Sample]:
        units = {metric.name: metric.unit for metric in METRICS}
        samples = []
        finishes = {phase.name: job.finish for phase, (_, job) in zip(phases, self.jobs, strict=True)}

        def add(phase: str, metric: str, value: float, quality: Any = "measured", role: str = "job") -> None:
            moment = self._moment(finishes.get(phase, self.start))
            sample = Sample(metric, round(value, 4), units[metric], quality, "example", HOST, role, phase, moment)
            samples.append(sample)

        for metric, value in BOUNDS.items():
            add("calibration", metric, value, role="vda" if "disk" in metric else "machine")
        for phase, (_, job) in zip(phases, self.jobs, strict=True):
            assert phase.end is not None
            add(phase.name, "job_seconds", job.seconds)
            add(phase.name, "client_seconds", phase.end.utc - phase.start.utc)
            add(phase.name, "client_start_seconds", job.submit - phase.start.utc)
            if phase.kind != "verify":
                add(phase.name, "throughput", self.example.bytes / job.seconds, "derived")
            add(phase.name, "cpu_seconds", 1.7 * job.seconds)
            add(phase.name, "container_memory_seconds", 2048 * job.seconds)
            add(phase.name, "container_vcore_seconds", 2 * job.seconds)
        return samples

    def _series(self, end: float, phases: Sequence[Phase]) -> None:
        kinds = {
            "machine": {"columns": {"cpu_user": {"unit": "s", "quality": "measured", "type": "counter"}}},
            "disk": {"columns": {}},
            "network": {"columns": {}},
            "process": {"columns": {}},
        }
        header = {"schema": 1, "host": HOST, "source": "/proc", "interval_seconds": 1.0, "kinds": kinds}
        self.writer.series(HOST, header)
        total = dict.fromkeys(
            ("user", "system", "idle", "iowait", "write", "read", "lo", "datanode", "client", "reaped"), 0.0
        )
        container: dict[str, float] = {}
        now = self.start - 1
        while now <= end:
            shape = self._shape_at(now)
            wobble = self.random.uniform(0.9, 1.04)
            busy = min(2.0, 2 * shape.busy * wobble) if shape else 0.06
            waiting = (2 - busy) * 0.3 if shape else 0.0
            total["user"] += 0.8 * busy
            total["system"] += 0.2 * busy
            total["iowait"] += waiting
            total["idle"] += 2 - busy - waiting
            total["write"] += shape.write * wobble if shape else 2e4
            total["read"] += shape.read * wobble if shape else 0
            total["lo"] += 0.6 * shape.write if shape else 1e3
            total["datanode"] += 0.08 * busy
            total["client"] += 0.05 * busy
            running = {phase.name for phase in phases if phase.end and phase.start.utc <= now < phase.end.utc}
            for name in [name for name in container if name not in running]:
                total["reaped"] += container.pop(name)
            for name in running:
                container[name] = container.get(name, 0.0) + 0.8 * busy
            self._points(now, total, container)
            now += 1.0

    def _points(self, now: float, total: Mapping[str, float], container: Mapping[str, float]) -> None:
        when = {"utc": round(now, 3), "monotonic": round(now - BOOT, 3)}
        cpu = {f"cpu_{name}": round(total[name], 2) for name in ("user", "system", "idle", "iowait")}
        rest = {"cpu_nice": 0.0, "cpu_irq": 0.0, "cpu_softirq": 0.0, "cpu_steal": 0.0}
        self.writer.series(HOST, {"kind": "machine", **when, "role": "machine", **cpu, **rest})
        for device, part in (("vda", 1.0), ("vda1", 1.0)):
            disk = {"read_bytes": round(part * total["read"]), "write_bytes": round(part * total["write"])}
            self.writer.series(HOST, {"kind": "disk", **when, "role": "machine", "device": device, **disk})
        for interface, amount in (("lo", total["lo"]), ("eth0", 0.01 * total["lo"])):
            network = {"receive_bytes": round(amount), "send_bytes": round(amount)}
            self.writer.series(HOST, {"kind": "network", **when, "role": "machine", "interface": interface, **network})
        processes: list[dict[str, Any]] = [
            {"role": "datanode", "node": "node1", "pid": 11, "cpu": total["datanode"], "cpu_children": 0.0},
            {"role": "nodemanager", "node": "node1", "pid": 12, "cpu": 0.1, "cpu_children": total["reaped"]},
            {"role": "client", "pid": 13, "cpu": total["client"], "cpu_children": 0.0},
        ]
        for name, seconds in container.items():
            pid = 100 + len(name)
            processes.append({"role": "container", "node": "node1", "pid": pid, "container": name, "cpu": seconds})
        for process in processes:
            self.writer.series(HOST, {"kind": "process", **when, **process})

    def _shape_at(self, now: float) -> Shape | None:
        shapes = {shape.name: shape for shape in self.example.shapes}
        running = [name for name, job in self.jobs if job.submit + 2 <= now <= job.finish]
        return shapes[running[0]] if running else None
