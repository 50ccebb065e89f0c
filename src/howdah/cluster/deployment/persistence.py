"""HDFS data that stay when their cluster stops, in a directory of the hosts or of a shared file system.

```
DIR/howdah.json    the description of the data: `Persistent`
    lock           the cluster that has the data now: `Owner`
    name/          the NameNode's data
    nodeN/         the blocks of a node, on whichever host that node is now
```
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import time
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from howdah.cluster.ownership import refuse_exposed
from howdah.errors import HostProblem, HowdahError, UsageError
from howdah.hadoop.configuration.plan import Place, Plan
from howdah.host import Host, operations
from howdah.host.batch import BATCH_SYSTEMS, has_ended
from howdah.host.over import over
from howdah.host.user import process_user
from howdah.store import howdah_home

RECORD, LOCK, NAME = "howdah.json", "lock", "name"
_VERSION, _IN_USE = "current/VERSION", "in_use.lock"
_SCHEMA = 1
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Persistent:
    """The record next to the data. `hadoop` is the version that wrote the data, `nodes` the number of nodes with
    blocks, `hosts` the hosts that had these nodes last. `formatted` and `used` are in seconds since 1970. `layout` is
    HDFS's layoutVersion of the namespace. `shared` is whether all hosts saw the same directory. Both are None in
    records of older releases."""

    schema: int
    hadoop: str
    nodes: int
    user: str
    formatted: float
    used: float
    hosts: tuple[str, ...]
    storage: str = "hdfs"
    layout: str | None = None
    shared: bool | None = None


@dataclass(frozen=True, slots=True)
class Owner:
    """The cluster that has the data: its name, its supervisor, and its batch job, if there is one. The job is given by
    its key and by how often it was put back into the queue."""

    cluster: str
    machine: str
    boot: str
    supervisor: int
    since: float
    job: str | None = None
    restarts: int = 0

    @property
    def words(self) -> str:
        """The owner in words, for people."""
        kind, where, number = (self.job or "::").split(":", 2)
        job = "" if self.job is None else f", in job {number} of {kind}{f' ({where})' if where else ''}"
        since = time.strftime("%d %B %H:%M", time.localtime(self.since))
        return f"the cluster {self.cluster} of {self.machine}{job}, since {since}"

    def has_gone(self) -> bool:
        """Return whether the cluster is known to run no more. Its job has ended or has begun again, or its process on
        this machine is dead."""
        if self.job is not None and has_ended(self.job):
            return True
        if self.job is not None and self.restarts < _restarts() and self.job.endswith(f":{_own_job()}"):
            return True
        if self.machine != platform.node():
            return False
        return self.boot != _boot() or not Path(f"/proc/{self.supervisor}").exists()


def _own_job() -> str | None:
    return next((job for system in BATCH_SYSTEMS.values() if (job := system.current())), None)


def _restarts() -> int:
    count = os.environ.get("SLURM_RESTART_COUNT", "")
    return int(count) if count.isdecimal() else 0


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()


class Persistence:
    """The data in `directory` of the hosts, for one cluster. Call `take`, then `keep` once the file system is there,
    and `release` at the end."""

    def __init__(self, directory: str, hosts: Mapping[str, Host]) -> None:
        self._directory = directory
        self._hosts = hosts
        self._locked: tuple[Host, bytes] | None = None
        self._record: Persistent | None = None
        self._plan: Plan | None = None
        self._is_kept = False
        self._shared = False

    @property
    def is_new(self) -> bool:
        """Whether there are no data yet."""
        return self._record is None

    def take(self, plan: Plan, hadoop: str, machine: str) -> Plan:
        """Take the lock, and return the plan with every node at its data. Raises UsageError if the data belong to
        another version, user or cluster, and HostProblem if data are missing."""
        masters = self._hosts[plan.masters.host]
        over(self._hosts, self._prepare)
        self._lock(masters, Owner(plan.name, machine, _boot(), os.getpid(), time.time(), plan.job, _restarts()))
        here = over(self._hosts, self._entries)
        self._shared = all(LOCK in entries for entries in here.values())
        self._record = self._read(masters, here[masters.name])
        if self._record is None:
            self._refuse_half(masters, here)
            self._plan = replace(plan, persist=self._directory)
            return self._plan
        self._compare(self._record, hadoop)
        if len(plan.nodes) < self._record.nodes:
            raise UsageError(
                f"{self._directory} has the data of {self._record.nodes} nodes, and the cluster has {len(plan.nodes)}",
                hint=f"Several nodes may be on one host: --nodes {self._record.nodes}.",
            )
        placed = _placed(plan, self._record.nodes, here, self._directory)
        self._compare_parts(self._record, placed)
        self._plan = replace(placed, persist=self._directory)
        return self._plan

    def keep(self, hadoop: str) -> None:
        """Write the record of the data, once HDFS has them."""
        assert self._plan is not None
        assert self._locked is not None
        now = time.time()
        formatted = now if self._record is None else self._record.formatted
        hosts = tuple(node.host for node in self._plan.nodes)
        layout = _version(self._directory, NAME, self._locked[0]).get("layoutVersion")
        user, shared = process_user(), self._shared
        record = Persistent(_SCHEMA, hadoop, len(hosts), user, formatted, now, hosts, layout=layout, shared=shared)
        content = json.dumps(asdict(record), indent=1).encode() + b"\n"
        operations.write_file(self._locked[0], f"{self._directory}/{RECORD}", content)
        self._is_kept = True
        _note({*known_directories(), self._directory})

    def release(self) -> None:
        """Release the lock; may be called twice, and with lost hosts. In the latter case others see that the owner has
        gone. If a cluster did not come up with new data, nothing is left of them: they would look half-formatted."""
        locked, self._locked = self._locked, None
        if locked is None:
            return
        if self._plan is not None and self.is_new and not self._is_kept:
            self._forget(self._plan)
        with suppress(HostProblem):
            host, content = locked
            if operations.read_file(host, f"{self._directory}/{LOCK}") == content:
                operations.remove(host, f"{self._directory}/{LOCK}")

    def _forget(self, plan: Plan) -> None:
        """Remove the parts of a file system that never had data."""
        for place, name in [(plan.masters, NAME), *((node, node.name) for node in plan.nodes)]:
            with suppress(HostProblem, KeyError):
                operations.remove(self._hosts[place.host], f"{self._directory}/{name}")

    def _prepare(self, host: Host) -> None:
        operations.make_directory(host, self._directory, mode=0o700)
        refuse_exposed(host, self._directory)

    def _entries(self, host: Host) -> frozenset[str]:
        return _entries(self._directory, host)

    def _lock(self, host: Host, owner: Owner) -> None:
        path, content = f"{self._directory}/{LOCK}", (json.dumps(asdict(owner)) + "\n").encode()
        for _ in range(_TRIES):
            if operations.create_file(host, path, content):
                self._locked = (host, content)
                return
            seen = self._lock_there(host)
            if seen is None:
                continue  # It was given up a moment ago.
            other = read_owner(seen)
            if other is None or not other.has_gone():
                who = "its lock cannot be read" if other is None else other.words
                raise UsageError(
                    f"{self._directory} is in use: {who}", hint="Two clusters would destroy each other's data."
                )
            self._remove_lock(host, path, seen)
        raise HostProblem(f"the lock {path} is taken by somebody else, again and again", host=host.name)

    def _lock_there(self, host: Host) -> bytes | None:
        """Return the content of the lock; None if there is no lock. Raises HostProblem if the lock cannot be read."""
        try:
            return operations.read_file(host, f"{self._directory}/{LOCK}")
        except HostProblem:
            if LOCK in self._entries(host):
                raise
            return None

    def _remove_lock(self, host: Host, path: str, judged: bytes) -> None:
        """Remove the lock of a cluster that has gone. If several clusters do this at once, one of them renames the
        lock. A cluster that has renamed another lock than the one that was `judged` restores it."""
        aside = f"{path}.{secrets.token_hex(4)}"
        try:
            operations.rename(host, path, aside)
        except HostProblem:
            return  # Somebody else was faster.
        if (seen := operations.read_file(host, aside)) != judged and not operations.create_file(host, path, seen):
            raise HostProblem(f"two clusters have taken {path} at once; neither may go on", host=host.name)
        operations.remove(host, aside)

    def _read(self, host: Host, entries: frozenset[str]) -> Persistent | None:
        if RECORD not in entries:
            return None
        return read_record(operations.read_file(host, f"{self._directory}/{RECORD}"), self._directory)

    def _compare(self, record: Persistent, hadoop: str) -> None:
        if record.user != process_user():
            raise UsageError(f"{self._directory} has the data of {record.user}, and you are {process_user()}")
        if record.hadoop != hadoop:
            raise UsageError(
                f"{self._directory} has data of Hadoop {record.hadoop}, and this cluster is of {hadoop}",
                hint=f"`--hadoop {record.hadoop}` uses them as they are. Howdah never converts them.",
            )

    def _compare_parts(self, record: Persistent, plan: Plan) -> None:
        """Raise UsageError if the parts are of several file systems, or if the namespace has another layout than it was
        left with; HostProblem if a part has no identity. HDFS would start without the blocks of such a part."""
        with_data = {place.name: place.host for place in plan.nodes[: record.nodes]}
        parts = {
            name: _version(self._directory, name, self._hosts[host])
            for name, host in {NAME: plan.masters.host, **with_data}.items()
        }
        hint = f"`howdah persist verify {self._directory}` looks at every part."
        if words := _several(parts):
            raise UsageError(f"{self._directory}: {words}", hint=hint)
        layout = parts[NAME].get("layoutVersion")
        if record.layout not in (None, layout):
            raise UsageError(
                f"{self._directory} was left with layout {record.layout} of HDFS, and now has {layout}",
                hint="Another Hadoop has converted it. Howdah never converts data.",
            )

    def _refuse_half(self, masters: Host, here: Mapping[str, frozenset[str]]) -> None:
        """Raise HostProblem if there are incomplete data, or data whose NameNode is on another host."""
        found = {name: entries - {LOCK} for name, entries in here.items() if entries - {LOCK}}
        if not found:
            return
        elsewhere = [name for name, entries in found.items() if RECORD in entries]
        if elsewhere:
            raise HostProblem(
                f"{self._directory} has the NameNode's data on {elsewhere[0]}, and masters would be here",
                host=masters.name,
                hint=f"Name {elsewhere[0]} first among the hosts.",
            )
        name, entries = next(iter(found.items()))
        raise HostProblem(
            f"{self._directory} has {', '.join(sorted(entries)[:4])}, and no {RECORD}: it is half-formatted, or not "
            "Howdah's",
            host=name,
            hint=f"`howdah persist rm {self._directory}` removes what Howdah has made there; or choose another.",
        )


def known_directories() -> tuple[str, ...]:
    """Return the directories in which clusters of this HOWDAH_HOME left data, as far as they are recorded."""
    try:
        return tuple(map(str, json.loads(_notes().read_text(encoding="utf-8"))))
    except (OSError, ValueError, TypeError):
        return ()


def _note(directories: Set[str]) -> None:
    fresh = _notes().with_suffix(".new")
    with suppress(OSError):  # It is of use, not needed.
        fresh.write_text(json.dumps(sorted(directories)), encoding="utf-8")
        fresh.replace(_notes())


def _notes() -> Path:
    return howdah_home() / "clusters" / "persistent.json"


def _placed(plan: Plan, nodes: int, here: Mapping[str, frozenset[str]], directory: str) -> Plan:
    """Return the plan with nodes named so that each is on a host that sees its data. Raises HostProblem if no host sees
    the data of a node, or if a host with such data has no place left for the node."""
    wanted = [f"node{number}" for number in range(1, nodes + 1)]
    lost = [name for name in wanted if not any(name in entries for entries in here.values())]
    if lost:
        raise HostProblem(
            f"{directory} has no data of {', '.join(lost)} on any of the hosts {', '.join(here)}",
            hint="Are these the hosts that had them, or is a file system not mounted?",
        )
    free = list(plan.nodes)
    named: dict[str, Place] = {}
    # Those that few hosts see first.
    for name in sorted(wanted, key=lambda one: sum(one in entries for entries in here.values())):
        place = next((one for one in free if name in here[one.host]), None)
        if place is None:
            raise HostProblem(f"the host with the data of {name} in {directory} has no node left for it")
        free.remove(place)
        named[name] = place
    for number, place in enumerate(free, start=nodes + 1):
        named[f"node{number}"] = place
    ordered = sorted(named.items(), key=lambda one: int(one[0].removeprefix("node")))
    return replace(plan, nodes=tuple(_renamed(place, name) for name, place in ordered))


def _renamed(place: Place, name: str) -> Place:
    def moved(path: str) -> str:
        return f"{path.removesuffix(f'/{place.name}')}/{name}"

    return replace(place, name=name, directory=moved(place.directory), disks=tuple(map(moved, place.disks)))


def _entries(directory: str, host: Host) -> frozenset[str]:
    """Return the names in a directory, without traces of locks that are being created and removed."""
    names = (one.name for one in operations.list_directory(host, directory))
    return frozenset(name for name in names if not name.startswith(f"{LOCK}."))


def read_record(content: bytes, directory: str) -> Persistent:
    """Return the record from its content. Raises HostProblem if it cannot be read, and UsageError if it is of another
    schema."""
    try:
        record = json.loads(content)
        if record["schema"] != _SCHEMA:
            raise UsageError(f"{directory} is of another Howdah (schema {record['schema']})")
        return Persistent(**{**record, "hosts": tuple(record["hosts"])})
    except (ValueError, KeyError, TypeError) as error:
        raise HostProblem(f"{directory}/{RECORD} cannot be read: {error!r}") from error


def read_owner(content: bytes) -> Owner | None:
    """Return the owner of a lock; None if the lock cannot be read."""
    try:
        return Owner(**json.loads(content))
    except (ValueError, TypeError):
        return None


@dataclass(frozen=True, slots=True)
class SeenPart:
    """Data that were found: their record, and their owner if there is one. `unclear` is whether there is a lock that
    cannot be read."""

    record: Persistent
    owner: Owner | None
    unclear: bool = False


def look(directory: str, host: Host) -> SeenPart | None:
    """Return the data in a directory, as `host` sees them; None if it sees no data of Howdah."""
    try:
        record = read_record(operations.read_file(host, f"{directory}/{RECORD}"), directory)
    except HowdahError:
        return None
    try:
        owner = read_owner(operations.read_file(host, f"{directory}/{LOCK}"))
    except HostProblem:
        return SeenPart(record, None)
    return SeenPart(record, None if owner is None or owner.has_gone() else owner, unclear=owner is None)


def _refuse_used(directory: str, host: Host, entries: Set[str]) -> None:
    """Raise UsageError if a cluster has the data. The lock is where the NameNode's data are. A daemon's own lock names
    its process."""
    if LOCK in entries:
        owner = read_owner(operations.read_file(host, f"{directory}/{LOCK}"))
        if owner is None or not owner.has_gone():
            raise UsageError(f"{directory} is in use: {owner.words if owner else 'its lock cannot be read'}")
    for name in sorted(entries):
        with suppress(HostProblem):
            said = operations.read_file(host, f"{directory}/{name}/{_IN_USE}").decode(errors="replace")
            pid, _, there = said.strip().partition("@")
            if there == platform.node() and pid.isdecimal() and _is_daemon(pid):
                raise UsageError(f"{directory} is in use: process {pid} has {name}")


def _is_daemon(pid: str) -> bool:
    try:
        return b"-Dproc_" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _is_of_datanode(directory: str, host: Host) -> bool:
    """Return whether there is nothing but what a DataNode writes."""
    return {one.name for one in operations.list_directory(host, directory)} <= {"current", _IN_USE}


def formatted(directory: str, hosts: Mapping[str, Host]) -> float:
    """Return when the file system in `directory` was formatted, in seconds since 1970; 0 if no host knows."""
    seen = (look(directory, host) for host in hosts.values())
    return next((one.record.formatted for one in seen if one is not None), 0.0)


@dataclass(frozen=True, slots=True)
class Verified:
    """Data that no cluster uses: their problems, and the parts that are on the disks of other hosts."""

    problems: tuple[str, ...]
    elsewhere: Mapping[str, str]
    """The host by the name of the part."""


def verify(directory: str, host: Host) -> Verified:
    """Look at data without a cluster. Every part must be there, and all parts must be of one file system. If hosts do
    not share the directory, the parts of others are on their own disks. Raises HostProblem and UsageError for data that
    are not Howdah's, or in use."""
    record = read_record(operations.read_file(host, f"{directory}/{RECORD}"), directory)
    entries = _entries(directory, host)
    _refuse_used(directory, host, entries)
    problems, parts, missing = list[str](), dict[str, Mapping[str, str]](), dict[str, HostProblem]()
    nodes = {f"node{number}": there for number, there in enumerate(record.hosts, start=1)}
    for name in (NAME, *nodes):
        try:
            parts[name] = _version(directory, name, host)
        except HostProblem as problem:
            missing[name] = problem
    seen = {there for name, there in nodes.items() if name in parts}
    apart = len(seen) < 2 if record.shared is None else not record.shared
    elsewhere = {name: there for name, there in nodes.items() if apart and name not in entries and there not in seen}
    problems += [problem.message for name, problem in missing.items() if name not in elsewhere]
    if words := _several(parts):
        problems.append(words)
    problems += _images(directory, host) if NAME in parts else []
    return Verified(tuple(problems), elsewhere)


