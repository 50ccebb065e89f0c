"""Where the daemons of a cluster stand: hosts, addresses, ports and directories, all given by the allocation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from howdah.hadoop.configuration.roles import DATANODE, MASTERS, NAMENODE, WORKERS, Role
from howdah.model.storage import Storages, parse_storages

JOBS = 20
"""As many jobs at once find ports: an application master takes one for clients, one for its tasks, one for the web."""


@dataclass(frozen=True, slots=True)
class Quarters:
    """What a cluster has on one host: a directory `root` of its own with all its data, one for configuration and one
    for logs, which may be elsewhere; and `store`, where the software of all clusters is kept. `machine` names the
    machine: several hosts may be on one."""

    machine: str
    root: str
    conf: str
    logs: str
    store: str


@dataclass(frozen=True, slots=True)
class Place:
    """One spot for daemons: the masters' or a node's, on `host`. `directory` is private to it."""

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
    """A cluster: where the masters are, where each node is, what it has on each host, by the host's name, and the port
    ranges of application masters. `shuffle` is where, on every host, containers keep their files; None for a place in
    each node's own directory. `storage` names its storages (`howdah.model.storage`); `mount_types` are the types of
    file system that are mounted where that of `posix` is."""

    name: str
    masters: Place
    nodes: tuple[Place, ...]
    quarters: Mapping[str, Quarters]
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

    def directories(self, host: str) -> tuple[str, ...]:
        """What the cluster has on `host`, to be removed with it."""
        own = f"{self.storages.directory}{self.own_files}" if self.own_files else None
        return tuple(one for one in (self.quarters[host].root, self.shuffle, own) if one is not None)

    def data_directories(self, host: str) -> tuple[str, ...]:
        """Where, on `host`, data of jobs is read and written, that of `posix` included."""
        root = self.quarters[host].root
        return tuple(one for one in (root, self.shuffle, self.storages.directory) if one is not None)

    def container_files(self, node: Place) -> str:
        """Where the containers of `node` keep their files; in `shuffle`, in a directory with the name that reduces have
        of the node."""
        return f"{node.directory}/local" if self.shuffle is None else f"{self.shuffle}/{node.address}"

    def conf_of(self, place: Place) -> str:
        """The conf directory of the daemons at `place`, on its host."""
        conf = self.quarters[place.host].conf
        return conf if place.name == self.masters.name else f"{conf}/nodes/{place.name}"

    def log_of(self, role: Role, place: Place) -> str:
        """The log of a daemon, on its host."""
        return f"{self.quarters[place.host].logs}/{role.name}{f'-{place.name}' if role.per_node else ''}.log"

    @property
    def machines(self) -> Mapping[str, str]:
        """The machines that the hosts are on, each with the first of its hosts."""
        found: dict[str, str] = {}
        for host, quarters in self.quarters.items():
            found.setdefault(quarters.machine, host)
        return found

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


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an allocation lets daemons stand: a host, and an address of it that nobody else on it has."""

    host: str
    address: str


def spread(hosts: Sequence[str], nodes: int) -> Iterator[str]:
    """The hosts of the masters and of every node, in this order: nodes in turns over all hosts. With fewer nodes than
    hosts the masters have the first one to themselves, and hosts that are left over are not used."""
    yield hosts[0]
    own = 1 if nodes < len(hosts) else 0
    for number in range(nodes):
        yield hosts[own + number % (len(hosts) - own)]


def lay_out(
    name: str, spots: Sequence[Spot], quarters: Mapping[str, Quarters], *, first_port: int, security: str
) -> Plan:
    """A plan with the masters at `spots[0]` and a node at each of the others, ports from `first_port` up. `quarters`
    are by host; those of hosts that no spot is on are left out.

    Every node has ports of its own although it has an address of its own: the NameNode sees every loopback DataNode
    come from 127.0.0.1, so that equal ports would make them evict each other, and the shuffle binds the wildcard.
    """
    free = iter(range(first_port, first_port + ports_needed(len(spots) - 1)))

    def place(name: str, spot: Spot, ports: tuple[str, ...]) -> Place:
        given = {port: next(free) for port in ports}
        return Place(name, spot.host, spot.address, given, f"{quarters[spot.host].root}/{name}")

    masters = place("master", spots[0], MASTER_PORTS)
    ranges = [[next(free) for _ in range(count)] for count in (2 * JOBS, JOBS)]
    nodes = tuple(place(f"node{number}", spot, NODE_PORTS) for number, spot in enumerate(spots[1:], start=1))
    return Plan(
        name,
        masters,
        nodes,
        {host: quarters[host] for host in dict.fromkeys(spot.host for spot in spots)},
        application_ports=(ranges[0][0], ranges[0][-1]),
        application_web_ports=(ranges[1][0], ranges[1][-1]),
        security=security,
    )
