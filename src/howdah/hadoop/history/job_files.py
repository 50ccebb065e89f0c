"""The search for the files of a finished job, which the JobHistoryServer moves meanwhile."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlsplit

from howdah.errors import ClusterProblem
from howdah.hadoop.interfaces.webhdfs import AccessDenied, NotFound

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
        """Return the entries of a directory, by whole paths."""

    def read(self, path: str) -> bytes:
        """Return the whole content of a file."""


class HistoryMissing(ClusterProblem):
    """A job without a history file in the directories for history files."""


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
    """Return the history file and the configuration of `job`, which `user` ran. Looks once a second, for `patience`
    seconds.

    `intermediate`, `done` and `staging` are `mapreduce.jobhistory.intermediate-done-dir`, `….done-dir` and
    `yarn.app.mapreduce.am.staging-dir`. None stands for Hadoop's default (mapred-default.xml, 3.4.2).

    The ApplicationMaster leaves both files in `<intermediate>/<user>`. The JobHistoryServer then moves them, one after
    the other, to `<done>/YYYY/MM/DD/NNNNNN`. This is the day of the job's end, and the job's number without its last
    three digits (JobHistoryUtils, 3.4.2).

    Raises:
        HistoryMissing: the files did not appear in time.
        Unreachable, Rejected: the file system does not answer, or `user` may not look into the first directory.
    """
    number = _JOB.fullmatch(job)
    if number is None:
        raise ValueError(f"not a job id: {job!r}")
    serial = f"{int(number[1]) // 1000:06d}"
    first = f"{intermediate_directory(intermediate, staging)}/{user}"
    second = done_directory(done, staging)
    deadline = clock() + patience
    search = _Search(files, job)
    while True:
        found = search.look(first, second, serial)
        if found is not None:
            return found
        if clock() >= deadline:
            break
        sleep(1.0)
    if search.denied:
        raise HistoryMissing(
            f"no history of {job} in {first} after {patience:.0f} s, and {user} may not look into {search.denied}, "
            "where the JobHistoryServer moves such files every few minutes",
            hint=f"Have somebody make {user} a member of that directory's group.",
        )
    raise HistoryMissing(
        f"no history of {job} after {patience:.0f} s; looked in {', '.join(search.looked)}",
        hint="A job that YARN killed leaves none. Otherwise the log of its ApplicationMaster says why it wrote none.",
    )


def intermediate_directory(intermediate: str | None, staging: str | None) -> str:
    """Return the directory in which ApplicationMasters leave the history of their jobs, as a path. For the arguments
    see `find_history`."""
    return _path(intermediate or _INTERMEDIATE, _base(staging))


def done_directory(done: str | None, staging: str | None) -> str:
    """Return the directory to which the JobHistoryServer moves histories, as a path. For the arguments see
    `find_history`."""
    return _path(done or _DONE, _base(staging))


class _Search:
    """The files of one job. Each file is read as soon as it is seen, because it may be moved to a place that only
    others can read."""

    def __init__(self, files: JobFiles, job: str) -> None:
        self._files = files
        self._history = re.compile(f"{job}-.*[.]jhist")
        self._configuration = f"{job}_conf.xml"
        self._read: dict[str, bytes] = {}
        self.looked: list[str] = []
        self.denied: str | None = None

    def look(self, intermediate: str, done: str, serial: str) -> tuple[bytes, bytes] | None:
        """Return both files, wherever each is now; None if one is missing or was moved before it could be read."""
        self.looked = []
        for place in self._places(intermediate, done, serial):
            self.looked.append(place)
            for path in self._names(place, own=place == intermediate):
                name = path.rpartition("/")[2]
                kind = ".jhist" if self._history.fullmatch(name) else ".xml" if name == self._configuration else None
                if kind is not None and kind not in self._read:
                    with suppress(NotFound):
                        self._read[kind] = self._files.read(path)
            if len(self._read) == 2:
                return self._read[".jhist"], self._read[".xml"]
        return None

    def _places(self, intermediate: str, done: str, serial: str) -> Iterator[str]:
        """Yield the directories that may have the files: the user's intermediate directory, then every day, newest
        first."""
        yield intermediate
        days = [done]
        for _ in ("year", "month", "day"):
            days = [path for day in days for path in self._names(day) if path.rpartition("/")[2].isdigit()]
        for day in sorted(days, reverse=True):
            yield f"{day}/{serial}"
        if not days:
            yield done

    def _names(self, directory: str, *, own: bool = False) -> list[str]:
        try:
            return [status.path for status in self._files.list(directory)]
        except NotFound:
            return []
        except AccessDenied:
            # Hadoop makes that of the JobHistoryServer so that others than its group have no right to it.
            if own:
                raise
            self.denied = directory
            return []


def _base(staging: str | None) -> str:
    return _path(staging or "/tmp/hadoop-yarn/staging", "")


def _path(directory: str, staging: str) -> str:
    """Return a directory as a path: without file system, and with the only variable in Hadoop's defaults filled in."""
    return urlsplit(directory.replace(_STAGING, staging)).path.rstrip("/")
