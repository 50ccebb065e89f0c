"""TeraSort: TeraGen writes rows of 100 bytes, TeraSort sorts them, TeraValidate proves it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, REDUCES, Asked, Dataset, Option, Ran, Session, Settings
from howdah.workload.counts import count
from howdah.workload.outputs import UNCOMPRESSED, counted_check, parts, read_text, shown

ROW_BYTES = 100
CHECKSUM_COUNTER = ("org.apache.hadoop.examples.terasort.TeraGen$Counters", "CHECKSUM")
_LOW_64 = (1 << 64) - 1
_OUTPUT_REPLICATION = "mapreduce.terasort.output.replication"
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{1,64}")


class TeraSort:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "terasort"
    title: ClassVar[str] = "TeraSort"
    summary: ClassVar[str] = "sorts random rows: processor, disk and network; sortbenchmark.org, Hadoop's examples"
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 10 * 10**6, "small": 10**9, "large": 10 * 10**9}
    options: ClassVar[tuple[Option, ...]] = (MAPS, REDUCES)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {
        name: {"size": rows * ROW_BYTES}
        for name, rows in (
            *(("tiny", 32_000), ("small", 3_200_000), ("large", 32_000_000)),
            *(("huge", 320_000_000), ("gigantic", 3_200_000_000), ("bigdata", 6_000_000_000)),
        )
    }
    primary: ClassVar[str] = "sort/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None
        self._sorted: Ran | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        return row_settings(asked.size_of(self), asked, cluster)

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        size = settings["size_bytes"]
        stored = size * (settings["input_replication"] + settings["output_replication"])
        # A record of 100 bytes takes 102 in the map output with its two lengths; spills and the merged file coexist.
        return stored, int(2 * 1.02 * size)

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        def make(directory: str) -> Mapping[str, Any]:
            maps = f"-Dmapreduce.job.maps={settings['maps']}"
            job = session.run(
                "gen",
                "prepare",
                session.programs.examples("teragen", maps, str(settings["rows"]), session.storage.uri(directory)),
                data_bytes=settings["size_bytes"],
                one_job=True,
            ).jobs[0]
            checksum = job.counter(*CHECKSUM_COUNTER)
            return {
                "generator": "teragen",
                "rows": settings["rows"],
                "bytes": settings["size_bytes"],
                "files": len(parts(session, directory, "part-m-")),
                "replication": settings["input_replication"],
                "checksum": None if checksum is None else f"{checksum & _LOW_64:x}",
            }

        identity = {"generator": "teragen", "rows": settings["rows"], "maps": settings["maps"]}
        self._input = session.dataset(identity, make)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        reduces = f"-Dmapreduce.job.reduces={settings['reduces']}"
        program = session.programs.examples("terasort", reduces, *self.places(session))
        self._sorted = session.run("sort", "run", program, data_bytes=settings["size_bytes"], one_job=True)

    def places(self, session: Session) -> tuple[str, str]:
        """Return the URIs of the rows and of their sorted output, as programs take them."""
        assert self._input is not None
        return session.storage.uri(self._input.directory), _uri(session, "output")

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        session.run(
            "validate",
            "verify",
            session.programs.examples("teravalidate", UNCOMPRESSED, _uri(session, "output"), _uri(session, "report")),
            one_job=True,
        )
        report = read_report(session, f"{session.directory}/report")
        length = sum(parts(session, f"{session.directory}/output", "part-r-").values())
        assert self._input is not None
        checksum = self._input.facts["checksum"]
        generated = None if checksum is None else int(checksum, 16)
        return (
            *judge(report, generated),
            _length_check(length, settings["size_bytes"]),
            *counted_check(self._sorted, length),
        )


def row_settings(size: int, asked: Asked, cluster: Mapping[str, str]) -> Settings:
    """Return the settings of a workload that sorts `size` bytes of rows. Raises UsageError for impossible settings."""
    if size % ROW_BYTES:
        raise UsageError(f"a TeraSort has rows of {ROW_BYTES} bytes; {size} bytes are not a whole number of rows")
    conf = {**cluster, **asked.conf}
    return {
        "size_bytes": size,
        "rows": size // ROW_BYTES,
        "maps": asked.maps or count(conf, "mapreduce.job.maps", 2),
        "reduces": asked.reduces or count(conf, "mapreduce.job.reduces", 1),
        "input_replication": count(conf, "dfs.replication", 3),
        "output_replication": count(conf, _OUTPUT_REPLICATION, 1),
        "conf": dict(asked.conf),
    }


def read_report(session: Session, directory: str) -> str:
    """Return everything that TeraValidate wrote into `directory`."""
    found = parts(session, directory, "part-r-")
    return "".join(read_text(session.storage, f"{directory}/{part}") for part in found)


def judge(report: str, generated: int | None) -> tuple[Check, ...]:
    """Return checks of TeraValidate's report. `generated` is TeraGen's checksum counter, or None when it was not found.

    The report has a line `checksum<TAB>HEX` and one line `error<TAB>…` per misplaced record or file boundary. TeraGen
    counts the low 64 bits of the same sum, as a signed number.
    """
    lines = [line.partition("\t") for line in report.splitlines() if line.strip()]
    errors = [text for key, _, text in lines if key == "error"]
    sums = [text for key, _, text in lines if key == "checksum"]
    whole = len(sums) == 1 and _HEXADECIMAL.fullmatch(sums[0]) is not None
    order = Check("order", not errors and whole, _said(report, errors, sums))
    if generated is None or not whole:
        lacking = "TeraGen's checksum counter" if generated is None else "TeraValidate's checksum"
        return order, Check("checksum", False, f"{lacking} is missing")
    expected, found = generated & _LOW_64, int(sums[0], 16) & _LOW_64
    relation = "equal" if expected == found else "differ"
    return order, Check("checksum", expected == found, f"generated {expected:x} and sorted {found:x} {relation}")


def _said(report: str, errors: Sequence[str], sums: Sequence[str]) -> str:
    """Return a sentence about the order, from a report with such errors and checksums."""
    if errors:
        # TeraValidate also tells, over several lines each, how files overlap.
        first = next((error for error in errors if error.startswith("misorder")), errors[0])
        return f"{len(errors)} errors, the first: {first}"
    if not report.strip():
        return "TeraValidate's report is empty"
    if len(sums) != 1:
        return f"TeraValidate's report has {len(sums)} checksums, not one: {shown(report)}"
    if not _HEXADECIMAL.fullmatch(sums[0]):
        return f"TeraValidate's report has a checksum that is none: {shown(sums[0])}"
    return "every record is in order"


def _length_check(length: int, expected: int) -> Check:
    return Check("length", length == expected, f"{length} bytes of output for {expected} bytes of input")


def _uri(session: Session, name: str) -> str:
    return session.storage.uri(f"{session.directory}/{name}")
