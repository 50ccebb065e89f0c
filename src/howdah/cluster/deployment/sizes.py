"""Sizes of a cluster's containers and blocks, from the resources of its hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing

from howdah.errors import HostProblem
from howdah.hadoop.configuration.plan import Place, Plan
from howdah.hadoop.configuration.sizing import Sizing, combine, size_cluster
from howdah.host import Host, operations
from howdah.host.channel import open_local


def size_of(host: Host, nodes: int, disk: int, *, masters: bool = True) -> Sizing:
    """Return the sizes for `nodes` nodes on `host`, with `disk` bytes free. With `masters`, these are on the host, too.
    Raises HostProblem."""
    facts = operations.capacity(host)
    return size_cluster(nodes, facts.processors, facts.memory, facts.memory_available, disk, masters=masters)


def sizes(plan: Plan, hosts: Mapping[str, Host], disk: int, processors: int | None) -> Sizing:
    """Return the sizes for nodes on one machine or several, with `disk` bytes free on each. Nodes may use `processors`
    processors of a machine. Raises HostProblem."""
    masters, machines = plan.masters.host, {host: one.machine for host, one in plan.quarters.items()}
    with ExitStack() as opened:
        whole = {machine: hosts[first] for machine, first in plan.machines.items()}
        units = [(whole[machine], list(_on(plan, machine)), machines[masters] == machine) for machine in whole]
        if len(whole) < len(machines):  # Hosts are parts of this machine, and may have less than all of it.
            here = opened.enter_context(closing(open_local(next(iter(whole)))))
            if processors is not None:
                operations.confine(here, processors)
            units = [(here, *unit[1:]) for unit in units]
            units += [
                (hosts[name], [one for one in plan.nodes if one.host == name], name == masters) for name in machines
            ]
        parts = [
            (size_of(host, len(nodes), disk, masters=with_masters), [one.name for one in nodes])
            for host, nodes, with_masters in units
            if nodes
        ]
    return combine(parts)


def _on(plan: Plan, machine: str) -> Iterator[Place]:
    """Return the nodes on a machine."""
    return (node for node in plan.nodes if plan.quarters[node.host].machine == machine)


def check_sizing(wanted: Sizing, offered: Sizing, host: str) -> Sizing:
    """Return `wanted` if the machine, which has `offered` now, still has as much. Raises HostProblem if it has less."""
    if offered.node_mib < wanted.node_mib or offered.block_mib < wanted.block_mib:
        raise HostProblem(
            f"a node is to have {wanted.node_mib} MiB for containers, and blocks {wanted.block_mib} MiB, as in the "
            f"runs before; what is free now allows {offered.node_mib} MiB and {offered.block_mib} MiB",
            hint="Something else has taken memory or disk since then: end it, or free some.",
            host=host,
        )
    return wanted
