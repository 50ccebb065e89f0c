"""The session a workload works in: every job becomes a phase with its history, its numbers and its logs."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from howdah import workload
from howdah.cluster.live import LiveCluster
from howdah.engine.evidence import metrics
from howdah.engine.evidence.acceleration import jars_for_spark, shortfalls
from howdah.engine.evidence.accounting import Accounting, Reading, total
from howdah.engine.evidence.cluster import losses
from howdah.engine.run.client import Client, Submission, now, submit
from howdah.engine.run.datasets import Datasets, Make, shaping
from howdah.engine.run.observer import Observer
from howdah.engine.run.storages import HOMES, as_default, bytes_written, check_storage, job_files, storages_of
from howdah.errors import ClusterProblem, HowdahError, Untrusted, UsageError, WorkloadFailed
from howdah.hadoop.configuration.keys import replacements, under_current_names
from howdah.hadoop.configuration.roles import DATANODE
from howdah.hadoop.distribution.jars import own_jar
from howdah.hadoop.distribution.spark import find_spark, sending, submit_command, with_jars
from howdah.hadoop.history.job_files import find_history
from howdah.hadoop.history.job_history import DamagedHistory, parse_history
from howdah.hadoop.interfaces.effective import parse_conf
from howdah.hadoop.interfaces.resourcemanager import Application
from howdah.model.accelerator import has_map_output, plugins_of
from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Caveat, Phase, PhaseKind
from howdah.model.sample import Moment, Quality, Sample
from howdah.storage import Storage
from howdah.storage.registry import open_local
from howdah.store import RunWriter
from howdah.store.codec_job import encode_job
from howdah.workload import Dataset, Files, Ran
from howdah.workload.counts import count

_ERROR_NOISE = re.compile(
    r"\s+at |\s*\.\.\. \d+ more|\s*$|Last \d+ bytes of |Container id: |\[[^]]*\]Container exited "
)
_GIVEN_UP_SECONDS = 25.0
_MAPREDUCE = "MAPREDUCE"
# Each takes some 15 MB of the client's heap: tables of words, and what a stream of HDFS has on its way.
_MOST_IN_CLIENT = 16
_SCRIPTS = Path(workload.__file__).parent / "scripts"
_NAMENODE_BENCHMARK = "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark"


class JobSession:
    """See `howdah.workload.Session`. Collects phases, samples, caveats, the storages used for the run, and which phases
    had jobs with map output."""

    def __init__(
        self,
        cluster: LiveCluster,
        storage: Storage,
        writer: RunWriter,
        observer: Observer,
        *,
        run_id: str,
        settings: Mapping[str, str],
        defaults: Mapping[str, str],
        reuse: bool,
        check: Callable[[], None],
        save: Callable[[], None],
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        """`settings` are Hadoop keys for every job, `defaults` those that jobs have unless `settings` has them. `reuse`
        lets data of earlier runs be used. `check` raises when the run must stop; `save` is called whenever a phase has
        begun or ended, `ready` before each of those that are neither for preparation nor for verification."""
        self.storage = storage
        self.storages = [storage]
        self.directory = f"/howdah/{run_id}"
        self.phases: list[Phase] = []
        self.samples: list[Sample] = []
        self.caveats: list[Caveat] = []
        self.with_map_output: set[str] = set()
        self._cluster = cluster
        self._writer = writer
        self._observer = observer
        self._tag = run_tag(run_id)
        self._settings = settings
        self._defaults = defaults
        self._check = check
        self._save = save
        self._ready = ready
        self._accounting = Accounting(cluster)
        self._accounted: list[_Accounted] = []
        self._reuse = reuse

    def dataset(self, identity: Mapping[str, Any], make: Make) -> Dataset:
        version = self._cluster.distribution.version
        replaced = replacements(version)
        held, asked = (under_current_names(one, replaced) for one in (self._cluster.settings, self._settings))
        shaped = shaping({**held, **self._defaults, **asked})
        surroundings = {"hadoop": version, "nodes": self._nodes(), "settings": shaped}
        datasets = Datasets(self.storage, self.directory, reuse=self._reuse, surroundings=surroundings, asked=asked)
        dataset, problem = datasets.obtain(identity, make)
        if problem is not None:
            self.caveats.append(Caveat("run", problem))
        return dataset

    def _nodes(self) -> int:
        """How many nodes the cluster has: of one that Howdah did not start, how many run now."""
        known: int | None = self._cluster.description.get("nodes")
        if known is not None:
            return known
        return sum(one.state == "RUNNING" for one in self._cluster.resourcemanager.nodes())

    def other(self, name: str) -> Files:
        if name == self.storage.name:
            return self.storage
        there = storages_of(self._cluster)
        if name not in there:
            raise UsageError(f"the cluster has no storage {name}; it has {', '.join(there)}")
        self.storages.append(there[name])
        return there[name]

    def local(self, directory: str | None) -> Files:
        plan = self._cluster.plan
        if directory is None:
            if plan is None or {place.host for place in plan.places} != {plan.masters.host}:
                raise UsageError(
                    "no directory is known that every node of this cluster sees",
                    hint="Name one: --directory DIR.",
                )
            directory = f"{plan.directory}/files"
        storage = open_local(self._cluster.host, directory)
        self.storages.append(storage)
        return storage

    def examples(self, *arguments: str) -> Sequence[str]:
        return (str(self._cluster.distribution.examples_jar), *arguments)

    def dfsio(self, directory: str, *arguments: str) -> Sequence[str]:
        own = (f"-Dtest.build.data={self.storage.uri(directory)}", "-resFile", "/dev/null")
        default = as_default(self._cluster, self.storage, self.directory)
        return (*self._cluster.distribution.dfsio, *default, *own, *arguments)

    def at_home(self) -> Sequence[str]:
        home = f"-D{HOMES}={self.directory}/home"
        return (*as_default(self._cluster, self.storage, self.directory), home)

    def in_client(self, maps: int) -> Sequence[str]:
        plan = self._cluster.plan
        if plan is None or [node.host for node in plan.nodes] != [plan.masters.host]:
            return ()
        at_once = min(maps, count(self._cluster.settings, "yarn.nodemanager.resource.cpu-vcores", 8))
        if at_once > _MOST_IN_CLIENT:
            return ()
        return ("-Dmapreduce.framework.name=local", f"-Dmapreduce.local.map.tasks.maximum={at_once}")

    def workloads(self, *arguments: str) -> Sequence[str]:
        return (str(own_jar("howdah-workloads")), *arguments)

    def streaming(self, *arguments: str, mapper: str, reducer: str) -> Sequence[str]:
        # Hosts of a cluster that Howdah did not start have a Python of their own, if any.
        python = "python3" if self._cluster.plan is None else sys.executable
        files = ",".join(map(self.script, (mapper, reducer)))
        return (
            *(str(self._cluster.distribution.streaming_jar), "-files", files, *arguments),
            *("-mapper", f"{python} {mapper}", "-reducer", f"{python} {reducer}"),
        )

    def namenode_benchmark(self, *arguments: str) -> Sequence[str]:
        return (str(self._cluster.distribution.hdfs_tests_jar), _NAMENODE_BENCHMARK, *arguments)

    def distcp(self, *arguments: str) -> Sequence[str]:
        return (str(self._cluster.distribution.distcp_jar), *arguments)

    def caveat(self, text: str) -> None:
        self.caveats.append(Caveat("run", text))

    def moved(self, phase: str, data_bytes: int) -> None:
        for one in [one for one in self.samples if (one.phase, one.metric) == (phase, metrics.JOB_SECONDS.name)]:
            source = f"{data_bytes} B ÷ job_seconds"
            self._sampler(phase, one.moment)(metrics.THROUGHPUT, data_bytes / one.value, "derived", source, "job")

    def sample(
        self, metric: Metric, value: float, *, phase: str, quality: Quality = "measured", source: str | None = None
    ) -> None:
        self._sampler(phase, now())(metric, value, quality, metric.source if source is None else source, "client")

    def job(self, phase: str, kind: PhaseKind, program: Sequence[str], *, data_bytes: int | None = None) -> Job:
        jobs = self.program(phase, kind, program, data_bytes=data_bytes).jobs
        if len(jobs) != 1:
            raise WorkloadFailed(f"{phase}: YARN knows {len(jobs)} jobs of a program that runs one")
        return jobs[0]

    def written(self, job: Job) -> int | None:
        return bytes_written(self.storage, job)

    def program(
        self,
        phase: str,
        kind: PhaseKind,
        program: Sequence[str],
        *,
        data_bytes: int | None = None,
        fatal: str | None = None,
    ) -> Ran:
        def client(conf: Path) -> tuple[Sequence[str], Mapping[str, str]]:
            return self._cluster.client_command(tuple(program), conf), self._cluster.client_environment(conf)

        return self._phase(phase, kind, tuple(program), client, data_bytes, fatal=fatal)

    def command(
        self, phase: str, kind: PhaseKind, line: str, *, data_bytes: int | None = None, judged: bool = False
    ) -> Ran:
        argv = ("/bin/sh", "-c", line)

        def client(conf: Path) -> tuple[Sequence[str], Mapping[str, str]]:
            return argv, {
                **self._cluster.shell_environment(conf),
                "HOWDAH_PHASE": phase,
                "HOWDAH_DIRECTORY": self.storage.uri(self.directory),
            }

        return self._phase(phase, kind, argv, client, data_bytes, judged=judged)

    def spark(
        self,
        phase: str,
        kind: PhaseKind,
        program: Sequence[str],
        properties: Mapping[str, str],
        *,
        data_bytes: int | None = None,
    ) -> Ran:
        spark = find_spark()
        own = {
            "spark.yarn.tags": self._tags(phase),
            "spark.jars": str(self._cluster.distribution.examples_jar),
            # Spark leaves its directory behind: it goes with the run's data.
            "spark.yarn.stagingDir": self.storage.uri(self.directory),
        }
        if self._cluster.plan is not None:
            own |= {
                # Nodes on this machine find Spark where it is; otherwise it is sent to them each time.
                "spark.yarn.jars": f"local:{spark.home}/jars/*",
                "spark.pyspark.python": sys.executable,
                "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": self._cluster.plan.masters.address,
            }
        given = {**own, **properties}
        jars = jars_for_spark(self._cluster, self._settings)
        sent = self._cluster.plan is None
        argv = submit_command(spark, sending(given, jars) if sent and jars else given, program)

        def client(conf: Path) -> tuple[Sequence[str], Mapping[str, str]]:
            return argv, with_jars(self._cluster.client_environment(conf), jars, sent=sent)

        return self._phase(phase, kind, tuple(program), client, data_bytes)

    def script(self, name: str) -> str:
        return str(_SCRIPTS / name)

    def _phase(
        self,
        phase: str,
        kind: PhaseKind,
        shown: tuple[str, ...],
        client: Callable[[Path], tuple[Sequence[str], Mapping[str, str]]],
        data_bytes: int | None,
        *,
        fatal: str | None = None,
        judged: bool = False,
    ) -> Ran:
        """Runs what `client` makes of a configuration directory as one phase; `shown` is kept as its command."""
        log = self._writer.path / "logs" / f"{phase}-client.log"
        if kind == "run":
            self._ready()
        before = self._accounting.read()
        self._observer.phase_started(phase, data_bytes)
        self.phases.append(Phase(phase, kind, now(), command=shown))
        self._save()
        try:
            argv, environment = client(self._client_conf(phase))
            submission = submit(
                self._cluster,
                Client(argv, environment, f"{self._tag}-{phase}", str(log), fatal),
                progress=self._observer.progress,
                check=self._check,
            )
            jobs = self._finished_jobs(phase, submission, log, judged=judged)
        except HowdahError as error:
            self.phases[-1] = replace(self.phases[-1], end=now(), error=error.message)
            self._observer.phase_ended(phase, None)
            raise
        self.phases[-1] = replace(
            self.phases[-1], start=submission.start, end=submission.end, jobs=tuple(job.id for job in jobs)
        )
        after = self._accounting.read()
        others = self._others(submission)
        self._accounted.append(_Accounted(phase, submission, before, after, alone=not others))
        if others:
            text = f"other applications ran on the cluster at the same time: {', '.join(others[:5])}"
            self.caveats.append(Caveat(phase, text))
        span = _span(jobs, submission.applications)
        self._measure(phase, submission, span, data_bytes)
        self._save()
        seconds = submission.end.monotonic - submission.start.monotonic if span is None else span.seconds
        self._observer.phase_ended(phase, seconds)
        said = log.read_text(encoding="utf-8", errors="replace")
        return Ran(jobs, said, submission.code, submission.start.monotonic, submission.end.monotonic)

    def account(self) -> None:
        """Adds the samples of the CPU time of every phase. Call it once, after the last phase and as late as possible:
        an application master ends five seconds after its job.

        Raises HostProblem.
        """
        last = self._accounting.read()
        for one in self._accounted:
            used = self._accounting.by_role(one.before, one.after, last)
            if used is None or not one.alone:
                why = "not every process of the cluster could be accounted for" if one.alone else "others ran, too"
                self.caveats.append(Caveat(one.phase, f"cpu_seconds is missing: {why}"))
                used = None
            self._measure_cpu(one.phase, one.submission, used)

    def _others(self, submission: Submission) -> Sequence[str]:
        """Applications that are not this run's and were there while the client ran, be it for a moment."""
        start, end = submission.start.utc, submission.end.utc
        with suppress(HowdahError):
            found = self._cluster.resourcemanager.applications()
            return [one.id for one in found if self._tag not in one.tags and one.was_there(start, end)]
        return ()

    def _tags(self, phase: str) -> str:
        """The tags of what a phase submits: that of the run and its own."""
        return f"{self._tag},{self._tag}-{phase}"

    def _client_conf(self, phase: str) -> Path:
        """A configuration directory for this phase's client: the cluster's, the run's own keys, and the tags by which
        its applications are found."""
        settings = {**self._defaults, **self._settings, "mapreduce.job.tags": self._tags(phase)}
        for name, content in self._cluster.client_files(settings).items():
            kept = self._writer.keep(f"conf/clients/{phase}/{name}", content)
        return kept.parent

    def _finished_jobs(self, phase: str, submission: Submission, log: Path, *, judged: bool) -> tuple[Job, ...]:
        """The jobs that a client ran, their histories kept.

        Raises WorkloadFailed when one of them failed, or it did and its exit code is not to be `judged`; Untrusted in
        their place where that is what a verification found.
        """
        jobs = [
            self._finished_job(phase, submission, one, log)
            for one in submission.applications
            if one.kind == _MAPREDUCE or one.final_status != "SUCCEEDED"
        ]
        if submission.code != 0 and not judged:
            ended = f"{phase}: the client ended with code {submission.code}"
            raise self._failure(
                "\n".join((ended, *submission.said[-8:])),
                hint=f"All that it printed: {log}",
                stopped=submission.code < 0,  # By a signal.
            )
        return tuple(jobs)

    def _finished_job(self, phase: str, submission: Submission, application: Application, log: Path) -> Job:
        expected = submission.code == 0
        try:
            patience = 60.0 if expected else 10.0
            job = self._keep_history(phase, application, patience) if application.kind == _MAPREDUCE else None
        except (ClusterProblem, Untrusted, WorkloadFailed):
            if expected:
                raise
            job = None
        if job is None or job.state != "SUCCEEDED":
            explained = explain_failure(phase, submission, application, job)
            raise self._failure(explained, hint=f"Client output: {log}", stopped=not failed_by_its_tasks(job))
        again = [attempt for attempt in job.attempts if attempt.state != "SUCCEEDED"]
        if again:
            text = f"{len(again)} task attempts of {job.id} failed or were killed and were run again"
            self.caveats.append(Caveat(phase, text))
        return job

    def _failure(self, explained: str, *, hint: str, stopped: bool) -> HowdahError:
        """What a program that ended badly amounts to. A verification that could do its work, as it was not `stopped`
        and the cluster lost nothing, says by it that the result is wrong."""
        text = "\n".join((explained, *self._lost_blocks()))
        if self.phases[-1].kind == "verify" and not stopped and not losses(self._cluster):
            return Untrusted(text, hint=hint)
        return WorkloadFailed(text, hint=hint)

    def _lost_blocks(self) -> Sequence[str]:
        """A sentence about blocks of this run without a replica, where a DataNode was lost.

        It may be asked before the NameNode has given a silent DataNode up, which takes 20 s (`configuration`).
        """
        with suppress(HowdahError):
            if not any(sentence.startswith(f"{DATANODE.name} ") for sentence in self._cluster.lost_daemons()):
                return ()
            deadline = time.monotonic() + _GIVEN_UP_SECONDS
            while not (missing := self._cluster.namenode.status().missing_blocks) and time.monotonic() < deadline:
                time.sleep(0.5)
            if lost := [block.id for block in missing if block.path.startswith(self.directory)]:
                return (f"HDFS lost every replica of {', '.join(lost[:10])} ({len(lost)} blocks of this run)",)
        return ()

    def _keep_history(self, phase: str, application: Application, patience: float) -> Job:
        job_id = application.id.replace("application", "job", 1)
        settings = self._cluster.settings
        history, configuration = find_history(
            job_files(self._cluster),
            job_id,
            user=application.user,
            intermediate=settings.get("mapreduce.jobhistory.intermediate-done-dir"),
            done=settings.get("mapreduce.jobhistory.done-dir"),
            staging=settings.get("yarn.app.mapreduce.am.staging-dir"),
            patience=patience,
        )
        self._writer.keep(f"jobs/{job_id}.jhist", history)
        self._writer.keep(f"jobs/{job_id}_conf.xml", configuration)
        try:
            job = parse_history(history)
        except DamagedHistory as error:
            raise Untrusted(f"{phase}, {job_id}: {error.message}", hint=error.hint) from error
        if job.state == "SUCCEEDED":
            self._judge(phase, job, configuration)
        charge = {
            "id": application.id,
            "memory_seconds": application.memory_seconds,
            "vcore_seconds": application.vcore_seconds,
        }
        self._writer.keep_json(f"jobs/{job_id}.json", encode_job(job, phase=phase, application=charge))
        return job

    def _judge(self, phase: str, job: Job, configuration: bytes) -> None:
        """Notes whether the plugins that the job was to use served it."""
        if has_map_output(job):
            self.with_map_output.add(phase)
        asked = plugins_of({**self._cluster.settings, **self._settings})
        held = {key: one.value for key, one in parse_conf(configuration).items()}
        self.caveats += [Caveat(phase, text) for text in shortfalls(job, asked, held)]
        self.caveats += [Caveat(phase, text) for text in check_storage(self.storage, job)]

    def _measure(self, phase: str, submission: Submission, span: _Span | None, data_bytes: int | None) -> None:
        start, end = submission.start, submission.end
        add = self._sampler(phase, end)
        add(metrics.CLIENT_SECONDS, end.monotonic - start.monotonic, "measured", "agent", "client")
        if span is None:
            if data_bytes is not None:
                seconds = end.monotonic - start.monotonic
                add(metrics.THROUGHPUT, data_bytes / seconds, "derived", f"{data_bytes} B ÷ client_seconds", "client")
            return
        add = self._sampler(phase, Moment(span.finish, end.monotonic - (end.utc - span.finish)))
        add(metrics.JOB_SECONDS, span.seconds, "measured", span.source, "job")
        if span.submit < start.utc or span.seconds > end.monotonic - start.monotonic:
            text = "the clocks of the cluster's hosts do not agree with this one's: job_seconds is by theirs"
            self.caveats.append(Caveat(phase, text))
        else:
            add(metrics.CLIENT_START_SECONDS, span.submit - start.utc, "derived", "submit − client start", "client")
        for metric, values in (
            (metrics.MEMORY_SECONDS, [one.memory_seconds for one in submission.applications]),
            (metrics.VCORE_SECONDS, [one.vcore_seconds for one in submission.applications]),
        ):
            add(metric, sum(values), "measured", "ResourceManager", "job")
        if data_bytes is not None:
            add(metrics.THROUGHPUT, data_bytes / span.seconds, "derived", f"{data_bytes} B ÷ job_seconds", "job")

    def _measure_cpu(self, phase: str, submission: Submission, used: dict[str, float] | None) -> None:
        add = self._sampler(phase, submission.end)
        add(metrics.CLIENT_CPU_SECONDS, submission.client_cpu_seconds, "measured", "wait4", "client")
        if used is None:
            return
        for role, seconds in used.items():
            add(metrics.DAEMON_CPU_SECONDS, seconds, "measured", "/proc/PID/stat, waited-for children included", role)
        whole = total((*used.values(), submission.client_cpu_seconds))
        add(metrics.CPU_SECONDS, whole, "derived", "Σ daemon_cpu_seconds + client_cpu_seconds", "job")

    def _sampler(self, phase: str, moment: Moment) -> Callable[[Metric, float | None, Quality, str, str], None]:
        def add(metric: Metric, value: float | None, quality: Quality, source: str, role: str) -> None:
            if value is not None:
                host = self._cluster.host.name
                self.samples.append(Sample(metric.name, value, metric.unit, quality, source, host, role, phase, moment))

        return add


