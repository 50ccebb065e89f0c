"""MapReduce history files (`.jhist`): what an ApplicationMaster wrote down of its job, event by event.

Two formats exist: a line `Avro-Json` and then the schema and every event as a line of JSON, or a line `Avro-Binary`
and then a line with the schema and every event in Avro's binary encoding, one after the other (the default of Hadoop
3, `mapreduce.jobhistory.jhist.format`). Neither has an end mark: the last event of a job that ended is the end of
the job, and a file without it was cut off. Source: org.apache.hadoop.mapreduce.jobhistory.EventWriter, 3.4.2.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import fastavro
from fastavro.schema import SchemaParseException

from howdah.errors import Untrusted
from howdah.model.job import Attempt, Counters, Job, Span, TaskKind

_ENDS = ("JOB_FINISHED", "JOB_FAILED", "JOB_KILLED", "JOB_ERROR")
_KINDS: dict[str, TaskKind] = {"MAP": "map", "REDUCE": "reduce"}
_NO_END = "The history has no end of this attempt; the job's end is taken for it."
_UNREADABLE = (
    *(EOFError, ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError),
    SchemaParseException,
)


class DamagedHistory(Untrusted):
    """A history file that is cut off or cannot be read. `event` is the number of the last whole event, from 1."""

    def __init__(self, problem: str, event: int) -> None:
        super().__init__(
            problem, hint="The job may still run, or its ApplicationMaster was killed before it closed the file."
        )
        self.event = event


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the history: its type (`JOB_SUBMITTED`), its fields, and the byte behind it."""

    type: str
    fields: Mapping[str, Any]
    end: int


def parse_history(content: bytes) -> Job:
    """The job in a history file.

    Attempts that were never launched are left out. For one that was launched and has no end in the history, the end
    of the job is taken, its state is UNFINISHED, and its `error` says so. When the ApplicationMaster was started more
    than once, `diagnostics` says so.

    Raises:
        DamagedHistory: not a history file, or one that ends before its job does; the message names the event.
    """
    events: list[Event] = []
    try:
        events.extend(_events(content))
        return _job(events)
    except _UNREADABLE as error:
        raise _damage(events, len(content), f"{type(error).__name__}: {error}") from error
    except _NoEnd as error:
        raise _damage(events, len(content), str(error)) from None


class _NoEnd(Exception):
    pass


def _damage(events: list[Event], size: int, problem: str) -> DamagedHistory:
    if not events:
        return DamagedHistory(f"not a history file, or cut off before its first event ({size} bytes): {problem}", 0)
    last = events[-1]
    return DamagedHistory(
        f"the history is whole up to event {len(events)} ({last.type}) at byte {last.end} of {size}: {problem}",
        len(events),
    )


def _events(content: bytes) -> Iterator[Event]:
    """The events in order. Raises one of `_UNREADABLE` where the file stops making sense."""
    form, _, rest = content.partition(b"\n")
    schema, newline, body = rest.partition(b"\n")
    if not newline:
        raise EOFError("it has no schema")
    before = len(content) - len(body)
    if form == b"Avro-Binary":
        named = fastavro.parse_schema(json.loads(schema))
        stream = io.BytesIO(body)
        while stream.tell() < len(body):
            record: Any = fastavro.schemaless_reader(stream, named, None)
            yield Event(record["type"], record["event"], before + stream.tell())
    elif form == b"Avro-Json":
        for line in body.splitlines(keepends=True):
            before += len(line)
            if line.strip():
                record = json.loads(line)
                (fields,) = record["event"].values()
                yield Event(record["type"], fields, before)
    else:
        raise ValueError(f"its first line is {form[:40]!r}, neither Avro-Binary nor Avro-Json")


