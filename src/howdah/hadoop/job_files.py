"""Finding the files of a finished job, which the JobHistoryServer moves while one looks for them."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from howdah.errors import ClusterProblem
from howdah.hadoop.webhdfs import NotFound

_STAGING = "${yarn.app.mapreduce.am.staging-dir}"
_INTERMEDIATE = f"{_STAGING}/history/done_intermediate"
_DONE = f"{_STAGING}/history/done"
_JOB = re.compile(r"job_\d+_(\d+)")


class _Entry(Protocol):
    @property
    def path(self) -> str: ...


class JobFiles(Protocol):
    """The file system of the history files; both methods raise NotFound."""

    def list(self, path: str) -> Sequence[_Entry]:
        """What is in a directory, by whole paths."""

    def read(self, path: str) -> bytes:
        """The whole content of a file."""


class HistoryMissing(ClusterProblem):
    """A job has no history file where history files are."""


def find_history(
    files: JobFiles,
    job: str,
    *,
    user: str,
    intermediate: str | None = None,
    done: str | None = None,
    staging: str | None = None,
    patience: float = 60.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[bytes, bytes]:
    """The history file and the configuration of `job`, which `user` ran; looked for once a second for `patience` s.

    `intermediate`, `done` and `staging` are `mapreduce.jobhistory.intermediate-done-dir`, `….done-dir`
    and `yarn.app.mapreduce.am.staging-dir`; None stands for Hadoop's default (mapred-default.xml, 3.4.2).

    The ApplicationMaster leaves both files in `<intermediate>/<user>`; the JobHistoryServer then moves them, one after
    the other, to `<done>/YYYY/MM/DD/NNNNNN`: the day of the job's end, and the job's number without its last three
    digits (JobHistoryUtils, 3.4.2).

    Raises:
        HistoryMissing: not there in time.
        Unreachable, Rejected: the file system cannot be asked.
    """
    number = _JOB.fullmatch(job)
    if number is None:
        raise ValueError(f"not a job id: {job!r}")
    serial = f"{int(number[1]) // 1000:06d}"
    first = f"{intermediate_directory(intermediate, staging)}/{user}"
    second = _path(done or _DONE, _base(staging))
    deadline = clock() + patience
    while True:
        looked: list[str] = []
        found = _look(files, job, looked, _places(files, first, second, serial))
        if found is not None:
            return found
        if clock() >= deadline:
            break
        sleep(1.0)
    raise HistoryMissing(
        f"no history of {job} after {patience:.0f} s; looked in {', '.join(looked)}",
        hint="A job that YARN killed leaves none. Otherwise the log of its ApplicationMaster says why it wrote none.",
    )


def intermediate_directory(intermediate: str | None, staging: str | None) -> str:
    """Where ApplicationMasters leave the history of their jobs, as a path; for the arguments see `find_history`."""
    return _path(intermediate or _INTERMEDIATE, _base(staging))


def _look(files: JobFiles, job: str, looked: list[str], places: Iterator[str]) -> tuple[bytes, bytes] | None:
    """Both files, wherever each is now; None where one is missing or was moved before it could be read."""
    history = configuration = None
    for place in places:
        looked.append(place)
        for path in _names(files, place):
            name = path.rpartition("/")[2]
            if name.startswith(f"{job}-") and name.endswith(".jhist"):
                history = path
            elif name == f"{job}_conf.xml":
                configuration = path
        if history and configuration:
            try:
                return files.read(history), files.read(configuration)
            except NotFound:
                return None
    return None


def _places(files: JobFiles, intermediate: str, done: str, serial: str) -> Iterator[str]:
    """Where the files can be: the user's intermediate directory, then every day, the newest first."""
    yield intermediate
    days = [done]
    for _ in ("year", "month", "day"):
        days = [path for day in days for path in _names(files, day) if path.rpartition("/")[2].isdigit()]
    for day in sorted(days, reverse=True):
        yield f"{day}/{serial}"
    if not days:
        yield done


def _base(staging: str | None) -> str:
    return _path(staging or "/tmp/hadoop-yarn/staging", "")


def _path(directory: str, staging: str) -> str:
    """A directory as a path: without file system, and with the one variable that Hadoop's defaults use filled in."""
    return urlsplit(directory.replace(_STAGING, staging)).path.rstrip("/")


def _names(files: JobFiles, directory: str) -> list[str]:
    try:
        return [status.path for status in files.list(directory)]
    except NotFound:
        return []
