"""Join: a map-side join of sorted data; Hadoop's examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, REDUCES, Asked, Dataset, Option, Session, Settings
from howdah.workload.counts import equal
from howdah.workload.randomwriter import generate, records_settings

_COUNTERS = "org.howdah.workloads.JoinCheck"


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

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        return records_settings(asked.size_of(self), asked, cluster)

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # Input, sorted input, and both sides of every record in the output.
        size = int(1.02 * settings["size_bytes"])
        return 4 * size * settings["replication"], 2 * size

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._input = generate(session, settings)
        source, sorted_ = session.storage.uri(self._input.directory), session.storage.uri(_sorted(session))
        program = session.programs.examples("sort", "-r", str(settings["reduces"]), source, sorted_)
        session.run("sort", "prepare", program, data_bytes=settings["size_bytes"], one_job=True)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        side = session.storage.uri(_sorted(session))
        program = session.programs.examples("join", "-r", "0", "-joinOp", "inner", side, side, _output(session))
        session.run("join", "run", program, data_bytes=2 * settings["size_bytes"], one_job=True)

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        assert self._input is not None
        sides = (session.storage.uri(_sorted(session)), _output(session))
        job = session.run("validate", "verify", session.programs.workloads("joincheck", *sides), one_job=True).jobs[0]
        records, size, disorder = (
            job.counter(f"{_COUNTERS}$Sorted", name) for name in ("RECORDS", "BYTES", "DISORDER")
        )
        written = [self._input.facts[f"written_{name}"] for name in ("records", "bytes")]
        return (
            Check("order", disorder == 0, f"{disorder} keys of the sides are less than the one before"),
            Check(
                "sides",
                equal(written[0], records) and equal(written[1], size),
                f"{written[0]} records of {written[1]} bytes written by RandomWriter, {records} of {size} sorted",
            ),
            _same(job, "records"),
            _same(job, "hashes"),
        )


def _same(job: Job, name: str) -> Check:
    expected, joined = (job.counter(f"{_COUNTERS}${side}", name.upper()) for side in ("Expected", "Joined"))
    return Check(name, equal(expected, joined), f"{expected} expected, {joined} joined")


def _sorted(session: Session) -> str:
    return f"{session.directory}/sorted"


def _output(session: Session) -> str:
    return session.storage.uri(f"{session.directory}/output")
