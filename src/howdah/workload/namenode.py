"""NNThroughputBenchmark: the operations of the NameNode in a second, without any data."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from howdah.errors import Untrusted, UsageError
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.model.storage import HDFS
from howdah.workload import Asked, Option, Session, Settings

_OPERATIONS = {
    "create": ("create", "CreateFileOps"),
    "open": ("open", "GetBlockLocations"),
    "file-status": ("fileStatus", "FileInfoOps"),
    "rename": ("rename", "FilesRenamed"),
    "delete": ("delete", "DeleteFileOps"),
}
"""The benchmark's name of each phase's operation, and the NameNode's own counter of it."""
_THREADS = 4
_FILES_PER_DIRECTORY = 100
# A thread that meets an error ends, and the program waits for it for ever.
_FATAL = "StatsDaemon "
_STATS = re.compile(r"--- (\w+) stats +---\s*$")
_FIELD = re.compile(r"(?:^|[: ])(# operations|Elapsed Time): (\d{1,18})\s*$")

RATE = Metric(
    "namenode_rate",
    "1/s",
    "higher",
    "operations ÷ the time from the first to the last, in whole milliseconds, that the benchmark prints; each is "
    "an RPC of one of its threads, but create is two: the file is closed within that time, too",
    "NNThroughputBenchmark's report",
)


@dataclass(frozen=True, slots=True)
class OperationReport:
    """The statistics of one operation."""

    operation: str
    operations: int
    seconds: float


def parse_reports(text: str) -> tuple[OperationReport, ...]:
    """Return the statistics in a client's output, with log prefixes or without.

    Raises:
        Untrusted: a block lacks its number of operations or its time, or has one twice.
    """
    found: list[OperationReport] = []
    operation: str | None = None
    fields: dict[str, int] = {}
    for line in text.splitlines():
        if head := _STATS.search(line):
            _refuse_open(operation)
            operation, fields = head[1], {}
        elif operation is not None and (field := _FIELD.search(line)):
            if field[1] in fields:
                _refuse_open(operation)
            fields[field[1]] = int(field[2])
            if len(fields) == 2:
                found.append(OperationReport(operation, fields["# operations"], fields["Elapsed Time"] / 1000))
                operation = None
    _refuse_open(operation)
    return tuple(found)


def _refuse_open(operation: str | None) -> None:
    """Raises Untrusted if the block of `operation` has not ended."""
    if operation is not None:
        raise Untrusted(f"the statistics of {operation} end early")


class NameNodeThroughput:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "namenode"
    title: ClassVar[str] = "NNThroughputBenchmark"
    summary: ClassVar[str] = (
        "calls the NameNode's operations as fast as it can: its locks and edit log; HDFS's own tests"
    )
    unit: ClassVar[str] = "operations"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 1000, "small": 20_000, "large": 200_000}
    options: ClassVar[tuple[Option, ...]] = (Option("threads", f"Callers at once. [{_THREADS}]", "count"),)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = f"create/{RATE.name}"
    metrics: ClassVar[tuple[Metric, ...]] = (RATE,)

    def __init__(self) -> None:
        self._before: Mapping[str, int] = {}
        self._reported: dict[str, int] = {}

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        return {
            "operations": asked.size_of(self),
            "threads": asked.own.get("threads", _THREADS),
            "conf": dict(asked.conf),
        }

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # The files have no blocks, but each operation some 300 bytes in the edit log. Four of the five create their
        # files before their clock starts, and all delete them.
        return 0, 14 * 300 * settings["operations"]

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._before = session.storage.activity(fresh=False)
        if not self._before:
            raise _no_namenode()
        return {"generator": "NNThroughputBenchmark", "files": settings["operations"]}

    def run(self, session: Session, settings: Settings) -> None:
        for phase, (operation, _) in _OPERATIONS.items():
            # Its option -keepResults would leave the NameNode in safe mode.
            program = session.programs.namenode_benchmark(
                *("-fs", session.storage.uri(""), "-op", operation, "-threads", str(settings["threads"])),
                *("-files", str(settings["operations"]), "-filesPerDir", str(_FILES_PER_DIRECTORY)),
                *("-baseDirName", f"{session.directory}/{phase}", *(("-close",) if operation == "create" else ())),
                fatal=_FATAL,
            )
            reports = parse_reports(session.run(phase, "run", program).output)
            if [report.operation for report in reports] != [operation]:
                raise Untrusted(f"{phase}: the benchmark reported {[report.operation for report in reports]}")
            [report] = reports
            if report.seconds == 0:
                raise Untrusted(f"{phase}: {report.operations} operations took less than a millisecond")
            self._reported[phase] = report.operations
            formula = f"{report.operations} operations ÷ {report.seconds} s"
            session.sample(RATE, report.operations / report.seconds, phase=phase, quality="derived", source=formula)

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        now, asked = session.storage.activity(fresh=True), settings["operations"]
        checks = []
        for phase, (_, counter) in _OPERATIONS.items():
            reported, counted = self._reported[phase], now.get(counter, 0) - self._before.get(counter, 0)
            least = expected_counts(asked)[counter]
            detail = f"{reported} of {asked} operations reported, the NameNode counted {counted} of {least} ({counter})"
            # It counts those of everybody.
            checks.append(Check(phase, reported == asked and least <= counted, detail))
        return checks


def check_storages(settings: Settings, used: str, there: Collection[str]) -> None:  # noqa: ARG001
    """Raises UsageError if the run's storage is not HDFS."""
    if used != HDFS:
        raise _no_namenode()


def _no_namenode() -> UsageError:
    return UsageError(
        f"{NameNodeThroughput.title} calls a NameNode, and the run's storage has none",
        hint="--storage hdfs, where the cluster has it.",
    )


def expected_counts(asked: int) -> Mapping[str, int]:
    """Return the counts of the NameNode, by its own counters, for five phases with `asked` operations each.

    Each phase makes its files. Except for `create`, each looks three times for the directory of its files, and renames
    it before its clock starts. Each removes the directory when it has ended (NNThroughputBenchmark and
    NameNodeRpcServer, 3.4.2).
    """
    phases = len(_OPERATIONS)
    return {
        "CreateFileOps": phases * asked,
        "GetBlockLocations": asked,
        "FileInfoOps": asked + 3 * (phases - 1),
        "FilesRenamed": asked + phases - 1,
        "DeleteFileOps": asked + phases,
    }
