"""MapReduce history files (`.jhist`): the events of a job, as its ApplicationMaster wrote them down.

Two formats exist. `Avro-Json` is a line with this word, then the schema and every event as a line of JSON.
`Avro-Binary` is a line with this word, a line with the schema, and every event in Avro's binary encoding, one after the
other. `Avro-Binary` is the default of Hadoop 3 (`mapreduce.jobhistory.jhist.format`). Neither format has an end mark.
The last event of a job that ended is the end of the job; a file without this event was cut off. Source:
org.apache.hadoop.mapreduce.jobhistory.EventWriter, 3.4.2.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import fastavro
from fastavro.schema import SchemaParseException

from howdah.errors import Untrusted
from howdah.model.job import Attempt, Counters, Job, Span, TaskKind

_ENDS = ("JOB_FINISHED", "JOB_FAILED", "JOB_KILLED", "JOB_ERROR")
_KINDS: dict[str, TaskKind] = {"MAP": "map", "REDUCE": "reduce"}
_MASTER = "AM_STARTED"
_NO_END = "The history has no end of this attempt; the job's end is taken for it."
_NO_REASON = "The history gives no reason: it has no diagnostics of the job."
_FORMATS = (b"Avro-Binary\n", b"Avro-Json\n")
_FIRST_LINE = re.compile(rb"Avro-(?:Binary|Json)\n")
_OLD = b"Meta VERSION="
_UNREADABLE = (
    *(EOFError, ValueError, LookupError, TypeError, AttributeError, OverflowError, MemoryError),
    SchemaParseException,
)


_CUT_OFF = "The job may still run, or its ApplicationMaster was killed before it closed the file."
_CHANGED = "Something has changed the file since the ApplicationMaster wrote it: copy it from the cluster again."
_ANOTHER = "Give the file JOB-….jhist that the ApplicationMaster of a MapReduce job wrote."
_TEXT_BEFORE = "Delete that text: a history begins with the line Avro-Binary or Avro-Json."
_OF_YARN = "Run the job on YARN (Hadoop 2 or 3): Howdah reads the histories that its ApplicationMaster writes."


class DamagedHistory(Untrusted):
    """A history file that is cut off or damaged, or is no history. `event` is the number of the last whole event, from
    1."""

    def __init__(self, problem: str, event: int = 0, *, hint: str = _CUT_OFF) -> None:
        super().__init__(problem, hint=hint)
        self.event = event


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the history: its type (`JOB_SUBMITTED`), its fields, and the offset of the byte behind it."""

    type: str
    fields: Mapping[str, Any]
    end: int


@dataclass(frozen=True, slots=True)
class HostClocks:
    """Seconds by which the clocks behind a history are ahead: the ResourceManager's, and those of the hosts of
    NodeManagers by host and port."""

    manager: float
    node: Callable[[str | None], float]


_ONE_CLOCK = HostClocks(0.0, lambda _: 0.0)
_OF_MASTER = ("launchTime", "startTime", "finishTime")
_OF_NODE = ("mapFinishTime", "shuffleFinishTime", "sortFinishTime")
MANAGER = "resourcemanager"
"""The name of the ResourceManager's clock in `Job.ahead`."""


def parse_history(content: bytes, clocks: HostClocks = _ONE_CLOCK) -> Job:
    """Return the job in a history file, with its times corrected for the `clocks` of hosts.

    Attempts that were never launched are left out. If a launched attempt has no end in the history, it ends with the
    job, its state is UNFINISHED, and its `error` says so. `diagnostics` says if the ApplicationMaster was started more
    than once, and if a job that did not succeed has no diagnostics.

    Raises:
        DamagedHistory: the file is empty, of MapReduce 1, has other text before its first line, or is no history at
            all. Or it is damaged, or cut off before the end of its job. The message says which, and names the last
            whole event.
    """
    _check_start(content)
    events: list[Event] = []
    try:
        events.extend(_events(content))
        return _job(events, clocks)
    except _CutOff as error:
        raise _damage(events, len(content), "cut off", str(error), _CUT_OFF) from None
    except _UNREADABLE as error:
        raise _damage(events, len(content), "damaged", f"{type(error).__name__}: {error}", _CHANGED) from error


class _CutOff(Exception):
    pass


def _check_start(content: bytes) -> None:
    """Raise DamagedHistory if a file does not begin as a history does."""
    if not content.strip():
        raise DamagedHistory(f"not a history file: it is empty ({len(content)} bytes)")
    first = content.partition(b"\n")[0][:40].decode("utf-8", "replace")
    if content.startswith(_OLD):
        raise DamagedHistory(f"not a history file of YARN: MapReduce 1 wrote it ({first})", hint=_OF_YARN)
    found = _FIRST_LINE.search(content)
    if found is None and not any(form.startswith(content) for form in _FORMATS):
        problem = f"not a history file: its first line is {first!r}, neither Avro-Binary nor Avro-Json"
        raise DamagedHistory(problem, hint=_ANOTHER)
    if found is not None and found.start() > 0:
        line = found[0].decode().strip()
        problem = f"not a history file: {found.start()} bytes stand before its line {line}, the first being {first!r}"
        raise DamagedHistory(problem, hint=_TEXT_BEFORE)


def _damage(events: list[Event], size: int, what: str, problem: str, hint: str) -> DamagedHistory:
    if not events:
        return DamagedHistory(
            f"not a history file, or {what} before its first event ({size} bytes): {problem}", hint=hint
        )
    last = events[-1]
    whole = f"whole up to event {len(events)} ({last.type}) at byte {last.end} of {size}"
    return DamagedHistory(f"the history is {what}, {whole}: {problem}", len(events), hint=hint)


