"""The JobHistoryServer's REST interface."""

from __future__ import annotations

from dataclasses import dataclass

from howdah.hadoop.interfaces.http import PLAIN, Http, Rejected, field, seconds_of


@dataclass(frozen=True, slots=True)
class HistoryInfo:
    """The server's Hadoop version, and its start time (seconds since 1970)."""

    version: str
    started: float | None


@dataclass(frozen=True, slots=True)
class HistoryJob:
    """A finished job as the history server reports it, times in seconds since 1970. The history file has far more
    facts."""

    id: str
    name: str
    user: str
    state: str
    submit: float | None
    launch: float | None
    finish: float | None
    maps: int
    reduces: int
    diagnostics: str


@dataclass(frozen=True, slots=True)
class HistoryServer:
    """The JobHistoryServer whose web server is at `address` (host:port). Methods raise Unreachable and Garbled."""

    address: str
    http: Http = PLAIN

    def info(self) -> HistoryInfo:
        """Return version and start time; an answer means that the server is up."""
        url = f"{self.http.scheme}://{self.address}/ws/v1/history/info"
        record = field(self.http.get_json(url), "historyInfo", dict, url)
        return HistoryInfo(field(record, "hadoopVersion", str, url), seconds_of(record, "startedOn", url))

    def job(self, job: str) -> HistoryJob | None:
        """Return a finished job; None while the server has not seen its files, or if it has dropped them."""
        url = f"{self.http.scheme}://{self.address}/ws/v1/history/mapreduce/jobs/{job}"
        try:
            record = field(self.http.get_json(url), "job", dict, url)
        except Rejected as error:
            if error.status == 404:
                return None
            raise
        return HistoryJob(
            id=field(record, "id", str, url),
            name=field(record, "name", str, url),
            user=field(record, "user", str, url),
            state=field(record, "state", str, url),
            submit=seconds_of(record, "submitTime", url),
            launch=seconds_of(record, "startTime", url),
            finish=seconds_of(record, "finishTime", url),
            maps=field(record, "mapsTotal", int, url),
            reduces=field(record, "reducesTotal", int, url),
            diagnostics=record.get("diagnostics") or "",
        )
