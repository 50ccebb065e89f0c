"""The operations of the agent on a host, as typed functions. Each function raises HostProblem if it fails there.

`host/agent` has the code and the details; `tests/unit/host/test_operations.py` compares both lists.
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
    """The part of a machine that a cluster may use: processors, and bytes of memory, in all and available now."""

    processors: int
    memory: int
    memory_available: int


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a host. `boot` and `network` distinguish it from every other host, whatever its names. `name` is
    its own name, `user` the user of its agent; `addresses` are IPv4 addresses by interface."""

    boot: str
    network: str
    name: str
    user: str
    addresses: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry of a store with its bytes. `used` is when it was used last, in seconds since 1970. `busy` is whether a
    process has it on its command line."""

    name: str
    bytes: int
    used: float
    busy: bool


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """An entry of a directory. `type` is `file`, `directory`, `link` or `other`; `size` is in bytes."""

    name: str
    type: str
    size: int


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """The resolver's answer for `name`, after `seconds`. Without an answer, there are no `addresses`, and `error` says
    why. `reverse` has the name of each address that has one."""

    name: str
    addresses: Sequence[str]
    reverse: Mapping[str, str]
    seconds: float
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Stray:
    """A process of a cluster that no agent watches any more, and the user that it belongs to, if that can be read."""

    pid: int
    user: str | None
    cluster: str
    command: str


@dataclass(frozen=True, slots=True)
class CpuReading:
    """CPU seconds at one moment.

    `seconds` is by process: containers count with their NodeManager. `adopted` is the CPU seconds of containers that
    were killed and outlived the processes that the NodeManager had started. `containers` has every container that has
    run at a reading, `running` those that run. If the reading is not `steady`, a process ended meanwhile.
    """

    seconds: Mapping[int, float]
    adopted: float
    containers: Mapping[str, float]
    running: frozenset[str]
    steady: bool


def read_file(host: Host, path: str, *, offset: int = 0) -> bytes:
    """Return the bytes of a file from `offset`; a negative offset counts from the end."""
    content: bytes = host.call("files.read", path=path, offset=offset)
    return content


def write_file(host: Host, path: str, content: bytes, *, mode: int = 0o600) -> None:
    """Create or replace a file, whole or not at all."""
    host.call("files.write", path=path, content=content, mode=mode)


def create_file(host: Host, path: str, content: bytes) -> bool:
    """Create a file that only its owner can read, whole or not at all; return False if it exists already. Hosts of one
    file system may try at the same time."""
    made: bool = host.call("files.create", path=path, content=content)
    return made


def make_directory(host: Host, path: str, *, mode: int = 0o700) -> None:
    """Create a directory and its parents; an existing one is fine. Only new directories get `mode`."""
    host.call("files.make", path=path, mode=mode)


def remove(host: Host, path: str) -> None:
    """Remove a file or a whole tree; a missing one is fine. Symbolic links are not followed."""
    host.call("files.remove", path=path)


def exposed(host: Host, path: str) -> str | None:
    """Return who else could change the contents of a directory, as owner of it or of one above, in words; None for
    nobody."""
    why: str | None = host.call("files.exposed", path=path)
    return why


def claim_directory(host: Host, path: str, owner: str) -> str | None:
    """Create a directory that belongs to `owner`. Returns None, or the owner if it belongs to another ("" if
    unknown)."""
    other: str | None = host.call("files.claim", path=path, owner=owner)
    return other


def remove_claimed(host: Host, path: str, owner: str) -> str | None:
    """Remove a directory that `owner` claimed. Returns None, or the owner if it belongs to another ("" if unknown)."""
    other: str | None = host.call("files.remove_claimed", path=path, owner=owner)
    return other


def call_in(host: Host, program: str, invitation: str) -> None:
    """Have another agent of this host call the sender of the invitation; see `howdah.host.reception`."""
    host.call("process.call_in", program=program, invitation=invitation)


def leave_none(host: Host, path: str, owner: str) -> None:
    """Have the agent remove a directory that `owner` has claimed when its channel ends, however it ends."""
    host.call("process.leave_none", path=path, owner=owner)


def owner_of_claimed(host: Host, path: str) -> str:
    """Return who has claimed a directory; "" if nobody has."""
    return read_file(host, f"{path}/{OWNER_FILE}").decode(errors="replace")


def stored(host: Host, store: str, digests: Sequence[str]) -> dict[str, int]:
    """Return how many bytes of each file, by its SHA-256, are in `store`; -1 if all are there and were checked."""
    found: dict[str, int] = host.call("store.have", store=store, digests=list(digests))
    return found


def put_file(host: Host, store: str, digest: str, offset: int, content: bytes, *, last: bool) -> None:
    """Add a part of the file with this SHA-256, in order; the last part completes the file."""
    host.call("store.put", store=store, digest=digest, offset=offset, content=content, last=last)


def serve_files(host: Host, store: str, address: str, port: int, *, secret: str, patience: float) -> None:
    """Let other hosts that have `secret` fetch files of `store` at this address, until `end_serving_files`."""
    host.call("copies.serve", store=store, address=address, port=port, secret=secret, patience=patience)


def end_serving_files(host: Host, address: str, port: int) -> None:
    """Stop serving files at this address."""
    host.call("copies.end_serving", address=address, port=port)


def fetch_files(
    host: Host, store: str, digests: Sequence[str], address: str, port: int, *, secret: str, patience: float
) -> str | None:
    """Fetch files into `store` from the host that serves at this address; return why some did not come, or None."""
    given = {"address": address, "port": port, "secret": secret, "patience": patience}
    why: str | None = host.call("copies.fetch", store=store, digests=list(digests), **given)
    return why


def use_kept(host: Host, path: str) -> bool:
    """Record that the entry of a store at `path` was used now; return whether it is there."""
    there: bool = host.call("store.use", path=path)
    return there


def store_contents(host: Host, store: str) -> list[Kept]:
    """Return the entries of a store."""
    return [Kept(**one) for one in host.call("store.contents", store=store)]


def discard_kept(host: Host, store: str, names: Sequence[str]) -> None:
    """Remove entries of a store, and those of its files that nothing needs."""
    host.call("store.discard", store=store, names=list(names))


def lay_tree(host: Host, store: str, name: str, files: Mapping[str, str]) -> str:
    """Return the directory `name` of `files` in `store` (SHA-256 by path); create it if it is missing."""
    tree: str = host.call("store.lay", store=store, name=name, files=dict(files))
    return tree


def rename(host: Host, path: str, to: str) -> None:
    """Rename a file on the same file system, replacing a file with the new name."""
    host.call("files.rename", path=path, to=to)


def list_directory(host: Host, path: str) -> list[DirectoryEntry]:
    """Return the entries of a directory, sorted by name."""
    return [DirectoryEntry(**one) for one in host.call("files.list", path=path)]


def walk(host: Host, path: str) -> dict[str, tuple[int, int]]:
    """Return size and time of the last change, in nanoseconds, of every file below `path`; the key of `path` itself is
    ""."""
    found: dict[str, list[int]] = host.call("files.walk", path=path)
    return {name: (size, changed) for name, (size, changed) in found.items()}


def resolve_path(host: Host, path: str) -> str | None:
    """Return the real path, links followed, or None if nothing is there."""
    real: str | None = host.call("files.resolve", path=path)
    return real


def is_writable(host: Host, path: str) -> bool:
    """Return whether the agent's user may write to an existing file, or in an existing directory."""
    writable: bool = host.call("files.is_writable", path=path)
    return writable


