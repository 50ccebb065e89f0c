"""What is run and measured: prepare → run → verify."""

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
    """A setting of one workload, given as `--NAME`. `kind` is how it is written: a `number` may be 0, a `positive` one
    is not. With `choices`, it is one of them."""

    name: str
    help: str
    kind: Literal["text", "count", "bytes", "number", "positive"] = "text"
    choices: tuple[str, ...] = ()


MAPS = Option("maps", "Map tasks.", "count")
REDUCES = Option("reduces", "Reduce tasks.", "count")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said on the command line; None where nothing was said. `size` is in the workload's unit, `conf`
    are Hadoop keys for every job, `own` the values of the other options of the workload that were given, by name."""

    size: int | None = None
    maps: int | None = None
    reduces: int | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)

    def size_of(self, workload: Workload) -> int:
        """The size asked for, or what the workload calls small."""
        return workload.sizes["small"] if self.size is None else self.size


@dataclass(frozen=True, slots=True)
class Dataset:
    """Generated data in a directory of the storage, what its generator said of it, and as `stored` what the storage
    says. `reused` says that an earlier run made it. `made_by` is the run that did, where it is kept for others."""

    directory: str
    facts: Mapping[str, Any]
    reused: bool
    made_by: str | None = None

    def describe(self) -> Mapping[str, Any]:
        """Its identity for `run.json`."""
        return {**self.facts, "reused": self.reused, **({} if self.made_by is None else {"made_by": self.made_by})}


class Files(Protocol):
    """What a workload needs of the storage that it runs on; `howdah.storage.Storage` has more."""

    def uri(self, path: str) -> str:
        """`path` as Hadoop programs take it."""

    def read(self, path: str) -> bytes:
        """The whole content of a small file. Raises ClusterProblem when it is not there or not whole."""

    def files(self, path: str) -> Mapping[str, int]:
        """Length by name of the files directly in directory `path`; empty when there is no such directory."""

    def activity(self, *, fresh: bool) -> Mapping[str, int]:
        """What the storage's master has counted of its operations since it started, by its own names.

        As of some seconds ago; `fresh` waits until it is of now. Empty where there is no master that counts.
        """

    def checksum(self, path: str) -> str:
        """What two files of equal content and layout have in common, whatever made them.

        Raises ClusterProblem when there is no such file.
        """

    def remove(self, path: str) -> None:
        """Removes a file or a tree, past any trash; what is not there is fine."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program did: its jobs, oldest first (some run none), and all that its client printed.

    `start` and `end` of the client are seconds of one monotonic clock. `written` is how many bytes the jobs wrote to
    the run's storage, by their counters of that file system; None where no counter tells.
    """

    jobs: tuple[Job, ...]
    output: str
    code: int
    start: float
    end: float
    written: int | None = None

    @property
    def seconds(self) -> float:
        """From the start of the client to its end."""
        return self.end - self.start


class Session(Protocol):
    """What a workload may do while a run lasts; given by the engine, valid until the workload's method returns."""

    @property
    def storage(self) -> Files:
        """Where the data is."""

    @property
    def directory(self) -> str:
        """A directory of every storage for this run alone; it does not exist yet. Removed after the run."""

    @property
    def programs(self) -> Programs:
        """What can be run, ready for `run`."""

    def local(self, directory: str | None) -> Files:
        """The storage `file:` below `directory`, which every node sees at the same path; None takes one of the
        cluster's own. Raises UsageError for a relative path, and where no directory is known to be seen by all."""

    def other(self, name: str) -> Files:
        """The cluster's storage `hdfs` or `posix`, which may be the run's own. Raises UsageError where it has none."""

    def dataset(self, identity: Mapping[str, Any], make: Callable[[str], Mapping[str, Any]]) -> Dataset:
        """The data of `identity`: its `generator`, its size, and whatever of this workload's settings shapes it
        (Hadoop's own keys are looked after). `make` generates it into a directory that does not exist yet, and gives
        its facts as JSON can hold them; it is not called where a whole dataset of this identity may be used again.
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
        """Run `program` to its end as one phase. `data_bytes` is what the phase has to move once, for its throughput;
        a program that runs `one_job` has failed if YARN knows none or several.

        Raises WorkloadFailed when the program or one of its jobs fails, and UsageError where Spark is not installed.
        """

    def caveat(self, text: str) -> None:
        """Says what a reader of the run must know before believing its numbers."""

    def moved(self, phase: str, data_bytes: int) -> None:
        """Keeps the throughput of a phase that has ended, whose program says itself how many bytes it has moved."""

    def sample(
        self, metric: Metric, value: float, *, phase: str, quality: Quality = "measured", source: str | None = None
    ) -> None:
        """Keeps a number that a program of `phase` printed, or that follows from others.

        `source` says where it was read, as the metric says unless given; of a `derived` one it is the formula with what
        went into it.
        """


class Workload(Protocol):
    """One workload. Methods are called once per run, in the order prepare, run, verify, on one thread.

    One whose primary metric follows from several phases names these as `measured` (see `measured_phases`).
    """

    name: ClassVar[str]
    title: ClassVar[str]
    """The name as its makers write it."""
    summary: ClassVar[str]
    """What it does: what that stresses; where it comes from."""
    unit: ClassVar[str]
    """What sizes count: "B", or a plural."""
    sizes: ClassVar[Mapping[str, int]]
    """Named sizes; `smoke` takes seconds, `small` is taken when nothing is asked for."""
    options: ClassVar[tuple[Option, ...]]
    """What else the user may say."""
    profiles: ClassVar[Mapping[str, Mapping[str, int]]]
    """HiBench's scale profiles, where it has this workload: `size`, and `maps` where a profile says them."""
    primary: ClassVar[str]
    """`phase/metric` of the number that answers "how fast"."""
    metrics: ClassVar[tuple[Metric, ...]]
    """Metrics of its own, beside those that every run has."""

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        """Every setting with its value. `cluster` is the configuration that clients of the cluster see.

        Has the size, and as `conf` the Hadoop keys of `asked`, which the engine gives to every job.

        Raises UsageError for what cannot be; nothing has been started then.
        """

    def space_bytes(self, settings: Settings) -> tuple[int, int]:
        """Bytes needed at the fullest moment: in the storage (replicas counted), and for intermediate data."""

    def prepare(self, session: Session, settings: Settings) -> Mapping[str, Any]:
        """Makes the input; returns the dataset's identity for `run.json`."""

    def run(self, session: Session, settings: Settings) -> None:
        """What is measured."""

    def verify(self, session: Session, settings: Settings) -> Sequence[Check]:
        """Whether the result is right. Without a passed verification there are no samples."""


def measured_phases(workload: Workload) -> tuple[str, ...]:
    """The phases whose jobs the primary metric is about: its own, or those that the workload names as `measured`."""
    named: tuple[str, ...] = getattr(workload, "measured", ())
    return named or (workload.primary.partition("/")[0],)
