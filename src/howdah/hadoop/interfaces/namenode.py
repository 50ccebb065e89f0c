"""The facts that a NameNode reports about itself and its DataNodes at `/jmx`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from howdah.hadoop.interfaces.http import PLAIN, Garbled, Http, Unreachable, field

METRICS_SECONDS = 10.5
"""Seconds for which Hadoop repeats the same metrics, at most; their period is 10 s
(`MetricsSourceAdapter.updateJmxCache`)."""


@dataclass(frozen=True, slots=True)
class DataNode:
    """A live DataNode. `name` is host:port as the NameNode knows it, `transfer` the address:port that it came from;
    sizes are bytes; `contact` is the seconds since its last heartbeat. `state` is In Service, Decommissioned, …"""

    name: str
    transfer: str
    http_address: str
    state: str
    capacity: int
    used: int
    remaining: int
    blocks: int
    failed_volumes: int
    contact: int


@dataclass(frozen=True, slots=True)
class MissingBlock:
    """A block without any replica, and its file."""

    id: str
    path: str


@dataclass(frozen=True, slots=True)
class NameNodeStatus:
    """The state of a NameNode. `state` is `active` or `standby`. `safe_mode` is the NameNode's own sentence, None if
    safe mode is off.

    Sizes are bytes of raw storage (replicas counted). `dead` has the names of DataNodes that died, and where each came
    from, without those that were decommissioned. `silent` has the seconds since any dead DataNode was last heard of.
    `leaving` has the number of blocks that each decommissioning DataNode still has to give away. `missing` counts the
    blocks without any replica, and `missing_blocks` names some of them (Hadoop lists at most 100). `under_replicated`
    have replicas, but too few.
    """

    version: str
    state: str
    safe_mode: str | None
    live: tuple[DataNode, ...]
    dead: Mapping[str, str]
    silent: Mapping[str, int]
    leaving: Mapping[str, int]
    capacity: int
    used: int
    remaining: int
    blocks: int
    missing: int
    under_replicated: int
    missing_blocks: tuple[MissingBlock, ...]


@dataclass(frozen=True, slots=True)
class NameNode:
    """The NameNode whose web server is at `address` (host:port)."""

    address: str
    http: Http = PLAIN

    def is_up(self) -> bool:
        """Return whether the NameNode answers and has loaded its file system. A NameNode in safe mode is up."""
        try:
            return self._find("NameNodeInfo") is not None and self._find("FSNamesystemState") is not None
        except Unreachable:
            return False

    def status(self) -> NameNodeStatus:
        """Return the state of the NameNode. Raises Unreachable, Rejected, and Garbled. The last occurs also while the
        NameNode starts and has no file system yet."""
        url = self._url("*")
        info, system, itself = (self._bean(name) for name in ("NameNodeInfo", "FSNamesystemState", "NameNodeStatus"))
        live = sorted(_inner(info, "LiveNodes", dict, url).items())
        dead, leaving = _inner(info, "DeadNodes", dict, url), _inner(info, "DecomNodes", dict, url)
        return NameNodeStatus(
            version=field(info, "SoftwareVersion", str, url),
            state=field(itself, "State", str, url),
            safe_mode=field(info, "Safemode", str, url) or None,
            live=tuple(_datanode(name, node, url) for name, node in live),
            dead={
                name: field(node, "xferaddr", str, url)
                for name, node in sorted(dead.items())
                if not field(node, "decommissioned", bool, url)
            },
            silent={name: field(node, "lastContact", int, url) for name, node in dead.items()},
            leaving={name: field(node, "underReplicatedBlocks", int, url) for name, node in leaving.items()},
            capacity=field(system, "CapacityTotal", int, url),
            used=field(system, "CapacityUsed", int, url),
            remaining=field(system, "CapacityRemaining", int, url),
            blocks=field(system, "BlocksTotal", int, url),
            missing=field(info, "NumberOfMissingBlocks", int, url),
            under_replicated=field(system, "UnderReplicatedBlocks", int, url),
            missing_blocks=tuple(_missing(line, url) for line in _inner(info, "CorruptFiles", list, url)),
        )

    def activity(self) -> Mapping[str, int]:
        """Return how often each operation was requested since the NameNode started: `CreateFileOps`, `FileInfoOps`, …

        Within METRICS_SECONDS of a request, the NameNode repeats the same values. Raises the errors of `status`.
        """
        return {name: value for name, value in self._bean("NameNodeActivity").items() if isinstance(value, int)}

    def _url(self, bean: str) -> str:
        return f"{self.http.scheme}://{self.address}/jmx?qry=Hadoop:service=NameNode,name={bean}"

    def _find(self, name: str) -> Mapping[str, Any] | None:
        url = self._url(name)
        beans = field(self.http.get_json(url), "beans", list, url)
        return beans[0] if beans else None

    def _bean(self, name: str) -> Mapping[str, Any]:
        bean = self._find(name)
        if bean is None:
            raise Garbled(self._url(name), "the NameNode is still starting and has no such bean")
        return bean


def _inner(bean: Mapping[str, Any], name: str, kind: type, url: str) -> Any:
    """Return an attribute that is JSON inside a string."""
    text = field(bean, name, str, url)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Garbled(url, f"{name} is not JSON ({error})") from error
    return field({name: value}, name, kind, url)


def _datanode(name: str, node: Any, url: str) -> DataNode:
    return DataNode(
        name=name,
        transfer=field(node, "xferaddr", str, url),
        http_address=field(node, "infoAddr", str, url),
        state=field(node, "adminState", str, url),
        capacity=field(node, "capacity", int, url),
        used=field(node, "used", int, url),
        remaining=field(node, "remaining", int, url),
        blocks=field(node, "numBlocks", int, url),
        failed_volumes=field(node, "volfails", int, url),
        contact=field(node, "lastContact", int, url),
    )


def _missing(line: Any, url: str) -> MissingBlock:
    """Return the block in a line of `CorruptFiles`: block ID, replication and path, separated by tabs
    (FSNamesystem.getCorruptFiles, 3.4.2)."""
    block, _, path = str(line).partition("\t")
    if not path:
        raise Garbled(url, f"CorruptFiles has the line {line!r}")
    return MissingBlock(block, path.rpartition("\t")[2])
