"""WordCount: how often is each word in a text? One job, several engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.hadoop.distribution.spark import find_spark
from howdah.model.metric import Metric
from howdah.model.quantity import format_bytes
from howdah.model.run import Check
from howdah.workload import MAPS, REDUCES, Asked, Dataset, Option, Ran, Session, Settings
from howdah.workload.outputs import counted_check, parts
from howdah.workload.programs import SparkProgram
from howdah.workload.spark import SPARK, spark_properties
from howdah.workload.text import generate, known_counts, read_counts, text_settings

_ENGINES = ("mapreduce", "streaming", "spark")
# Its most frequent word is a twelfth of all, which have 7.3 letters on average: 2^31 of it are in 216 GB.
_MOST_COUNTED = 200 * 10**9


class WordCount:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "wordcount"
    title: ClassVar[str] = "WordCount"
    summary: ClassVar[str] = "counts the words of generated text: processors, little shuffle; Hadoop's examples"
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 10 * 10**6, "small": 10**9, "large": 10 * 10**9}
    options: ClassVar[tuple[Option, ...]] = (
        *(MAPS, REDUCES),
        Option(
            "engine",
            f"Its engine (not Pig, which fails on this Hadoop). [{_ENGINES[0]}]",
            choices=_ENGINES,
        ),
    )
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {
        name: {"size": size}
        for name, size in (
            *(("tiny", 32_000), ("small", 320_000_000), ("large", 3_200_000_000)),
            *(("huge", 32_000_000_000), ("gigantic", 320_000_000_000), ("bigdata", 1_600_000_000_000)),
        )
    }
    primary: ClassVar[str] = "count/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._input: Dataset | None = None
        self._counted: Ran | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        settings = {
            **text_settings(asked.size_of(self), asked, cluster),
            "engine": asked.own.get("engine", _ENGINES[0]),
        }
        if settings["engine"] == "mapreduce" and settings["size_bytes"] > _MOST_COUNTED:
            raise UsageError(
                f"Hadoop's WordCount counts in 32 bits, and in {format_bytes(settings['size_bytes'])} of this text the "
                "most frequent word is there more often",
                hint=f"Take at most {format_bytes(_MOST_COUNTED)}, or --engine spark or streaming.",
            )
        if settings["engine"] == "spark":
            find_spark()
            own = {"spark.sql.shuffle.partitions": str(settings["reduces"])}
            settings[SPARK] = spark_properties({**cluster, **asked.conf}, settings["reduces"], own)
        return settings

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # Without a combiner, every word goes to the reduces with its count, some 6 bytes more than in the text.
        size = settings["size_bytes"]
        return size * (1 + settings["replication"]), 4 * size if settings["engine"] == "streaming" else size

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        self._input = generate(session, settings)
        return self._input.describe()

    def run(self, session: Session, settings: Settings) -> None:
        assert self._input is not None
        size = settings["size_bytes"]
        reduces = f"-Dmapreduce.job.reduces={settings['reduces']}"
        source, target = (session.storage.uri(place) for place in (self._input.directory, _output(session)))
        match settings["engine"]:
            case "spark":
                argv = (session.programs.script("spark_words.py"), source, target)
                session.run("count", "run", SparkProgram(argv, settings[SPARK]), data_bytes=size)
            case "streaming":
                program = session.programs.streaming(
                    reduces,
                    *("-input", source, "-output", target),
                    mapper="streaming_words.py",
                    reducer="streaming_sums.py",
                )
                self._counted = session.run("count", "run", program, data_bytes=size, one_job=True)
            case _:
                program = session.programs.examples("wordcount", reduces, source, target)
                self._counted = session.run("count", "run", program, data_bytes=size, one_job=True)

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        assert self._input is not None
        known = known_counts(session, self._input)
        files = parts(session, _output(session))
        found = read_counts(session, _output(session), list(files))
        wrong = sorted(word for word in known.keys() | found.keys() if known[word] != found[word])
        detail = f"{len(found)} words, {len(known)} were generated"
        if wrong:
            word = wrong[0]
            detail += f"; {len(wrong)} counts differ: {word!r} is there {known[word]} times, counted {found[word]}"
        total = self._input.facts["words"]
        return (
            Check("counts", not wrong and bool(known), detail),
            Check("total", found.total() == total, f"{found.total()} words counted, {total} were generated"),
            *counted_check(self._counted, sum(files.values())),
        )


def _output(session: Session) -> str:
    return f"{session.directory}/output"
