"""The probe of a host: the activity of the machine, its disks, its network and the cluster's processes, once a second.

The points are those of `series/HOST.jsonl` in docs/reference/run-directory.md. Facts that cannot be read are absent.
"""

from __future__ import annotations

import os
import re
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from .kernel import mount_of, parse_mountinfo
from .machine import disk_of

_HERTZ = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_SECTOR = 512  # of /proc/diskstats, whatever the disk has (Documentation/admin-guide/iostats.rst)
_CPU = ("cpu_user", "cpu_nice", "cpu_system", "cpu_idle", "cpu_iowait", "cpu_irq", "cpu_softirq", "cpu_steal")
_MEMORY = {
    b"MemTotal:": "memory_total",
    b"MemAvailable:": "memory_available",
    b"Cached:": "memory_cached",
    b"Dirty:": "memory_dirty",
}
_CONTROLLERS = ("cpu", "cpuacct", "memory", "")
"""The control groups that count something: those of version 1 by controller, and that of version 2, without a name."""
_HOST_MEMORY = {
    "total_rss": "memory_anonymous",
    "total_cache": "memory_cached",
    "anon": "memory_anonymous",
    "file": "memory_cached",
}
"""Columns of a host by the name in memory.stat, of both versions."""
_THROTTLED = "throttled_usec"
_UNIFIED = {"user_usec": "cpu_user", "system_usec": "cpu_system", _THROTTLED: "cpu_throttled"}
"""Columns of a host by the name in cpu.stat of version 2, in microseconds."""
_CONTAINER = re.compile(rb"container_(?:e\d+_)?\d+_\d{4,}_\d{2,}_\d{6,}")  # ContainerId.toString of YARN
_LOOKS = 3
"""Number of times that a NodeManager's new child is asked for its container, once it has called exec. Until then the
child looks like its parent, however long that takes."""


def _columns(counters: dict[str, str], gauges: dict[str, str]) -> dict[str, Any]:
    columns = {name: {"unit": unit, "quality": "measured", "type": "counter"} for name, unit in counters.items()}
    for name, unit in gauges.items():
        columns[name] = {"unit": unit, "quality": "measured", "type": "gauge"}
    return {"columns": columns}


_KINDS = {
    "machine": _columns(
        dict.fromkeys(_CPU, "s"), {**dict.fromkeys((*_MEMORY.values(), "swap_used"), "B"), "load1": "1"}
    ),
    "disk": _columns(
        {"read_bytes": "B", "write_bytes": "B", "read_operations": "1", "write_operations": "1", "busy": "s"}, {}
    ),
    "network": _columns({"receive_bytes": "B", "send_bytes": "B"}, {}),
    "host": _columns(
        {"cpu_user": "s", "cpu_system": "s", "cpu_throttled": "s"}, {"memory_anonymous": "B", "memory_cached": "B"}
    ),
    "process": _columns(
        {"cpu": "s", "cpu_children": "s", "read_bytes": "B", "write_bytes": "B"}, {"memory_resident": "B"}
    ),
}


def run(
    emit: Callable[[list[dict[str, Any]]], None],
    stop: threading.Event,
    *,
    roots: list[dict[str, Any]],
    devices: list[str] | None = None,
    interval: float = 1.0,
    host: str | None = None,
) -> dict[str, Any]:
    """Emit the header, then the points of a sample every `interval` seconds, and those of a last one after `stop`: one
    list each.

    The schedule is fixed: a late sample does not move the ones after it, and a tick that has passed is skipped. `roots`
    and `devices` are those of Sampler. `host` is the owner's name for this host, if it is another name than its own.

    Returns the `samples` taken, the ticks `skipped`, and `cpu_seconds`, the processor time of this thread, emitting
    included.
    """
    used = time.thread_time()
    sampler = Sampler(roots, devices, interval)
    samples = skipped = tick = 0
    try:
        emit([{**sampler.header(), **({} if host is None else {"host": host})}])
        start = time.monotonic()
        stopped = False
        while True:
            emit(sampler.sample())
            samples += 1
            if stopped:
                break
            coming = int((time.monotonic() - start) / interval) + 1
            skipped += coming - tick - 1
            tick = coming
            stopped = stop.wait(start + tick * interval - time.monotonic())
    finally:
        sampler.close()
    return {"samples": samples, "skipped": skipped, "cpu_seconds": time.thread_time() - used}


