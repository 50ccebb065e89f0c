"""Hosts that leave a running cluster, and hosts that come into it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from howdah.cluster.allocation import Allocation
from howdah.cluster.deployment.daemons import Daemons, Running
from howdah.cluster.deployment.realm import check_names
from howdah.cluster.ownership import claim_of_host
from howdah.cluster.software.installation import Installation
from howdah.errors import ClusterProblem, HostProblem, HowdahError, UsageError
from howdah.hadoop.configuration.cluster import EXCLUDED_DATANODES, EXCLUDED_NODEMANAGERS, Configuration
from howdah.hadoop.configuration.plan import NONE, Place, Plan, Quarters, next_node, with_nodes, without_hosts
from howdah.hadoop.configuration.roles import DATANODE
from howdah.hadoop.interfaces.http import Garbled, Rejected, Unreachable
from howdah.hadoop.interfaces.namenode import NameNode
from howdah.hadoop.interfaces.resourcemanager import ResourceManager
from howdah.host import Host, operations
from howdah.model.quantity import format_bytes
from howdah.spec.slips import did_you_mean

_POLL_SECONDS = 0.5
_JOIN_SECONDS = 60.0
_REMOVED_SECONDS = 32
"""For HDFS to take the blocks of a silent DataNode for lost. With our heartbeats, it lists the DataNode as dead after
20 s, but looks for what is dead only every 5 to 10 s, and asks it for blocks until then (HeartbeatManager, 3.4.2)."""
_FORCED_SECONDS = 60.0
"""For YARN to force what has not left by itself: it looks every 20 s (DecommissioningNodesWatcher, 3.4.2)."""
_DFS_ADMIN = "org.apache.hadoop.hdfs.tools.DFSAdmin"
_YARN_ADMIN = "org.apache.hadoop.yarn.client.cli.RMAdminCLI"
_IN_SERVICE, _DECOMMISSIONED = "In Service", "Decommissioned"
_IN_YARN = ("NEW", "RUNNING", "UNHEALTHY", "DECOMMISSIONING")


@dataclass(frozen=True, slots=True)
class Assembled:
    """The parts of a running cluster, from its assembly. `home` is what the cluster has on this machine."""

    allocation: Allocation
    daemons: Daemons
    masters: tuple[NameNode, ResourceManager]
    home: Quarters
    node_mib: int
    client_flags: tuple[str, ...]
    check: Callable[[Host, Quarters], None]
    """Prepare and check another host, as `up` does. Raises HostProblem."""
    install: Callable[[Host, Quarters], Installation]
    """The software of another host. Raises HostProblem where it is unlike that of the others."""
    configure: Callable[[Plan], Configuration]


@dataclass(frozen=True, slots=True)
class _Left:
    """The nodes and quarters of a host that has left."""

    nodes: tuple[Place, ...]
    quarters: Quarters


class _Exclusion:
    """The nodes that HDFS and YARN must not use, in `names` by key: how either knows the host of the node."""

    def __init__(self, allocation: Allocation, daemons: Daemons, namenode: NameNode) -> None:
        self._allocation = allocation
        self._daemons = daemons
        self._namenode = namenode
        self.names: dict[str, tuple[str, str]] = {}

    def add_datanodes(self, nodes: Sequence[Place]) -> None:
        """HDFS begins to copy the blocks of these nodes elsewhere. It knows a DataNode by where it came from
        (`HostFileManager`, 3.4.2)."""
        status = self._namenode.status()
        came = {**status.dead, **{one.name: one.transfer for one in status.live}}
        self.names |= {_key(node): (came.get(_key(node), _key(node)), node.address) for node in nodes}
        self.tell_hdfs()

    def add_nodemanagers(self, nodes: Sequence[Place], seconds: float) -> None:
        """YARN gives these nodes no more work, and lets what runs there end within `seconds`."""
        self.names |= {_key(node): self.names.get(_key(node), ("", node.address)) for node in nodes}
        self.tell_yarn(seconds)

    def tell_hdfs(self) -> None:
        if self._daemons.plan.storages.hdfs:
            self._write(EXCLUDED_DATANODES, [datanode for datanode, _ in self.names.values() if datanode])
            self._daemons.administer(_DFS_ADMIN, "-refreshNodes")

    def tell_yarn(self, seconds: float) -> None:
        self._write(EXCLUDED_NODEMANAGERS, sorted({address for _, address in self.names.values()}))
        self._daemons.administer(_YARN_ADMIN, "-refreshNodes", "-g", str(max(1, round(seconds))), "-server")

    def _write(self, name: str, lines: Sequence[str]) -> None:
        plan = self._daemons.plan
        host = self._allocation.hosts[plan.masters.host]
        content = "".join(f"{line}\n" for line in lines)
        operations.write_file(host, f"{plan.conf_of(plan.masters)}/{name}", content.encode())


class Resizing:
    """Takes hosts out of a running cluster, and takes hosts of its allocation in: one call at a time."""

    def __init__(
        self,
        assembled: Assembled,
        logs: Path,
        save: Callable[[Plan, Sequence[Running]], None],
        check_wanted: Callable[[], None],
    ) -> None:
        """`save` is given the plan and the daemons whenever there are others; `check_wanted` raises when the cluster is
        about to end. Logs of hosts that leave stay in `logs`."""
        self._assembled = assembled
        self._daemons = assembled.daemons
        self._namenode, self._resourcemanager = assembled.masters
        self._logs = logs
        self._save = save
        self._check_wanted = check_wanted
        self._excluded = _Exclusion(assembled.allocation, assembled.daemons, self._namenode)
        self._left: dict[str, _Left] = {}
        self._last = len(assembled.daemons.plan.nodes)

    def shrink(self, hosts: Collection[str], seconds: float, announce: Callable[[str], None]) -> None:
        """Takes `hosts` out: HDFS copies their blocks elsewhere, YARN lets applications end that have run there, for
        `seconds` each; then their daemons end, and nothing of the cluster is left there.

        Raises:
            UsageError: the cluster has no such host, or cannot be without it.
            ClusterProblem: HDFS has not copied every block in time. Nothing has changed then.
            HostProblem: something is left on a host. It has left the cluster all the same.
        """
        self._check_wanted()
        plan = self._daemons.plan
        self._check_can_leave(plan, hosts)
        leaving = [node for node in plan.nodes if node.host in hosts]
        before = dict(self._excluded.names)
        try:
            if plan.storages.hdfs:
                self._wait_for_deaths(leaving, announce)
                self._check_data(leaving)
                self._excluded.add_datanodes(leaving)
                self._wait_for_blocks(leaving, seconds, announce)
            self._daemons.leave(hosts)
            self._excluded.add_nodemanagers(leaving, seconds)
            self._wait_for_applications(leaving, seconds, announce)
        except HowdahError:
            self._excluded.names = before
            self._daemons.leave(())
            with suppress(HowdahError):  # It failed for a reason that stands in the way here, too.
                self._check_wanted()
                self._excluded.tell_hdfs()
                self._excluded.tell_yarn(seconds)
            raise
        self._let_go(hosts, announce)

    def _check_can_leave(self, plan: Plan, hosts: Collection[str]) -> None:
        self._check_resizable(plan)
        for host in hosts:
            if host not in plan.quarters:
                raise UsageError(f"the cluster has no host {host!r}", hint=did_you_mean(host, plan.quarters))
            if host == plan.masters.host:
                raise UsageError(f"the masters are on {host}, and a cluster does not go on without them")
        if all(node.host in hosts for node in plan.nodes):
            raise UsageError("a cluster has one node at least, and none would be left", hint="`howdah down` ends it.")

    def _check_resizable(self, plan: Plan) -> None:
        if plan.job is not None:
            raise UsageError("the hosts of a batch job stay with its cluster until its end")
        if plan.persist is not None:
            raise UsageError(
                "the data of this cluster stay, and are laid out for its nodes (--persist): their number cannot change"
            )
        if plan.shuffle is not None:
            raise UsageError("hosts share the files of this cluster's shuffle: their number cannot change")

    def _wait_for_deaths(self, leaving: Sequence[Place], announce: Callable[[str], None]) -> None:
        """Wait until HDFS knows of DataNodes that have stopped. It would ask them for their blocks until then, and wait
        for minutes. Raises ClusterProblem."""
        ended = {one.daemon.place for one, _ in self._daemons.ended() if one.daemon.role == DATANODE.name}
        self._wait_until_gone([node for node in leaving if node.name in ended], announce)

    def _wait_until_gone(self, nodes: Sequence[Place], announce: Callable[[str], None]) -> None:
        names = {_key(node): node.host for node in nodes}

        def missing() -> str | None:
            status = self._namenode.status()
            counted = {name for name, seconds in status.silent.items() if seconds < _REMOVED_SECONDS}
            counted |= {one.name for one in status.live}
            there = " and ".join(sorted({names[one] for one in counted & names.keys()}))
            return f"HDFS has not noticed yet that the DataNode of {there} has stopped" if there else None

        if names and (left := self._wait(missing, _JOIN_SECONDS, announce)) is not None:
            raise ClusterProblem(f"{left}, after {_JOIN_SECONDS:.0f} s")

    def _check_data(self, leaving: Sequence[Place]) -> None:
        """Raises ClusterProblem if blocks are missing that may be on a host without its DataNode."""
        status = self._namenode.status()
        live = {one.name for one in status.live}
        silent = sorted({node.host for node in leaving if _key(node) not in live})
        if silent and status.missing:
            raise ClusterProblem(
                f"HDFS misses {status.missing} blocks, which may be on {' and '.join(silent)}, without its DataNode",
                hint=f"`howdah exec --name {self._daemons.plan.name} hdfs fsck / -list-corruptfileblocks` names the "
                "files. Remove them first, if you do not need them.",
            )

    def _wait_for_blocks(self, leaving: Sequence[Place], seconds: float, announce: Callable[[str], None]) -> None:
        names = {_key(node): node.host for node in leaving}

        def missing() -> str | None:
            status = self._namenode.status()
            # One that dies before all is copied is neither live nor decommissioned.
            waits = {one.name for one in status.live if one.state != _DECOMMISSIONED} | status.dead.keys()
            waits &= names.keys()
            if not waits:
                return None
            blocks = sum(status.leaving.get(one, 0) for one in waits)
            where = " and ".join(sorted({names[one] for one in waits}))
            return f"HDFS has {blocks} blocks of {where} to copy elsewhere"

        left = self._wait(missing, seconds, announce)
        if left is not None:
            plan = self._daemons.plan
            nodes, hint = len(plan.nodes) - len(leaving), "--timeout waits longer."
            # As many replicas are enough for HDFS, also of a file that asks for more (`DatanodeAdminManager`, 3.4.2).
            if nodes < int(self._assembled.configure(plan).common.get("dfs.replication", "3")):
                hint += (
                    f" A file of more replicas than the {nodes} nodes that would be left keeps them: "
                    f"`howdah exec --name {plan.name} hadoop fs -setrep -R {nodes} /`."
                )
            raise ClusterProblem(f"{left}, after {seconds:.0f} s; nothing has changed", hint=hint)

    def _wait_for_applications(self, leaving: Sequence[Place], seconds: float, announce: Callable[[str], None]) -> None:
        """YARN forces those that do not leave in time. A node that does not answer holds up nobody."""
        names = {node.at("nodemanager_rpc"): node.host for node in leaving}

        def missing() -> str | None:
            nodes = self._resourcemanager.nodes()
            waits = sorted({names[one.id] for one in nodes if one.id in names and one.state in _IN_YARN})
            return f"YARN lets applications end on {' and '.join(waits)}" if waits else None

        self._wait(missing, seconds + _FORCED_SECONDS, announce)

    def _wait(self, missing: Callable[[], str | None], seconds: float, announce: Callable[[str], None]) -> str | None:
        """Returns None once nothing is `missing`; after `seconds`, what is."""
        deadline, said = time.monotonic() + seconds, None
        while True:
            self._check_wanted()
            try:
                left = missing()
            except (Unreachable, Rejected, Garbled) as error:
                left = error.message
            if left is None or time.monotonic() > deadline:
                return left
            if left != said:
                announce(left)
                said = left
            time.sleep(_POLL_SECONDS)

    def _let_go(self, hosts: Collection[str], announce: Callable[[str], None]) -> None:
        """Ends what is on hosts that Hadoop does not need any more. Raises the last HostProblem or ClusterProblem."""
        problem: HowdahError | None = None
        for host in hosts:
            plan = self._daemons.plan
            nodes = tuple(node for node in plan.nodes if node.host == host)
            self._left[host] = _Left(nodes, plan.quarters[host])
            fewer = without_hosts(plan, [host])
            try:
                self._daemons.part(self._assembled.allocation.hosts[host], plan, fewer, self._logs)
            except (HostProblem, ClusterProblem) as one:
                problem = one
            self._assembled.allocation.drop(host)
            self._save(fewer, self._daemons.running)
            announce(f"{host} has left the cluster")
        self._daemons.leave(())
        if problem is not None:
            raise problem

    def grow(self, hosts: Collection[str], announce: Callable[[str], None]) -> None:
        """Takes `hosts` of the allocation in, one after the other: each has a node, or those that it had before.

        Raises:
            UsageError: the allocation has no such host, or the cluster has it.
            HowdahError: whatever stood in the way. The host is not in the cluster then, and nothing is left there.
        """
        plan, names = self._daemons.plan, self._assembled.allocation.names
        self._check_resizable(plan)
        for host in hosts:
            if host not in names:
                hint = did_you_mean(host, names) or f"It has {', '.join(names)}."
                raise UsageError(f"the cluster's allocation has no host {host!r}", hint=hint)
            if host in plan.quarters:
                hint = f"If it has lost its daemons, `howdah shrink {host} --name {plan.name}` first."
                raise UsageError(f"{host} is in the cluster already", hint=hint)
            if host not in self._left and (plan.security != NONE or plan.masters.rack is not None):
                what = "made its keys" if plan.security != NONE else "read its racks"
                raise UsageError(
                    f"the cluster {what} when it started, without {host}", hint="A host that has left can come back."
                )
        for host in hosts:
            self._check_wanted()
            self._assembled.allocation.add(host)
            try:
                self._take_in(host, announce)
            except BaseException:
                self._assembled.allocation.drop(host)
                raise
            self._left.pop(host, None)
            announce(f"{host} is in the cluster")

    def _take_in(self, name: str, announce: Callable[[str], None]) -> None:
        assembled, before = self._assembled, self._daemons.plan
        host = assembled.allocation.hosts[name]
        nodes, quarters = self._stand(name)
        assembled.check(host, quarters)
        _check_memory(host, len(nodes) * assembled.node_mib)
        plan = with_nodes(before, nodes, quarters)
        if plan.security != NONE:
            check_names({name: host}, {name: nodes[0].address})
        installed = assembled.install(host, quarters)
        try:
            claim_of_host(host, plan)
            self._save(plan, self._daemons.running)  # Whoever removes what a dead cluster has left finds it.
            self._put_aside_logs(nodes)
            self._include(nodes, announce)
            started = self._daemons.join(host, plan, installed, assembled.configure(plan), assembled.client_flags)
            self._wait_until_there(nodes, started)
        except BaseException:
            with suppress(HowdahError):
                self._undo(host, plan, before, announce)
            self._save(before, self._daemons.running)
            raise
        self._save(plan, self._daemons.running)

    def _undo(self, host: Host, plan: Plan, before: Plan, announce: Callable[[str], None]) -> None:
        """Takes a host out again that has not come whole. Raises HowdahError for leftovers."""
        nodes = [node for node in plan.nodes if node.host == host.name]
        with suppress(HowdahError):
            there = {one.name for one in self._namenode.status().live} if plan.storages.hdfs else set()
            if there & {_key(node) for node in nodes}:  # Jobs have perhaps written there.
                self._excluded.add_datanodes(nodes)
                self._wait_for_blocks(nodes, _JOIN_SECONDS, announce)
        self._daemons.part(host, plan, before, self._logs)

    def _include(self, nodes: Sequence[Place], announce: Callable[[str], None]) -> None:
        """Lets nodes register that had to leave. HDFS must have noticed before that they are gone: it would take the
        blocks that they had for blocks that are there."""
        keys = {_key(node) for node in nodes}
        if keys.isdisjoint(self._excluded.names):
            return

        if self._daemons.plan.storages.hdfs:
            self._wait_until_gone(nodes, announce)
        before = self._excluded.names
        self._excluded.names = {key: names for key, names in before.items() if key not in keys}
        try:
            self._excluded.tell_hdfs()
            self._excluded.tell_yarn(1)
        except HowdahError:
            self._excluded.names = before
            raise

    def _put_aside_logs(self, nodes: Sequence[Place]) -> None:
        """Logs of a host that was here before keep their place in the directory of logs, under another name."""
        for node in nodes:
            for log in self._logs.glob(f"*-{node.name}.log"):
                number = next(count for count in itertools.count(1) if not log.with_suffix(f".{count}.log").exists())
                log.rename(log.with_suffix(f".{number}.log"))

    def _stand(self, name: str) -> tuple[tuple[Place, ...], Quarters]:
        """The nodes of a host, as it had them before, or a new one."""
        if (left := self._left.get(name)) is not None:
            return left.nodes, left.quarters
        plan = self._daemons.plan
        for gone in self._left.values():  # They may come back.
            plan = with_nodes(plan, gone.nodes, gone.quarters)
        spot, quarters = self._assembled.allocation.stand(name, plan, self._assembled.home)
        self._last += 1
        node = next_node(plan, self._last, spot, quarters)
        ports = sorted(node.ports.values())
        if operations.free_ports(self._assembled.allocation.hosts[name], spot.address, ports) != ports:
            raise HostProblem(f"its ports {ports[0]} to {ports[-1]} are not all free", host=name)
        return (node,), quarters

    def _wait_until_there(self, nodes: Sequence[Place], started: Sequence[Running]) -> None:
        plan = self._daemons.plan
        datanodes = {_key(node) for node in nodes} if plan.storages.hdfs else set()
        managers = {node.at("nodemanager_rpc") for node in nodes}

        def missing() -> str | None:
            self._daemons.check_alive(started)
            status = self._namenode.status() if datanodes else None
            live = set() if status is None else {one.name for one in status.live if one.state == _IN_SERVICE}
            runs = {one.id for one in self._resourcemanager.nodes() if one.state == "RUNNING"}
            lacking = sorted((datanodes - live) | (managers - runs))
            return f"{' and '.join(lacking)} not registered" if lacking else None

        left = self._wait(missing, _JOIN_SECONDS, lambda _: None)
        if left is not None:
            raise ClusterProblem(f"{left} after {_JOIN_SECONDS:.0f} s")


def _key(node: Place) -> str:
    """The name of a node's DataNode, where it has one, as the NameNode has it."""
    return node.at("datanode_data")


def _check_memory(host: Host, mib: int) -> None:
    free = operations.capacity(host).memory_available
    if free < mib << 20:
        raise HostProblem(
            f"{format_bytes(free)} of memory are available, and its nodes take {format_bytes(mib << 20)}",
            host=host.name,
        )
