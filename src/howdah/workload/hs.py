"""Five phases, twice, in the style of TPCx-HS: generate, check, sort, check, validate."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import WorkloadFailed
from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.model.storage import HDFS
from howdah.workload import MAPS, REDUCES, Asked, Option, Session, Settings
from howdah.workload.counts import TASK_COUNTERS
from howdah.workload.outputs import UNCOMPRESSED
from howdah.workload.terasort import CHECKSUM_COUNTER, ROW_BYTES, judge, read_report, row_settings

TERABYTE = 10**12
NOTICE = (
    "not a TPC result: the phases are in the style of TPCx-HS, but nothing was audited, priced or published by its "
    "rules, and no figure here may be compared with TPCx-HS results"
)
_PASSES = (1, 2)
_FILE = re.compile(r"^(\S+) (\d{1,18}) bytes, replicated: replication=(\d{1,9}), \d+ block\(s\): +(.*)$", re.MULTILINE)
_LENGTH = re.compile(r"^(\d{1,18}) part-\S+$", re.MULTILINE)

SECONDS = Metric(
    "hs_seconds",
    "s",
    "lower",
    "from the start of the client that generates to the end of the client that validates, of one pass through the five "
    "phases",
    "the agent's clock",
)
RATE = Metric(
    "hsph",
    "TB/h",
    "higher",
    "scale factor ÷ hours of the slower of two passes; the scale factor is the data's size in TB. In the style of "
    "TPCx-HS's HSph@SF, and not comparable with its results",
    "the agent's clock and the workload's size",
)
PRICE = Metric(
    "hs_price",
    "price per TB/h",
    "lower",
    "--price ÷ hsph, in the currency of the price; not comparable with TPCx-HS results",
    "what the user said",
)
ENERGY = Metric(
    "hs_energy",
    "Wh/TB",
    "lower",
    "--watts ÷ hsph: the energy that one pass takes for each TB, as TPC-Energy's watts ÷ performance; not comparable "
    "with TPCx-HS-Energy results",
    "what the user said",
)


class Hs:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "hs"
    title: ClassVar[str] = "HS, in the style of TPCx-HS"
    summary: ClassVar[str] = (
        "generates, sorts and validates twice with checks between: processor, disk and network; in the style of TPCx-HS"
    )
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 10 * 10**6, "small": 10**9, "large": 10 * 10**9}
    options: ClassVar[tuple[Option, ...]] = (
        *(MAPS, REDUCES),
        Option("price", "What the system costs, in any currency, for its price per TB/h.", "positive"),
        Option("watts", "What the system draws on average, by your meter, for its energy per TB.", "positive"),
    )
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = f"slower/{RATE.name}"
    measured: ClassVar[tuple[str, ...]] = tuple(f"sort-{number}" for number in _PASSES)
    metrics: ClassVar[tuple[Metric, ...]] = (SECONDS, RATE, PRICE, ENERGY)

    def __init__(self) -> None:
        self._checks: list[Check] = []

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        settings = row_settings(asked.size_of(self), asked, cluster)
        # What is sorted must be kept as safely as what was generated.
        known = {name: asked.own.get(name) for name in ("price", "watts")}
        return {**settings, "output_replication": settings["input_replication"], **known}

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        size = settings["size_bytes"]
        return 2 * size * settings["input_replication"], int(2 * 1.02 * size)

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._checks = []  # Of this run: one workload serves every repetition.
        session.caveat(NOTICE)
        return {
            "generator": "teragen",
            "rows": settings["rows"],
            "bytes": settings["size_bytes"],
            "replication": settings["input_replication"],
        }

    def run(self, session: Session, settings: Settings) -> None:
        seconds = [self._pass(session, settings, number) for number in _PASSES]
        rate = settings["size_bytes"] / TERABYTE / (max(seconds) / 3600)
        session.sample(RATE, rate, phase="slower")
        for metric, known in ((PRICE, settings["price"]), (ENERGY, settings["watts"])):
            if known is not None:
                session.sample(metric, known / rate, phase="slower")

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        return tuple(self._checks)

    def _pass(self, session: Session, settings: Settings, number: int) -> float:
        """One pass through the five phases; returns how long it took. Its data is removed."""
        root = f"{session.directory}/pass-{number}"
        source, target, report = (session.storage.uri(f"{root}/{name}") for name in ("input", "output", "report"))
        size = settings["size_bytes"]
        maps, reduces = (f"-Dmapreduce.job.{kind}={settings[kind]}" for kind in ("maps", "reduces"))
        replicas = f"-Dmapreduce.terasort.output.replication={settings['output_replication']}"
        programs = {
            "gen": session.examples("teragen", maps, str(settings["rows"]), source),
            "sort": session.examples("terasort", reduces, replicas, source, target),
            "validate": session.examples("teravalidate", UNCOMPRESSED, target, report),
        }
        generated = session.program(f"gen-{number}", "run", programs["gen"], data_bytes=size)
        self._check_data(session, settings, f"check-input-{number}", f"{root}/input")
        sorted_ = session.program(f"sort-{number}", "run", programs["sort"], data_bytes=size)
        self._check_data(session, settings, f"check-output-{number}", f"{root}/output")
        validated = session.program(f"validate-{number}", "run", programs["validate"])
        seconds = validated.end - generated.start
        session.sample(SECONDS, seconds, phase=f"pass-{number}")
        checksum = _only(f"gen-{number}", generated.jobs).counter(*CHECKSUM_COUNTER)
        for check in judge(read_report(session, f"{root}/report"), checksum):
            self._checks.append(Check(f"{check.name}-{number}", check.passed, check.detail))
        counted = _only(f"sort-{number}", sorted_.jobs).counter(TASK_COUNTERS, "REDUCE_OUTPUT_RECORDS")
        detail = f"{counted} of {settings['rows']} rows sorted"
        self._checks.append(Check(f"cardinality-{number}", counted == settings["rows"], detail))
        session.storage.remove(root)
        return seconds

    def _check_data(self, session: Session, settings: Settings, phase: str, directory: str) -> None:
        """Size, replication and health of what a phase has written, as HDFS itself checks it; elsewhere the size."""
        size, there = settings["rows"] * ROW_BYTES, session.storage.uri(directory)
        if there.startswith(f"{HDFS}:"):
            ran = session.command(phase, "run", f"hdfs fsck {shlex.quote(directory)} -files", judged=True)
            self._checks.append(judge_files(phase, ran.output, size, settings["input_replication"]))
        else:
            line = f"hadoop fs -stat '%b %n' {shlex.quote(f'{there}/part-*')}"
            ran = session.command(phase, "run", line, judged=True)
            self._checks.append(judge_lengths(phase, ran.output, size))


def judge_files(name: str, said: str, size: int, replication: int) -> Check:
    """What `hdfs fsck -files` says of a directory whose part files shall have `size` bytes, `replication` times."""
    parts = [found for found in _FILE.findall(said) if "/part-" in found[0]]
    stored = sum(int(length) for _, length, _, _ in parts)
    replicas = sorted({int(copies) for _, _, copies, _ in parts})
    # TeraSort leaves a small file with ten replicas beside its output, which few clusters can hold.
    healthy = "Status: HEALTHY" in said and all(state == "OK" for *_, state in parts)
    return Check(
        name,
        healthy and stored == size and replicas == [replication],
        f"{stored} of {size} bytes in {len(parts)} files, stored {' and '.join(map(str, replicas)) or 'no'} times of "
        f"{replication}, {'healthy' if healthy else 'not healthy: its log says more'}",
    )


def judge_lengths(name: str, said: str, size: int) -> Check:
    """What `hadoop fs -stat "%b %n"` says of part files that shall have `size` bytes."""
    lengths = [int(length) for length in _LENGTH.findall(said)]
    return Check(name, sum(lengths) == size, f"{sum(lengths)} of {size} bytes in {len(lengths)} files")


def _only(phase: str, jobs: Sequence[Job]) -> Job:
    if len(jobs) != 1:
        raise WorkloadFailed(f"{phase}: YARN knows {len(jobs)} jobs of a program that runs one")
    return jobs[0]
