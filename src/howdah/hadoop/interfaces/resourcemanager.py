"""The ResourceManager's REST interface: the cluster, its nodes, its applications."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from howdah.hadoop.interfaces.effective import effective_configuration
from howdah.hadoop.interfaces.http import PLAIN, Answer, Garbled, Http, Unreachable, field, seconds_of

FINAL_STATES = frozenset({"FINISHED", "FAILED", "KILLED"})
MAPREDUCE = "MAPREDUCE"
"""Type of applications that are MapReduce jobs, which have a job history."""


@dataclass(frozen=True, slots=True)
class ClusterInfo:
    """A ResourceManager. `id` is the time at which it became active (ms): a part of every application ID since."""

    id: int
    state: str
    ha_state: str
    version: str


@dataclass(frozen=True, slots=True)
class ClusterMetrics:
    """Counts of nodes and applications; memory in MiB."""

    active_nodes: int
    lost_nodes: int
    unhealthy_nodes: int
    applications_running: int
    applications_pending: int
    memory_total: int
    memory_available: int
    vcores_total: int
    vcores_available: int


@dataclass(frozen=True, slots=True)
class YarnNode:
    """A NodeManager as the ResourceManager sees it. `id` is host:port; memory is MiB; `health` is "" when healthy."""

    id: str
    host: str
    http_address: str
    state: str
    health: str
    version: str
    containers: int
    memory_total: int
    memory_used: int
    vcores_total: int
    vcores_used: int


@dataclass(frozen=True, slots=True)
class Resource:
    """Memory in MiB, and virtual cores."""

    memory: int
    vcores: int


@dataclass(frozen=True, slots=True)
class Application:
    """An application. Times are seconds since 1970; None if that has not happened yet, or if this user may not see it.

    `progress` is 0 to 1. `memory_seconds` is MiB × seconds allocated, `vcore_seconds` virtual cores × seconds; both
    grow until the application ends. `final_status` is UNDEFINED until then.
    """

    id: str
    name: str
    user: str
    queue: str
    kind: str
    tags: tuple[str, ...]
    state: str
    final_status: str
    progress: float
    diagnostics: str
    tracking_url: str | None
    am_address: str | None
    start: float | None
    launch: float | None
    finish: float | None
    memory_seconds: int
    vcore_seconds: int

    @property
    def ended(self) -> bool:
        return self.state in FINAL_STATES

    def was_there(self, start: float, end: float) -> bool:
        """Return whether the application was there at some moment between `start` and `end` (seconds since 1970), by
        the ResourceManager's clock. If this user may not see its times, the application counts unless it has ended."""
        before_end = self.start is None or self.start < end
        return before_end and (not self.ended if self.finish is None else self.finish > start)