def _events(content: bytes) -> Iterator[Event]:
    """Yield the events in order. Raises _CutOff if the file ends too early, and one of `_UNREADABLE` if it becomes
    unreadable before its end."""
    form, _, rest = content.partition(b"\n")
    schema, newline, body = rest.partition(b"\n")
    if not newline:
        raise _CutOff("it has no schema")
    before = len(content) - len(body)
    if form == b"Avro-Binary":
        named = fastavro.parse_schema(json.loads(schema))
        stream = io.BytesIO(body)
        while stream.tell() < len(body):
            try:
                record: Any = fastavro.schemaless_reader(stream, named, None)
            except _UNREADABLE as error:
                if stream.tell() < len(body):
                    raise
                raise _CutOff("its last event is not whole") from error
            yield Event(record["type"], record["event"], before + stream.tell())
    else:
        for line in body.splitlines(keepends=True):
            before += len(line)
            if line.strip():
                try:
                    record = json.loads(line)
                except ValueError as error:
                    if line.endswith(b"\n"):
                        raise
                    raise _CutOff("its last event is not whole") from error
                (fields,) = record["event"].values()
                yield Event(record["type"], fields, before)


def _by_one_clock(events: list[Event], clocks: HostClocks) -> tuple[list[Event], dict[str, float]]:
    """Return the events with all times by one clock, and the seconds that were subtracted, by clock. The
    ResourceManager measures the submission, the host of the last ApplicationMaster starts and ends, and the host of an
    attempt the borders of its steps."""
    masters = [_node(event.fields, "nodeManagerHost", "nodeManagerPort") for event in events if event.type == _MASTER]
    subtracted: dict[str, float] = {}

    def shifted(event: Event) -> Event:
        fields = event.fields
        clock = {
            "submitTime": MANAGER,
            **dict.fromkeys(_OF_MASTER, next(reversed(masters), None)),
            **dict.fromkeys(_OF_NODE, _node(fields, "hostname", "port")),
        }
        moved = {}
        for name in clock.keys() & fields.keys():
            ahead = clocks.manager if clock[name] == MANAGER else clocks.node(clock[name])
            if ahead and fields[name] > 0:
                moved[name] = fields[name] - round(1000 * ahead)
                subtracted[clock[name] or ""] = ahead
        return Event(event.type, {**fields, **moved}, event.end) if moved else event

    return [shifted(event) for event in events], subtracted


def _node(fields: Mapping[str, Any], host: str, port: str) -> str | None:
    """Return the NodeManager in an event, host and port."""
    return f"{fields[host]}:{fields[port]}" if fields.get(port) is not None and fields[port] > 0 else None


def _job(events: list[Event], clocks: HostClocks) -> Job:
    events, ahead = _by_one_clock(events, clocks)
    last: dict[str, Mapping[str, Any]] = {event.type: event.fields for event in events}
    ends = [event for event in events if event.type in _ENDS]
    if not ends or "JOB_SUBMITTED" not in last:
        raise _CutOff("the end of the job is missing" if "JOB_SUBMITTED" in last else "no job was submitted")
    end, submitted = ends[-1].fields, last["JOB_SUBMITTED"]
    initialised = last.get("JOB_INITED", {"launchTime": 0, "totalMaps": 0, "totalReduces": 0, "uberized": False})
    finish = end["finishTime"] / 1000
    masters = [event.fields for event in events if event.type == _MASTER]
    succeeded = ends[-1].type == "JOB_FINISHED"
    notes = [_text(end.get("diagnostics")) or (None if succeeded else _NO_REASON)]
    notes += [f"The ApplicationMaster was started {len(masters)} times."] if len(masters) > 1 else []
    return Job(
        id=submitted["jobid"],
        name=submitted["jobName"],
        user=submitted["userName"],
        queue=last.get("JOB_QUEUE_CHANGED", submitted)["jobQueueName"],
        state="SUCCEEDED" if succeeded else end["jobStatus"],
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
        master=_node(masters[-1], "nodeManagerHost", "nodeManagerPort") if masters else None,
        ahead=ahead,
    )


def _attempts(events: list[Event], job_finish: float, *, map_only: bool) -> tuple[Attempt, ...]:
    """Return every launched attempt, by start. If an attempt ended twice (a map whose output was lost later), the later
    end counts."""
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
        error = "\n".join(filter(None, [error, _NO_END]))
    kind = _KINDS[start["taskType"]]
    succeeded = ended and state == "SUCCEEDED"
    return Attempt(
        id=start["attemptId"],
        task=start["taskid"],
        kind=kind,
        state=state,
        node=_node(end, "hostname", "port"),
        container=start.get("containerId"),
        whole=whole,
        steps=_steps(kind, whole, end, map_only=map_only) if succeeded else {},
        counters=_counters(end.get("counters")) if succeeded else {},
        error=error,
    )


def _steps(kind: TaskKind, whole: Span, end: Mapping[str, Any], *, map_only: bool) -> dict[str, Span]:
    """Return the steps of a successful attempt. Returns none if its node's clock and the ApplicationMaster's contradict
    each other: the first measures the borders, the second start and end."""
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
    """Return a text that may be absent. In JSON, Avro wraps the text into an object that names its type."""
    text = value["string"] if isinstance(value, Mapping) else value
    return text or None