class Sampler:
    """A reader of counters, without history. Not safe for use by several threads.

    A sample takes 0.2 ms of processor time for the machine and 0.8 ms with 40 processes. This was measured on two cores
    of an AMD EPYC of family 26, with Python 3.11. With 13 processes, sent through the channel, it took 1.4 ms on a
    slower machine.

    New processes are found by listing /proc and reading the parent of each new pid once: 0.1 ms per sample. Reading
    /proc/PID/task/*/children, which is there for each thread, took 8 ms for eight JVMs.

    A process's `read_bytes` and `write_bytes` are those of /proc/PID/io. The kernel adds a child's bytes there once its
    parent has waited for it: adding up a parent and its ended children counts them twice.
    """

    def __init__(
        self,
        roots: list[dict[str, Any]],
        devices: list[str] | None = None,
        interval: float = 1.0,
        proc: str = "/proc",
    ) -> None:
        """Find the processes and disks to follow, and open the machine's counters.

        `roots` are {"pid", "role", "node"}; `node` is None or absent if there is none. Roots are followed with all
        their descendants, under the role and node of the nearest root. Descendants of a `nodemanager` are a `container`
        if their command line, their directory or their parent names one. The pid 0 stands for all descendants of this
        process, which itself is always the `probe`.

        A root's `network`, if it has one, names the network cards that the process sees, which are not this host's.
        They are read, too, as `NETWORK/CARD`, except loopback. Disks that the root has mounted and this process has not
        are read as `NETWORK/DISK`. No other disks are read then, because the data of the former are on the latter.

        `devices` are names of disks, or absolute paths, which stand for the disk below them; None stands for every disk
        with hardware.

        Raises OSError if the machine's own counters cannot be read.
        """
        self._proc = proc
        self._interval = interval
        self._own = os.getpid()
        self._followed: dict[int, _Process] = {}
        self._strangers: set[int] = set()
        self._heir: _Process | None = None
        self._add(self._own, "probe", None)
        self._elsewhere: dict[str, list[int]] = {}
        unified = "/sys/fs/cgroup"
        self._unified = unified if os.path.exists(unified + "/cgroup.controllers") else unified + "/unified"
        for root in roots:
            self._add(root["pid"], root["role"], root.get("node"))
            if root.get("network") is not None:
                self._elsewhere.setdefault(root["network"], []).append(root["pid"])
        named = _all_disks() if devices is None else _disks_below(devices)
        self._disks = self._disks_elsewhere() or {name.encode(): name for name in named}
        self._groups = self._groups_elsewhere()
        self._interfaces = {name.encode() for name in _interfaces_up()}
        self._files: list[int] = []
        self._stat, self._meminfo, self._loadavg, self._diskstats, self._network = map(
            self._open, ("stat", "meminfo", "loadavg", "diskstats", "net/dev")
        )
        self._cards = self._open_elsewhere()

    def _open_elsewhere(self) -> Dict[str, int]:
        """Return the open `net/dev` of each other network: it can be read also when the process is gone."""
        found = {}
        for network, pids in self._elsewhere.items():
            for pid in pids:
                try:
                    found[network] = self._open("{}/net/dev".format(pid))
                    break
                except OSError:
                    pass
        return found

    def _disks_elsewhere(self) -> Dict[bytes, str]:
        """Return the name in the series of each disk that another mount namespace has, by the disk's own name."""
        here = {mount["source"] for mount in self._mounts("self")}
        found = {}
        for network, pids in self._elsewhere.items():
            for mount in next(filter(None, map(self._mounts, pids)), []):
                if mount["source"].startswith("/dev/loop") and mount["source"] not in here:
                    name = mount["source"][len("/dev/") :]
                    found[name.encode()] = "{}/{}".format(network, name)
        return found

    def _mounts(self, pid: "int | str") -> List[Dict[str, Any]]:
        """Return the mounts that a process sees; none if the process is gone or may not be read."""
        try:
            with open("{}/{}/mountinfo".format(self._proc, pid)) as source:
                return parse_mountinfo(source.read())
        except OSError:
            return []

    def header(self) -> dict[str, Any]:
        """Return the first line of the series."""
        return {
            "schema": 1,
            "host": os.uname().nodename,
            "source": "/proc",
            "interval_seconds": self._interval,
            "kinds": {kind: columns for kind, columns in _KINDS.items() if kind != "host" or self._groups},
        }

    def sample(self) -> list[dict[str, Any]]:
        """Return one point for everything that is followed, all with one time."""
        moment = {"utc": time.time(), "monotonic": time.monotonic()}
        self._follow()
        return [
            self._machine_point(moment),
            *self._disk_points(moment),
            *self._network_points(moment),
            *self._host_points(moment),
            *self._process_points(moment),
        ]

    def close(self) -> None:
        """Close the open files; the sampler is of no use afterwards."""
        while self._files:
            os.close(self._files.pop())

    def _machine_point(self, moment: dict[str, float]) -> dict[str, Any]:
        point: dict[str, Any] = {"kind": "machine", **moment, "role": "machine"}
        ticks = os.pread(self._stat, 256, 0).split(b"\n", 1)[0].split()
        for place, name in enumerate(_CPU, start=1):
            point[name] = int(ticks[place]) / _HERTZ
        swap = {}
        for line in os.pread(self._meminfo, 8192, 0).splitlines():
            words = line.split()
            column = _MEMORY.get(words[0])
            if column is not None:
                point[column] = int(words[1]) * 1024
            elif words[0].startswith(b"Swap"):
                swap[words[0]] = int(words[1]) * 1024
        if b"SwapTotal:" in swap and b"SwapFree:" in swap:
            point["swap_used"] = swap[b"SwapTotal:"] - swap[b"SwapFree:"]
        point["load1"] = float(os.pread(self._loadavg, 64, 0).split(None, 1)[0])
        return point

    def _disk_points(self, moment: dict[str, float]) -> list[dict[str, Any]]:
        points = []
        for line in _whole(self._diskstats).splitlines():
            words = line.split()
            if words[2] in self._disks:
                points.append(
                    {
                        "kind": "disk",
                        **moment,
                        "role": "machine",
                        "device": self._disks[words[2]],
                        "read_bytes": int(words[5]) * _SECTOR,
                        "write_bytes": int(words[9]) * _SECTOR,
                        "read_operations": int(words[3]),
                        "write_operations": int(words[7]),
                        "busy": int(words[12]) / 1000,
                    }
                )
        return points

    def _network_points(self, moment: dict[str, float]) -> list[dict[str, Any]]:
        lines = [line.partition(b":") for line in _whole(self._network).splitlines()[2:]]
        cards = [(name.strip().decode(), counters) for name, _, counters in lines if name.strip() in self._interfaces]
        for network, file in self._cards.items():
            lines = [line.partition(b":") for line in _whole(file).splitlines()[2:]]
            cards += [
                ("{}/{}".format(network, name.strip().decode()), counters)
                for name, _, counters in lines
                if name.strip() != b"lo"
            ]
        points = []
        for name, counters in cards:
            words = counters.split()
            point: dict[str, Any] = {"kind": "network", **moment, "role": "machine", "interface": name}
            points.append({**point, "receive_bytes": int(words[0]), "send_bytes": int(words[8])})
        return points

    def _host_points(self, moment: dict[str, float]) -> list[dict[str, Any]]:
        """Return the counts of simulated hosts' control groups, for hosts that have some."""
        points = []
        for host, groups in self._groups.items():
            point: dict[str, Any] = {"kind": "host", **moment, "role": "machine", "host": host}
            for name, value in _pairs(groups.get("cpuacct"), "cpuacct.stat"):
                point["cpu_" + name] = value / _HERTZ
            for name, value in _pairs(groups.get("cpu", groups.get("")), "cpu.stat"):
                if name == "throttled_time":
                    point["cpu_throttled"] = value / 1e9
                elif name in _UNIFIED and ("cpuacct" not in groups or name == _THROTTLED):
                    point[_UNIFIED[name]] = value / 1e6
            for name, value in _pairs(groups.get("memory", groups.get("")), "memory.stat"):
                if name in _HOST_MEMORY:
                    point[_HOST_MEMORY[name]] = value
            points.append(point)
        return points

    def _groups_elsewhere(self) -> Dict[str, Dict[str, str]]:
        """Return by simulated host the directory of its own control group, by controller."""
        found: Dict[str, Dict[str, str]] = {}
        for host, pids in self._elsewhere.items():
            text = next(filter(None, (self._read(pid, "cgroup") for pid in pids)), b"").decode()
            for line in text.splitlines():
                _, controllers, path = line.split(":", 2)
                for controller in controllers.split(","):
                    if controller in _CONTROLLERS and path.endswith("/" + host):
                        root = "/sys/fs/cgroup/" + controller if controller else self._unified
                        found.setdefault(host, {})[controller] = root + path
        return found

    def _process_points(self, moment: dict[str, float]) -> list[dict[str, Any]]:
        points = []
        for pid, process in list(self._followed.items()):
            stat = self._stat_of(pid)
            if stat is None or stat[19] != process.started:
                del self._followed[pid]  # It ended; the pid may be another's by now.
                continue
            if process.looks:
                self._look_for_container(process)
            point = {"kind": "process", **moment, **process.identity}
            point["cpu"] = (int(stat[11]) + int(stat[12])) / _HERTZ
            point["cpu_children"] = (int(stat[13]) + int(stat[14])) / _HERTZ
            point["memory_resident"] = int(stat[21]) * _PAGE
            io = self._read(pid, "io").split()
            if len(io) > 11:
                point["read_bytes"] = int(io[9])
                point["write_bytes"] = int(io[11])
            points.append(point)
        return points

    def _follow(self) -> None:
        """Take in the new descendants. A parent is older than its child, so the oldest come first."""
        present = {int(name) for name in os.listdir(self._proc) if name.isdigit()}
        self._strangers &= present
        fresh = []
        for pid in present - self._followed.keys() - self._strangers:
            stat = self._stat_of(pid)
            if stat is not None:
                fresh.append((int(stat[19]), pid, int(stat[1]), stat[19]))
        for _, pid, parent, started in sorted(fresh):
            ancestor = self._heir if parent == self._own else self._followed.get(parent)
            if ancestor is None:
                self._strangers.add(pid)
            else:
                self._followed[pid] = ancestor.child(pid, parent, started)

    def _add(self, pid: int, role: str, node: str | None) -> None:
        if pid == 0:
            self._heir = _Process(0, 0, b"", role, node)
            return
        stat = self._stat_of(pid)
        if stat is not None and pid not in self._followed:
            self._followed[pid] = _Process(pid, int(stat[1]), stat[19], role, node)

    def _look_for_container(self, process: _Process) -> None:
        parent = self._followed.get(process.parent)
        line = self._read(process.identity["pid"], "cmdline")
        if parent is None or line != self._read(process.parent, "cmdline"):
            process.looks -= 1
        container = None if parent is None else parent.identity.get("container")
        if container is None:
            try:
                directory = os.fsencode(os.readlink("{}/{}/cwd".format(self._proc, process.identity["pid"])))
            except OSError:
                directory = b""
            found = _CONTAINER.search(line + b"\0" + directory)
            container = None if found is None else found.group().decode()
        if container is not None:
            process.becomes(container)

    def _stat_of(self, pid: int) -> list[bytes] | None:
        """Return the fields of /proc/PID/stat after the name, from `state` on: field n of proc(5) is at n - 3."""
        content = self._read(pid, "stat")
        return content[content.rindex(b")") + 2 :].split(None, 22) if content else None

    def _read(self, pid: int, name: str) -> bytes:
        """Return the start of a file of a process; nothing if the process is gone or may not be read."""
        try:
            file = os.open("{}/{}/{}".format(self._proc, pid, name), os.O_RDONLY)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return b""
        try:
            return os.read(file, 8192)
        except (ProcessLookupError, PermissionError):
            return b""
        finally:
            os.close(file)

    def _open(self, name: str) -> int:
        self._files.append(os.open(self._proc + "/" + name, os.O_RDONLY))
        return self._files[-1]


