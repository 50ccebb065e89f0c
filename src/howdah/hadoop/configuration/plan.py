"""Where the daemons of a cluster stand: addresses, ports and directories, all given by the allocation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from howdah.hadoop.configuration.roles import DATANODE, MASTERS, NAMENODE, WORKERS, Role
from howdah.model.storage import Storages, parse_storages

JOBS = 20
"""As many jobs at once find ports: an application master takes one for clients, one for its tasks, one for the web."""


@dataclass(frozen=True, slots=True)
class Place:
    """One spot for daemons: the masters' or a node's. `host` is the name of the machine, `directory` private to it."""

    name: str
    host: str
    address: str
    ports: Mapping[str, int]
    directory: str

    def at(self, port: str) -> str:
        """`address:port` of the port called `port`."""
        return f"{self.address}:{self.ports[port]}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A cluster: where the masters are, where each node is, and the port ranges of application masters. `shuffle` is
    where, on every host, containers keep their files; None for a place in each node's own directory. `storage` names
    its storages (`howdah.model.storage`); `mount_types` are the types of file system that are mounted
    where that of `posix` is."""

    name: str
    masters: Place
    nodes: tuple[Place, ...]
    directory: str
    application_ports: tuple[int, int]
    application_web_ports: tuple[int, int]
    security: str
    shuffle: str | None = None
    storage: str = "hdfs"
    mount_types: tuple[str, ...] = ()

    @property
    def storages(self) -> Storages:
        return parse_storages(self.storage)

    @property
    def own_files(self) -> str:
        """Where the cluster keeps files of its own in the default storage; the directory of `posix` is others' too."""
        return "" if self.storages.default == "hdfs" else f"/.howdah-{self.name}"

    @property
    def directories(self) -> tuple[str, ...]:
        """What the cluster has on every host, to be removed with it."""
        own = f"{self.storages.directory}{self.own_files}" if self.own_files else None
        return tuple(one for one in (self.directory, self.shuffle, own) if one is not None)

    @property
    def data_directories(self) -> tuple[str, ...]:
        """Where, on every host, data of jobs is read and written, that of `posix` included."""
        return tuple(one for one in (self.directory, self.shuffle, self.storages.directory) if one is not None)

    def container_files(self, node: Place) -> str:
        """Where the containers of `node` keep their files; in `shuffle`, in a directory with the name that reduces have
        of the node."""
        return f"{node.directory}/local" if self.shuffle is None else f"{self.shuffle}/{node.address}"

    @property
    def places(self) -> tuple[Place, ...]:
        return (self.masters, *self.nodes)

    def daemons(self) -> tuple[tuple[Role, Place], ...]:
        """Every daemon to run: the masters first, then DataNode and NodeManager of each node; HDFS's where it is one of
        the storages."""
        left_out = () if self.storages.hdfs else (NAMENODE, DATANODE)
        workers = ((role, node) for node in self.nodes for role in WORKERS)
        both = (*((role, self.masters) for role in MASTERS), *workers)
        return tuple((role, place) for role, place in both if role not in left_out)

    @property
    def endpoints(self) -> Mapping[str, str]:
        """`address:port` of what clients talk to."""
        names = ("namenode_rpc", "namenode_web", "resourcemanager_rpc", "resourcemanager_web", "historyserver_web")
        return {name: self.masters.at(name) for name in names}


MASTER_PORTS = tuple(port for role in MASTERS for port in role.ports)
NODE_PORTS = tuple(port for role in WORKERS for port in role.ports)


def ports_needed(nodes: int) -> int:
    """How many consecutive ports a cluster of `nodes` nodes takes."""
    return len(MASTER_PORTS) + 3 * JOBS + nodes * len(NODE_PORTS)


def lay_out(
    name: str, *, host: str, addresses: tuple[str, ...], first_port: int, directory: str, security: str
) -> Plan:
    """A plan on one host: `addresses[0]` for the masters, one more address per node, ports from `first_port` up.

    Every node has ports of its own although it has an address of its own: the NameNode sees every loopback DataNode
    come from 127.0.0.1, so that equal ports would make them evict each other, and the shuffle binds the wildcard.
    """
    free = iter(range(first_port, first_port + ports_needed(len(addresses) - 1)))
    masters = Place("master", host, addresses[0], {port: next(free) for port in MASTER_PORTS}, f"{directory}/master")
    ranges = [[next(free) for _ in range(count)] for count in (2 * JOBS, JOBS)]
    nodes = tuple(
        Place(f"node{number}", host, address, {port: next(free) for port in NODE_PORTS}, f"{directory}/node{number}")
        for number, address in enumerate(addresses[1:], start=1)
    )
    return Plan(
        name,
        masters,
        nodes,
        directory,
        application_ports=(ranges[0][0], ranges[0][-1]),
        application_web_ports=(ranges[1][0], ranges[1][-1]),
        security=security,
    )
