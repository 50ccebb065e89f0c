"""Rules about the machine: memory, disk, limits, kernel settings, and its present load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from howdah.engine.doctor.facts import TEMPORARY, Facts
from howdah.engine.doctor.finding import Level, Rule, Seen
from howdah.errors import HostProblem
from howdah.model.quantity import format_bytes

_FULL_SHARE = 0.95
_FEW_INODES = 100_000
_SLOW_DISK = 100e6
"""Bytes per second. A hard disk of the last ten years writes 100 to 250 MB/s in sequence."""
_LEAST_FILES, _GOOD_FILES = 1024, 16384
"""An idle daemon of 3.4.2 has 190 to 330 files open, 130 of them jars; connections and blocks come on top."""
_LEAST_PROCESSES, _GOOD_PROCESSES = 1024, 4096
"""Threads count as processes here: a daemon of 3.4.2 has 30 to 230."""
_BUSY_SHARE = 0.1
_STEAL_SHARE = 0.05
_GRANTED_SHARE = 0.9
_SHOWN = 60
_NETWORKED = ("nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "glusterfs", "lustre", "gpfs", "beegfs", "afs")


def in_a_line(command: str) -> str:
    """Return the command line of another process for display: on one line, and shortened if it is long."""
    printable = "".join(sign if sign.isprintable() else " " for sign in command)
    words = " ".join(printable.split())
    return words if len(words) <= _SHOWN else f"{words[: _SHOWN - 1]}…"


def _memory(facts: Facts) -> Iterator[Seen]:
    if isinstance(facts.sizing, HostProblem):
        yield Seen("error", facts.sizing.message)
        return
    available, whole = map(format_bytes, (facts.capacity.memory_available, facts.capacity.memory))
    sizing = facts.sizing
    yield Seen(
        "ok",
        f"{available} of {whole} free: {sizing.total_slots} tasks of {sizing.task_mib} MiB; nodes: {sizing.nodes}",
    )


def _swap(facts: Facts) -> Iterator[Seen]:
    swap, used = facts.machine["memory"]["swap"], facts.machine["now"]["swap_used"]
    swappiness = facts.machine["sysctl"].get("vm.swappiness")
    if swap is None or used is None or swappiness is None:
        return
    if swap == 0:
        yield Seen("ok", "there is no swap")
    elif used > 0.01 * facts.capacity.memory:
        yield Seen("warning", f"{format_bytes(used)} are swapped out already", "sudo swapoff -a && sudo swapon -a")
    elif int(swappiness) > 10:
        yield Seen("warning", f"there is swap, and vm.swappiness is {swappiness}")
    else:
        yield Seen("ok", f"vm.swappiness is {swappiness}")


def _overcommit(facts: Facts) -> Iterator[Seen]:
    mode = facts.machine["sysctl"].get("vm.overcommit_memory")
    if mode == "2":
        yield Seen("warning", "vm.overcommit_memory is 2")
    elif mode is not None:
        yield Seen("ok", f"vm.overcommit_memory is {mode}")


def _huge_pages(facts: Facts) -> Iterator[Seen]:
    enabled, defrag = (facts.machine["huge_pages"][name] for name in ("enabled", "defrag"))
    if enabled is None:
        return
    if enabled == "always" and defrag == "always":
        yield Seen("warning", "transparent huge pages and their defragmentation are always on")
    elif enabled == "always":
        yield Seen("note", "transparent huge pages are always on")
    else:
        yield Seen("ok", f"transparent huge pages: {enabled}, defragmentation: {defrag}")


def _disk_space(facts: Facts) -> Iterator[Seen]:
    space, directory = facts.space, facts.request.directory
    free, need = format_bytes(space.free), format_bytes(facts.request.need)
    used = 1 - space.free / space.total
    if space.free < facts.request.need:
        yield Seen("error", f"{free} free in {directory}, {need} are needed")
    elif used > _FULL_SHARE:
        yield Seen("warning", f"{free} free in {directory}: the disk is {used:.0%} full")
    else:
        yield Seen("ok", f"{free} free in {directory}")
    # File systems without a fixed number of inodes (btrfs) say that they have none at all.
    if space.inodes_total > 0 and space.inodes_free < _FEW_INODES:
        yield Seen("warning", f"only {space.inodes_free} more files can be made in {directory}")


def _file_system(facts: Facts) -> Iterator[Seen]:
    mount = facts.machine["mounts"].get(facts.request.directory)
    if mount is None:
        return
    kind = mount["type"]
    where = f"{facts.request.directory} is on {kind} ({mount['source']})"
    if kind in ("tmpfs", "ramfs"):
        yield Seen("warning", f"{where}: memory, not a disk")
    elif kind in _NETWORKED or kind.startswith("fuse"):
        yield Seen("warning", f"{where}: other machines' load and the network are in every number")
    elif kind == "overlay":
        yield Seen("note", f"{where}: a container's layered file system")
    else:
        yield Seen("ok", where)
    if "sync" in mount["options"]:
        yield Seen("warning", f"{mount['target']} is mounted with `sync`: every write waits for the disk")


def _disk_speed(facts: Facts) -> Iterator[Seen]:
    measured = facts.calibration
    if measured is None:
        yield Seen("note", "not measured this time")
        return
    if isinstance(measured, HostProblem):
        yield Seen("warning", measured.message)
        return
    (place,) = measured["places"]
    if not {"bound_disk_write", "bound_disk_read"} <= place.keys():
        yield Seen("note", place["how"]["disk_read"])
        return
    write, read = place["bound_disk_write"], place["bound_disk_read"]
    text = f"{format_bytes(write)}/s written, {format_bytes(read)}/s read"
    yield Seen("warning" if min(write, read) < _SLOW_DISK else "ok", text)


def _temporary(facts: Facts) -> Iterator[Seen]:
    mount = facts.machine["mounts"].get(TEMPORARY)
    if mount is None:
        return
    if "noexec" in mount["options"]:
        yield Seen("warning", f"{TEMPORARY} is mounted with `noexec`", f"sudo mount -o remount,exec {mount['target']}")
    else:
        yield Seen("ok", f"programs and libraries can be loaded from {TEMPORARY}")


def _open_files(facts: Facts) -> Iterator[Seen]:
    yield _limit(facts, "nofile", "open files", _LEAST_FILES, _GOOD_FILES)


def _processes(facts: Facts) -> Iterator[Seen]:
    yield _limit(facts, "nproc", "processes and threads", _LEAST_PROCESSES, _GOOD_PROCESSES)


def _limit(facts: Facts, name: str, what: str, least: int, good: int) -> Seen:
    # The JVM raises its own soft limit to the hard one.
    hard = facts.machine["limits"][name]["hard"]
    if hard == "unlimited" or hard >= good:
        return Seen("ok", f"{what}: {hard}")
    return Seen("error" if hard < least else "warning", f"{what}: at most {hard}, {good} are advised")


def _processors(facts: Facts) -> Iterator[Seen]:
    machine, measured = facts.machine, facts.calibration
    allowed, quota = machine["cpu"]["allowed"], machine["control_groups"]["cpu_cores"]
    whole = f"{allowed} of {machine['cpu']['threads']} processors ({machine['cpu']['model']})"
    if quota is not None and quota < allowed:
        yield Seen("warning", f"{whole}, but a control group grants the time of {quota:g} only")
    elif isinstance(measured, Mapping) and measured["cpu_cores_obtained"] < _GRANTED_SHARE * allowed:
        share = measured["cpu_cores_obtained"] / allowed
        yield Seen("warning", f"{whole}, but {allowed} busy loops together got {share:.0%} of their time")
    else:
        yield Seen("ok", whole)
    limit = machine["control_groups"]["memory"]
    if limit is not None and limit < (machine["memory"]["total"] or 0):
        yield Seen("note", f"a control group allows {format_bytes(limit)} of memory; page cache counts")


def _load(facts: Facts) -> Iterator[Seen]:
    now = facts.machine["now"]
    if now["cpu_busy"] is None:
        return
    busiest = ", ".join(f"{in_a_line(one['command'])} ({one['user']}, pid {one['pid']})" for one in now["busiest"][:3])
    if now["cpu_busy"] > _BUSY_SHARE:
        yield Seen(
            "warning", f"{now['cpu_busy']:.0%} of the processors are busy already: {busiest or 'short processes'}"
        )
    else:
        yield Seen("ok", f"{now['cpu_busy']:.0%} of the processors are busy")


def _java_processes(facts: Facts) -> Iterator[Seen]:
    running: list[dict[str, Any]] = facts.machine["now"]["java"]
    if running:
        some = ", ".join(
            f"{(one['command'].split() or ['java'])[-1]} ({one['user']}, pid {one['pid']})" for one in running[:3]
        )
        yield Seen("note", f"{len(running)} Java processes run here: {some}{', …' if len(running) > 3 else ''}")
    else:
        yield Seen("ok", "no other Java process runs here")


def _steal(facts: Facts) -> Iterator[Seen]:
    steal, hypervisor = facts.machine["now"]["cpu_steal"], facts.machine["virtualisation"]["hypervisor"]
    if steal is None:
        return
    if steal > _STEAL_SHARE:
        yield Seen("warning", f"the hypervisor took {steal:.0%} of the processors' time")
    elif hypervisor is not None:
        yield Seen("note", f"a virtual machine (hypervisor: {hypervisor}); nothing is being taken at the moment")
    else:
        yield Seen("ok", "no hypervisor is seen")


def _governor(facts: Facts) -> Iterator[Seen]:
    governor, driver = facts.machine["cpu"]["governor"], facts.machine["cpu"]["frequency_driver"] or "unnamed"
    if governor is None:
        return
    # These drivers leave the clock rate to the processor: their `powersave` is no fixed low rate.
    own = "pstate" in driver and governor == "powersave"
    level: Level = "ok" if governor == "performance" else "note" if own else "warning"
    yield Seen(level, f"frequency governor: {governor} (driver: {driver})")


def _clock(facts: Facts) -> Iterator[Seen]:
    clock = facts.machine["now"]["clock"]
    if clock is None:
        return
    if clock["synchronised"]:
        yield Seen("ok", f"set by a time server, within {clock['error_seconds']:.3f} s")
    else:
        yield Seen("note", "no time server sets this clock")


RULES = (
    Rule(
        "memory",
        "Daemons and tasks must fit into memory together; what does not fit is killed in the middle of a job.",
        "ps aux --sort -rss | head  # who has it",
        _memory,
        looks=True,
    ),
    Rule(
        "swap",
        "A JVM whose heap is swapped out stops for seconds in every collection, and misses its heartbeats.",
        "sudo sysctl -w vm.swappiness=1",
        _swap,
    ),
    Rule(
        "overcommit",
        "JVMs reserve far more address space than they use; with 2 the kernel refuses it.",
        "sudo sysctl -w vm.overcommit_memory=0",
        _overcommit,
    ),
    Rule(
        "huge-pages",
        "The kernel stops processes while it assembles huge pages; with `madvise`, only those that ask.",
        "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/{enabled,defrag}",
        _huge_pages,
    ),
    Rule(
        "disk-space",
        "Input, output, spills and the shuffle are on the disk at the same time, each replica once.",
        "export HOWDAH_HOME=/path/on/a/larger/disk",
        _disk_space,
    ),
    Rule(
        "file-system",
        "HDFS and the shuffle are meant for local disks.",
        "export HOWDAH_HOME=/path/on/a/local/disk",
        _file_system,
    ),
    Rule(
        "disk-speed",
        "A job reads and writes every byte several times; on a slow disk little else can be seen.",
        "export HOWDAH_HOME=/path/on/a/faster/disk",
        _disk_speed,
    ),
    Rule(
        "tmp",
        "Java libraries, those for compression for instance, unpack native code in `/tmp` and load it.",
        f"sudo mount -o remount,exec {TEMPORARY}",
        _temporary,
    ),
    Rule(
        "open-files",
        "Each block, spill and connection of a daemon is an open file; at the limit, jobs fail.",
        'echo "$USER - nofile 65536" | sudo tee -a /etc/security/limits.conf  # then log in again',
        _open_files,
    ),
    Rule(
        "process-limit",
        "Threads count too: `unable to create native thread` ends a daemon.",
        'echo "$USER - nproc 65536" | sudo tee -a /etc/security/limits.conf  # then log in again',
        _processes,
    ),
    Rule(
        "processors",
        "If programs, the hypervisor or a control group take processor time, runs are slower and noisier.",
        "taskset -cp $$; cat /proc/self/cgroup  # who takes it, and where it is set",
        _processors,
        looks=True,
    ),
    Rule("load", "Others' work is in every number, and differs from run to run.", "top -o %CPU", _load, looks=True),
    Rule(
        "java-processes",
        "Other Java processes hold memory and may be somebody's cluster. Howdah counts only available memory.",
        "jps -l",
        _java_processes,
        looks=True,
    ),
    Rule(
        "steal",
        "Other virtual machines share the processors: the same job takes longer when they are busy.",
        "vmstat 5  # wait until `st` is 0",
        _steal,
        looks=True,
    ),
    Rule(
        "governor",
        "With any other governor than `performance` the clock rate follows the load, and runs differ with it.",
        "sudo cpupower frequency-set -g performance",
        _governor,
    ),
    Rule(
        "clock",
        "On several hosts times cannot be compared, and tokens may be refused; on one host only dates are wrong.",
        "sudo timedatectl set-ntp true",
        _clock,
    ),
)
