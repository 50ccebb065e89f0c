"""Who gives us hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from howdah.cluster.allocation.local import LocalAllocation
from howdah.hadoop.configuration.plan import Plan
from howdah.host import Host
from howdah.host.channel import open_local


class Allocation(Protocol):
    """Hosts for one cluster, and where on them its daemons may stand.

    Life cycle: `acquire` once, `release` at least once, always, also after a failed `acquire`; `release` is idempotent.
    """

    @property
    def hosts(self) -> Mapping[str, Host]:
        """Open channels by host name, from `acquire` to `release`."""

    def acquire(self, name: str, nodes: int, directory: str) -> Plan:
        """Opens a channel to every host and lays out `nodes` nodes under `directory`.

        Raises:
            HostProblem: no host, no address, no free ports; what was opened is closed by `release`.
        """

    def release(self) -> None:
        """Closes every channel, which ends everything that was started through it."""

    def describe(self) -> Mapping[str, Any]:
        """What a report says about it: at least `kind`."""


ALLOCATIONS: dict[str, Callable[[], Allocation]] = {"local": LocalAllocation}
_OPENERS: dict[str, Callable[[str], Host]] = {"local": open_local}


def open_host(described: Mapping[str, Any], name: str) -> Host:
    """A channel of its own to the host `name` of an allocation that another process holds, from what it `describe`d.

    Raises HostProblem.
    """
    return _OPENERS[described["kind"]](name)