def _pairs(directory: Optional[str], file: str) -> List[Tuple[str, int]]:
    """Return the lines of a file of a control group, each a name and a number; none if the group is gone."""
    if directory is None:
        return []
    try:
        with open("{}/{}".format(directory, file)) as source:
            return [(name, int(value)) for name, value in map(str.split, source)]
    except OSError:
        return []


class _Process:
    """A followed process: its identity in every point, and how often its container is still to be looked for."""

    __slots__ = ("identity", "looks", "node", "parent", "started")

    def __init__(self, pid: int, parent: int, started: bytes, role: str, node: str | None) -> None:
        self.parent = parent
        self.started = started
        self.node = node
        self.looks = 0
        self.identity: Dict[str, Any] = {"role": role, "pid": pid}
        if node is not None:
            self.identity["node"] = node

    def child(self, pid: int, parent: int, started: bytes) -> _Process:
        child = _Process(pid, parent, started, self.identity["role"], self.node)
        if "container" in self.identity:
            child.becomes(self.identity["container"])
        elif self.identity["role"] == "nodemanager":
            child.looks = _LOOKS
        return child

    def becomes(self, container: str) -> None:
        self.identity["role"] = "container"
        self.identity["container"] = container
        self.looks = 0


def _whole(file: int) -> bytes:
    """Return a whole file of /proc from its beginning; the kernel gives about a page at a time."""
    parts = [os.pread(file, 65536, 0)]
    length = len(parts[0])
    while parts[-1]:
        parts.append(os.pread(file, 65536, length))
        length += len(parts[-1])
    return b"".join(parts)


