"""Control groups of simulated hosts: a share of processors and memory, what each host uses, and the rates of disks.

A machine has hierarchies of version 1, one for each controller, or one of version 2, or both. In version 1, the rate of
a disk is set in the root group: only this group has what the kernel writes back later. Version 2 has no limit there; it
is set in the group above all hosts, which has what is written back for them (cgroup-v2.rst, Writeback).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_PERIOD_US = 20_000
"""The period in which a host gets its share of a processor. With the usual 100 ms, a host would stand still for as
long."""
_COUNTED = ("cpuacct", "memory")
"""Controllers that count what each host uses, also without a share."""
_USED = {*_COUNTED, "cpu", "io"}
_SWAP = ("memory.swappiness", "memory.swap.max")
"""The files of versions 1 and 2 by which a host does not swap: beyond its memory, its processes are killed."""
_LOOP = "7"
_THROTTLES = ("read_bps_device", "write_bps_device")
_SWITCH = "cgroup.subtree_control"
_PROCESSES = "cgroup.procs"


class Refused(Exception):
    """This machine cannot do something that simulated hosts need."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The place and the version of a controller's groups."""

    version: Literal[1, 2]
    root: Path


def hierarchies(mounts: Path = Path("/proc/self/mounts")) -> Mapping[str, Hierarchy]:
    """Return the hierarchy of each controller that this machine has: cpu, memory, io, which version 1 calls blkio, and
    cpuacct, which every group of version 2 has."""
    found: dict[str, Hierarchy] = {}
    for line in mounts.read_text().splitlines():
        _, place, kind, options, *_ = line.split(" ")
        root = Path(place)
        if kind == "cgroup":
            names = {"io" if one == "blkio" else one for one in options.split(",")}
            found |= dict.fromkeys(names & _USED, Hierarchy(1, root))
        elif kind == "cgroup2":
            names = {*(root / "cgroup.controllers").read_text().split(), "cpuacct"}
            found = dict.fromkeys(names & _USED, Hierarchy(2, root)) | found
    return found


def group_names(known: Mapping[str, Hierarchy]) -> set[str]:
    """Return the names of the groups below the roots of the hierarchies."""
    return {group.name for hierarchy in set(known.values()) for group in hierarchy.root.glob("*/")}


