"""A job that shuffles generated records and forgets them: sort, spill, transfer and merge alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from howdah.errors import UsageError
from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Check
from howdah.workload import MAPS, REDUCES, Asked, Option, Session, Settings
from howdah.workload.counts import count

_COUNTERS = "org.howdah.workloads.ShuffleLoad"
_KEY_BYTES = 10
_VALUE_BYTES = 90
_LEAST_KEY_BYTES = 4
"""The least bytes of a key: its first bytes say its partition (`ShuffleKeys.PARTITION_BYTES`)."""
_MOST_DISTINCT = 10_000_000
_TYPES = ("bytes", "text")
_ORDERS = ("own", "reverse")


class Shuffle:
    """See `howdah.workload.Workload`."""

    name: ClassVar[str] = "shuffle"
    title: ClassVar[str] = "Shuffle"
    summary: ClassVar[str] = "shuffles generated records and forgets them: sort, spill, transfer, merge; Howdah's own"
    unit: ClassVar[str] = "B"
    sizes: ClassVar[Mapping[str, int]] = {"smoke": 10 * 10**6, "small": 10**9, "large": 10 * 10**9}
    options: ClassVar[tuple[Option, ...]] = (
        *(MAPS, REDUCES),
        Option("key", f"Bytes of a key, {_LEAST_KEY_BYTES} at least. [default: {_KEY_BYTES}]", "count"),
        Option("value", f"Bytes of a value. [default: {_VALUE_BYTES}]", "count"),
        Option("prefix", "Bytes after the partition's that all keys have in common. [default: 0]", "count"),
        Option("distinct", "How many different keys there are at most. [default: random]", "count"),
        Option("type", "The type of the keys, BytesWritable or Text. [default: bytes]", choices=_TYPES),
        Option(
            "comparator", "The order of the keys: the type's own, or its reverse by a custom class.", choices=_ORDERS
        ),
        Option(
            "skew",
            "Zipf's exponent of the sizes of partitions, or of keys with --distinct. [default: 0]",
            "number",
        ),
    )
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}
    primary: ClassVar[str] = "shuffle/job_seconds"
    metrics: ClassVar[tuple[Metric, ...]] = ()

    def __init__(self) -> None:
        self._job: Job | None = None

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        conf = {**cluster, **asked.conf}
        size = asked.size_of(self)
        key, value = asked.own.get("key", _KEY_BYTES), asked.own.get("value", _VALUE_BYTES)
        if key < _LEAST_KEY_BYTES:
            raise UsageError(f"--key {key} is too short: the first {_LEAST_KEY_BYTES} bytes of a key say its partition")
        prefix = asked.own.get("prefix", 0)
        if prefix > key - _LEAST_KEY_BYTES:
            raise UsageError(
                f"--prefix {prefix} is too much: {_LEAST_KEY_BYTES} of the {key} bytes of a key say the partition"
            )
        distinct = asked.own.get("distinct", 0)
        if distinct > _MOST_DISTINCT:
            raise UsageError(
                f"--distinct {distinct} is too much: {_MOST_DISTINCT} at most, as each map keeps 24 bytes of every key",
                hint="Without --distinct, keys are random ones, nearly all of them different.",
            )
        if size < key + value:
            raise UsageError(f"{size} bytes are less than one record of {key} + {value} bytes")
        return {
            "size_bytes": size,
            "key_bytes": key,
            "value_bytes": value,
            "records": size // (key + value),
            "prefix_bytes": prefix,
            "distinct": asked.own.get("distinct"),
            "key_type": asked.own.get("type", _TYPES[0]),
            "comparator": asked.own.get("comparator", _ORDERS[0]),
            "skew": float(asked.own.get("skew", 0)),
            "maps": asked.maps or count(conf, "mapreduce.job.maps", 2),
            "reduces": asked.reduces or count(conf, "mapreduce.job.reduces", 1),
            "conf": dict(asked.conf),
        }

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        # Each record has two lengths of four bytes of BytesWritable and two of the map output; spills and the merged
        # file coexist.
        return 0, 2 * settings["records"] * (settings["key_bytes"] + settings["value_bytes"] + 10)

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        return {"generator": "ShuffleLoad", "records": settings["records"]}

    def run(self, session: Session, settings: Settings) -> None:
        program = session.programs.workloads(
            "shuffle",
            f"-Dmapreduce.job.maps={settings['maps']}",
            f"-Dmapreduce.job.reduces={settings['reduces']}",
            f"-Dhowdah.shuffle.key.bytes={settings['key_bytes']}",
            f"-Dhowdah.shuffle.value.bytes={settings['value_bytes']}",
            f"-Dhowdah.shuffle.key.prefix={settings['prefix_bytes']}",
            f"-Dhowdah.shuffle.key.distinct={settings['distinct'] or 0}",
            f"-Dhowdah.shuffle.key.text={str(settings['key_type'] == 'text').lower()}",
            f"-Dhowdah.shuffle.key.reverse={str(settings['comparator'] == 'reverse').lower()}",
            f"-Dhowdah.shuffle.skew={settings['skew']}",
            str(settings["records"]),
        )
        size = settings["records"] * (settings["key_bytes"] + settings["value_bytes"])
        self._job = session.run("shuffle", "run", program, data_bytes=size, one_job=True).jobs[0]

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        assert self._job is not None
        sent, received = (
            tuple(self._job.counter(f"{_COUNTERS}${side}", name) for name in ("RECORDS", "CHECKSUM"))
            for side in ("Sent", "Received")
        )
        records = settings["records"]
        disorder, misplaced = (self._job.counter(f"{_COUNTERS}$Received", name) for name in ("DISORDER", "MISPLACED"))
        return (
            Check("records", sent[0] == received[0] == records, f"{sent[0]} of {records} sent, {received[0]} received"),
            Check(
                "checksum", sent[1] is not None and sent[1] == received[1], f"{sent[1]} sent, {received[1]} received"
            ),
            Check("order", disorder == 0, f"{disorder} keys did not come after the one before"),
            Check("partitions", misplaced == 0, f"{misplaced} keys came to the reduce of another partition"),
        )
