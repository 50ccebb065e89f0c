"""The session a workload works in: every job becomes a phase with its history, its numbers and its logs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from howdah.cluster.live import LiveCluster
from howdah.engine import metrics
from howdah.engine.accounting import Accounting, total
from howdah.engine.observer import Observer
from howdah.engine.submission import Submission, now, submit
from howdah.errors import ClusterProblem, HowdahError, WorkloadFailed
from howdah.hadoop.history import parse_history
from howdah.hadoop.job_files import find_history
from howdah.hadoop.resourcemanager import Application
from howdah.hadoop.roles import DATANODE
from howdah.model.job import Job
from howdah.model.metric import Metric
from howdah.model.run import Caveat, Phase, PhaseKind
from howdah.model.sample import Moment, Quality, Sample
from howdah.storage import Storage
from howdah.store import RunWriter
from howdah.store.codec_job import encode_job

_ERROR_NOISE = re.compile(
    r"\s+at |\s*\.\.\. \d+ more|\s*$|Last \d+ bytes of |Container id: |\[[^]]*\]Container exited "
)
_GIVEN_UP_SECONDS = 25.0


class JobSession:
    """See `howdah.workload.Session`. Collects phases, samples and caveats for the run."""

    def __init__(
        self,
        cluster: LiveCluster,
        storage: Storage,
        writer: RunWriter,
        observer: Observer,
        *,
        run_id: str,
        check: Callable[[], None],
        save: Callable[[], None],
    ) -> None:
        """`check` raises when the run must stop; `save` is called whenever a phase has begun or ended."""
        self.storage = storage
        self.directory = f"/howdah/{run_id}"
        self.phases: list[Phase] = []
        self.samples: list[Sample] = []
        self.caveats: list[Caveat] = []
        self._cluster = cluster
        self._writer = writer
        self._observer = observer
        self._tag = run_tag(run_id)
        self._check = check
        self._save = save
        self._accounting = Accounting(cluster)

    def examples(self, *arguments: str) -> Sequence[str]:
        return (str(self._cluster.distribution.examples_jar), *arguments)

    def job(self, phase: str, kind: PhaseKind, program: Sequence[str], *, data_bytes: int | None = None) -> Job:
        log = self._writer.path / "logs" / f"{phase}-client.log"
        before = self._accounting.read()
        self._observer.phase_started(phase, data_bytes)
        self.phases.append(Phase(phase, kind, now(), command=tuple(program)))
        self._save()
        try:
            submission = submit(
                self._cluster,
                program,
                tags=(self._tag, f"{self._tag}-{phase}"),
                log=str(log),
                progress=self._observer.progress,
                check=self._check,
            )
            job = self._finished_job(phase, program, submission, log)
        except HowdahError as error:
            self.phases[-1] = replace(self.phases[-1], end=now(), error=error.message)
            self._observer.phase_ended(phase, None)
            raise
        self.phases[-1] = replace(self.phases[-1], start=submission.start, end=submission.end, jobs=(job.id,))
        used = self._accounting.by_role(before, self._accounting.read())
        self._measure(phase, submission, job, data_bytes)
        self._measure_cpu(phase, submission, used)
        self._save()
        self._observer.phase_ended(phase, job.seconds)
        return job

    def _finished_job(self, phase: str, program: Sequence[str], submission: Submission, log: Path) -> Job:
        """The job that a client ran, its history kept. Raises WorkloadFailed when it did not succeed."""
        application = submission.application
        if application is None:
            reason = "without an application on YARN" if submission.code == 0 else f"with code {submission.code}"
            raise WorkloadFailed(
                "\n".join((f"{program[1]}: the client ended {reason}", *submission.said[-8:], *self._lost_blocks())),
                hint=f"All that it printed: {log}",
            )
        try:
            job = self._keep_history(phase, application, 60.0 if submission.code == 0 else 10.0)
        except (ClusterProblem, WorkloadFailed):
            if submission.code == 0:
                raise
            job = None
        if submission.code != 0 or job is None or job.state != "SUCCEEDED":
            explained = explain_failure(phase, submission, application, job)
            raise WorkloadFailed("\n".join((explained, *self._lost_blocks())), hint=f"Client output: {log}")
        again = [attempt for attempt in job.attempts if attempt.state != "SUCCEEDED"]
        if again:
            text = f"{len(again)} task attempts of {job.id} failed or were killed and were run again"
            self.caveats.append(Caveat(phase, text))
        return job

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
            self._cluster.webhdfs,
            job_id,
            user=application.user,
            intermediate=settings.get("mapreduce.jobhistory.intermediate-done-dir"),
            done=settings.get("mapreduce.jobhistory.done-dir"),
            staging=settings.get("yarn.app.mapreduce.am.staging-dir"),
            patience=patience,
        )
        self._writer.keep(f"jobs/{job_id}.jhist", history)
        self._writer.keep(f"jobs/{job_id}_conf.xml", configuration)
        job = parse_history(history)
        charge = {
            "id": application.id,
            "memory_seconds": application.memory_seconds,
            "vcore_seconds": application.vcore_seconds,
        }
        self._writer.keep_json(f"jobs/{job_id}.json", encode_job(job, phase=phase, application=charge))
        return job

    def _measure(self, phase: str, submission: Submission, job: Job, data_bytes: int | None) -> None:
        application = submission.application
        assert application is not None
        at = Moment(job.finish, submission.end.monotonic - (submission.end.utc - job.finish))
        add = self._sampler(phase, at)
        add(metrics.JOB_SECONDS, job.seconds, "measured", "job history", "job")
        add(
            metrics.CLIENT_SECONDS, submission.end.monotonic - submission.start.monotonic, "measured", "agent", "client"
        )
        add(
            metrics.CLIENT_START_SECONDS,
            job.submit - submission.start.utc,
            "derived",
            "submit − client start",
            "client",
        )
        add(metrics.MEMORY_SECONDS, application.memory_seconds, "measured", "ResourceManager", "job")
        add(metrics.VCORE_SECONDS, application.vcore_seconds, "measured", "ResourceManager", "job")
        if data_bytes is not None:
            add(metrics.THROUGHPUT, data_bytes / job.seconds, "derived", f"{data_bytes} B ÷ job_seconds", "job")

    def _measure_cpu(self, phase: str, submission: Submission, used: dict[str, float] | None) -> None:
        add = self._sampler(phase, submission.end)
        add(metrics.CLIENT_CPU_SECONDS, submission.client_cpu_seconds, "measured", "wait4", "client")
        if used is None:
            self.caveats.append(
                Caveat(phase, "cpu_seconds is missing: not every process of the cluster could be accounted for")
            )
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


def explain_failure(phase: str, submission: Submission, application: Application, job: Job | None) -> str:
    """Why a job failed, most telling first: the first failed attempt, YARN's and the client's words."""
    lines = [f"{phase} failed: {application.id} ended {application.state}/{application.final_status}"]
    failed = [] if job is None else [one for one in job.attempts if one.state == "FAILED" and one.error]
    if failed:
        said = (line.strip() for line in (failed[0].error or "").splitlines() if not _ERROR_NOISE.match(line))
        lines.append(f"{failed[0].id} on {failed[0].node}: {'; '.join(list(dict.fromkeys(said))[:5])}")
        lines.append(f"{len(failed)} attempts failed in all")
        return "\n".join(lines)
    if application.diagnostics.strip():
        lines.append(application.diagnostics.strip()[:2000])
    # Where the history is missing, the client has printed why attempts failed, and much after it.
    told = [line for line in submission.said if line.startswith("Error: ")][:1]
    return "\n".join((*lines, *(told or submission.said[-4:])))


def run_tag(run_id: str) -> str:
    """The YARN application tag of everything that a run submits. YARN folds tags to lower case."""
    return f"howdah-{run_id}".lower()
