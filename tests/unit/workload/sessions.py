"""A session by hand: programs are remembered, what they print and count is given, files are a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from howdah.errors import ClusterProblem
from howdah.model.job import Attempt, Counters, Job
from howdah.model.metric import Metric
from howdah.model.run import PhaseKind
from howdah.model.sample import Quality
from howdah.workload import Dataset, Ran


@dataclass
class FakeFiles:
    """`content` by path; of files in `lengths`, only the length is known. `before` and `now` are its activity."""

    content: dict[str, bytes] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    before: Mapping[str, int] = field(default_factory=dict)
    now: Mapping[str, int] = field(default_factory=dict)
    root: str = "hdfs://here"

    def uri(self, path: str) -> str:
        return f"{self.root}{path}"

    def read(self, path: str) -> bytes:
        if path not in self.content:
            raise ClusterProblem(f"no file {path}")
        return self.content[path]

    def files(self, path: str) -> Mapping[str, int]:
        every = {**self.lengths, **{name: len(content) for name, content in self.content.items()}}
        return {name.rpartition("/")[2]: length for name, length in every.items() if name.rpartition("/")[0] == path}

    def activity(self, *, fresh: bool) -> Mapping[str, int]:
        return self.now if fresh else self.before

    def checksum(self, path: str) -> str:
        return str(self.content.get(path) or self.lengths[path])

    def remove(self, path: str) -> None:
        for kept in (self.content, self.lengths):
            for name in [name for name in kept if name.startswith(f"{path}/")]:
                kept.pop(name)


@dataclass
class FakeSession:
    """Every job has `counters` and `attempts`; `output` is what the program of a phase prints, `codes` what it
    ends with; each takes ten seconds, and `between` seconds go by before it."""

    storage: FakeFiles
    counters: Counters = field(default_factory=dict)
    output: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)
    directory: str = "/run"
    programs: list[tuple[str, PhaseKind, Sequence[str]]] = field(default_factory=list)
    identities: list[Mapping[str, Any]] = field(default_factory=list)
    between: float = 0.0
    samples: dict[tuple[str, str], float] = field(default_factory=dict)
    sources: dict[tuple[str, str], tuple[Quality, str]] = field(default_factory=dict)
    caveats: list[str] = field(default_factory=list)
    attempts: tuple[Attempt, ...] = ()
    elsewhere: FakeFiles = field(default_factory=lambda: FakeFiles(root="file:///here"))

    def dataset(self, identity: Mapping[str, Any], make: Callable[[str], Mapping[str, Any]]) -> Dataset:
        assert "generator" in identity
        self.identities.append(identity)
        return Dataset(f"{self.directory}/input", make(f"{self.directory}/input"), reused=False)

    def job(self, phase: str, kind: PhaseKind, program: Sequence[str], *, data_bytes: int | None = None) -> Job:
        return self.program(phase, kind, program, data_bytes=data_bytes).jobs[0]

    def written(self, job: Job) -> int | None:
        return job.counters.get("files", {}).get("written")

    def program(
        self,
        phase: str,
        kind: PhaseKind,
        program: Sequence[str],
        *,
        data_bytes: int | None = None,
        fatal: str | None = None,
    ) -> Ran:
        self.programs.append((phase, kind, program))
        job = Job("job_1_1", "", "", "", "SUCCEEDED", 0, 0, 1, 1, 1, self.counters, {}, {}, self.attempts, None)
        end = (10.0 + self.between) * len(self.programs)
        return Ran((job,), self.output.get(phase, ""), self.codes.get(phase, 0), end - 10.0, end)

    def command(
        self, phase: str, kind: PhaseKind, line: str, *, data_bytes: int | None = None, judged: bool = False
    ) -> Ran:
        ran = self.program(phase, kind, ("sh", "-c", line), data_bytes=data_bytes)
        assert judged or ran.code == 0
        return ran

    def local(self, directory: str | None) -> FakeFiles:
        if directory is not None:
            self.elsewhere.root = f"file://{directory}"
        return self.elsewhere

    def other(self, name: str) -> FakeFiles:
        return self.storage if self.storage.root.startswith(name) else self.elsewhere

    def spark(
        self,
        phase: str,
        kind: PhaseKind,
        program: Sequence[str],
        properties: Mapping[str, str],
        *,
        data_bytes: int | None = None,
    ) -> Ran:
        return self.program(phase, kind, (*program, *(f"{key}={value}" for key, value in properties.items())))

    def script(self, name: str) -> str:
        return name

    def examples(self, *arguments: str) -> Sequence[str]:
        return ("examples.jar", *arguments)

    def dfsio(self, directory: str, *arguments: str) -> Sequence[str]:
        return ("tests.jar", "TestDFSIO", self.storage.uri(directory), *arguments)

    def at_home(self) -> Sequence[str]:
        return (f"-Dhome={self.storage.uri(self.directory)}",)

    def in_client(self, maps: int) -> Sequence[str]:
        return (f"-Dhere={maps}",)

    def workloads(self, *arguments: str) -> Sequence[str]:
        return ("workloads.jar", *arguments)

    def streaming(self, *arguments: str, mapper: str, reducer: str) -> Sequence[str]:
        return ("streaming.jar", *arguments, mapper, reducer)

    def namenode_benchmark(self, *arguments: str) -> Sequence[str]:
        return ("hdfs-tests.jar", *arguments)

    def distcp(self, *arguments: str) -> Sequence[str]:
        return ("distcp.jar", *arguments)

    def caveat(self, text: str) -> None:
        self.caveats.append(text)

    def moved(self, phase: str, data_bytes: int) -> None:
        self.samples[phase, "throughput"] = data_bytes / 10.0

    def sample(
        self, metric: Metric, value: float, *, phase: str, quality: Quality = "measured", source: str | None = None
    ) -> None:
        self.samples[phase, metric.name] = value
        self.sources[phase, metric.name] = (quality, metric.source if source is None else source)
