"""Grep: which matches of a pattern are in a text, and how often? Two jobs: search and sort."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, REDUCES, Asked, Dataset, Option, Session, Settings
from howdah.workload.outputs import count_of, parts, read_text
from howdah.workload.text import generate, known_counts, text_settings

_PATTERN = r"\bq[a-z]*"
"""The pattern of words that begin with q. Java and Python read it alike, and no match spans words."""
_LEAST_BYTES = 1000
"""The size from which such words are in the text, however it ends; the first is at byte 313."""


class Grep:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "grep"
    title: ClassVar[str] = "Grep"
    summary: ClassVar[str] = "finds and counts words in generated text: disk reads and processors; Hadoop's examples"
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 10 * 10**6, "small": 10**9, "large": 10 * 10**9}
    options: ClassVar[tuple[Option, ...]] = (MAPS, REDUCES)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = "grep/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        size = asked.size_of(self)
        if size < _LEAST_BYTES:
            raise UsageError(
                f"{size} bytes of text may have no word that begins with q, which is what is looked for",
                hint=f"--size {_LEAST_BYTES} is the least.",
            )
        return {**text_settings(size, asked, cluster), "pattern": _PATTERN}

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        size = settings["size_bytes"]
        return int(1.1 * size) * settings["replication"], size // 10

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._input = generate(session, settings)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        assert self._input is not None
        reduces = f"-Dmapreduce.job.reduces={settings['reduces']}"
        source, target = session.storage.uri(self._input.directory), session.storage.uri(_output(session))
        # Between its jobs, what it has found is in a directory of the user's home, and left there if it is killed.
        programs, pattern = session.programs, settings["pattern"]
        program = programs.examples("grep", *programs.at_home(), reduces, source, target, pattern)
        session.run("grep", "run", program, data_bytes=settings["size_bytes"])

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        assert self._input is not None
        expected = {
            word: times
            for word, times in known_counts(session, self._input).items()
            if re.fullmatch(settings["pattern"], word)
        }
        lines = [
            line
            for name in parts(session, _output(session))
            for line in read_text(session.storage, f"{_output(session)}/{name}").splitlines()
        ]
        found, order = read_matches(lines)
        detail = (
            f"{found.total()} matches of {len(found)} words, {sum(expected.values())} of {len(expected)} were generated"
        )
        falling = order == sorted(order, reverse=True)
        return (
            Check("matches", bool(expected) and found == Counter(expected), detail),
            Check("order", falling, "by falling count" if falling else "not by falling count"),
        )


def read_matches(lines: Sequence[str]) -> tuple[Counter[str], list[int]]:
    """Return the count of each match in lines `COUNT<TAB>MATCH`, and the counts in their order. Raises Untrusted for
    any other line."""
    found: Counter[str] = Counter()
    order = []
    for line in lines:
        times, tab, match = line.partition("\t")
        order.append(count_of(times if tab else "", line))
        found[match] += order[-1]
    return found, order


def _output(session: Session) -> str:
    return f"{session.directory}/output"
