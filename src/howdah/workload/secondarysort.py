"""SecondarySort: pairs of numbers grouped by the first and sorted by the second within each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, REDUCES, Asked, Dataset, Option, Ran, Session, Settings
from howdah.workload.counts import count
from howdah.workload.generators import run_generator
from howdah.workload.outputs import counted_check, parts

_PACKAGE = "org.howdah.workloads"
_VERSION = 1
"""The version of the output of `pairgen` for the same settings."""
_GROUP = 1000
"""Pairs with the same first number."""
_MOST = (1 << 31) - 1
"""SecondarySort reads 32-bit numbers (`Pairs.MOST`)."""
_LOW_63 = (1 << 63) - 1
_PAIR_BYTES = 15
"""The most bytes of a line: 7 digits of one number, 3 of the other, a tab and a line feed, or a share of the separators
of groups."""


class SecondarySort:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "secondarysort"
    title: ClassVar[str] = "SecondarySort"
    summary: ClassVar[str] = "groups and sorts pairs of numbers: many small records; Hadoop's examples"
    unit: ClassVar[str] = "pairs"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 500_000, "small": 20_000_000, "large": 200_000_000}
    options: ClassVar[tuple[Option, ...]] = (MAPS, REDUCES)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = "sort/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None
        self._sorted: Ran | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        pairs = asked.size_of(self)
        if pairs > _MOST:
            raise UsageError(
                f"{pairs} pairs are more than SecondarySort's numbers can tell apart", hint=f"At most {_MOST}."
            )
        conf = {**cluster, **asked.conf}
        return {
            "pairs": pairs,
            "group": _GROUP,
            "maps": asked.maps or count(conf, "mapreduce.job.maps", 2),
            "reduces": asked.reduces or count(conf, "mapreduce.job.reduces", 1),
            "replication": count(conf, "dfs.replication", 3),
            "conf": dict(asked.conf),
        }

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # A record of the map output has three numbers and two lengths.
        return 2 * _PAIR_BYTES * settings["pairs"] * settings["replication"], 2 * 14 * settings["pairs"]

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        def make(directory: str) -> Mapping[str, Any]:
            group = f"-Dhowdah.pairs.group={settings['group']}"
            pairs, maps = settings["pairs"], settings["maps"]
            counted = run_generator(
                session, "pairgen", directory, pairs, group, counts=("PAIRS", "HASHES"), maps=maps, data_bytes=None
            )
            return {
                "generator": "pairgen",
                "records": counted["PAIRS"],
                "group": settings["group"],
                "checksum": f"{counted['HASHES'] & _LOW_63:x}",
                "files": settings["maps"],
                "replication": settings["replication"],
            }

        shape = {name: settings[name] for name in ("pairs", "group", "maps")}
        self._input = session.dataset({"generator": "pairgen", "version": _VERSION, **shape}, make)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        assert self._input is not None
        reduces = f"-Dmapreduce.job.reduces={settings['reduces']}"
        places = (session.storage.uri(one) for one in (self._input.directory, _output(session)))
        self._sorted = session.run(
            "sort", "run", session.programs.examples("secondarysort", reduces, *places), one_job=True
        )

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        assert self._input is not None
        group = f"-Dhowdah.pairs.group={settings['group']}"
        program = session.programs.workloads("paircheck", group, session.storage.uri(_output(session)))
        job = session.run("validate", "verify", program, one_job=True).jobs[0]
        found, hashes = (job.counter(f"{_PACKAGE}.PairCheck$Found", name) for name in ("PAIRS", "HASHES"))
        checksum = None if hashes is None else hashes & _LOW_63
        # A job without lines has no errors to count.
        errors = job.counter(f"{_PACKAGE}.PairCheck$Found", "ERRORS") or 0
        groups = job.counter(f"{_PACKAGE}.PairCheck$Found", "GROUPS")
        pairs, expected = settings["pairs"], self._input.facts["checksum"]
        whole = -(-pairs // settings["group"])  # Each first number is there, the last perhaps with fewer pairs.
        same = checksum is not None and f"{checksum:x}" == expected
        return (
            Check("order", errors == 0, f"{errors} lines are not where they should be"),
            Check("groups", groups == whole, f"{groups} of {whole} groups: more, where one is in several files"),
            Check("pairs", found == pairs == self._input.facts["records"], f"{found} of {pairs} pairs"),
            Check(
                "checksum", same, f"generated {expected} and sorted {checksum or 0:x} {'equal' if same else 'differ'}"
            ),
            *counted_check(self._sorted, sum(parts(session, _output(session)).values())),
        )


def _output(session: Session) -> str:
    return f"{session.directory}/output"