def _version(directory: str, name: str, host: Host) -> Mapping[str, str]:
    """Return the identity of a part of HDFS, from its file VERSION. Raises HostProblem if the file is not there."""
    file = f"{directory}/{name}/{_VERSION}"
    try:
        lines = operations.read_file(host, file).decode(errors="replace").splitlines()
    except HostProblem as problem:
        raise HostProblem(f"{file} is not there") from problem
    return dict(line.partition("=")[::2] for line in lines)


def _several(parts: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return words about parts of several file systems; None if they are of one."""
    ids = {name: one.get("clusterID", "") for name, one in parts.items()}
    if len(set(ids.values())) < 2:
        return None
    told = ", ".join(f"{name} {one or 'none'}" for name, one in ids.items())
    return f"parts are of several file systems: {told}"


def _images(directory: str, host: Host) -> list[str]:
    """Return the images of the namespace whose MD5 differs from the NameNode's record, as messages."""
    current = f"{directory}/{NAME}/current"
    names = {one.name for one in operations.list_directory(host, current)}
    images = sorted(name for name in names if name.startswith("fsimage_") and f"{name}.md5" in names)
    wrong = []
    for name in images:
        said = operations.read_file(host, f"{current}/{name}.md5").decode(errors="replace").split()
        if not said or _md5(operations.read_file(host, f"{current}/{name}")) != said[0]:
            wrong.append(f"{current}/{name} is damaged")
    return wrong if images else [f"{current} has no image of the namespace"]


def _md5(content: bytes) -> str:
    import hashlib

    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def remove(directory: str, host: Host, confirm: Callable[[], None]) -> None:
    """Remove data that no cluster has. Raises UsageError if a cluster has them, or if there are none."""
    entries = _entries(directory, host)
    nodes = {name for name in entries if name.startswith("node") and name[4:].isdecimal()}
    others = entries - {RECORD, LOCK, NAME} - nodes
    # A host's own disk may have nodes alone. Somebody else's directory may be called so, too.
    if not entries & {RECORD, NAME}:
        others |= {name for name in nodes if not _is_of_datanode(f"{directory}/{name}", host)}
    if others or not entries - {LOCK}:
        there = ", ".join(sorted(others)[:4]) or "nothing of Howdah"
        raise UsageError(f"{directory} is no directory of Howdah alone: there is {there}")
    _refuse_used(directory, host, entries)
    confirm()
    for name in sorted(entries, key=lambda one: one == RECORD):  # What says that it is ours goes last.
        operations.remove(host, f"{directory}/{name}")
    operations.remove(host, directory)
    _note({*known_directories()} - {directory})
