"""Facts about this machine: its hardware, its settings, and, under `now`, its activity at the moment.

Facts that a kernel does not show are None or absent, never 0. Sizes are bytes, times are seconds.
"""

from __future__ import annotations

import ctypes
import glob
import hashlib
import os
import pwd
import resource
import time
from typing import Any, Callable

from . import kernel, queueing

BUSY_SECONDS = 0.2
_BUSIEST = 5
_LEAST_SHARE = 0.05
"""One clock tick (10 ms) in BUSY_SECONDS: a smaller share of a processor cannot be distinguished from none."""

_FLAGS = (
    "aes avx avx2 avx512f vaes pclmulqdq sse4_2 sha_ni gfni rdrand hypervisor "
    "asimd crc32 pmull sha1 sha2 sve sve2 atomics"
).split()
"""CPU features that Hadoop's hot paths use through the JVM: CRC32C, AES, SHA, vector loops, atomic instructions."""

SIMULATED = "howdah-sim"
"""Prefix of the interface by which this machine reaches simulated hosts, and of their control groups."""

_LAYERED = ("overlay", "aufs", "zfs")
"""File systems on disks whose mounts do not name these disks."""

_SYSCTLS = (
    "vm.swappiness vm.dirty_ratio vm.dirty_background_ratio vm.dirty_bytes vm.dirty_background_bytes "
    "vm.dirty_expire_centisecs vm.dirty_writeback_centisecs vm.overcommit_memory vm.overcommit_ratio vm.max_map_count "
    "vm.zone_reclaim_mode vm.min_free_kbytes vm.vfs_cache_pressure kernel.numa_balancing kernel.pid_max "
    "kernel.threads-max fs.file-max net.core.somaxconn net.core.netdev_max_backlog net.core.default_qdisc "
    "net.core.rmem_default net.core.rmem_max net.core.wmem_default net.core.wmem_max net.ipv4.ip_local_port_range "
    "net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.ipv4.tcp_congestion_control net.ipv4.tcp_max_syn_backlog "
    "net.ipv4.tcp_slow_start_after_idle net.ipv4.tcp_tw_reuse net.ipv4.tcp_fin_timeout net.ipv4.tcp_window_scaling "
    "net.ipv4.tcp_sack net.ipv4.tcp_timestamps net.ipv4.tcp_mtu_probing"
).split()


def fingerprint(paths: list[str] | None = None) -> dict[str, Any]:
    """Return everything about this machine that a measurement may depend on; `mounts` says what holds each of `paths`.

    Takes about a quarter of a second, BUSY_SECONDS of it to see how busy the machine is. Two readings of one idle
    machine agree in everything outside `now`.
    """
    mounts = kernel.parse_mountinfo(read_text("/proc/self/mountinfo") or "")
    limits = kernel.cgroup_limits(read_text("/proc/self/cgroup") or "", mounts, read_text)
    system = os.uname()
    held = {path: kernel.mount_of(os.path.realpath(path), mounts) for path in paths or ()}
    return {
        "host": system.nodename,
        "user": _user(os.getuid()),
        "architecture": system.machine,
        "kernel": {"name": system.sysname, "release": system.release, "version": system.version},
        "os": kernel.parse_os_release(read_text("/etc/os-release") or ""),
        "boot": kernel.parse_boot(read_text("/proc/cmdline") or ""),
        "vulnerabilities": _directory("/sys/devices/system/cpu/vulnerabilities"),
        "cpu": _cpu(),
        "control_groups": {key: limits[key] for key in ("versions", "cpu_cores", "memory")},
        "memory": _memory(),
        "sysctl": _sysctls(),
        "huge_pages": {
            name: kernel.chosen(read_text("/sys/kernel/mm/transparent_hugepage/" + name))
            for name in ("enabled", "defrag")
        },
        "mounts": {path: _mount_facts(mount) for path, mount in held.items() if mount is not None},
        "disks": _disks([mount for mount in held.values() if mount is not None]),
        "network": _interfaces(),
        "virtualisation": _virtualisation(),
        "firmware": kernel.firmware(read_text),
        "clock_source": read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "limits": _limits(),
        "now": _now(),
    }


