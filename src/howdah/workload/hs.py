"""Five phases, twice, in the style of TPCx-HS: generate, check, sort, check, validate."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.model.storage import HDFS
from howdah.workload import MAPS, REDUCES, Asked, Option, Ran, Session, Settings
from howdah.workload.counts import TASK_COUNTERS
from howdah.workload.outputs import UNCOMPRESSED
from howdah.workload.programs import ShellLine
from howdah.workload.terasort import CHECKSUM_COUNTER, ROW_BYTES, judge, read_report, row_settings

TERABYTE = 10**12
NOTICE = (
    "not a TPC result: the phases are in the style of TPCx-HS, but nothing was audited, priced or published by its "
    "rules, and no figure here may be compared with TPCx-HS results"
)
_PASSES = (1, 2)
_FILE = re.compile(
    r"^(\S+) (\d{1,18}) bytes, (?:replicated: replication=(\d{1,9})|erasure-coded: policy=([^\s,]+)), "
    r"\d+ block\(s\): +(.*)$",
    re.MULTILINE,
)
_LENGTH = re.compile(r"^(\d{1,18}) part-\S+$", re.MULTILINE)
_LATE = "Under replicated"
_LOOKS, _REPORT_SECONDS = 3, 3.0
"""How often, and after how many seconds, a check is repeated if replicas are missing. HDFS closes a file once it knows
of one replica (`dfs.namenode.replication.min`); DataNodes may report the others later."""

SECONDS = Metric(
    "hs_seconds",
    "s",
    "lower",
    "sum of the times of the five programs of one pass, each from the start of its client to its end. TPCx-HS's T is "
    "all that elapses from the first to the last: this leaves out what Howdah does between them, such as waiting until "
    "the containers of a job have ended",
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
    "--price, and hsph",
)
ENERGY = Metric(
    "hs_energy",
    "Wh/TB",
    "lower",
    "--watts ÷ hsph: the energy that one pass takes for each TB, as TPC-Energy's watts ÷ performance; not comparable "
    "with TPCx-HS-Energy results",
    "--watts, and hsph",
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
        Option("price", "Price of the system, in any currency, for its price per TB/h.", "positive"),
        Option("watts", "Mean power of the system, by your meter, for its energy per TB.", "positive"),
    )
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = f"slower/{RATE.name}"
    measured: ClassVar[tuple[str, ...]] = tuple(f"sort-{number}" for number in _PASSES)
    metrics: ClassVar[tuple[Metric, ...]] = (SECONDS, RATE, PRICE, ENERGY)

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        self._checks: list[Check] = []
        self._sleep = sleep

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
        return {"generator": "teragen", "rows": settings["rows"], "bytes": settings["size_bytes"]}

    def run(self, session: Session, settings: Settings) -> None:
        size, slower = settings["size_bytes"], max(self._pass(session, settings, number) for number in _PASSES)
        rate = size / TERABYTE / (slower / 3600)
        formula = f"{size} B ÷ 10¹² ÷ ({slower:.3f} s ÷ 3600)"
        session.sample(RATE, rate, phase="slower", quality="derived", source=formula)
        for metric, name in ((PRICE, "price"), (ENERGY, "watts")):
            if (known := settings[name]) is not None:
                formula = f"--{name} {known:g} ÷ {rate:.6g} TB/h"
                session.sample(metric, known / rate, phase="slower", quality="derived", source=formula)

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        return tuple(self._checks)

    def _pass(self, session: Session, settings: Settings, number: int) -> float:
        """Run one pass through the five phases, and return the seconds that their programs took. Its data is
        removed."""
        root = f"{session.directory}/pass-{number}"
        source, target, report = (session.storage.uri(f"{root}/{name}") for name in ("input", "output", "report"))
        size = settings["size_bytes"]
        maps, reduces = (f"-Dmapreduce.job.{kind}={settings[kind]}" for kind in ("maps", "reduces"))
        replicas = f"-Dmapreduce.terasort.output.replication={settings['output_replication']}"
        programs = {
            "gen": session.programs.examples("teragen", maps, str(settings["rows"]), source),
            "sort": session.programs.examples("terasort", reduces, replicas, source, target),
            "validate": session.programs.examples("teravalidate", UNCOMPRESSED, target, report),
        }
        generated = session.run(f"gen-{number}", "run", programs["gen"], data_bytes=size, one_job=True)
        there = self._check_data(session, settings, f"check-input-{number}", f"{root}/input")
        sorted_ = session.run(f"sort-{number}", "run", programs["sort"], data_bytes=size, one_job=True)
        kept = self._check_data(session, settings, f"check-output-{number}", f"{root}/output")
        validated = session.run(f"validate-{number}", "run", programs["validate"])
        seconds = sum(one.seconds for one in (generated, there, sorted_, kept, validated))
        formula = "Σ client_seconds of its five phases"
        session.sample(SECONDS, seconds, phase=f"pass-{number}", quality="derived", source=formula)
        checksum = generated.jobs[0].counter(*CHECKSUM_COUNTER)
        for check in judge(read_report(session, f"{root}/report"), checksum):
            self._checks.append(Check(f"{check.name}-{number}", check.passed, check.detail))
        counted = sorted_.jobs[0].counter(TASK_COUNTERS, "REDUCE_OUTPUT_RECORDS")
        detail = f"{counted} of {settings['rows']} rows sorted"
        self._checks.append(Check(f"cardinality-{number}", counted == settings["rows"], detail))
        session.storage.remove(root)
        return seconds

    def _check_data(self, session: Session, settings: Settings, phase: str, directory: str) -> Ran:
        """Check size, replication and health of a phase's output by HDFS's own check; on other storages, check the
        size. Return the last look, which is the one that counts."""
        size, there = settings["rows"] * ROW_BYTES, session.storage.uri(directory)
        if not there.startswith(f"{HDFS}:"):
            line = ShellLine(f"hadoop fs -stat '%b %n' {shlex.quote(f'{there}/part-*')}", judged=True)
            ran = session.run(phase, "run", line)
            self._checks.append(judge_lengths(phase, ran.output, size))
            return ran
        line = ShellLine(f"hdfs fsck {shlex.quote(directory)} -files", judged=True)
        ran = session.run(phase, "run", line)
        for look in range(1, _LOOKS + 1):
            if not any(state.startswith(_LATE) for *_, state in _parts(ran.output)):
                break
            self._sleep(_REPORT_SECONDS)
            ran = session.run(f"{phase}-again-{look}", "run", line)
        self._checks.append(judge_files(phase, ran.output, size, settings["input_replication"]))
        return ran


def judge_files(name: str, said: str, size: int, replication: int) -> Check:
    """Return a check of the output of `hdfs fsck -files` for a directory. Its part files shall have `size` bytes,
    `replication` times. An erasure coding policy of the directory takes the place of replicas."""
    parts = _parts(said)
    stored = sum(int(length) for _, length, *_ in parts)
    kept = sorted(
        {f"by {policy}" if policy else f"{copies} times of {replication}" for _, _, copies, policy, _ in parts}
    )
    as_asked = bool(parts) and all(policy or int(copies) == replication for _, _, copies, policy, _ in parts)
    healthy = "Status: HEALTHY" in said and all(state == "OK" for *_, state in parts)
    return Check(
        name,
        healthy and stored == size and as_asked,
        f"{stored} of {size} bytes in {len(parts)} files, stored {' and '.join(kept) or f'no times of {replication}'}, "
        f"{'healthy' if healthy else 'not healthy: its log says more'}",
    )


def _parts(said: str) -> list[tuple[str, str, str, str, str]]:
    """Return path, length, replicas or else erasure coding policy, and state of the part files that `hdfs fsck -files`
    names.

    TeraSort leaves a small file with ten replicas next to its output, which few clusters can hold.
    """
    return [found for found in _FILE.findall(said) if "/part-" in found[0]]


def judge_lengths(name: str, said: str, size: int) -> Check:
    """Return a check of the output of `hadoop fs -stat "%b %n"` for part files that shall have `size` bytes."""
    lengths = [int(length) for length in _LENGTH.findall(said)]
    return Check(name, sum(lengths) == size, f"{sum(lengths)} of {size} bytes in {len(lengths)} files")