def _all_disks() -> list[str]:
    return [name for name in os.listdir("/sys/block") if os.path.exists("/sys/block/{}/device".format(name))]


def _disks_below(devices: list[str]) -> set[str]:
    with open("/proc/self/mountinfo") as source:
        mounts = parse_mountinfo(source.read())
    names = {name for name in devices if not name.startswith("/")}
    for path in devices:
        mount = mount_of(os.path.realpath(path), mounts) if path.startswith("/") else None
        disk = None if mount is None else disk_of(mount)
        if disk is not None:
            names.add(disk)
    return names


def _interfaces_up() -> list[str]:
    """Return loopback and the cards. The traffic of a bond, a bridge or a container's interface goes through a card,
    too. Without cards, as in a container, return all interfaces that belong to no other one."""
    names = _all_up()
    cards = [name for name in names if os.path.exists("/sys/class/net/{}/device".format(name))]
    if not cards:
        cards = [name for name in names if not os.path.exists("/sys/class/net/{}/master".format(name))]
    return [name for name in names if name == "lo" or name in cards]


def _all_up() -> list[str]:
    names = []
    for name in os.listdir("/sys/class/net"):
        try:
            with open("/sys/class/net/{}/operstate".format(name)) as source:
                state = source.read().strip()
        except OSError:
            continue  # `bonding_masters` is a file here.
        if state != "down":  # Loopback's state is `unknown`.
            names.append(name)
    return names
