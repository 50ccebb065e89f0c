"""The samples of a run's phases: times from the job history, CPU time from the processes of the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.evidence import metrics
from howdah.engine.evidence.accounting import Accounting, Readings, total
from howdah.engine.evidence.clocks import manager_ahead
from howdah.engine.run.client import Submission
from howdah.engine.run.record import Record
from howdah.hadoop.interfaces.resourcemanager import MAPREDUCE, Application
from howdah.model.job import Job
from howdah.model.sample import Moment


@dataclass(frozen=True, slots=True)
class _Accounted:
    """The inputs of a phase's CPU time, which is computed once the run is over."""

    phase: str
    submission: Submission
    before: Readings
    after: Readings
    alone: bool


class PhaseSampler:
    """Adds samples to the record of a run."""

    def __init__(self, cluster: LiveCluster, record: Record) -> None:
        self._cluster = cluster
        self._record = record
        self._accounting = Accounting(cluster)
        self._accounted: list[_Accounted] = []

    def read(self) -> Readings:
        """Return the CPU time of the cluster's processes now. Raises HostProblem."""
        return self._accounting.read()

    def span_of(self, jobs: Sequence[Job], applications: Sequence[Application]) -> PhaseSpan | None:
        """Return the span of a phase's jobs by this machine's clock, as far as the clocks of hosts are known."""
        manager = manager_ahead(self._cluster, self._record.ahead)
        span = span_of(jobs, applications, manager)
        if span is None or not (manager or any(job.ahead for job in jobs)):
            return span
        return replace(span, source=f"{span.source}, corrected for the clocks of hosts")

    def phase_ended(
        self,
        phase: str,
        submission: Submission,
        readings: tuple[Readings, Readings],
        *,
        alone: bool,
        span: PhaseSpan | None,
        moved: int | None,
    ) -> None:
        """Add the samples of a phase, except its CPU time. `readings` are of its beginning and its end; it was `alone`
        if no other applications ran. `span` is that of its jobs, `moved` the bytes that it had to move once."""
        self._accounted.append(_Accounted(phase, submission, *readings, alone))
        start, end = submission.start, submission.end
        add = self._record.at(phase, end)
        client = end.monotonic - start.monotonic
        add(metrics.CLIENT_SECONDS, client, "measured", "agent", "client")
        if span is None:
            if moved is not None:
                add(metrics.THROUGHPUT, moved / client, "derived", f"{moved} B ÷ client_seconds", "client")
            return
        add = self._record.at(phase, Moment(span.finish, end.monotonic - (end.utc - span.finish)))
        add(metrics.JOB_SECONDS, span.seconds, "measured", span.source, "job")
        if span.submit < start.utc or span.seconds > client:
            text = "the clocks of the cluster's hosts do not agree with this one's: job_seconds is by theirs"
            self._record.caveat(phase, text)
        else:
            add(metrics.CLIENT_START_SECONDS, span.submit - start.utc, "derived", "submit − client start", "client")
        for metric, values in (
            (metrics.MEMORY_SECONDS, [one.memory_seconds for one in submission.applications]),
            (metrics.VCORE_SECONDS, [one.vcore_seconds for one in submission.applications]),
        ):
            add(metric, sum(values), "measured", "ResourceManager", "job")
        if moved is not None:
            add(metrics.THROUGHPUT, moved / span.seconds, "derived", f"{moved} B ÷ job_seconds", "job")

    def moved(self, phase: str, data_bytes: int) -> None:
        """Add the throughput of a phase that has ended and moved `data_bytes`."""
        times = [one for one in self._record.samples if (one.phase, one.metric) == (phase, metrics.JOB_SECONDS.name)]
        for one in times:
            source = f"{data_bytes} B ÷ job_seconds"
            self._record.at(phase, one.moment)(metrics.THROUGHPUT, data_bytes / one.value, "derived", source, "job")

    def account(self) -> None:
        """Add the CPU time of every phase. Call it once, after the last phase and as late as possible: an application
        master stops five seconds after its job.

        Raises HostProblem.
        """
        last = self._accounting.read()
        for one in self._accounted:
            used = self._accounting.by_role(one.before, one.after, last)
            if used is None or not one.alone:
                why = "not every process of the cluster could be accounted for" if one.alone else "others ran, too"
                self._record.caveat(one.phase, f"cpu_seconds is missing: {why}")
                used = None
            self._add_cpu(one.phase, one.submission, used)

    def _add_cpu(self, phase: str, submission: Submission, used: dict[str, float] | None) -> None:
        add = self._record.at(phase, submission.end)
        add(metrics.CLIENT_CPU_SECONDS, submission.client_cpu_seconds, "measured", "wait4", "client")
        if used is None:
            return
        for role, seconds in used.items():
            add(metrics.DAEMON_CPU_SECONDS, seconds, "measured", "/proc/PID/stat, waited-for children included", role)
        whole = total((*used.values(), submission.client_cpu_seconds))
        add(metrics.CPU_SECONDS, whole, "derived", "Σ daemon_cpu_seconds + client_cpu_seconds", "job")


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """The time from the first submission to the last finish, in seconds since 1970, and its source."""

    submit: float
    finish: float
    source: str

    @property
    def seconds(self) -> float:
        """The length in seconds."""
        return self.finish - self.submit


def span_of(jobs: Sequence[Job], applications: Sequence[Application], ahead: float) -> PhaseSpan | None:
    """Return the span of a phase's jobs. Applications that are not MapReduce have no history: YARN gives their times,
    by a clock that is `ahead` seconds ahead. None if there are neither."""
    times = [(job.submit, job.finish) for job in jobs]
    others = [(one.start, one.finish) for one in applications if one.kind != MAPREDUCE]
    times += [(start - ahead, finish - ahead) for start, finish in others if start is not None and finish is not None]
    if not times:
        return None
    source = " and ".join(("job history",) * bool(jobs) + ("ResourceManager",) * bool(others))
    return PhaseSpan(min(start for start, _ in times), max(finish for _, finish in times), source)
