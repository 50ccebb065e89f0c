"""Running programs as phases of a run: from the start of a client to the samples of its jobs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.evidence.clocks import manager_ahead
from howdah.engine.observer import Observer
from howdah.engine.run.client import Client, Submission, now, submit
from howdah.engine.run.commands import Launch
from howdah.engine.run.judge import Judge
from howdah.engine.run.record import Record
from howdah.engine.run.sampling import PhaseSampler
from howdah.errors import HowdahError, WorkloadFailed
from howdah.hadoop.configuration.site import redacted_file
from howdah.model.job import Job
from howdah.model.run import Phase, PhaseKind
from howdah.store import RunWriter


@dataclass(frozen=True, slots=True)
class Hooks:
    """The actions of a run around its phases. `check` raises when the run must stop. `save` is called whenever a phase
    has begun or ended. `ready` is called before each phase that is neither for preparation nor for verification, and
    `ended` when a phase's client has ended, before anything is read."""

    check: Callable[[], None]
    save: Callable[[], None]
    ready: Callable[[], None] = lambda: None
    ended: Callable[[], None] = lambda: None


class PhaseRunner:
    """Runs one phase after the other. `settings` are the Hadoop keys of every job, `tag` is the run's tag in YARN."""

    def __init__(
        self,
        cluster: LiveCluster,
        writer: RunWriter,
        observer: Observer,
        judge: Judge,
        sampler: PhaseSampler,
        record: Record,
        hooks: Hooks,
        *,
        tag: str,
        settings: Mapping[str, str],
    ) -> None:
        self._cluster = cluster
        self._writer = writer
        self._observer = observer
        self._judge = judge
        self._sampler = sampler
        self._record = record
        self._hooks = hooks
        self._tag = tag
        self._settings = settings

    def tags(self, phase: str) -> str:
        """Return the tags of everything that a phase submits: the run's tag and its own."""
        return f"{self._tag},{self._tag}-{phase}"

    def run(
        self, phase: str, kind: PhaseKind, launch: Launch, *, data_bytes: int | None, one_job: bool
    ) -> tuple[Submission, tuple[Job, ...], Path]:
        """Run the client of `launch` as one phase. Return its submission, its jobs, and the file with its output. With
        `one_job`, it must have exactly one job. Raises HowdahError."""
        log = self._writer.path / "logs" / f"{phase}-client.log"
        phases = self._record.phases
        if kind == "run":
            self._hooks.ready()
        before = self._sampler.read()
        self._observer.phase_started(phase, data_bytes)
        phases.append(Phase(phase, kind, now(), command=launch.shown))
        self._hooks.save()
        try:
            self._cluster.check_login()
            with self._client_conf(phase) as conf:
                argv, environment = launch.client(conf)
                submission = submit(
                    self._cluster,
                    Client(argv, environment, f"{self._tag}-{phase}", str(log), launch.fatal),
                    progress=self._observer.progress,
                    check=self._hooks.check,
                )
            self._hooks.ended()
            jobs = self._judge.finished_jobs(phase, submission, log, judged=launch.judged)
        except HowdahError as error:
            phases[-1] = replace(phases[-1], end=now(), error=error.message)
            self._observer.phase_ended(phase, None)
            raise
        phases[-1] = replace(phases[-1], start=submission.start, end=submission.end, jobs=tuple(job.id for job in jobs))
        after = self._sampler.read()
        span = self._sampler.span_of(jobs, submission.applications)
        alone = self._note_others(phase, submission)
        self._sampler.phase_ended(phase, submission, (before, after), alone=alone, span=span, moved=data_bytes)
        self._hooks.save()
        seconds = submission.end.monotonic - submission.start.monotonic if span is None else span.seconds
        self._observer.phase_ended(phase, seconds)
        if one_job and len(jobs) != 1:
            raise WorkloadFailed(f"{phase}: YARN knows {len(jobs)} jobs of a program that runs one")
        return submission, jobs, log

    def _note_others(self, phase: str, submission: Submission) -> bool:
        """Return whether no other application ran on the cluster; add a caveat if one did."""
        others = self._others(submission)
        if others:
            text = f"other applications ran on the cluster at the same time: {', '.join(others[:5])}"
            self._record.caveat(phase, text)
        return not others

    def _others(self, submission: Submission) -> Sequence[str]:
        """Return the applications of others that were there while the client ran, even for a moment."""
        ahead = manager_ahead(self._cluster, self._record.ahead)
        start, end = submission.start.utc + ahead, submission.end.utc + ahead
        with suppress(HowdahError):
            found = self._cluster.resourcemanager.applications()
            return [one.id for one in found if self._tag not in one.tags and one.was_there(start, end)]
        return ()

    @contextmanager
    def _client_conf(self, phase: str) -> Iterator[Path]:
        """Yield a configuration directory for this phase's client: the cluster's files, the run's own keys, and the
        tags by which its applications are found. The directory is that of the run. If that would keep a secret, it is a
        temporary one, which is gone afterwards.
        """
        settings = {**self._settings, "mapreduce.job.tags": self.tags(phase)}
        files = self._cluster.client_files(settings)
        clean = {name: redacted_file(name, content) for name, content in files.items()}
        for name, content in clean.items():
            kept = self._writer.keep(f"conf/clients/{phase}/{name}", content)
        if clean == files:
            yield kept.parent
            return
        with tempfile.TemporaryDirectory(prefix="howdah-conf-") as place:
            for name, content in files.items():
                Path(place, name).write_bytes(content)
            yield Path(place)
