"""RandomWriter's data: records of very different lengths, for the workloads that sort and join them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from howdah.errors import UsageError
from howdah.workload import Asked, Dataset, Session, Settings
from howdah.workload.counts import count

_COUNTERS = "org.apache.hadoop.examples.RandomWriter$Counters"
_LEAST_BYTES = 100_000
"""The least bytes of a map. It writes whole records, of up to 21 kB, until its share is full."""


def records_settings(size: int, asked: Asked, cluster: Mapping[str, str]) -> Settings:
    """Return the settings of a workload over `size` bytes of this data. Raises UsageError for impossible settings."""
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


def generate(session: Session, settings: Settings) -> Dataset:
    """Return the data, made in phase `gen` unless existing data can be used again.

    RandomWriter has no seed: its random data differs from run to run. `written_records` and `written_bytes` of the
    facts count that data. `bytes`, by which runs are compared, is what was asked for.
    """
    share = settings["size_bytes"] // settings["maps"]

    def make(directory: str) -> Mapping[str, Any]:
        job = session.run(
            "gen",
            "prepare",
            session.programs.examples(
                "randomwriter",
                f"-Dmapreduce.randomwriter.bytespermap={share}",
                f"-Dmapreduce.randomwriter.totalbytes={share * settings['maps']}",
                session.storage.uri(directory),
            ),
            data_bytes=settings["size_bytes"],
            one_job=True,
        ).jobs[0]
        return {
            "generator": "randomwriter",
            "bytes": settings["size_bytes"],
            "written_records": job.counter(_COUNTERS, "RECORDS_WRITTEN"),
            "written_bytes": job.counter(_COUNTERS, "BYTES_WRITTEN"),
            "files": settings["maps"],
            "replication": settings["replication"],
        }

    identity = {"generator": "randomwriter", "bytes": settings["size_bytes"], "maps": settings["maps"]}
    return session.dataset(identity, make)
