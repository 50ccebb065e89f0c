"""This machine as an allocation: several nodes, each with a loopback address and a block of ports of its own."""

from __future__ import annotations

import errno
import platform
import socket
from collections.abc import Callable, Mapping
from typing import Any

from howdah.errors import HostProblem
from howdah.hadoop.configuration.plan import Plan, lay_out, ports_needed
from howdah.host import Host, operations
from howdah.host.channel import open_local

# Below Linux's default range of ephemeral ports (32768 up), above where services usually are.
_FIRST_PORT, _LAST_PORT, _STEP = 20000, 32000, 250
_SECURITY = "none"
_MOST_NODES = 20


class LocalAllocation:
    """One host, this one; see `howdah.cluster.allocation.Allocation`."""

    def __init__(self, open_host: Callable[[str], Host] = open_local) -> None:
        """`open_host` opens a channel to the host of that name."""
        self._open_host = open_host
        self._hosts: dict[str, Host] = {}
        self._reservation: socket.socket | None = None

    @property
    def hosts(self) -> Mapping[str, Host]:
        return self._hosts

    def acquire(self, name: str, nodes: int, directory: str) -> Plan:
        if nodes > _MOST_NODES:
            raise HostProblem(f"{nodes} nodes on one machine are more than the {_MOST_NODES} that are possible")
        host = self._hosts[platform.node()] = self._open_host(platform.node())
        needed = ports_needed(nodes)
        for block, first in enumerate(range(_FIRST_PORT, _LAST_PORT - needed, _STEP)):
            # The network of a block is its own, so that clusters side by side share no address.
            addresses = tuple(f"127.77.{block}.{number}" for number in range(1, nodes + 2))
            ports = list(range(first, first + needed))
            if not self._reserve(first):
                continue
            free = operations.free_ports(host, addresses[0], ports)
            if list(free) == ports:
                return lay_out(
                    name, host=host.name, addresses=addresses, first_port=first, directory=directory, security=_SECURITY
                )
        raise HostProblem(
            f"no block of {needed} free ports between {_FIRST_PORT} and {_LAST_PORT}",
            host=host.name,
            hint="`howdah status` lists clusters that are up; `howdah down --name NAME` ends one.",
        )

    def release(self) -> None:
        while self._hosts:
            self._hosts.popitem()[1].close()
        if self._reservation is not None:
            self._reservation.close()
            self._reservation = None

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "local"}

    def _reserve(self, first: int) -> bool:
        """Takes the block of ports from `first` for this process; False when another cluster has it.

        Between the choice of ports and the daemons' listening on them seconds pass, in which a second cluster would
        find them free too. A name in the abstract socket space has the scope that ports have (a network namespace, all
        users) and ends with its process.
        """
        reservation = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            reservation.bind(f"\0howdah-ports-{first}")
        except OSError as error:
            reservation.close()
            if error.errno == errno.EADDRINUSE:
                return False
            raise
        if self._reservation is not None:
            self._reservation.close()
        self._reservation = reservation
        return True
