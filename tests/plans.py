"""Plans of clusters, by hand."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from howdah.hadoop.configuration.plan import Plan, Quarters, Spot, lay_out, spread

HOME = Quarters(platform.node(), "/d", "/conf", "/logs", "/store")
"""What a cluster has on this machine, somewhere."""


def plan_of(
    nodes: int,
    *,
    name: str = "p",
    hosts: Sequence[str] = ("h",),
    root: str = "/d",
    first_port: int = 20000,
    machine: str | None = None,
) -> Plan:
    """A plan of `nodes` nodes on `hosts`, which are on `machine`, or each on its own: on the only host the data is in
    `root`, configuration in /conf and logs in /logs; on several each has all below ROOT-HOST."""
    spots = [Spot(host, f"127.77.0.{number}") for number, host in enumerate(spread(hosts, nodes), start=1)]
    roots = {host: root if len(hosts) == 1 else f"{root}-{host}" for host in hosts}
    quarters = {
        host: Quarters(machine or host, own, f"{own}/conf" if len(hosts) > 1 else "/conf", f"{own}/logs", "/store")
        for host, own in roots.items()
    }
    return lay_out(name, spots, quarters, first_port=first_port)