@dataclass(frozen=True, slots=True)
class ResourceManager:
    """The ResourceManagers of a cluster (web addresses, host:port), asked as `user`; the active one answers.

    Without security, YARN believes `user`. Without `user`, YARN takes the caller for `dr.who`.
    """

    addresses: tuple[str, ...]
    user: str
    http: Http = PLAIN

    def info(self) -> ClusterInfo:
        """Return facts about the active ResourceManager. Raises Unreachable if none is active."""
        causes = []
        for address in self.addresses:
            url = f"{self.http.scheme}://{address}/ws/v1/cluster/info"
            try:
                record = field(self.http.get_json(url), "clusterInfo", dict, url)
            except Unreachable as error:
                causes.append(f"{address}: {error.cause}")
                continue
            info = ClusterInfo(
                id=field(record, "id", int, url),
                state=field(record, "state", str, url),
                ha_state=field(record, "haState", str, url),
                version=field(record, "hadoopVersion", str, url),
            )
            if info.ha_state == "ACTIVE":
                return info
            causes.append(f"{address}: {info.ha_state}")
        raise Unreachable(f"{self.http.scheme}://…/ws/v1/cluster/info", "; ".join(causes))

    def metrics(self) -> ClusterMetrics:
        """Return the metrics of the cluster. Raises the errors of `application`."""
        answer = self.get("/ws/v1/cluster/metrics")
        record = field(answer.json(), "clusterMetrics", dict, answer.url)
        names = (
            *("activeNodes", "lostNodes", "unhealthyNodes", "appsRunning", "appsPending"),
            *("totalMB", "availableMB", "totalVirtualCores", "availableVirtualCores"),
        )
        return ClusterMetrics(*(field(record, name, int, answer.url) for name in names))

    def nodes(self) -> tuple[YarnNode, ...]:
        """Return every node that the ResourceManager knows, including lost nodes, sorted by ID. Raises the errors of
        `application`."""
        answer = self.get("/ws/v1/cluster/nodes")
        records = _rows(answer, "nodes", "node")
        return tuple(sorted((_node(record, answer.url) for record in records), key=lambda node: node.id))

    def maximum_allocation(self) -> Resource:
        """Return the largest container that the configuration allows. YARN further limits containers to the largest
        node."""
        answer = self.get("/ws/v1/cluster/metrics")
        values = effective_configuration(urlsplit(answer.url).netloc, self.http)
        try:
            return Resource(
                int(values["yarn.scheduler.maximum-allocation-mb"].value),
                int(values["yarn.scheduler.maximum-allocation-vcores"].value),
            )
        except (KeyError, ValueError) as error:
            raise Garbled(answer.url, f"yarn.scheduler.maximum-allocation-*: {error}") from error

    def applications(self, *, tag: str | None = None, states: Iterable[str] = ()) -> tuple[Application, ...]:
        """Return the applications that carry `tag` and are in one of `states` (default: all), oldest first."""
        query = ({} if tag is None else {"applicationTags": tag}) | ({"states": ",".join(states)} if states else {})
        answer = self.get("/ws/v1/cluster/apps", query)
        found = (_application(record, answer.url) for record in _rows(answer, "apps", "app"))
        return tuple(sorted(found, key=lambda application: (len(application.id), application.id)))

    def application(self, application: str) -> Application:
        """Return one application.

        Raises:
            Rejected: status 404 if there is no such application (a ResourceManager forgets old ones).
            Unreachable: no ResourceManager answered, or none is active.
            Garbled: the answer has another shape.
        """
        answer = self.get(f"/ws/v1/cluster/apps/{application}")
        return _application(field(answer.json(), "app", dict, answer.url), answer.url)

    def kill(self, application: str) -> str:
        """Ask YARN to kill an application, and return its state now: KILLING, or its earlier final state.

        YARN gives the ApplicationMaster 250 ms (`yarn.nodemanager.sleep-delay-before-sigkill.ms`) before SIGKILL. A
        MapReduce job that is killed like this leaves no finished history file.

        Raises:
            Rejected: status 403 if `user` may not kill the application, 404 if there is no such application.
        """
        answer = self._ask(
            "PUT", f"/ws/v1/cluster/apps/{application}/state", {}, json.dumps({"state": "KILLED"}).encode()
        )
        return str(field(answer.json(), "state", str, answer.url))

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Answer:
        """Send GET for `path` to the active ResourceManager. A redirect to anything but another ResourceManager is
        returned."""
        return self._ask("GET", path, query or {}, None)

    def _ask(self, method: str, path: str, query: Mapping[str, str], body: bytes | None) -> Answer:
        causes = []
        for address in self.addresses:
            url = f"{self.http.scheme}://{address}{path}"
            try:
                answer = self.http.send(method, url, {**query, "user.name": self.user}, body)
            except Unreachable as error:
                causes.append(f"{address}: {error.cause}")
                continue
            if not 300 <= answer.status < 400 or urlsplit(answer.location or "").path != path:
                return answer
            causes.append(f"{address}: standby, points at {urlsplit(answer.location or '').netloc}")
        raise Unreachable(f"{self.http.scheme}://…{path}", "; ".join(causes) or "no address given")


def _rows(answer: Answer, outer: str, inner: str) -> list[Any]:
    """Return a list of Hadoop's REST interface, in which an empty list is null or an empty object."""
    record = answer.json()
    if not isinstance(record, Mapping) or outer not in record:
        raise Garbled(answer.url, f"there is no {outer!r} in it")
    rows: list[Any] = field(record[outer], inner, list, answer.url) if record[outer] else []
    return rows


def _node(record: Any, url: str) -> YarnNode:
    memory, vcores = field(record, "usedMemoryMB", int, url), field(record, "usedVirtualCores", int, url)
    return YarnNode(
        id=field(record, "id", str, url),
        host=field(record, "nodeHostName", str, url),
        http_address=record.get("nodeHTTPAddress") or "",
        state=field(record, "state", str, url),
        health=field(record, "healthReport", str, url),
        version=record.get("version") or "",
        containers=field(record, "numContainers", int, url),
        memory_total=memory + field(record, "availMemoryMB", int, url),
        memory_used=memory,
        vcores_total=vcores + field(record, "availableVirtualCores", int, url),
        vcores_used=vcores,
    )


def _application(record: Any, url: str) -> Application:
    return Application(
        id=field(record, "id", str, url),
        name=field(record, "name", str, url),
        user=field(record, "user", str, url),
        queue=field(record, "queue", str, url),
        kind=field(record, "applicationType", str, url),
        tags=tuple(tag for tag in (record.get("applicationTags") or "").split(",") if tag),
        state=field(record, "state", str, url),
        final_status=field(record, "finalStatus", str, url),
        progress=field(record, "progress", float, url) / 100,
        diagnostics=record.get("diagnostics") or "",
        tracking_url=record.get("trackingUrl"),
        am_address=record.get("amHostHttpAddress"),
        start=seconds_of(record, "startedTime", url),
        launch=seconds_of(record, "launchTime", url),
        finish=seconds_of(record, "finishedTime", url),
        memory_seconds=field(record, "memorySeconds", int, url),
        vcore_seconds=field(record, "vcoreSeconds", int, url),
    )
