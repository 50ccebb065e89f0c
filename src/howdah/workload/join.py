"""Join: a map-side join of sorted data; Hadoop's examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, REDUCES, Asked, Dataset, Option, Session, Settings
from howdah.workload.counts import TASK_COUNTERS
from howdah.workload.randomwriter import generate, records_settings


class Join:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "join"
    title: ClassVar[str] = "Join"
    summary: ClassVar[str] = "joins sorted records with themselves in maps alone: disk reads; Hadoop's examples"
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 10 * 10**6, "small": 10**9, "large": 10 * 10**9}
    options: ClassVar[tuple[Option, ...]] = (MAPS, REDUCES)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = "join/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None
        self._joined: Job | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        return records_settings(asked.size_of(self), asked, cluster)

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # Input, sorted input, and both sides of every record in the output.
        size = int(1.02 * settings["size_bytes"])
        return 4 * size * settings["replication"], 2 * size

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._input = generate(session, settings)
        source, sorted_ = session.storage.uri(self._input.directory), session.storage.uri(_sorted(session))
        program = session.examples("sort", "-r", str(settings["reduces"]), source, sorted_)
        session.job("sort", "prepare", program, data_bytes=settings["size_bytes"])
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        side = session.storage.uri(_sorted(session))
        target = session.storage.uri(f"{session.directory}/output")
        program = session.examples("join", "-r", "0", "-joinOp", "inner", side, side, target)
        self._joined = session.job("join", "run", program, data_bytes=2 * settings["size_bytes"])

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        assert self._joined is not None
        assert self._input is not None
        # Keys are ten random bytes at least: each is there once, and meets itself.
        written = self._input.facts["written_records"]
        joined = self._joined.counter(TASK_COUNTERS, "MAP_OUTPUT_RECORDS")
        detail = f"{written} keys on both sides, {joined} joined"
        return (Check("records", joined is not None and joined == written, detail),)


def _sorted(session: Session) -> str:
    return f"{session.directory}/sorted"
