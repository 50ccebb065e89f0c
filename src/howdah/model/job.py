"""A finished MapReduce job, as its history file records it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

TaskKind = Literal["map", "reduce"]

Counters = Mapping[str, Mapping[str, int]]
"""Counter group (its internal name) → counter → value."""


@dataclass(frozen=True, slots=True)
class Span:
    """A period on one host's clock: seconds since 1970 (UTC)."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a task.

    `steps` are the parts of a successful attempt in order, without gaps. A map has `map` (start → the last record read)
    and `merge` (→ finish: the last spill, merging the spills, the commit). A map in a job without reduces has only
    `map`. A reduce has `shuffle` (start → all map outputs fetched), `merge` (→ sorted) and `reduce` (→ finish). The
    ApplicationMaster's host measured start and finish, the node the borders between steps. `steps` is empty if the two
    contradict.

    `node` is the NodeManager that ran the attempt, host and port, as in the history. `counters` is empty if the attempt
    did not finish. `error` is Hadoop's message about a failed or killed attempt.
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
    """One MapReduce job. Times are seconds since 1970; `launch` is None if the job never started.

    `seconds` (finish − submit) is the job time of every report. It leaves out the start of the client's JVM, which is
    recorded separately. The tasks of an `uberized` job ran in its application master. Their counters of file systems
    therefore include the reads and writes of the master in that time.

    `master` is the NodeManager that ran the last application master, as in the history. All times are by one clock as
    far as the clocks of hosts are known: `ahead` has the seconds that were subtracted, by NodeManager or
    `resourcemanager`.
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
    ahead: Mapping[str, float] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return self.finish - self.submit

    def counter(self, group: str, name: str) -> int | None:
        """Return the total of one counter; None if the job does not have it (missing is missing)."""
        return self.counters.get(group, {}).get(name)
