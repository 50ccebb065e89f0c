"""What the agent does on a host, as typed functions. Every one raises HostProblem where it fails there.

`host/agent` has the code and the details; `tests/unit/host/test_operations.py` holds both lists against each other.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from howdah.host.agent.files import OWNER_FILE
from howdah.host.protocol import Host


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes and inodes of a file system, and its device number."""

    total: int
    free: int
    inodes_free: int
    inodes_total: int
    device: int


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a cluster may use of a machine: processors, and bytes of memory, in all and available now."""

    processors: int
    memory: int
    memory_available: int


@dataclass(frozen=True, slots=True)
class Identity:
    """Which host one is. `boot` and `network` tell it from every other one, whatever its names; `name` is its own,
    `user` whose agent is there, `addresses` are IPv4 addresses by interface."""

    boot: str
    network: str
    name: str
    user: str
    addresses: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry of a store with its bytes; `used` is when it was used last, in seconds since 1970; `busy` whether a
    process has it on its command line."""

    name: str
    bytes: int
    used: float
    busy: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a directory; `type` is `file`, `directory`, `link` or `other`, `size` its bytes."""

    name: str
    type: str
    size: int


@dataclass(frozen=True, slots=True)
class CpuReading:
    """CPU seconds at one moment.

    `seconds` is by process: containers count with their NodeManager. `adopted` is those of containers that were killed
    and outlived what the NodeManager had started. `containers` has every container that has run at a reading, `running`
    those that run. Where it is not `steady`, a process ended while it was read.
    """

    seconds: Mapping[int, float]
    adopted: float
    containers: Mapping[str, float]
    running: frozenset[str]
    steady: bool


def read_file(host: Host, path: str, *, offset: int = 0) -> bytes:
    """Return the bytes of a file from `offset`, which counts from the end where it is negative."""
    content: bytes = host.call("files.read", path=path, offset=offset)
    return content


def write_file(host: Host, path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Create or replace a file, whole or not at all."""
    host.call("files.write", path=path, content=content, mode=mode)


def create_file(host: Host, path: str, content: bytes) -> bool:
    """Create a file that only its owner can read, whole or not at all; return False where there is one already. Hosts
    of one file system may try at the same time."""
    made: bool = host.call("files.create", path=path, content=content)
    return made


def make_directory(host: Host, path: str, *, mode: int = 0o700) -> None:
    """Make a directory and its parents; an existing one is fine. Only new ones get `mode`."""
    host.call("files.make", path=path, mode=mode)


def remove(host: Host, path: str) -> None:
    """Remove a file or a whole tree; what is not there is fine. Symbolic links are not followed."""
    host.call("files.remove", path=path)


def exposed(host: Host, path: str) -> str | None:
    """Return who else could change what is in a directory, as they own it or one above, in words; None for nobody."""
    why: str | None = host.call("files.exposed", path=path)
    return why


def claim_directory(host: Host, path: str, owner: str) -> str | None:
    """Make a directory that `owner` has; return None, or who has it already ("" where that is not known)."""
    other: str | None = host.call("files.claim", path=path, owner=owner)
    return other


def remove_claimed(host: Host, path: str, owner: str) -> str | None:
    """Remove a directory that `owner` claimed; return None, or who has it instead ("" where that is not known)."""
    other: str | None = host.call("files.remove_claimed", path=path, owner=owner)
    return other


def call_in(host: Host, program: str, invitation: str) -> None:
    """Let another agent of this host call who has sent the invitation; see `howdah.host.reception`."""
    host.call("process.call_in", program=program, invitation=invitation)


def leave_none(host: Host, path: str, owner: str) -> None:
    """Let the agent remove a directory that `owner` has claimed when its channel ends, however it ends."""
    host.call("process.leave_none", path=path, owner=owner)


def owner_of_claimed(host: Host, path: str) -> str:
    """Return who has claimed a directory; "" where nobody has."""
    return read_file(host, f"{path}/{OWNER_FILE}").decode(errors="replace")


def stored(host: Host, store: str, digests: Sequence[str]) -> dict[str, int]:
    """Return how many bytes of each file, by its SHA-256, are in `store`; -1 where all are, and were checked."""
    found: dict[str, int] = host.call("store.have", store=store, digests=list(digests))
    return found


def put_file(host: Host, store: str, digest: str, offset: int, content: bytes, *, last: bool) -> None:
    """Add a part of the file with this SHA-256, in their order; the last one completes it."""
    host.call("store.put", store=store, digest=digest, offset=offset, content=content, last=last)