@dataclass(frozen=True, slots=True)
class _Accounted:
    """What a phase's CPU time is computed of once the run is over."""

    phase: str
    submission: Submission
    before: Reading
    after: Reading
    alone: bool


@dataclass(frozen=True, slots=True)
class _Span:
    """From the first submission to the last finish, in seconds since 1970, and who says so."""

    submit: float
    finish: float
    source: str

    @property
    def seconds(self) -> float:
        return self.finish - self.submit


def _span(jobs: Sequence[Job], applications: Sequence[Application]) -> _Span | None:
    """The span of a phase's jobs; applications that are not MapReduce have no history, but YARN's times."""
    times = [(job.submit, job.finish) for job in jobs]
    others = [(one.start, one.finish) for one in applications if one.kind != _MAPREDUCE]
    times += [(start, finish) for start, finish in others if start is not None and finish is not None]
    if not times:
        return None
    source = " and ".join(("job history",) * bool(jobs) + ("ResourceManager",) * bool(others))
    return _Span(min(start for start, _ in times), max(finish for _, finish in times), source)


def failed_by_its_tasks(job: Job | None) -> bool:
    """Whether a job failed because a task of it did, and not because it was killed or lost its master, which leaves
    no history that says so."""
    return job is not None and job.state == "FAILED" and any(one.state == "FAILED" for one in job.attempts)


