"""A finished MapReduce job, as its history file tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

TaskKind = Literal["map", "reduce"]

Counters = Mapping[str, Mapping[str, int]]
"""Counter group (its internal name) → counter → value."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time on one host's clock: seconds since 1970 (UTC)."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a task.

    `steps` are the parts of a successful attempt in order, without gaps. Of a map: `map` (start → the last record read)
    and `merge` (→ finish: the last spill, merging the spills, the commit); of a map in a job without reduces only
    `map`. Of a reduce: `shuffle` (start → all map outputs fetched), `merge` (→ sorted), `reduce` (→ finish). Start and
    finish are the ApplicationMaster's clock, the borders between steps the node's; empty where the two contradict.

    `node` is the NodeManager that ran it, host and port, as the history names it. `counters` is empty where the
    attempt did not finish. `error` is what Hadoop said of a failed or killed attempt.
    """

    id: str
    task: str
    kind: TaskKind
    state: str
    node: str | None
    container: str | None
    whole: Span
    steps: Mapping[str, Span]
    counters: Counters
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One MapReduce job. Times are seconds since 1970; `launch` is None when it never started.

    `seconds` (finish − submit) is the job time of every report: it leaves out the start of the client's JVM, which
    is recorded beside it. The tasks of an `uberized` job ran in its application master, so that their counters of
    file systems have what the master itself read and wrote meanwhile. `master` is the NodeManager that ran the last
    application master, as the history names it: `finish` is by the clock there, `submit` by the ResourceManager's.
    """

    id: str
    name: str
    user: str
    queue: str
    state: str
    submit: float
    launch: float | None
    finish: float
    maps: int
    reduces: int
    counters: Counters
    map_counters: Counters
    reduce_counters: Counters
    attempts: tuple[Attempt, ...]
    diagnostics: str | None = None
    uberized: bool = False
    master: str | None = None

    @property
    def seconds(self) -> float:
        return self.finish - self.submit

    def counter(self, group: str, name: str) -> int | None:
        """The total of one counter; None where the job does not have it (missing is missing)."""
        return self.counters.get(group, {}).get(name)