def serve_files(host: Host, store: str, address: str, port: int, *, secret: str, patience: float) -> None:
    """Let other hosts that have `secret` fetch files of `store` there, until `end_serving_files`."""
    host.call("copies.serve", store=store, address=address, port=port, secret=secret, patience=patience)


def end_serving_files(host: Host, address: str, port: int) -> None:
    """Let nobody fetch files there any more."""
    host.call("copies.end_serving", address=address, port=port)


def fetch_files(
    host: Host, store: str, digests: Sequence[str], address: str, port: int, *, secret: str, patience: float
) -> str | None:
    """Fetch files into `store` from the host that serves them there; return why some did not come, or None."""
    given = {"address": address, "port": port, "secret": secret, "patience": patience}
    why: str | None = host.call("copies.fetch", store=store, digests=list(digests), **given)
    return why


def use_kept(host: Host, path: str) -> bool:
    """Note that what a store has at `path` was used now; return whether it is there."""
    there: bool = host.call("store.use", path=path)
    return there


def store_contents(host: Host, store: str) -> list[Kept]:
    """Return what is in a store."""
    return [Kept(**one) for one in host.call("store.contents", store=store)]


def discard_kept(host: Host, store: str, names: Sequence[str]) -> None:
    """Remove entries of a store, and files of it that nothing needs."""
    host.call("store.discard", store=store, names=list(names))


def lay_tree(host: Host, store: str, name: str, files: Mapping[str, str]) -> str:
    """Return the directory `name` of files in `store`, by path their SHA-256; made where it is not there."""
    tree: str = host.call("store.lay", store=store, name=name, files=dict(files))
    return tree


def rename(host: Host, path: str, to: str) -> None:
    """Give a file another name on the same file system, replacing what has that name."""
    host.call("files.rename", path=path, to=to)


def list_directory(host: Host, path: str) -> list[Entry]:
    """Return the entries of a directory, sorted by name."""
    return [Entry(**one) for one in host.call("files.list", path=path)]


def walk(host: Host, path: str) -> dict[str, tuple[int, int]]:
    """Return size and time of the last change, in nanoseconds, of every file below `path`; its own by ""."""
    found: dict[str, list[int]] = host.call("files.walk", path=path)
    return {name: (size, changed) for name, (size, changed) in found.items()}


def resolve_path(host: Host, path: str) -> str | None:
    """Return the real path, links followed, or None where nothing is there."""
    real: str | None = host.call("files.resolve", path=path)
    return real


def is_writable(host: Host, path: str) -> bool:
    """Return whether the agent's user may write to a file, or in a directory, that is there."""
    writable: bool = host.call("files.is_writable", path=path)
    return writable


def mounted_type(host: Host, path: str) -> str | None:
    """Return the type of the file system of a directory as `df -T` names it; None for the machine's own."""
    found: str | None = host.call("files.mounted_type", path=path)
    return found


def find_command(host: Host, name: str) -> str | None:
    """Return where `name` is on the agent's PATH, or None."""
    found: str | None = host.call("files.find_command", name=name)
    return found


def checksum(host: Host, path: str) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    found: str = host.call("files.checksum", path=path)
    return found


def space(host: Host, path: str) -> Space:
    """Return the space of the file system that holds `path` or its nearest existing parent."""
    return Space(**host.call("files.space", path=path))


def environment_variable(host: Host, name: str) -> str | None:
    """Return a variable of the agent's environment."""
    value: str | None = host.call("environment.get", name=name)
    return value


def capacity(host: Host) -> Capacity:
    """Return what a cluster may use of the machine."""
    return Capacity(**host.call("machine.capacity"))


def fingerprint(host: Host, paths: Iterable[str]) -> dict[str, Any]:
    """Return all that a measurement may depend on, as `environment.json` keeps it; `mounts` is about `paths`."""
    facts: dict[str, Any] = host.call("machine.fingerprint", paths=list(paths))
    return facts


def confine(host: Host, processors: int) -> None:
    """Let the agent, and all that it starts from now on, use only `processors` processors."""
    host.call("machine.confine", processors=processors)


def allowed_processors(host: Host, pids: Sequence[int]) -> list[int]:
    """Return how many processors each process may use; those that have ended are left out."""
    found: list[int] = host.call("machine.allowed_processors", pids=list(pids))
    return found


def command_lines(host: Host, pids: Sequence[int]) -> list[list[str]]:
    """Return the words that each process was started with; none for those that have ended."""
    found: list[list[str]] = host.call("machine.command_lines", pids=list(pids))
    return found


