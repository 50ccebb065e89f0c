"""The places of a cluster's daemons: hosts, addresses, ports and directories, all given by the allocation."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from howdah.hadoop.configuration.roles import DATANODE, KDC, MASTERS, NAMENODE, WORKERS, Role
from howdah.model.storage import Storages, parse_storages

NONE = "none"
"""Security of a cluster that believes every user name."""
USUAL_PROTECTION = "authentication"
"""Default protection of a secured cluster."""
KDC_PORT = "kdc"
JOBS = 20
"""Number of jobs at once that find ports. An application master takes one port for clients, one for its tasks, one for
the web."""


@dataclass(frozen=True, slots=True)
class Quarters:
    """The directories of a cluster on one host. `root` belongs to the cluster alone and has all its data. `conf` and
    `logs` may be elsewhere. `store` keeps the software of all clusters. `machine` names the machine; several hosts may
    be on one. `disks` are directories of the cluster's own, each on a disk, that have the data of nodes instead of
    `root`. `java` is the home of the Java to run, None for the best that is found. `calls_itself` is the host's own
    name, if the host was asked for it."""

    machine: str
    root: str
    conf: str
    logs: str
    store: str
    disks: tuple[str, ...] = ()
    java: str | None = None
    calls_itself: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "disks", tuple(self.disks))  # A list, where it was written down.

    @property
    def data(self) -> tuple[str, ...]:
        """Directories with the data of nodes."""
        return self.disks or (self.root,)


@dataclass(frozen=True, slots=True)
class Place:
    """One place for daemons: the masters' or a node's, on `host`. `directory` is private to this place. The directories
    on `disks` are private, too; if there are any, they have the data of a node. `rack` is the place in the network as
    Hadoop writes it."""

    name: str
    host: str
    address: str
    ports: Mapping[str, int]
    directory: str
    disks: tuple[str, ...] = ()
    rack: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "disks", tuple(self.disks))  # A list, where it was written down.

    @property
    def data(self) -> tuple[str, ...]:
        """Directories with the data of a node."""
        return self.disks or (self.directory,)

    def at(self, port: str) -> str:
        """Return `address:port` of the port called `port`."""
        return f"{self.address}:{self.ports[port]}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A cluster: the places of the masters and of each node, its quarters by host, and the port ranges of application
    masters. `security` is one of `security.PROTECTIONS`. `shuffle` is the directory of every host in which containers
    keep their files; None for a place in each node's own directory. `storage` names the storages
    (`howdah.model.storage`). `mount_types` are the types of file system that are mounted where the storage `posix` is.
    `copy_port` is free on every host until daemons start; None if hosts share one network."""

    name: str
    masters: Place
    nodes: tuple[Place, ...]
    quarters: Mapping[str, Quarters]
    application_ports: tuple[int, int]
    application_web_ports: tuple[int, int]
    security: str = NONE
    shuffle: str | None = None
    storage: str = "hdfs"
    mount_types: tuple[str, ...] = ()
    copy_port: int | None = None
    job: str | None = None
    """Key of the batch job whose hosts these are (`howdah.host.batch.key_of`)."""
    persist: str | None = None
    """Directory of the HDFS data on every host, if these stay when the cluster stops."""
    realm: str | None = None
    """Name of the site's Kerberos realm in which the cluster is; None if it has its own, or none."""

    @property
    def name_directory(self) -> str:
        """Directory of the NameNode's data, on the masters' host."""
        return f"{self.masters.directory if self.persist is None else self.persist}/name"

    def block_directories(self, node: Place) -> tuple[str, ...]:
        """Return the directories with the blocks of the DataNode of `node`."""
        if self.persist is not None:
            return (f"{self.persist}/{node.name}",)
        return tuple(f"{place}/data" for place in node.data)

    @property
    def copy_points(self) -> Mapping[str, tuple[str, int]]:
        """Address and port of each host at which other hosts may copy files; empty if hosts share one network."""
        port = self.copy_port
        return {} if port is None else {place.host: (place.address, port) for place in self.places}

    @property
    def storages(self) -> Storages:
        return parse_storages(self.storage)

    @property
    def own_files(self) -> str:
        """Directory of the cluster's own files in the default storage; the directory of `posix` belongs to others,
        too."""
        return "" if self.storages.default == "hdfs" else f"/.howdah-{self.name}"

    def directories(self, host: str) -> tuple[str, ...]:
        """Return the directories of the cluster on `host`, which are removed with the cluster."""
        own = f"{self.storages.directory}{self.own_files}" if self.own_files else None
        return (*self.own_directories(host), *(one for one in (self.shuffle, own) if one is not None))

    def own_directories(self, host: str) -> tuple[str, ...]:
        """Return the part of `directories` that no other host has."""
        quarters = self.quarters[host]
        return (quarters.root, *quarters.disks)

    def data_directories(self, host: str) -> tuple[str, ...]:
        """Return the directories on `host` in which jobs read and write data, including that of `posix`."""
        data = self.quarters[host].data
        return tuple(one for one in (*data, self.persist, self.shuffle, self.storages.directory) if one is not None)

    def container_files(self, node: Place) -> tuple[str, ...]:
        """Return the directories in which the containers of `node` keep their files. In `shuffle`, the directory has
        the name by which reduces know the node."""
        if self.shuffle is not None:
            return (f"{self.shuffle}/{node.address}",)
        return tuple(f"{place}/local" for place in node.data)

    def conf_of(self, place: Place) -> str:
        """Return the conf directory of the daemons at `place`, on its host."""
        conf = self.quarters[place.host].conf
        return conf if place.name == self.masters.name else f"{conf}/nodes/{place.name}"

    def log_of(self, role: Role, place: Place) -> str:
        """Return the log of a daemon, on its host."""
        return f"{self.quarters[place.host].logs}/{role.name}{f'-{place.name}' if role.per_node else ''}.log"

    @property
    def machines(self) -> Mapping[str, str]:
        """The machines of the hosts, each with the first of its hosts."""
        found: dict[str, str] = {}
        for host, quarters in self.quarters.items():
            found.setdefault(quarters.machine, host)
        return found

    @property
    def places(self) -> tuple[Place, ...]:
        return (self.masters, *self.nodes)

    def daemons(self) -> tuple[tuple[Role, Place], ...]:
        """Return every daemon to run: the masters first, then DataNode and NodeManager of each node. HDFS's daemons are
        included only if HDFS is one of the storages."""
        own_realm = self.security != NONE and self.realm is None
        left_out = (*(() if self.storages.hdfs else (NAMENODE, DATANODE)), *(() if own_realm else (KDC,)))
        workers = ((role, node) for node in self.nodes for role in WORKERS)
        both = (*((role, self.masters) for role in (KDC, *MASTERS)), *workers)
        return tuple((role, place) for role, place in both if role not in left_out)

    @property
    def endpoints(self) -> Mapping[str, str]:
        """`address:port` of the servers that clients talk to."""
        names = ("namenode_rpc", "namenode_web", "resourcemanager_rpc", "resourcemanager_web", "historyserver_web")
        return {name: self.masters.at(name) for name in names}


