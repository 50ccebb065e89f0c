"""TestDFSIO: many maps each write or read one file; from Hadoop's job-client tests."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from howdah.errors import Untrusted, UsageError
from howdah.model.job import Attempt
from howdah.model.metric import Metric
from howdah.model.quantity import format_bytes, format_seconds
from howdah.model.run import Check
from howdah.workload import Asked, Option, Session, Settings
from howdah.workload.counts import count

MIB = 1 << 20
"""The bytes of an MB in TestDFSIO (`MEGA` in its source)."""
_BUFFER_BYTES = 1_000_000
_ROUNDING = MIB // 100
_RANDOM = "random-read"
"""The phase that reads by whole buffers until it has enough. Its report says how much it read."""
_LEAST, _MOST = 1e-6, 1e15
"""The bounds of numbers that a report of something that happened can have."""
_APART = 2.0
"""The ratio of the two rates of a report above which one of its tasks straggled."""
_DEVIATION = "IO rate std deviation"
_FIELD = re.compile(
    r"(?:^|TestDFSIO:| - )\s*(Number of files|Total MBytes processed|Throughput mb/sec|Average IO rate mb/sec"
    rf"|{_DEVIATION}|Test exec time sec):\s*(\S+)\s*$"
)
_HEAD = re.compile(r"-----\s*TestDFSIO\s*-----\s*:\s*(.+?)\s*$")
_LAST = "Test exec time sec"

WALL = Metric(
    "dfsio_wall_throughput",
    "B/s",
    "higher",
    "bytes of all files ÷ TestDFSIO's own execution time, start of the job included: what the cluster did",
    "TestDFSIO's report",
)
TASK = Metric(
    "dfsio_task_throughput",
    "B/s",
    "higher",
    "bytes of all files ÷ the summed times of all tasks, which TestDFSIO prints as its Throughput: what one task got "
    "while the others ran, not what the cluster did",
    "TestDFSIO's report",
)
FILE_RATE = Metric(
    "dfsio_file_rate", "B/s", "higher", "mean of the rates of the single files (Average IO rate)", "TestDFSIO's report"
)
FILE_RATE_DEVIATION = Metric(
    "dfsio_file_rate_deviation", "B/s", "neither", "standard deviation of the files' rates", "TestDFSIO's report"
)


@dataclass(frozen=True, slots=True)
class DfsioReport:
    """One block of TestDFSIO's output. Rates are bytes per second; `operation` is None if the block has no head."""

    operation: str | None
    files: int
    bytes: int
    task_rate: float
    file_rate: float
    file_rate_deviation: float
    seconds: float

    @property
    def wall_rate(self) -> float:
        return self.bytes / self.seconds

    @property
    def task_seconds(self) -> float:
        """The seconds summed over all tasks."""
        return self.bytes / self.task_rate


def parse_reports(text: str) -> tuple[DfsioReport, ...]:
    """Return the blocks in a client's output or in a `TestDFSIO_results.log`, of any release; with log prefixes or
    without.

    Some releases also print a `Total Throughput mb/sec`, which divides by milliseconds. It is ignored.

    Raises:
        Untrusted: a block lacks a line or has one twice, ends early, or has an impossible value or none.
    """
    found: list[DfsioReport] = []
    operation: str | None = None
    fields: dict[str, str] = {}
    for line in text.splitlines():
        if head := _HEAD.search(line):
            _refuse_open(operation, fields)
            operation = head[1]
        elif field := _FIELD.search(line):
            if field[1] in fields:  # Of the next block: where there are no heads, nothing else tells them apart.
                _refuse_open(operation, fields)
            fields[field[1]] = field[2]
            if field[1] == _LAST:
                found.append(_report(operation, fields))
                operation, fields = None, {}
    _refuse_open(operation, fields)
    return tuple(found)


def _refuse_open(operation: str | None, fields: Mapping[str, str]) -> None:
    """Raises Untrusted if a block has begun that has not ended."""
    if fields or operation is not None:
        last = repr(list(fields)[-1]) if fields else f"its head: {operation}"
        raise Untrusted(f"a TestDFSIO report ends after {last}")


def _report(operation: str | None, fields: Mapping[str, str]) -> DfsioReport:
    names = ("Number of files", "Total MBytes processed", "Throughput mb/sec", "Average IO rate mb/sec")
    files, megabytes, task, file, deviation, seconds = (_number(fields, name) for name in (*names, _DEVIATION, _LAST))
    if not files.is_integer():
        raise Untrusted(f"a TestDFSIO report holds no number of files: {names[0]}: {fields[names[0]]}")
    return DfsioReport(operation, int(files), round(megabytes * MIB), task * MIB, file * MIB, deviation * MIB, seconds)


def _number(fields: Mapping[str, str], name: str) -> float:
    if name not in fields:
        raise Untrusted(f"a TestDFSIO report has no line {name!r}")
    try:
        value = float(fields[name])
    except ValueError:
        value = math.nan
    if not (_LEAST <= value <= _MOST or (value == 0 and name == _DEVIATION)):
        raise Untrusted(f"a TestDFSIO report holds no number that can be: {name}: {fields[name]}")
    return value