def capacity() -> dict[str, int]:
    """Return the resources that a cluster may use here: `processors`, `memory` and `memory_available` (B). Control
    groups are considered, and the grant of a batch system to the job that this process is part of.

    Raises OSError if the kernel does not say how much memory there is.
    """
    sizes = kernel.parse_meminfo(read_text("/proc/meminfo") or "")
    if "MemTotal" not in sizes or "MemAvailable" not in sizes:
        raise OSError("/proc/meminfo has no MemTotal or no MemAvailable")
    mounts = kernel.parse_mountinfo(read_text("/proc/self/mountinfo") or "")
    limits = kernel.cgroup_limits(read_text("/proc/self/cgroup") or "", mounts, read_text)
    processors = len(os.sched_getaffinity(0))
    if limits["cpu_cores"] is not None:
        processors = max(1, min(processors, int(limits["cpu_cores"])))
    memory, available = sizes["MemTotal"], sizes["MemAvailable"]
    if limits["memory"] is not None:
        memory = min(memory, limits["memory"])
        available = min(available, limits["memory_available"])
    granted, share = kernel.batch_grant(os.environ)
    processors = min(processors, granted or processors)
    memory, available = min(memory, share or memory), min(available, share or available)
    return {"processors": processors, "memory": memory, "memory_available": available}


def confine(processors: int) -> None:
    """Restrict this agent, and everything that it starts from now on, to `processors` of the processors that it may use
    now.

    Raises ValueError if there are fewer.
    """
    allowed = sorted(os.sched_getaffinity(0))
    if processors > len(allowed):
        raise ValueError("{} processors are asked for, {} are there".format(processors, len(allowed)))
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), allowed[:processors])


def allowed_processors(pids: list[int]) -> list[int]:
    """Return how many processors each process may use; processes that have ended are left out."""
    found = []
    for pid in pids:
        try:
            found.append(len(os.sched_getaffinity(pid)))
        except ProcessLookupError:
            pass
    return found


def empty_page_cache() -> list[int]:
    """Write back dirty pages and take all files out of memory. Raises OSError for users other than root.

    Returns the bytes of files in memory that no process has mapped, before and after; mapped files stay.
    """
    os.sync()
    before = _cached_bytes()
    with open("/proc/sys/vm/drop_caches", "w") as target:
        target.write("3")
    return [before, _cached_bytes()]


def moment() -> dict[str, float]:
    """Return the time of day, which can be set, and the clock that cannot, read at once: the closest of a few
    readings."""
    readings = []
    for _ in range(5):
        before = time.monotonic()
        utc = time.time()
        after = time.monotonic()
        readings.append((after - before, {"utc": utc, "monotonic": after}))
    return min(readings, key=lambda reading: reading[0])[1]


def stray_processes() -> list[dict[str, Any]]:
    """Return the processes of a cluster (HOWDAH_CLUSTER is in their environment) that no agent watches any more.

    An agent is a Python process and the parent of its daemons. A daemon with another parent has lost its agent, and so
    have the descendants of that daemon. Each process has pid, user, cluster and command. Processes whose environment
    this user may not read are left out.
    """
    parents = {}
    for pid in _pids():
        facts = _process(pid)
        if facts is not None and _cluster(pid) is not None:
            parents[pid] = facts["ppid"]
    strays = []
    for pid in parents:
        eldest = pid
        while parents[eldest] in parents:
            eldest = parents[eldest]
        if not _runs_python(parents[eldest]):
            strays.append(_about(pid))
    return strays


def disk_of(mount: dict[str, Any]) -> str | None:
    """Return the whole disk (`sda`, `nvme0n1`, `md0`) under a mount of `kernel.parse_mountinfo`; None for tmpfs and
    NFS."""
    place: str = os.path.realpath("/sys/dev/block/" + mount["device"])
    if not os.path.isdir(place):
        # btrfs and others have a device number of their own; the mount still names a device.
        place = os.path.realpath("/sys/class/block/" + os.path.basename(os.path.realpath(mount["source"])))
    if not mount["source"].startswith("/dev/") or not os.path.isdir(place):
        return None
    return _whole_disk(place)