def mounted_type(host: Host, path: str) -> str | None:
    """Return the type of the file system of a directory as `df -T` names it; None for the file system of `/`."""
    found: str | None = host.call("files.mounted_type", path=path)
    return found


def find_command(host: Host, name: str) -> str | None:
    """Return the path of `name` on the agent's PATH, or None."""
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
    """Return the part of the machine that a cluster may use."""
    return Capacity(**host.call("machine.capacity"))


def fingerprint(host: Host, paths: Iterable[str]) -> dict[str, Any]:
    """Return all facts that a measurement may depend on, as `environment.json` keeps them; `mounts` is about
    `paths`."""
    facts: dict[str, Any] = host.call("machine.fingerprint", paths=list(paths))
    return facts


def confine(host: Host, processors: int) -> None:
    """Restrict the agent, and everything that it starts from now on, to `processors` processors."""
    host.call("machine.confine", processors=processors)


def allowed_processors(host: Host, pids: Sequence[int]) -> list[int]:
    """Return how many processors each process may use; processes that have ended are left out."""
    found: list[int] = host.call("machine.allowed_processors", pids=list(pids))
    return found


def command_lines(host: Host, pids: Sequence[int]) -> list[list[str]]:
    """Return the words that each process was started with; none for processes that have ended."""
    found: list[list[str]] = host.call("machine.command_lines", pids=list(pids))
    return found


def resident_memory(host: Host, pids: Sequence[int]) -> dict[int, int]:
    """Return the bytes that each process has in memory; processes that have ended are missing."""
    found: Mapping[str, int] = host.call("machine.resident_memory", pids=list(pids))
    return {int(pid): size for pid, size in found.items()}


