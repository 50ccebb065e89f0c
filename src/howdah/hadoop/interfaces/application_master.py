"""Progress of a running MapReduce job, from its ApplicationMaster through the ResourceManager's proxy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from howdah.hadoop.interfaces.http import Answer, Rejected, field
from howdah.hadoop.interfaces.resourcemanager import ResourceManager
from howdah.model.job import Counters


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """The maps or the reduces of a job. `progress` is 0 to 1; the other fields count tasks and attempts."""

    progress: float
    total: int
    pending: int
    running: int
    completed: int
    failed_attempts: int
    killed_attempts: int


@dataclass(frozen=True, slots=True)
class ReportedProgress:
    """A running job, or a job that ended a moment ago."""

    id: str
    name: str
    state: str
    maps: TaskProgress
    reduces: TaskProgress


@dataclass(frozen=True, slots=True)
class ApplicationMaster:
    """The ApplicationMaster of MapReduce application `application`.

    Every method returns None while the master is not there: before it has registered, between two attempts at it, and
    after it has ended. Otherwise, methods raise Unreachable, Rejected and Garbled.
    """

    resource_manager: ResourceManager
    application: str

    @property
    def job(self) -> str:
        """The ID of the application's one job."""
        return self.application.replace("application_", "job_", 1)

    def progress(self) -> ReportedProgress | None:
        """Return the progress of the job, by one request that the master answers from memory."""
        answer = self._get(f"jobs/{self.job}")
        if answer is None:
            return None
        record = field(answer.json(), "job", dict, answer.url)
        return ReportedProgress(
            id=field(record, "id", str, answer.url),
            name=field(record, "name", str, answer.url),
            state=field(record, "state", str, answer.url),
            maps=_tasks(record, "map", answer.url),
            reduces=_tasks(record, "reduce", answer.url),
        )

    def counters(self) -> Counters | None:
        """Return the totals so far: of finished attempts, and of running ones as of their last heartbeat.

        The master sums over all tasks each time. Ask every few seconds at most for a job of thousands of tasks.
        """
        answer = self._get(f"jobs/{self.job}/counters")
        if answer is None:
            return None
        record, url = field(answer.json(), "jobCounters", dict, answer.url), answer.url
        return {
            field(group, "counterGroupName", str, url): {
                field(counter, "name", str, url): field(counter, "totalCounterValue", int, url)
                for counter in field(group, "counter", list, url)
            }
            for group in (field(record, "counterGroup", list, url) if "counterGroup" in record else ())
        }

    def _get(self, path: str) -> Answer | None:
        """Return the master's answer; None if no master is there.

        Without a master, the proxy redirects to a page about the application, or to the history server. It answers 500
        to 504 if the master does not accept the connection, because it is starting or has just ended.
        """
        try:
            answer = self.resource_manager.get(f"/proxy/{self.application}/ws/v1/mapreduce/{path}")
        except Rejected as error:
            if error.status >= 500:
                return None
            raise
        return answer if answer.status == 200 else None


def bytes_so_far(counters: Counters) -> tuple[int, int] | None:
    """Return the bytes read from and written to Hadoop's file systems, without the data between map and reduce on local
    disks. Returns None before any task has reported."""
    group = counters.get("org.apache.hadoop.mapreduce.FileSystemCounter")
    if group is None:
        return None
    read, written = (
        sum(value for name, value in group.items() if name.endswith(ending) and not name.startswith("FILE_"))
        for ending in ("_BYTES_READ", "_BYTES_WRITTEN")
    )
    return read, written


def _tasks(record: Any, kind: str, url: str) -> TaskProgress:
    title = kind.capitalize()
    return TaskProgress(
        progress=field(record, f"{kind}Progress", float, url) / 100,
        total=field(record, f"{kind}sTotal", int, url),
        pending=field(record, f"{kind}sPending", int, url),
        running=field(record, f"{kind}sRunning", int, url),
        completed=field(record, f"{kind}sCompleted", int, url),
        failed_attempts=field(record, f"failed{title}Attempts", int, url),
        killed_attempts=field(record, f"killed{title}Attempts", int, url),
    )