def _whole_disk(place: str) -> str:
    """Return the disk of a block device by its directory in /sys; for a partition, the disk that it is a part of."""
    return os.path.basename(os.path.dirname(place) if os.path.exists(place + "/partition") else place)


def disks_below(path: str) -> list[str] | None:
    """Return the disks that hold `path`, sorted: those below partitions, volumes, arrays and loop devices. Empty if the
    path is in memory or on a network; None if its mount does not tell, such as a container's layers."""
    mount = kernel.mount_of(os.path.realpath(path), kernel.parse_mountinfo(read_text("/proc/self/mountinfo") or ""))
    disk = None if mount is None else disk_of(mount)
    if disk is not None:
        return sorted(_lowest(disk))
    told = mount is not None and mount["type"] not in _LAYERED and not mount["source"].startswith("/dev/")
    return [] if told else None


def _lowest(disk: str) -> set[str]:
    place = "/sys/block/" + disk
    file = read_text(place + "/loop/backing_file")
    if file is not None:
        return set(disks_below(file) or ()) or {disk}
    upper = glob.glob(place + "/slaves/*")
    return {name for one in upper for name in _lowest(_whole_disk(os.path.realpath(one)))} or {disk}


def read_text(path: str) -> str | None:
    """Return the content of a small file without surrounding space, or None if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read().strip()
    except OSError:
        return None


def _cpu() -> dict[str, Any]:
    facts = kernel.parse_cpuinfo(read_text("/proc/cpuinfo") or "")
    flags = facts.pop("flags")
    places = [
        (read_text(topology + "/physical_package_id"), read_text(topology + "/core_id"))
        for topology in glob.glob("/sys/devices/system/cpu/cpu[0-9]*/topology")
    ]
    frequency = "/sys/devices/system/cpu/cpu{}/cpufreq/"
    governors = {read_text(frequency.format(cpu) + "scaling_governor") for cpu in os.sched_getaffinity(0)} - {None}
    most = read_text(frequency.format(0) + "cpuinfo_max_freq")
    return {
        **facts,
        "sockets": len({package for package, _ in places}) or None,
        "cores": len(set(places)) or None,
        "allowed": len(os.sched_getaffinity(0)),
        "numa_nodes": len(glob.glob("/sys/devices/system/node/node[0-9]*")) or None,
        "caches": {
            "L{}{}".format(read_text(index + "/level"), (read_text(index + "/type") or "")[:1].lower()): read_text(
                index + "/size"
            )
            for index in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index[0-9]*"))
        },
        "flags": [flag for flag in _FLAGS if flag in flags],
        "flags_sha256": hashlib.sha256(" ".join(flags).encode()).hexdigest(),
        "governor": ", ".join(sorted(name for name in governors if name)) or None,
        "frequency_driver": read_text(frequency.format(0) + "scaling_driver"),
        "frequency_most": None if most is None else int(most) * 1000,
    }


def _memory() -> dict[str, Any]:
    sizes = kernel.parse_meminfo(read_text("/proc/meminfo") or "")
    return {"total": sizes.get("MemTotal"), "swap": sizes.get("SwapTotal"), "huge_pages": sizes.get("HugePages_Total")}


def _cached_bytes() -> int:
    facts = kernel.parse_meminfo(read_text("/proc/meminfo") or "")
    # Memory that is shared (Shmem) counts as Cached and is none of a file.
    return max(0, facts["Cached"] + facts["Buffers"] - facts["Shmem"] - facts["Mapped"])


def _sysctls() -> dict[str, str]:
    values = {name: read_text("/proc/sys/" + name.replace(".", "/")) for name in _SYSCTLS}
    return {name: " ".join(value.split()) for name, value in values.items() if value is not None}


def _mount_facts(mount: dict[str, Any]) -> dict[str, Any]:
    facts = {key: mount[key] for key in ("target", "source", "type", "options")}
    return {**facts, "disk": disk_of(mount)}


def _disks(mounts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the disks with hardware below them, and everything else that holds a requested path."""
    names = {os.path.basename(path) for path in glob.glob("/sys/block/*") if os.path.exists(path + "/device")}
    names |= {disk for disk in map(disk_of, mounts) if disk is not None}
    disks = {}
    for name in sorted(names):
        place = "/sys/block/" + name
        sectors = read_text(place + "/size")
        rotational = read_text(place + "/queue/rotational")
        depth = read_text(place + "/queue/nr_requests")
        disks[name] = {
            "model": read_text(place + "/device/model"),
            "size": None if sectors is None else int(sectors) * 512,
            "rotational": None if rotational is None else rotational == "1",
            "scheduler": kernel.chosen(read_text(place + "/queue/scheduler")),
            "queue_depth": None if depth is None else int(depth),
            "write_cache": read_text(place + "/queue/write_cache"),
        }
    return disks