def explain_failure(phase: str, submission: Submission, application: Application, job: Job | None) -> str:
    """Why a job failed, most telling first: the first failed attempt, or what YARN, the history and the client say."""
    lines = [f"{phase} failed: {application.id} ended {application.state}/{application.final_status}"]
    failed = [] if job is None else [one for one in job.attempts if one.state == "FAILED" and one.error]
    if failed:
        said = (line.strip() for line in (failed[0].error or "").splitlines() if not _ERROR_NOISE.match(line))
        lines.append(f"{failed[0].id} on {failed[0].node}: {'; '.join(list(dict.fromkeys(said))[:5])}")
        lines.append(f"{len(failed)} attempts failed in all")
        return "\n".join(lines)
    said_by_yarn = application.diagnostics.strip()
    if said_by_yarn:
        lines.append(said_by_yarn[:2000])
    if job is not None and job.diagnostics and job.diagnostics not in said_by_yarn:
        lines.append(job.diagnostics[:2000])
    # Where the history is missing, the client has printed why attempts failed, and much after it.
    told = [line for line in submission.said if line.startswith("Error: ")][:1]
    return "\n".join((*lines, *(told or submission.said[-4:])))


def run_tag(run_id: str) -> str:
    """The YARN application tag of everything that a run submits. YARN folds tags to lower case."""
    return f"howdah-{run_id}".lower()
