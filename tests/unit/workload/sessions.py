"""A session by hand: programs are remembered, what they print and count is given, files are a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from howdah.errors import ClusterProblem, WorkloadFailed
from howdah.model.job import Attempt, Counters, Job
from howdah.model.metric import Metric
from howdah.model.run import PhaseKind
from howdah.model.sample import Quality
from howdah.workload import Dataset, Ran
from howdah.workload.programs import JarProgram, Program, Programs, ShellLine, SparkProgram
from tests.unit.engine.run.clusters import HADOOP


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


class FakePrograms(Programs):
    """Programs whose jars have short names, for the run's `files`."""

    def __init__(self, files: FakeFiles, directory: str) -> None:
        home = f"-Dhome={files.uri(directory)}"
        super().__init__(
            HADOOP, files.uri, default=(), home=home, staging="/tmp/staging", client_maps=1, python="python3"
        )

    def examples(self, *arguments: str) -> JarProgram:
        return JarProgram(("examples.jar", *arguments))

    def dfsio(self, directory: str, *arguments: str) -> JarProgram:
        return JarProgram(("tests.jar", "TestDFSIO", self.uri(directory), *arguments))

    def in_client(self, maps: int) -> tuple[str, ...]:
        return (f"-Dhere={maps}",)

    def workloads(self, *arguments: str) -> JarProgram:
        return JarProgram(("workloads.jar", *arguments))

    def streaming(self, *arguments: str, mapper: str, reducer: str) -> JarProgram:
        return JarProgram(("streaming.jar", *arguments, mapper, reducer))

    def namenode_benchmark(self, *arguments: str, fatal: str | None = None) -> JarProgram:
        return JarProgram(("hdfs-tests.jar", *arguments), fatal)

    def distcp(self, *arguments: str) -> JarProgram:
        return JarProgram(("distcp.jar", *arguments))

    def script(self, name: str) -> str:
        return name


@dataclass
class FakeSession:
    """Every job has `counters` and `attempts`; `output` is what the program of a phase prints, `codes` what it
    ends with; each takes ten seconds, and `between` seconds go by before it. YARN knows no job of phase `forgotten`."""

    storage: FakeFiles
    counters: Counters = field(default_factory=dict)
    output: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)
    directory: str = "/run"
    ran: list[tuple[str, PhaseKind, Sequence[str]]] = field(default_factory=list)
    identities: list[Mapping[str, Any]] = field(default_factory=list)
    between: float = 0.0
    samples: dict[tuple[str, str], float] = field(default_factory=dict)
    sources: dict[tuple[str, str], tuple[Quality, str]] = field(default_factory=dict)
    caveats: list[str] = field(default_factory=list)
    attempts: tuple[Attempt, ...] = ()
    forgotten: str | None = None
    elsewhere: FakeFiles = field(default_factory=lambda: FakeFiles(root="file:///here"))

    def dataset(self, identity: Mapping[str, Any], make: Callable[[str], Mapping[str, Any]]) -> Dataset:
        assert "generator" in identity
        self.identities.append(identity)
        return Dataset(f"{self.directory}/input", make(f"{self.directory}/input"), reused=False)

    @property
    def programs(self) -> Programs:
        return FakePrograms(self.storage, self.directory)

    def run(
        self,
        phase: str,
        kind: PhaseKind,
        program: Program,
        *,
        data_bytes: int | None = None,
        one_job: bool = False,
    ) -> Ran:
        match program:
            case ShellLine(text, judged):
                shown: Sequence[str] = ("sh", "-c", text)
                assert judged or self.codes.get(phase, 0) == 0
            case SparkProgram(argv, properties):
                shown = (*argv, *(f"{key}={value}" for key, value in properties.items()))
            case JarProgram(argv):
                shown = argv
        self.ran.append((phase, kind, shown))
        job = Job("job_1_1", "", "", "", "SUCCEEDED", 0, 0, 1, 1, 1, self.counters, {}, {}, self.attempts, None)
        end = (10.0 + self.between) * len(self.ran)
        written = None if isinstance(program, SparkProgram) else self.counters.get("files", {}).get("written")
        found = () if phase == self.forgotten else (job,)
        if one_job and not found:
            raise WorkloadFailed(f"{phase}: YARN knows 0 jobs of a program that runs one")
        return Ran(found, self.output.get(phase, ""), self.codes.get(phase, 0), end - 10.0, end, written)

    def local(self, directory: str | None) -> FakeFiles:
        if directory is not None:
            self.elsewhere.root = f"file://{directory}"
        return self.elsewhere

    def other(self, name: str) -> FakeFiles:
        return self.storage if self.storage.root.startswith(name) else self.elsewhere

    def caveat(self, text: str) -> None:
        self.caveats.append(text)

    def moved(self, phase: str, data_bytes: int) -> None:
        self.samples[phase, "throughput"] = data_bytes / 10.0

    def sample(
        self, metric: Metric, value: float, *, phase: str, quality: Quality = "measured", source: str | None = None
    ) -> None:
        self.samples[phase, metric.name] = value
        self.sources[phase, metric.name] = (quality, metric.source if source is None else source)