def _interfaces() -> dict[str, Any]:
    found, disciplines = {}, queueing.disciplines()
    for place in sorted(glob.glob("/sys/class/net/*")):
        name = os.path.basename(place)
        if name.startswith(SIMULATED):
            continue  # They come and go, perhaps by somebody else.
        if os.path.exists(place + "/master") and not os.path.exists(place + "/device"):
            continue  # A port of a bridge: it comes and goes with somebody's container.
        speed, mtu = read_text(place + "/speed"), read_text(place + "/mtu")
        found[name] = {
            # -1 stands for unknown; megabits a second.
            "speed": int(speed) * 1000000 if speed and int(speed) > 0 else None,
            "mtu": None if mtu is None else int(mtu),
            "state": read_text(place + "/operstate"),
            "queueing": None if disciplines is None else disciplines.get(name, []),
        }
    return found


def _virtualisation() -> dict[str, Any]:
    identity = [read_text("/sys/class/dmi/id/" + name) for name in ("sys_vendor", "product_name")]
    first = (read_text("/proc/cpuinfo") or "").partition("\n\n")[0]
    container = read_text("/run/systemd/container") or ("docker" if os.path.exists("/.dockerenv") else None)
    return {
        "hypervisor": read_text("/sys/hypervisor/type")
        or read_text("/proc/device-tree/hypervisor/compatible")
        or ("unnamed" if " hypervisor" in first else None),
        "machine": " ".join(word for word in identity if word) or None,
        "container": container,
    }


def _limits() -> dict[str, Any]:
    kinds = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC, "memlock": resource.RLIMIT_MEMLOCK}
    limits = {}
    for name, kind in kinds.items():
        soft, hard = resource.getrlimit(kind)
        limits[name] = {
            "soft": "unlimited" if soft == resource.RLIM_INFINITY else soft,
            "hard": "unlimited" if hard == resource.RLIM_INFINITY else hard,
        }
    return limits


def _now() -> dict[str, Any]:
    pids = _pids()
    before = {pid: _process(pid) for pid in pids}
    start = time.monotonic()
    times = kernel.parse_processor_times(read_text("/proc/stat") or "")
    time.sleep(BUSY_SECONDS)
    share = kernel.shares(times, kernel.parse_processor_times(read_text("/proc/stat") or "")) or {}
    seconds = time.monotonic() - start
    after = {pid: _process(pid) for pid in pids}
    sizes = kernel.parse_meminfo(read_text("/proc/meminfo") or "")
    swap, swap_free = sizes.get("SwapTotal"), sizes.get("SwapFree")
    return {
        "utc": time.time(),
        "load": list(os.getloadavg()),
        "cpu_busy": share.get("busy"),
        "cpu_steal": share.get("steal"),
        "memory_available": sizes.get("MemAvailable"),
        "swap_used": None if swap is None or swap_free is None else swap - swap_free,
        "busiest": _busiest(before, after, seconds),
        "java": [_about(pid) for pid, facts in after.items() if facts is not None and facts["name"] == "java"],
        "other_users": _other_users(pids),
        "clock": _clock(),
    }


