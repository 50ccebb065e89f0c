"""Software that hosts keep for the next cluster, and the removal of software that no cluster has used for a while."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from howdah.cluster.allocation import find_allocation
from howdah.cluster.request import Links
from howdah.cluster.software.installation import first_with_store
from howdah.hadoop.configuration.plan import Quarters
from howdah.host import Host, operations
from howdah.host.operations import Kept
from howdah.host.over import over
from howdah.store import howdah_home


@dataclass(frozen=True, slots=True)
class HostStore:
    """The store of `host` at `path`, with its contents; `others` are hosts with the same store."""

    host: Host
    path: str
    others: tuple[str, ...]
    contents: tuple[Kept, ...]

    def unused(self, seconds: float) -> Sequence[Kept]:
        """Return the contents that no process uses, and that nobody has used for `seconds`."""
        before = time.time() - seconds
        return [one for one in self.contents if not one.busy and one.used < before]

    def discard(self, kept: Sequence[Kept]) -> None:
        """Remove these contents. Raises HostProblem."""
        operations.discard_kept(self.host, self.path, [one.name for one in kept])


@contextmanager
def open_stores(allocation: str, links: Links) -> Iterator[Sequence[HostStore]]:
    """Yield the stores on the hosts of an allocation, each once, while the context lasts. Raises HowdahError."""
    found = find_allocation(allocation, links)
    home = str(howdah_home().resolve())
    try:
        plan = found.acquire("store", found.usual_nodes, Quarters(platform.node(), home, home, home, f"{home}/cache"))
        yield _look(found.hosts, {name: one.store for name, one in plan.quarters.items()})
    finally:
        found.release()


def _look(hosts: Mapping[str, Host], stores: Mapping[str, str]) -> Sequence[HostStore]:
    first = first_with_store(hosts, stores)
    contents = over(hosts, lambda host: operations.store_contents(host, stores[host.name]))
    found = []
    for name, host in hosts.items():
        if first[name] != name:
            continue
        sharing = [one for one in hosts if first[one] == name]
        # Whoever has it in use, on whichever of the hosts.
        busy = {kept.name for one in sharing for kept in contents[one] if kept.busy}
        kept = tuple(Kept(one.name, one.bytes, one.used, one.name in busy) for one in contents[name])
        found.append(HostStore(host, stores[name], tuple(sharing[1:]), kept))
    return found