def jvm(host: Host, pids: Sequence[int]) -> Mapping[str, Any]:
    """Return the JDK of the first of these processes that lives, and whether any has loaded Hadoop's native code."""
    found: Mapping[str, Any] = host.call("machine.jvm", pids=list(pids))
    return found


def empty_page_cache(host: Host) -> tuple[int, int]:
    """Empty the page cache, as root; return the bytes of unmapped files in the cache, before and after."""
    before, after = host.call("machine.empty_page_cache")
    return before, after


def moment(host: Host) -> tuple[float, float]:
    """Return the time of day (s since 1970) and the monotonic clock (s) of the host, read at once."""
    found = host.call("machine.moment")
    return found["utc"], found["monotonic"]


_ROUND_TRIPS = 3


def clock_offset(host: Host) -> tuple[float, float]:
    """Return how many seconds the host's clock is ahead of this machine's, and the possible error: half a round trip.
    The quickest of a few round trips counts, so each may take as long as it likes."""

    def once() -> tuple[float, float]:
        before = time.time()
        utc, _ = moment(host)
        unsure = (time.time() - before) / 2
        return utc - before - unsure, unsure

    return min((once() for _ in range(_ROUND_TRIPS)), key=lambda found: found[1])


def stray_processes(host: Host) -> list[Stray]:
    """Return the processes of clusters that no agent watches any more."""
    # One that ended after it was found has no cluster.
    return [Stray(**one) for one in host.call("machine.stray_processes") if "cluster" in one]


def end_strays(host: Host, root: str) -> int:
    """Kill all processes of the cluster with the directory `root`, containers too; return how many there were."""
    found: int = host.call("machine.end_strays", root=root)
    return found


def outer_pids(host: Host, root: str, pids: Sequence[int]) -> dict[int, int]:
    """Return the host's IDs of processes of a cluster's directory, by the IDs `pids` that they have in another process
    space."""
    found: dict[int, int] = host.call("machine.outer_pids", root=root, pids=list(pids))
    return found


def end_all(host: Host) -> None:
    """Kill everything that was started through the channel; the channel stays open."""
    host.call("process.end_all")


def free_ports(host: Host, address: str, ports: Sequence[int]) -> list[int]:
    """Return those of `ports` that are free now, at `address` and at the wildcard."""
    found: list[int] = host.call("network.free_ports", address=address, ports=list(ports))
    return found


def identity(host: Host) -> Identity:
    """Return the identity of this host."""
    return Identity(**host.call("network.identity"))


def listen(host: Host, address: str, port: int, *, seconds: float) -> None:
    """Accept connections at an address for so many seconds; return at once."""
    host.call("network.listen", address=address, port=port, seconds=seconds)


def unreachable(host: Host, targets: Sequence[tuple[str, int]], *, timeout: float) -> list[tuple[str, int, str]]:
    """Return the addresses and ports that cannot be reached from the host, and why."""
    found = host.call("network.unreachable", targets=[tuple(target) for target in targets], timeout=timeout)
    return [tuple(one) for one in found]


def swallow(host: Host, address: str, port: int, *, seconds: float) -> None:
    """Accept one connection at an address, and read everything that comes by it, from now on for so many seconds."""
    host.call("network.swallow", address=address, port=port, seconds=seconds)


def payload_rate(host: Host, address: str, port: int, *, seconds: float, ahead: int) -> float:
    """Return the bits per second that TCP brings from the host to a host that runs `swallow`, with `ahead` bytes under
    way."""
    rate: float = host.call("network.payload_rate", address=address, port=port, seconds=seconds, ahead=ahead)
    return rate


def resolve_name(host: Host, name: str | None = None) -> ResolvedName:
    """Return the answer of the host's resolver for a name or an address; None is the host's own name."""
    return ResolvedName(**host.call("network.resolve", name=name))


def calibrate(host: Host, directories: Sequence[str], *, only_disks: bool) -> dict[str, Any]:
    """Return the rates that processors, loopback and the disks of `directories` reach in some seconds; see
    `calibration.py`. With `only_disks`, nothing is written to file systems in memory or on a network."""
    found: dict[str, Any] = host.call("calibration.measure", directories=list(directories), only_disks=only_disks)
    return found


def disk_rates(host: Host, directory: str) -> Mapping[str, float]:
    """Return the bytes per second that a disk does `write` and `read` past the page cache; this takes five seconds."""
    found: Mapping[str, float] = host.call("calibration.disk_rates", directory=directory)
    return found


def read_cpu(host: Host, pids: Sequence[int], managers: Sequence[int]) -> CpuReading:
    """Return the CPU seconds of `pids`, and of the containers of the NodeManagers `managers`."""
    answer = host.call("accounting.cpu", pids=list(pids), managers=list(managers))
    return CpuReading(**{**answer, "running": frozenset(answer["running"])})
