"""The judgement of a phase: its jobs by their histories, its client by its exit code."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.evidence.acceleration import shortfalls
from howdah.engine.evidence.clocks import manager_ahead
from howdah.engine.evidence.cluster import losses
from howdah.engine.run.client import Submission
from howdah.engine.run.record import Record
from howdah.engine.run.storages import job_files
from howdah.errors import ClusterProblem, HowdahError, Untrusted, WorkloadFailed
from howdah.hadoop.configuration.roles import DATANODE
from howdah.hadoop.configuration.site import redacted_file
from howdah.hadoop.history.job_files import find_history
from howdah.hadoop.history.job_history import DamagedHistory, HostClocks, parse_history
from howdah.hadoop.interfaces.effective import parse_conf
from howdah.hadoop.interfaces.resourcemanager import MAPREDUCE, Application
from howdah.model.accelerator import has_map_output, plugins_of
from howdah.model.job import Job
from howdah.model.storage import HDFS, POSIX, POSIX_SCHEME
from howdah.storage import Storage
from howdah.store import RunWriter
from howdah.store.codec_job import encode_job

_ERROR_NOISE = re.compile(
    r"\s+at |\s*\.\.\. \d+ more|\s*$|Last \d+ bytes of |Container id: |\[[^]]*\]Container exited "
)
_GIVEN_UP_SECONDS = 25.0
_COUNTERS = "org.apache.hadoop.mapreduce.FileSystemCounter"


class Judge:
    """Judges the phases of one run, whose data is in `directory` of `storage` and whose jobs have `settings`. Keeps
    histories in the run directory, and doubts in the record."""

    def __init__(
        self,
        cluster: LiveCluster,
        storage: Storage,
        directory: str,
        settings: Mapping[str, str],
        writer: RunWriter,
        record: Record,
    ) -> None:
        self._cluster = cluster
        self._storage = storage
        self._directory = directory
        self._settings = settings
        self._writer = writer
        self._record = record

    def finished_jobs(self, phase: str, submission: Submission, log: Path, *, judged: bool) -> tuple[Job, ...]:
        """Keep the histories of the jobs that a client ran, and return the jobs.

        Raises WorkloadFailed when a job failed, or when the client failed and its exit code is not to be `judged`.
        Raises Untrusted instead if that is the result of a verification.
        """
        jobs = [
            self._finished_job(phase, submission, one, log)
            for one in submission.applications
            if one.kind == MAPREDUCE or one.final_status != "SUCCEEDED"
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
            job = self._keep_history(phase, application, patience) if application.kind == MAPREDUCE else None
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
            self._record.caveat(phase, text)
        return job

    def _failure(self, explained: str, *, hint: str, stopped: bool) -> HowdahError:
        """Return the error for a program that ended badly. It is Untrusted, a wrong result, if a verification could do
        its work: it was not `stopped`, and the cluster lost nothing. Otherwise it is WorkloadFailed."""
        text = "\n".join((explained, *self._lost_blocks()))
        if self._record.phases[-1].kind == "verify" and not stopped and not losses(self._cluster):
            return Untrusted(text, hint=hint)
        return WorkloadFailed(text, hint=hint)

    def _lost_blocks(self) -> Sequence[str]:
        """Return a sentence about blocks of this run without a replica, if a DataNode was lost.

        Waits for the NameNode to give up a silent DataNode, which takes 20 s (`configuration`).
        """
        with suppress(HowdahError):
            if not any(lost.role == DATANODE.name for lost in self._cluster.lost_daemons()):
                return ()
            deadline = time.monotonic() + _GIVEN_UP_SECONDS
            while not (missing := self._cluster.namenode.status().missing_blocks) and time.monotonic() < deadline:
                time.sleep(0.5)
            if lost := [block.id for block in missing if block.path.startswith(self._directory)]:
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
        kept = f"{job_id}_conf.xml"
        self._writer.keep(f"jobs/{kept}", redacted_file(kept, configuration))
        try:
            job = parse_history(history, self._clocks())
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

    def _clocks(self) -> HostClocks:
        ahead, cluster = self._record.ahead, self._cluster
        return HostClocks(manager_ahead(cluster, ahead), lambda node: ahead.get(cluster.machine_at(node) or "", 0.0))

    def _judge(self, phase: str, job: Job, configuration: bytes) -> None:
        """Record whether the plugins that the job was to use served it."""
        if has_map_output(job):
            self._record.with_map_output.add(phase)
        asked = plugins_of({**self._cluster.settings, **self._settings})
        held = {key: one.value for key, one in parse_conf(configuration).items()}
        for text in (*shortfalls(job, asked, held), *check_storage(self._storage, job)):
            self._record.caveat(phase, text)


def failed_by_its_tasks(job: Job | None) -> bool:
    """Return whether a job failed because one of its tasks did. A job that was killed, or that lost its master, leaves
    no history that says so."""
    return job is not None and job.state == "FAILED" and any(one.state == "FAILED" for one in job.attempts)


def explain_failure(phase: str, submission: Submission, application: Application, job: Job | None) -> str:
    """Return why a job failed, most telling first: the first failed attempt, or the words of YARN, history and
    client."""
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


def check_storage(storage: Storage, job: Job) -> Iterator[str]:
    """Yield a sentence if a job that was to work on `storage` did not: its counters have no byte of that storage."""
    moved = [_moved(storage, job, way) for way in ("READ", "WRITTEN")]
    if None not in moved and job.counters.get(_COUNTERS) and not any(moved):
        yield f"{job.id} read and wrote nothing in {storage.name}"


def bytes_written(storage: Storage, jobs: Sequence[Job]) -> int | None:
    """Return the bytes that `jobs` wrote to `storage`, by their own counters. None if there is no job, if a job's
    counters do not tell, or if they include the files of its application master."""
    written = [
        _moved(storage, job, "WRITTEN") if job.counters.get(_COUNTERS) and not job.uberized else None for job in jobs
    ]
    known = [one for one in written if one is not None]
    return sum(known) if known and len(known) == len(written) else None


def _moved(storage: Storage, job: Job, way: str) -> int | None:
    """Return the bytes of a job by the scheme of the storage, as Hadoop counts them. None for a file system that shares
    its scheme with the tasks' local disks."""
    scheme = {HDFS: "HDFS", POSIX: POSIX_SCHEME.upper()}.get(storage.name)
    return None if scheme is None else job.counters.get(_COUNTERS, {}).get(f"{scheme}_BYTES_{way}", 0)