def empty_page_cache(host: Host) -> tuple[int, int]:
    """Empty the page cache, as root; return the bytes of unmapped files in it, before and after."""
    before, after = host.call("machine.empty_page_cache")
    return before, after


def moment(host: Host) -> tuple[float, float]:
    """Return the time of day (s since 1970) and the monotonic clock (s) of the host, at once."""
    found = host.call("machine.moment")
    return found["utc"], found["monotonic"]


_ROUND_TRIPS = 3


def clock_offset(host: Host) -> tuple[float, float]:
    """Return how many seconds the host's clock is ahead of this machine's, and how far that may be wrong: half a round
    trip, the quickest of a few, which may take as long as it likes."""

    def once() -> tuple[float, float]:
        before = time.time()
        utc, _ = moment(host)
        unsure = (time.time() - before) / 2
        return utc - before - unsure, unsure

    return min((once() for _ in range(_ROUND_TRIPS)), key=lambda found: found[1])


def stray_processes(host: Host) -> list[dict[str, Any]]:
    """Return the processes of a cluster that no agent looks after: pid, user, cluster, command."""
    found: list[dict[str, Any]] = host.call("machine.stray_processes")
    return found


def end_strays(host: Host, root: str) -> int:
    """Kill what an agent that was killed left of the cluster with the directory `root`; return how many there were."""
    found: int = host.call("machine.end_strays", root=root)
    return found


def outer_pids(host: Host, root: str, pids: Sequence[int]) -> dict[int, int]:
    """Return by number what the host calls processes of a cluster's directory that have these numbers elsewhere."""
    found: dict[int, int] = host.call("machine.outer_pids", root=root, pids=list(pids))
    return found


def end_all(host: Host) -> None:
    """Kill all that was started through the channel; the channel stays open."""
    host.call("process.end_all")


def free_ports(host: Host, address: str, ports: Sequence[int]) -> list[int]:
    """Return those of `ports` that can be listened on now, at `address` and at the wildcard."""
    found: list[int] = host.call("network.free_ports", address=address, ports=list(ports))
    return found


def identity(host: Host) -> Identity:
    """Return which host this is."""
    return Identity(**host.call("network.identity"))


def listen(host: Host, address: str, port: int, *, seconds: float) -> None:
    """Take connections at an address for so many seconds, and go on at once."""
    host.call("network.listen", address=address, port=port, seconds=seconds)


def unreachable(host: Host, targets: Sequence[tuple[str, int]], *, timeout: float) -> list[tuple[str, int, str]]:
    """Return the addresses and ports that cannot be reached from the host, and why."""
    found = host.call("network.unreachable", targets=[tuple(target) for target in targets], timeout=timeout)
    return [tuple(one) for one in found]


def swallow(host: Host, address: str, port: int, *, seconds: float) -> None:
    """Take one connection there and all that comes by it, from now on for so many seconds."""
    host.call("network.swallow", address=address, port=port, seconds=seconds)


def payload_rate(host: Host, address: str, port: int, *, seconds: float, ahead: int) -> float:
    """Return the bits a second that TCP brings from the host to who swallows there, with so many bytes under way."""
    rate: float = host.call("network.payload_rate", address=address, port=port, seconds=seconds, ahead=ahead)
    return rate


def resolve_name(host: Host, name: str | None = None) -> dict[str, Any]:
    """Return what the machine's resolver says of a name or an address, None for its own name: addresses, error,
    reverse, seconds."""
    found: dict[str, Any] = host.call("network.resolve", name=name)
    return found


def calibrate(host: Host, directories: Sequence[str], *, only_disks: bool) -> dict[str, Any]:
    """Return what processors, loopback and the disks of `directories` reach in some seconds, see `calibration.py`.
    With `only_disks`, nothing is written to what is in memory or on a network."""
    found: dict[str, Any] = host.call("calibration.measure", directories=list(directories), only_disks=only_disks)
    return found


def disk_rates(host: Host, directory: str) -> Mapping[str, float]:
    """Return the bytes a second that a disk does `write` and `read` past the page cache; it takes five seconds."""
    found: Mapping[str, float] = host.call("calibration.disk_rates", directory=directory)
    return found


def read_cpu(host: Host, pids: Sequence[int], managers: Sequence[int]) -> CpuReading:
    """Return the CPU seconds of `pids` and of the containers of those that are NodeManagers, `managers`."""
    answer = host.call("accounting.cpu", pids=list(pids), managers=list(managers))
    return CpuReading(**{**answer, "running": frozenset(answer["running"])})
