"""The NodeManager's REST interface."""

from __future__ import annotations

from dataclasses import dataclass

from howdah.hadoop.interfaces.http import PLAIN, Http, field


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """A NodeManager. `id` is host:port; `memory` is the MiB that it offers; `report` says why it is not healthy."""

    id: str
    host: str
    version: str
    memory: int
    vcores: int
    healthy: bool
    report: str


@dataclass(frozen=True, slots=True)
class Container:
    """A container on the node. `memory` is MiB; `exit_code` is None until the container has ended."""

    id: str
    state: str
    user: str
    memory: int
    vcores: int
    exit_code: int | None


# ContainerExitStatus.INVALID (YARN API): "not ended yet".
_RUNNING = -1000


@dataclass(frozen=True, slots=True)
class NodeManager:
    """The NodeManager whose web server is at `address` (host:port). Methods raise Unreachable, Rejected, Garbled."""

    address: str
    http: Http = PLAIN

    def info(self) -> NodeInfo:
        url = f"{self.http.scheme}://{self.address}/ws/v1/node/info"
        record = field(self.http.get_json(url), "nodeInfo", dict, url)
        return NodeInfo(
            id=field(record, "id", str, url),
            host=field(record, "nodeHostName", str, url),
            version=field(record, "hadoopVersion", str, url),
            memory=field(record, "totalPmemAllocatedContainersMB", int, url),
            vcores=field(record, "totalVCoresAllocatedContainers", int, url),
            healthy=field(record, "nodeHealthy", bool, url),
            report=record.get("healthReport") or "",
        )

    def containers(self) -> tuple[Container, ...]:
        """Return the running containers, and those that the NodeManager has not forgotten yet, sorted by ID."""
        url = f"{self.http.scheme}://{self.address}/ws/v1/node/containers"
        record = field(self.http.get_json(url), "containers", dict, url)
        rows = field(record, "container", list, url) if record else []
        found = []
        for row in rows:
            code = field(row, "exitCode", int, url)
            found.append(
                Container(
                    id=field(row, "id", str, url),
                    state=field(row, "state", str, url),
                    user=field(row, "user", str, url),
                    memory=field(row, "totalMemoryNeededMB", int, url),
                    vcores=field(row, "totalVCoresNeeded", int, url),
                    exit_code=None if code == _RUNNING else code,
                )
            )
        return tuple(sorted(found, key=lambda container: container.id))
