"""Sort over RandomWriter's data, as RDMA-Hadoop's authors measure it: records of very different lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import Asked, Dataset, Session, Settings
from howdah.workload.counts import count

_WRITER_COUNTERS = "org.apache.hadoop.examples.RandomWriter$Counters"
_TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
_LEAST_BYTES = 100_000
"""A map writes whole records, of up to 21 kB, until its share is full."""
_VALIDATED = "SUCCESS! Validated the MapReduce framework's 'sort' successfully."


class Sort:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "sort"
    title: ClassVar[str] = "Sort"
    summary: ClassVar[str] = "sorts RandomWriter's records of 10 to 21,000 bytes: disk and network; Hadoop's examples"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 10 * 10**6, "small": 10**9, "large": 10 * 10**9}
    primary: ClassVar[str] = "sort/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None
        self._sorted: Job | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        size = self.sizes["small"] if asked.size_bytes is None else asked.size_bytes
        conf = {**cluster, **asked.conf}
        maps = asked.maps or count(conf, "mapreduce.job.maps", 2)
        if size < maps * _LEAST_BYTES:
            raise UsageError(
                f"{size} bytes are too few for {maps} maps: RandomWriter's records are up to 21,000 bytes long",
                hint=f"--size {maps * _LEAST_BYTES} is the least with {maps} --maps.",
            )
        return {
            "size_bytes": size,
            "maps": maps,
            "reduces": asked.reduces or count(conf, "mapreduce.job.reduces", 1),
            "replication": count(conf, "dfs.replication", 3),
            "conf": dict(asked.conf),
        }

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # A record has some 16 bytes of its own in a sequence file, and 5 kB on average.
        size = int(1.02 * settings["size_bytes"])
        return 2 * size * settings["replication"], 2 * size

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        share = settings["size_bytes"] // settings["maps"]

        def make(directory: str) -> Mapping[str, Any]:
            job = session.job(
                "gen",
                "prepare",
                session.examples(
                    "randomwriter",
                    f"-Dmapreduce.randomwriter.bytespermap={share}",
                    f"-Dmapreduce.randomwriter.totalbytes={share * settings['maps']}",
                    session.storage.uri(directory),
                ),
                data_bytes=settings["size_bytes"],
            )
            return {
                "generator": "randomwriter",
                "records": job.counter(_WRITER_COUNTERS, "RECORDS_WRITTEN"),
                "bytes": job.counter(_WRITER_COUNTERS, "BYTES_WRITTEN"),
                "files": settings["maps"],
                "replication": settings["replication"],
            }

        identity = {"generator": "randomwriter", "share": share, "maps": settings["maps"]}
        self._input = session.dataset(identity, make)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        assert self._input is not None
        reduces = str(settings["reduces"])
        source, target = session.storage.uri(self._input.directory), _output(session)
        self._sorted = session.job(
            "sort", "run", session.examples("sort", "-r", reduces, source, target), data_bytes=settings["size_bytes"]
        )

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        assert self._sorted is not None
        assert self._input is not None
        source, target = session.storage.uri(self._input.directory), _output(session)
        program = session.tests("testmapredsort", "-sortInput", source, "-sortOutput", target)
        validated = _VALIDATED in session.program("validate", "verify", program).output
        written = self._input.facts["records"]
        out = self._sorted.counter(_TASK_COUNTERS, "REDUCE_OUTPUT_RECORDS")
        return (
            Check("order", validated, "Hadoop's SortValidator " + ("agrees" if validated else "does not agree")),
            Check("records", out is not None and out == written, f"{written} written by RandomWriter, {out} sorted"),
        )


def _output(session: Session) -> str:
    return session.storage.uri(f"{session.directory}/output")
