"""Workloads, which are run and measured: prepare → run → verify."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Check, PhaseKind
from howdah.model.sample import Quality
from howdah.workload.programs import Program, Programs

Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of one workload, given as `--NAME`. `kind` is its notation: a `number` may be 0, a `positive` one may
    not. With `choices`, the value is one of them."""

    name: str
    help: str
    kind: Literal["text", "count", "bytes", "number", "positive"] = "text"
    choices: tuple[str, ...] = ()


MAPS = Option("maps", "Map tasks.", "count")
REDUCES = Option("reduces", "Reduce tasks.", "count")


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that the user gave on the command line; None for each that was not given. `size` is in the workload's
    unit, `conf` are Hadoop keys for every job. `own` has the given values of the workload's other options, by name."""

    size: int | None = None
    maps: int | None = None
    reduces: int | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)

    def size_of(self, workload: Workload) -> int:
        """Return the size asked for, or the workload's `small` size."""
        return workload.sizes["small"] if self.size is None else self.size


@dataclass(frozen=True, slots=True)
class Dataset:
    """Generated data in a directory of the storage. `facts` are the generator's and, as `stored`, the storage's.
    `reused` says that an earlier run made it. `made_by` is the run that made it, if it is kept for others."""

    directory: str
    facts: Mapping[str, Any]
    reused: bool
    made_by: str | None = None

    def describe(self) -> Mapping[str, Any]:
        """Return its identity for `run.json`."""
        return {**self.facts, "reused": self.reused, **({} if self.made_by is None else {"made_by": self.made_by})}


class Files(Protocol):
    """The methods of a storage that its workload needs; `howdah.storage.Storage` has more."""

    def uri(self, path: str) -> str:
        """Return `path` as Hadoop programs take it."""

    def read(self, path: str) -> bytes:
        """Return the whole content of a small file. Raises ClusterProblem when it is not there or not whole."""

    def files(self, path: str) -> Mapping[str, int]:
        """Return length by name of the files directly in directory `path`; empty when there is no such directory."""

    def activity(self, *, fresh: bool) -> Mapping[str, int]:
        """Return how many operations the storage's master has counted since it started, by its own names.

        The counts are some seconds old, unless `fresh` waits for current ones. Empty if there is no master that counts.
        """

    def checksum(self, path: str) -> str:
        """Return a checksum that two files of equal content and layout have in common, whatever made them.

        Raises ClusterProblem when there is no such file.
        """

    def remove(self, path: str) -> None:
        """Remove a file or a tree, bypassing any trash. A missing path is no error."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a program: its jobs, oldest first (some run none), and everything that its client printed.

    `start` and `end` of the client are seconds of one monotonic clock. `written` is how many bytes the jobs wrote to
    the run's storage, by their counters of that file system; None if no counter tells.
    """

    jobs: tuple[Job, ...]
    output: str
    code: int
    start: float
    end: float
    written: int | None = None

    @property
    def seconds(self) -> float:
        """The seconds from the start of the client to its end."""
        return self.end - self.start


class Session(Protocol):
    """The actions that a workload may take while a run lasts. The engine gives it; it is valid until the workload's
    method returns."""

    @property
    def storage(self) -> Files:
        """The storage with the data."""

    @property
    def directory(self) -> str:
        """A directory of every storage for this run alone. It does not exist yet, and is removed after the run."""

    @property
    def programs(self) -> Programs:
        """The programs, ready for `run`."""

    def local(self, directory: str | None) -> Files:
        """Return the storage `file:` below `directory`, which every node sees at the same path. None takes a directory
        of the cluster. Raises UsageError for a relative path, and if no directory is known that all nodes see."""

    def other(self, name: str) -> Files:
        """Return the cluster's storage `hdfs` or `posix`, which may be the run's own. Raises UsageError if there is
        none."""

    def dataset(self, identity: Mapping[str, Any], make: Callable[[str], Mapping[str, Any]]) -> Dataset:
        """Return the data of `identity`: its `generator`, its size, and each setting of this workload that shapes it.
        Hadoop's keys are added automatically.

        `make` generates the data into a directory that does not exist yet, and returns its facts as values for JSON. It
        is not called if a whole dataset of this identity can be used again.
        """

    def run(
        self,
        phase: str,
        kind: PhaseKind,
        program: Program,
        *,
        data_bytes: int | None = None,
        one_job: bool = False,
    ) -> Ran:
        """Run `program` to its end as one phase. `data_bytes` is what the phase has to move once, for its throughput. A
        program that runs `one_job` has failed if YARN knows none or several.

        Raises WorkloadFailed when the program or one of its jobs fails, and UsageError if Spark is not installed.
        """

    def caveat(self, text: str) -> None:
        """Add a caveat: what a reader of the run must know before believing its numbers."""

    def moved(self, phase: str, data_bytes: int) -> None:
        """Keep the throughput of a phase that has ended, whose program reports itself how many bytes it has moved."""

    def sample(
        self, metric: Metric, value: float, *, phase: str, quality: Quality = "measured", source: str | None = None
    ) -> None:
        """Keep a number that a program of `phase` printed, or that follows from others.

        `source` says where it was read; without it, the metric's source holds. For a `derived` number it is the formula
        with its inputs.
        """


class Workload(Protocol):
    """One workload. Methods are called once per run, in the order prepare, run, verify, on one thread.

    A workload whose primary metric follows from several phases names these as `measured` (see `measured_phases`).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    """The name as the workload's makers write it."""
    summary: ClassVar[str]
    """One line: the action of the workload, the resources that it stresses, and its origin."""
    unit: ClassVar[str]
    """The unit of sizes: "B", or a plural."""
    sizes: ClassVar[Mapping[str, int]]
    """Named sizes; `smoke` takes seconds, `small` is the default."""
    options: ClassVar[tuple[Option, ...]]
    """The user's other options."""
    profiles: ClassVar[Mapping[str, Mapping[str, int]]]
    """HiBench's scale profiles, if it has this workload: `size`, and `maps` if a profile gives them."""
    primary: ClassVar[str]
    """`phase/metric` of the number that answers "how fast"."""
    metrics: ClassVar[tuple[Metric, ...]]
    """The workload's own metrics, besides those of every run."""

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        """Return every setting with its value. `cluster` is the configuration that clients of the cluster see.

        The settings have the size, and as `conf` the Hadoop keys of `asked`, which the engine gives to every job.
        Raises UsageError for impossible settings; nothing has been started then.
        """

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        """Return the bytes needed at the fullest moment: in the storage (replicas counted), and for intermediate
        data."""

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        """Make the input; return the dataset's identity for `run.json`."""

    def run(self, session: Session, settings: Settings) -> None:
        """Run the phases that are measured."""

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        """Return checks whether the result is right. Without a passed verification there are no samples."""


def measured_phases(workload: Workload) -> tuple[str, ...]:
    """Return the phases whose jobs the primary metric is about: its own, or those that the workload names as
    `measured`."""
    named: tuple[str, ...] = getattr(workload, "measured", ())
    return named or (workload.primary.partition("/")[0],)