def _job(events: list[Event]) -> Job:
    last: dict[str, Mapping[str, Any]] = {event.type: event.fields for event in events}
    ends = [event for event in events if event.type in _ENDS]
    if not ends or "JOB_SUBMITTED" not in last:
        raise _NoEnd("the end of the job is missing" if "JOB_SUBMITTED" in last else "no job was submitted")
    end, submitted = ends[-1].fields, last["JOB_SUBMITTED"]
    initialised = last.get("JOB_INITED", {"launchTime": 0, "totalMaps": 0, "totalReduces": 0, "uberized": False})
    finish = end["finishTime"] / 1000
    starts = sum(event.type == "AM_STARTED" for event in events)
    notes = [_text(end.get("diagnostics"))]
    notes += [f"The ApplicationMaster was started {starts} times."] if starts > 1 else []
    return Job(
        id=submitted["jobid"],
        name=submitted["jobName"],
        user=submitted["userName"],
        queue=last.get("JOB_QUEUE_CHANGED", submitted)["jobQueueName"],
        state="SUCCEEDED" if ends[-1].type == "JOB_FINISHED" else end["jobStatus"],
        submit=submitted["submitTime"] / 1000,
        launch=initialised["launchTime"] / 1000 or None,
        finish=finish,
        maps=initialised["totalMaps"],
        reduces=initialised["totalReduces"],
        counters=_counters(end.get("totalCounters")),
        map_counters=_counters(end.get("mapCounters")),
        reduce_counters=_counters(end.get("reduceCounters")),
        attempts=_attempts(events, finish, map_only=initialised["totalReduces"] == 0),
        diagnostics="\n".join(note for note in notes if note) or None,
        uberized=initialised["uberized"],
    )


def _attempts(events: list[Event], job_finish: float, *, map_only: bool) -> tuple[Attempt, ...]:
    """Every attempt that was launched, by start. Where an attempt ended twice (a map whose output was lost later),
    the later end counts."""
    ends: dict[str, Mapping[str, Any]] = {}
    starts: dict[str, Mapping[str, Any]] = {}
    for event in events:
        if event.type.endswith("_ATTEMPT_STARTED"):
            starts[event.fields["attemptId"]] = event.fields
        elif "_ATTEMPT_" in event.type:
            ends[event.fields["attemptId"]] = event.fields
    found = [
        _attempt(start, ends.get(name, {}), job_finish, map_only=map_only)
        for name, start in starts.items()
        if start["taskType"] in _KINDS
    ]
    return tuple(sorted(found, key=lambda attempt: (attempt.whole.start, attempt.id)))


def _attempt(start: Mapping[str, Any], end: Mapping[str, Any], job_finish: float, *, map_only: bool) -> Attempt:
    ended = end.get("finishTime", 0) > 0
    whole = Span(start["startTime"] / 1000, end["finishTime"] / 1000 if ended else job_finish)
    state = end.get("taskStatus", end.get("status", "UNFINISHED"))
    error = _text(end.get("error"))
    if not ended:
        error = "\n".join(
            filter(None, [error, "The history has no end of this attempt; the job's end is taken for it."])
        )
    kind = _KINDS[start["taskType"]]
    succeeded = ended and state == "SUCCEEDED"
    return Attempt(
        id=start["attemptId"],
        task=start["taskid"],
        kind=kind,
        state=state,
        node=f"{end['hostname']}:{end['port']}" if end.get("port", -1) > 0 else None,
        container=start.get("containerId"),
        whole=whole,
        steps=_steps(kind, whole, end, map_only=map_only) if succeeded else {},
        counters=_counters(end.get("counters")) if succeeded else {},
        error=error,
    )


def _steps(kind: TaskKind, whole: Span, end: Mapping[str, Any], *, map_only: bool) -> dict[str, Span]:
    """The parts of a successful attempt; none where its node's clock and the ApplicationMaster's contradict each other:
    the first measures the borders, the second start and end."""
    names: tuple[str, ...] = ("shuffle", "merge", "reduce")
    borders: tuple[str, ...] = ("shuffleFinishTime", "sortFinishTime")
    if kind == "map":
        names, borders = (("map",), ()) if map_only else (("map", "merge"), ("mapFinishTime",))
    times = [whole.start, *(end[border] / 1000 for border in borders), whole.end]
    if times != sorted(times):
        return {}
    return {name: Span(*times[at : at + 2]) for at, name in enumerate(names)}


def _counters(record: Any) -> Counters:
    if record is None:
        return {}
    return {
        group["name"]: {counter["name"]: counter["value"] for counter in group["counts"]} for group in record["groups"]
    }


def _text(value: Any) -> str | None:
    """A text that may be absent: in JSON, Avro wraps it into an object that names its type."""
    text = value["string"] if isinstance(value, Mapping) else value
    return text or None
