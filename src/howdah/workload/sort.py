"""Sort over RandomWriter's data, as RDMA-Hadoop's authors measure it: records of very different lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, REDUCES, Asked, Dataset, Option, Ran, Session, Settings
from howdah.workload.counts import equal
from howdah.workload.outputs import counted_check, parts
from howdah.workload.randomwriter import generate, records_settings

_COUNTERS = "org.howdah.workloads.SortCheck"


class Sort:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "sort"
    title: ClassVar[str] = "Sort"
    summary: ClassVar[str] = "sorts RandomWriter's records of 10 to 21,000 bytes: disk and network; Hadoop's examples"
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 10 * 10**6, "small": 10**9, "large": 10 * 10**9}
    options: ClassVar[tuple[Option, ...]] = (MAPS, REDUCES)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {
        # Its tiny has 32 kB, less than a few of RandomWriter's records.
        name: {"size": size}
        for name, size in (
            *(("small", 3_200_000), ("large", 320_000_000), ("huge", 3_200_000_000)),
            *(("gigantic", 32_000_000_000), ("bigdata", 300_000_000_000)),
        )
    }
    primary: ClassVar[str] = "sort/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None
        self._sorted: Ran | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        return records_settings(asked.size_of(self), asked, cluster)

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # A record has some 16 bytes of its own in a sequence file, and 5 kB on average.
        size = int(1.02 * settings["size_bytes"])
        return 2 * size * settings["replication"], 2 * size

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._input = generate(session, settings)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        assert self._input is not None
        reduces = str(settings["reduces"])
        places = (session.storage.uri(one) for one in (self._input.directory, _output(session)))
        program = session.programs.examples("sort", "-r", reduces, *places)
        self._sorted = session.run("sort", "run", program, data_bytes=settings["size_bytes"], one_job=True)

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        assert self._input is not None
        places = (session.storage.uri(one) for one in (self._input.directory, _output(session)))
        program = session.programs.workloads("sortcheck", *places)
        job = session.run("validate", "verify", program, one_job=True).jobs[0]
        files, disorder, misplaced = (
            job.counter(f"{_COUNTERS}$Output", name) for name in ("FILES", "DISORDER", "MISPLACED")
        )
        reduces = settings["reduces"]
        return (
            Check("order", disorder == 0, f"{disorder} keys are less than the one before"),
            Check(
                "partitions",
                misplaced == 0 and files == reduces,
                f"{misplaced} keys are in the file of another partition; {files} files of {reduces} reduces",
            ),
            *(_same(job, name, self._input.facts[f"written_{name}"]) for name in ("records", "bytes")),
            _same(job, "hashes"),
            *counted_check(self._sorted, sum(parts(session, _output(session)).values())),
        )


def _same(job: Job, name: str, *written: int | None) -> Check:
    """Return a check that input and output agree in one count of `sortcheck`, and RandomWriter too if it counts the
    same."""
    read, found = (job.counter(f"{_COUNTERS}${side}", name.upper()) for side in ("Input", "Output"))
    first = "".join(f"{number} written by RandomWriter, " for number in written)
    return Check(name, equal(*written, read, found), f"{first}{read} read, {found} sorted")


def _output(session: Session) -> str:
    return f"{session.directory}/output"