def straggler(report: DfsioReport, attempts: Sequence[Attempt]) -> str | None:
    """Return a sentence about the slowest map, with its host, if the rates of `report` are more than `_APART` times
    apart. None if they are not.

    A mean of rates hardly notices one slow file, a sum of times does. TestDFSIO keeps no rate of a single file: the
    times are those of the map `attempts`, start of the JVM included.
    """
    apart = max(report.file_rate, report.task_rate) / min(report.file_rate, report.task_rate)
    if apart <= _APART:
        return None
    text = (
        f"Throughput ({format_bytes(report.task_rate)}/s) and Average IO rate ({format_bytes(report.file_rate)}/s) are "
        f"{apart:.1f} times apart, so some files were much slower than others"
    )
    maps = [one for one in attempts if (one.kind, one.state) == ("map", "SUCCEEDED")]
    if not maps:
        return f"{text}; the job's history has no maps that could be named."
    slowest = max(maps, key=lambda one: one.whole.seconds)
    median = statistics.median(one.whole.seconds for one in maps)
    return (
        f"{text}. The slowest of {len(maps)} maps was {slowest.id} on {slowest.node}: it took "
        f"{format_seconds(slowest.whole.seconds)}, the median map {format_seconds(median)}."
    )


class Dfsio:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "dfsio"
    title: ClassVar[str] = "TestDFSIO"
    summary: ClassVar[str] = "writes, reads and appends files: disks and network of the storage; stock tests of Hadoop"
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 16 * MIB, "small": 1024 * MIB, "large": 16 * 1024 * MIB}
    options: ClassVar[tuple[Option, ...]] = (
        Option("maps", "Files, and map tasks: one writes one file.", "count"),
        Option("buffer", "Bytes that a task reads or writes at a time. [default: 1M]", "bytes"),
    )
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {
        name: {"size": files * megabytes * MIB, "maps": files}
        for name, files, megabytes in (
            *(("tiny", 16, 1), ("small", 32, 10), ("large", 64, 10)),
            *(("huge", 256, 100), ("gigantic", 512, 400), ("bigdata", 2048, 1000)),
        )
    }
    primary: ClassVar[str] = f"write/{WALL.name}"
    metrics: ClassVar[tuple[Metric, ...]] = (WALL, TASK, FILE_RATE, FILE_RATE_DEVIATION)

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        size = asked.size_of(self)
        conf = {**cluster, **asked.conf}
        files = asked.maps or count(conf, "mapreduce.job.maps", 2)
        if size < files * MIB:
            raise UsageError(
                f"{size} bytes are less than a MiB in each of {files} files: TestDFSIO reports whole MiB",
                hint=f"--size {files}Mi is the least with {files} files; --maps says how many files there are.",
            )
        file_bytes = size // files // MIB * MIB
        return {
            "size_bytes": size,
            "files": files,
            "file_bytes": file_bytes,
            "moved_bytes": file_bytes * files,
            "buffer_bytes": asked.own.get("buffer", _BUFFER_BYTES),
            "replication": count(conf, "dfs.replication", 3),
            "conf": dict(asked.conf),
        }

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        return 2 * settings["moved_bytes"] * settings["replication"], 0

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._checks = []  # Of this run: one workload serves every repetition.
        names = ("files", "file_bytes")
        return {"generator": "TestDFSIO", "bytes": settings["moved_bytes"], **{name: settings[name] for name in names}}

    def run(self, session: Session, settings: Settings) -> None:
        for phase, operation in (
            ("write", ("-write",)),
            ("read", ("-read",)),
            (_RANDOM, ("-read", "-random")),
            ("append", ("-append",)),
        ):
            self._operate(session, settings, phase, operation)

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        return tuple(self._checks)

    def _operate(self, session: Session, settings: Settings, phase: str, operation: Iterable[str]) -> None:
        program = session.programs.dfsio(
            *(session.directory, *operation, "-nrFiles", str(settings["files"])),
            *("-size", f"{settings['file_bytes']}B", "-bufferSize", str(settings["buffer_bytes"])),
        )
        random = phase == _RANDOM
        ran = session.run(phase, "run", program, data_bytes=None if random else settings["moved_bytes"])
        reports = parse_reports(ran.output)
        if len(reports) != 1:
            raise Untrusted(f"{phase}: TestDFSIO printed {len(reports)} reports, not one")
        [report] = reports
        if random:
            session.moved(phase, report.bytes)
        formula = f"{report.bytes} B ÷ {report.seconds} s"
        session.sample(WALL, report.wall_rate, phase=phase, quality="derived", source=formula)
        for metric, value in (
            (TASK, report.task_rate),
            (FILE_RATE, report.file_rate),
            (FILE_RATE_DEVIATION, report.file_rate_deviation),
        ):
            session.sample(metric, value, phase=phase)
        slow = straggler(report, [attempt for job in ran.jobs for attempt in job.attempts])
        if slow is not None:
            session.caveat(f"{phase}: {slow}")
        self._check(session, settings, phase, report)

    def _check(self, session: Session, settings: Settings, phase: str, report: DfsioReport) -> None:
        expected = settings["file_bytes"] * (2 if phase == "append" else 1)
        lengths = list(session.storage.files(f"{session.directory}/io_data").values())
        stored = lengths == [expected] * settings["files"]
        # The report has hundredths of a MiB.
        more = settings["files"] * settings["buffer_bytes"] if phase == _RANDOM else 0
        excess = report.bytes - settings["moved_bytes"]
        moved = report.files == settings["files"] and -_ROUNDING <= excess <= more + _ROUNDING
        self._checks.append(
            Check(
                phase,
                stored and moved,
                f"reported {report.bytes} bytes in {report.files} files, stored {sum(lengths)} in {len(lengths)}; "
                f"expected {settings['moved_bytes']} and {expected * settings['files']} in {settings['files']}",
            )
        )
