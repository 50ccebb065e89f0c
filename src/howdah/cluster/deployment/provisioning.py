"""The software of a cluster: which Hadoop it is, and what its hosts and clients have of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from howdah.cluster.deployment.realm import check_can_log_in, check_clocks, check_names
from howdah.cluster.request import ClusterRequest
from howdah.cluster.software.installation import Installation, check_alike, install, install_all
from howdah.hadoop.configuration.plan import NONE, Plan, Quarters
from howdah.hadoop.distribution.distribution import Distribution, from_home
from howdah.hadoop.distribution.fetch import fetch
from howdah.hadoop.distribution.jars import plugin_jars, security_jars
from howdah.host import Host
from howdah.host.channel import open_local

_CLIENTS = "this machine"
"""The name of the place of clients, among the names of hosts."""


class Provisioning:
    """The software of the cluster of one request."""

    def __init__(self, request: ClusterRequest, home: Quarters, *, archive: bool) -> None:
        """`home` is what the cluster has on this machine. With `archive`, JVMs share a class archive."""
        self._request = request
        self._home = home
        self._archive = archive

    def choose(self, host: Host) -> Distribution:
        """Return the distribution of the request, fetched through `host` where it is not here yet. Raises
        HowdahError."""
        request = self._request
        if request.hadoop_home is not None:
            found = from_home(Path(request.hadoop_home))
        else:
            found = fetch(
                host, request.hadoop, Path(self._home.store), offline=request.offline, progress=lambda _: None
            )
        return replace(
            found, plugins=plugin_jars(request.storage), beside=security_jars(needed=request.security != NONE)
        )

    def install(
        self, plan: Plan, hosts: Mapping[str, Host], distribution: Distribution
    ) -> tuple[Mapping[str, Installation], Installation]:
        """Return the software of each host, and that of the clients on this machine, which may be one of the hosts.
        Raises HostProblem."""
        quarters, cache = dict(plan.quarters), self._home.store
        everywhere = dict(hosts)
        own = next((name for name, one in quarters.items() if one.store == cache), None)
        with ExitStack() as opened:
            if own is None:  # Nothing is sent here, also where this machine is in a list of hosts.
                own = _CLIENTS
                everywhere[own], quarters[own] = opened.enter_context(closing(open_local(own))), self._home
            points = plan.copy_points
            installed = install_all(everywhere, distribution, quarters, points, here=cache, archive=self._archive)
        check_alike(installed)
        if plan.security != NONE:
            check_can_log_in(installed)
            check_names(hosts, {place.host: place.address for place in plan.places})
            check_clocks(hosts, plan.masters.host)
        return {name: installed[name] for name in plan.quarters}, installed[own]

    def install_more(
        self, host: Host, quarters: Quarters, distribution: Distribution, there: Mapping[str, Installation]
    ) -> Installation:
        """Return the software of a host that comes to those that are `there`. Raises HostProblem."""
        found = install(host, distribution, quarters, here=self._home.store, archive=self._archive)
        check_alike({**there, host.name: found})
        if self._request.security != NONE:
            check_can_log_in({host.name: found})
            check_clocks({host.name: host}, host.name)
        return found
