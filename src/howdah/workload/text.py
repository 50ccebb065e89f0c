"""Generated text for the workloads that read text: words distributed by Zipf's law, whose counts are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from howdah.errors import UsageError
from howdah.workload import Asked, Dataset, Session, Settings
from howdah.workload.counts import count
from howdah.workload.generators import run_generator
from howdah.workload.outputs import check_codec, count_of, read_text

_VERSION = 3
"""The version of the text of `textgen` for the same settings."""
_SEED = 1
_VOCABULARY = 100_000
_EXPONENT = 1


def text_settings(size: int, asked: Asked, cluster: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of a workload over `size` bytes of text. Raises UsageError for impossible settings."""
    conf = {**cluster, **asked.conf}
    check_codec(conf)
    maps = asked.maps or count(conf, "mapreduce.job.maps", 2)
    if size < maps:
        raise UsageError(f"{size} bytes of text are too few for {maps} maps")
    return {
        "size_bytes": size,
        "maps": maps,
        "reduces": asked.reduces or count(conf, "mapreduce.job.reduces", 1),
        "replication": count(conf, "dfs.replication", 3),
        "seed": _SEED,
        "vocabulary": _VOCABULARY,
        "exponent": _EXPONENT,
        "conf": dict(asked.conf),
    }


def generate(session: Session, settings: Settings) -> Dataset:
    """Return the text, made in phase `gen` unless existing text can be used again. Its facts have `bytes` and
    `words`."""
    shape = {name: settings[name] for name in ("seed", "vocabulary", "exponent")}
    keys = {"seed": "seed", "vocabulary": "words", "exponent": "exponent"}
    size, maps = settings["size_bytes"], settings["maps"]

    def make(directory: str) -> Mapping[str, Any]:
        definitions = (f"-Dhowdah.text.{key}={settings[name]}" for name, key in keys.items())
        made = run_generator(
            session, "textgen", directory, size, *definitions, counts=("BYTES", "WORDS"), maps=maps, data_bytes=size
        )
        return {
            "generator": "textgen",
            **shape,
            "bytes": made["BYTES"],
            "words": made["WORDS"],
            "files": maps,
            "replication": settings["replication"],
        }

    return session.dataset({"generator": "textgen", "version": _VERSION, "bytes": size, "maps": maps, **shape}, make)


def known_counts(session: Session, dataset: Dataset) -> Counter[str]:
    """Return how often each word is in the text, as counted by its generator."""
    files = session.storage.files(dataset.directory)
    return read_counts(session, dataset.directory, [name for name in files if name.startswith("_counts-")])


def read_counts(session: Session, directory: str, names: Sequence[str]) -> Counter[str]:
    """Return the sums over lines `WORD<TAB>COUNT` of some files of a directory. Raises Untrusted for any other line."""
    found: Counter[str] = Counter()
    for name in names:
        for line in read_text(session.storage, f"{directory}/{name}").splitlines():
            word, _, number = line.partition("\t")
            found[word] += count_of(number, line)
    return found