MASTER_PORTS = tuple(port for role in (*MASTERS, KDC) for port in role.ports)
NODE_PORTS = tuple(port for role in WORKERS for port in role.ports)


def ports_needed(nodes: int) -> int:
    """Return how many consecutive ports a cluster takes with `nodes` nodes on one host."""
    return len(MASTER_PORTS) + 3 * JOBS + nodes * len(NODE_PORTS)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place that an allocation offers to daemons: a host, one of its addresses, and its place in the network."""

    host: str
    address: str
    rack: str | None = None


def spread(hosts: Sequence[str], nodes: int, masters: Sequence[str] = (), workers: Sequence[str] = ()) -> Iterator[str]:
    """Yield the host of the masters, then the host of every node: nodes take turns over all hosts. With fewer nodes
    than hosts, the masters have the first host to themselves, and spare hosts are not used. `masters` and `workers` are
    the hosts that may have them, if not all may."""
    first, turns = (masters or hosts)[0], list(workers or hosts)
    if nodes < len(turns) and first in turns:
        turns.remove(first)
    yield first
    for number in range(nodes):
        yield turns[number % len(turns)]


def lay_out(
    name: str,
    spots: Sequence[Spot],
    quarters: Mapping[str, Quarters],
    *,
    first_port: int,
    apart: bool = False,
) -> Plan:
    """Return a plan with the masters at `spots[0]` and a node at each of the others, with ports from `first_port` up.
    `quarters` are by host; quarters of hosts without a spot are left out.

    Hosts that are `apart` have a network each. Otherwise every node has ports of its own, although it has an address of
    its own. The NameNode sees every loopback DataNode come from 127.0.0.1, so that with equal ports they would evict
    each other. The shuffle binds the wildcard.
    """
    counter = itertools.count(first_port)
    masters = _place("master", spots[0], MASTER_PORTS, counter, quarters)
    ranges = [[next(counter) for _ in range(count)] for count in (2 * JOBS, JOBS)]
    first = next(counter)
    of_host: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(first))
    nodes = tuple(
        _place(f"node{number}", spot, NODE_PORTS, of_host[spot.host if apart else ""], quarters)
        for number, spot in enumerate(spots[1:], start=1)
    )
    return Plan(
        name,
        masters,
        nodes,
        {host: quarters[host] for host in dict.fromkeys(spot.host for spot in spots)},
        application_ports=(ranges[0][0], ranges[0][-1]),
        application_web_ports=(ranges[1][0], ranges[1][-1]),
    )


def without_hosts(plan: Plan, hosts: Collection[str]) -> Plan:
    """The plan without these hosts and their nodes. The masters' host is none of them."""
    quarters = {host: one for host, one in plan.quarters.items() if host not in hosts}
    return replace(plan, nodes=tuple(node for node in plan.nodes if node.host not in hosts), quarters=quarters)


def with_nodes(plan: Plan, nodes: Sequence[Place], quarters: Quarters) -> Plan:
    """The plan with these nodes too, all on one host, where it has `quarters`."""
    host = nodes[0].host
    return replace(plan, nodes=(*plan.nodes, *nodes), quarters={**plan.quarters, host: quarters})


def next_node(plan: Plan, number: int, spot: Spot, quarters: Quarters) -> Place:
    """Another node, on a host that has none: the one called `number`, with the ports that `lay_out` would give it."""
    taken = [port for place in plan.places for port in place.ports.values()] if plan.copy_port is None else []
    first = max((plan.application_web_ports[1], *taken)) + 1
    return _place(f"node{number}", spot, NODE_PORTS, itertools.count(first), {spot.host: quarters})


def _place(
    name: str, spot: Spot, ports: tuple[str, ...], free: Iterator[int], quarters: Mapping[str, Quarters]
) -> Place:
    own = quarters[spot.host]
    disks = tuple(f"{disk}/{name}" for disk in own.disks) if ports == NODE_PORTS else ()
    given = {port: next(free) for port in ports}
    return Place(name, spot.host, spot.address, given, f"{own.root}/{name}", disks, spot.rack)