class Groups:
    """The groups of some simulated hosts."""

    def __init__(self, name: str, cpus: float | None, memory: int | None, known: Mapping[str, Hierarchy]) -> None:
        """`name` tells these hosts from others of this machine; `cpus` and `memory` are of each host. `known` are the
        `hierarchies` of the machine. Raises Refused."""
        self._name = name
        self._known = known
        self._switched: list[tuple[Path, str]] = []
        self._files: dict[str, Sequence[tuple[str, str]]] = {one: () for one in _COUNTED if one in known}
        if cpus is not None:
            self._files["cpu"] = _cpu_files(cpus, self._version("cpu"))
        if memory is not None:
            self._files["memory"] = _memory_files(memory, self._version("memory"))
        self.remove()  # Those of hosts that were killed.

    def make(self, host: str) -> Sequence[Path]:
        """Create the groups of a host, and return them. Its first process must be written to their `cgroup.procs`.
        Raises Refused."""
        made = dict[Path, None]()
        for controller, files in self._files.items():
            group = self._own(controller) / host
            try:
                self._allow(controller)
                group.mkdir(parents=True, exist_ok=True)
                for file, value in files:
                    if file not in _SWAP or (group / file).exists():  # A kernel without swap does not have it.
                        (group / file).write_text(value)
            except OSError as error:
                raise Refused(f"a host cannot have a share of {controller}: {error}") from error
            made[group] = None
        return tuple(made)

    def set_cpus(self, host: str, cpus: float | None) -> None:
        """Set the processor time of a host, in processors; None for no limit. Raises Refused."""
        files = _cpu_files(cpus, self._version("cpu"))
        group = self._own("cpu") / host
        try:
            self._allow("cpu")
            self._gather(host, group)
            for file, value in files:
                (group / file).write_text(value)
        except OSError as error:
            raise Refused(f"a host cannot have a share of cpu: {error}") from error

    def _gather(self, host: str, group: Path) -> None:
        """Move all processes of a host into one more of its groups. Raises OSError."""
        group.mkdir(parents=True, exist_ok=True)
        if not self._files:
            raise Refused("a host cannot have a share of cpu: no control group has its processes")
        counted = self._own(next(iter(self._files))) / host
        # Processes that start meanwhile are where their parents are.
        while left := _processes(counted) - _processes(group):
            for one in left:
                with suppress(ProcessLookupError):
                    (group / _PROCESSES).write_text(one)

    def set_rate(self, number: str, rate: int | None) -> None:
        """Set the bytes per second, both ways, of the device with this number (MAJOR:MINOR); None for no limit. Raises
        Refused."""
        if "io" not in self._known:
            raise Refused("a disk cannot have a rate: this machine has no control groups for input and output")
        hierarchy = self._known["io"]
        if hierarchy.version == 2 and self._known.get("memory") != hierarchy:
            # Whose data the kernel writes back is known to version 2 by the memory that the data were in.
            raise Refused("a disk cannot have a rate: control groups for memory are of version 1, those for io of 2")
        words = f"{number} {rate or 0}\n"
        files = {hierarchy.root / f"blkio.throttle.{one}": words for one in _THROTTLES}
        if hierarchy.version == 2:
            limit = rate or "max"
            files = {self._own("io") / "io.max": f"{number} rbps={limit} wbps={limit}\n"}
        try:
            self._allow("memory")
            self._allow("io")
            for file, text in files.items():
                file.write_text(text)
        except OSError as error:
            raise Refused(f"a disk cannot have a rate: {error}") from error

    def rates(self) -> Mapping[str, int]:
        """Return the bytes per second of each device that has a rate, by its number."""
        hierarchy = self._known["io"]
        if hierarchy.version == 1:
            lines = (hierarchy.root / f"blkio.throttle.{_THROTTLES[0]}").read_text().split("\n")
            return {line.split()[0]: int(line.split()[1]) for line in lines if line}
        text = (self._own("io") / "io.max").read_text()
        limits = {line.split()[0]: line.partition("rbps=")[2].split()[0] for line in text.splitlines()}
        return {number: int(limit) for number, limit in limits.items() if limit != "max"}

    def forget_rates(self) -> None:
        """Remove the rates of devices that no longer exist, because somebody was killed. Those of version 2 end with
        their groups."""
        if "io" in self._known and self._known["io"].version == 1:
            with suppress(OSError, Refused):
                for number in self.rates():
                    backed = Path("/sys/dev/block", number, "loop/backing_file").exists()
                    if number.startswith(f"{_LOOP}:") and not backed:
                        self.set_rate(number, None)

    def remove(self) -> bool:
        """Remove the groups in which nothing runs any more; return whether none is left."""
        directories = {self._own(controller) for controller in self._known}
        for directory in directories:
            for group in (*directory.glob("*/"), directory):
                with suppress(OSError):
                    group.rmdir()
        left = any(directory.exists() for directory in directories)
        if not left:
            for file, controller in self._switched:
                with suppress(OSError):  # Other hosts may have groups of it by now.
                    file.write_text(f"-{controller}")
            self._switched.clear()
        return not left

    def _version(self, controller: str) -> int:
        if controller not in self._known:
            raise Refused(f"a host cannot have a share of {controller}: this machine has no control groups for it")
        return self._known[controller].version

    def _own(self, controller: str) -> Path:
        """Return the directory of the groups of these hosts."""
        return self._known[controller].root / self._name

    def _allow(self, controller: str) -> None:
        """Let groups of version 2 have a controller. Raises OSError."""
        hierarchy = self._known.get(controller)
        if hierarchy is None or hierarchy.version == 1:
            return
        own = self._own(controller)
        own.mkdir(exist_ok=True)
        for directory in (hierarchy.root, own):
            file = directory / _SWITCH
            if controller != "cpuacct" and controller not in file.read_text().split():
                file.write_text(f"+{controller}")
                if directory == hierarchy.root:
                    self._switched.append((file, controller))


def _processes(group: Path) -> set[str]:
    return set((group / _PROCESSES).read_text().split())


def _memory_files(wish: int, version: int) -> Sequence[tuple[str, str]]:
    """Return the files of a group by which its processes have so much memory, with their content."""
    limit, swap = ("memory.max", _SWAP[1]) if version == 2 else ("memory.limit_in_bytes", _SWAP[0])
    return ((limit, str(wish)), (swap, "0"))


def _cpu_files(wish: float | None, version: int) -> Sequence[tuple[str, str]]:
    """Return the files of a group by which its processes have so many processors, with their content."""
    quota = round(wish * _PERIOD_US) if wish is not None else "max" if version == 2 else -1
    if version == 2:
        return (("cpu.max", f"{quota} {_PERIOD_US}"),)
    return (("cpu.cfs_period_us", str(_PERIOD_US)), ("cpu.cfs_quota_us", str(quota)))