def _busiest(
    before: dict[int, dict[str, Any] | None], after: dict[int, dict[str, Any] | None], seconds: float
) -> list[dict[str, Any]]:
    """Return the processes that took most processor time meanwhile, without this one; `share` is of one processor."""
    tick = 1.0 / os.sysconf("SC_CLK_TCK")
    used = []
    for pid, late in after.items():
        early = before.get(pid)
        if early is not None and late is not None and pid != os.getpid():
            share = (late["ticks"] - early["ticks"]) * tick / seconds
            if share >= _LEAST_SHARE:
                used.append((share, pid))
    return [{**_about(pid), "share": round(share, 2)} for share, pid in sorted(used, reverse=True)[:_BUSIEST]]


def _other_users(pids: list[int]) -> list[str]:
    """Return the people other than this user who are logged in or have processes; system accounts (uid < 1000) are
    none."""
    names = set()
    try:
        with open("/var/run/utmp", "rb") as source:
            names |= set(kernel.parse_utmp(source.read(), os.uname().machine))
    except OSError:
        pass
    owners = {_owner("/proc/{}".format(pid)) for pid in pids}
    owners |= {int(name) for name in map(os.path.basename, glob.glob("/run/systemd/users/*")) if name.isdigit()}
    names |= {_user(uid) for uid in owners if uid is not None and 1000 <= uid < 65534}
    return sorted(names - {_user(os.getuid()), ""})


def _clock() -> dict[str, Any] | None:
    """Return whether something keeps the clock right, and its possible error: from adjtimex(2), which may be
    missing."""

    class Timex(ctypes.Structure):
        _fields_ = [
            ("modes", ctypes.c_uint),
            ("offset", ctypes.c_long),
            ("freq", ctypes.c_long),
            ("maxerror", ctypes.c_long),
            ("esterror", ctypes.c_long),
            ("status", ctypes.c_int),
            ("rest", ctypes.c_byte * 256),
        ]

    reading = Timex()
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(reading))
    except (OSError, AttributeError):
        return None
    if state < 0:
        return None
    unsynchronised = state == 5 or bool(reading.status & 0x40)  # TIME_ERROR, STA_UNSYNC
    return {"synchronised": not unsynchronised, "error_seconds": reading.maxerror / 1e6}


def _directory(path: str) -> dict[str, str]:
    values = {os.path.basename(file): read_text(file) for file in sorted(glob.glob(path + "/*"))}
    return {name: value for name, value in values.items() if value is not None}


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _process(pid: int) -> dict[str, Any] | None:
    text = read_text("/proc/{}/stat".format(pid))
    return kernel.parse_process(text) if text else None


def _runs_python(pid: int) -> bool:
    try:
        return os.path.basename(os.readlink("/proc/{}/exe".format(pid))).startswith("python")
    except OSError:
        return False  # Gone, or another user's: no agent of this user.


def _about(pid: int) -> dict[str, Any]:
    words = (read_text("/proc/{}/cmdline".format(pid)) or "").rstrip("\0").split("\0")
    owner = _owner("/proc/{}".format(pid))
    facts = {
        "pid": pid,
        "user": None if owner is None else _user(owner),
        "command": kernel.short_command(words),
    }
    cluster = _cluster(pid)
    return facts if cluster is None else {**facts, "cluster": cluster}


def _cluster(pid: int) -> str | None:
    for setting in (read_text("/proc/{}/environ".format(pid)) or "").split("\0"):
        if setting.startswith("HOWDAH_CLUSTER="):
            return setting.partition("=")[2]
    return None


def _owner(path: str) -> int | None:
    try:
        return os.stat(path).st_uid
    except OSError:
        return None


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "machine.allowed_processors": allowed_processors,
    "machine.capacity": capacity,
    "machine.confine": confine,
    "machine.empty_page_cache": empty_page_cache,
    "machine.fingerprint": fingerprint,
    "machine.moment": moment,
    "machine.stray_processes": stray_processes,
}
