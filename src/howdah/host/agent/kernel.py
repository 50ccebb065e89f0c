"""The kernel's text files, parsed. Nothing here reads a file, except through a Reader that it was given."""

from __future__ import annotations

import os
import struct
from typing import Any, Callable, Mapping, Optional

Reader = Callable[[str], Optional[str]]
"""Function that returns the content of a file without surrounding space, or None if there is none."""

_ARM_IMPLEMENTERS = {"0x41": "ARM", "0xc0": "Ampere", "0x48": "HiSilicon", "0x51": "Qualcomm", "0x61": "Apple"}
_ARM_PARTS = {
    ("0x41", "0xd03"): "Cortex-A53",
    ("0x41", "0xd08"): "Cortex-A72",
    ("0x41", "0xd0b"): "Cortex-A76",
    ("0x41", "0xd0c"): "Neoverse-N1",
    ("0x41", "0xd40"): "Neoverse-V1",
    ("0x41", "0xd49"): "Neoverse-N2",
    ("0x41", "0xd4f"): "Neoverse-V2",
    ("0xc0", "0xac3"): "Ampere-1",
    ("0xc0", "0xac4"): "Ampere-1a",
    ("0x48", "0xd01"): "Kunpeng-920",
}
"""CPU implementer and part as in the MIDR_EL1 register (Linux: arch/arm64/include/asm/cputype.h)."""

_FIRMWARE = ("bios_vendor", "bios_version", "bios_date", "board_vendor", "board_name")

_BOOT = (
    "mitigations nosmt isolcpus nohz nohz_full rcu_nocbs intel_pstate amd_pstate intel_idle.max_cstate "
    "processor.max_cstate idle cpuidle.off transparent_hugepage hugepages hugepagesz default_hugepagesz numa "
    "numa_balancing pti kpti spectre_v2 spec_store_bypass_disable mds tsx tsc clocksource iommu intel_iommu "
    "elevator psi audit maxcpus nr_cpus mem"
).split()


def firmware(read: Reader) -> dict[str, Optional[str]]:
    """Return the firmware's vendor, version and date, and the board, as far as the kernel lets one read them."""
    names = {name: read("/sys/class/dmi/id/" + name) or None for name in _FIRMWARE}
    board = " ".join(word for word in (names.pop("board_vendor"), names.pop("board_name")) if word)
    return {**{name[len("bios_") :]: value for name, value in names.items()}, "board": board or None}


def parse_cpuinfo(text: str) -> dict[str, Any]:
    """Return model, vendor, stepping, microcode, flags (sorted) and threads in a /proc/cpuinfo of x86, ARM or POWER."""
    first: dict[str, str] = {}
    threads = 0
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        key = key.strip()
        if colon:
            threads += key == "processor"
            first.setdefault(key, value.strip())
    implementer, part = first.get("CPU implementer"), first.get("CPU part")
    arm = None
    if implementer is not None:
        arm = "{} {}".format(
            _ARM_IMPLEMENTERS.get(implementer, "implementer " + implementer),
            _ARM_PARTS.get((implementer, part or ""), "part {}".format(part)),
        )
    return {
        "model": first.get("model name") or arm or first.get("cpu"),
        "vendor": first.get("vendor_id") or (implementer and _ARM_IMPLEMENTERS.get(implementer, implementer)),
        "family": first.get("cpu family") or first.get("CPU architecture"),
        "stepping": first.get("stepping") or first.get("CPU revision") or first.get("revision"),
        "microcode": first.get("microcode"),
        "flags": sorted((first.get("flags") or first.get("Features") or "").split()),
        "threads": threads,
    }


def parse_meminfo(text: str) -> dict[str, int]:
    """Return /proc/meminfo in bytes by the kernel's names; counts of huge pages stay counts."""
    sizes = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        words = value.split()
        if words:
            sizes[key] = int(words[0]) * (1024 if words[1:] == ["kB"] else 1)
    return sizes


def parse_mountinfo(text: str) -> list[dict[str, Any]]:
    """Return the mounts of /proc/self/mountinfo: target, source, type, device (major:minor), root within it, options
    (sorted)."""
    mounts = []
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        about, kind = left.split(), right.split()
        if len(about) >= 6 and len(kind) >= 2:
            options = set(about[5].split(",")) | set(kind[2].split(",") if len(kind) > 2 else ())
            mounts.append(
                {
                    "target": _unescape(about[4]),
                    "source": _unescape(kind[1]),
                    "type": kind[0],
                    "device": about[2],
                    "root": _unescape(about[3]),
                    "options": sorted(options),
                }
            )
    return mounts


def mount_of(path: str, mounts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the mount that holds the absolute `path`: the deepest one, and the last of several at one place."""
    best = None
    for mount in mounts:
        target = mount["target"].rstrip("/")
        inside = path == target or path.startswith(target + "/")
        if inside and (best is None or len(target) >= len(best["target"].rstrip("/"))):
            best = mount
    return best


def cgroup_limits(membership: str, mounts: list[dict[str, Any]], read: Reader) -> dict[str, Any]:
    """Return the grants of control groups to this process: `cpu_cores`, `memory` and `memory_available`, None without a
    limit.

    `versions` are those of the hierarchies in use. `membership` is /proc/self/cgroup. Limits of all the groups above
    count, too: the smallest one holds. Page cache that can be dropped counts as available.
    """
    versions = set()
    found: dict[str, Any] = {}
    for kind, limit in (("cpu", _cpu_limit), ("memory", _memory_limit), ("memory_available", _memory_left)):
        version, directories = _cgroup_directories(kind.partition("_")[0], membership, mounts)
        versions.add(version)
        values = [limit(directory, read) for directory in directories]
        found[kind] = min((value for value in values if value is not None), default=None)
    return {
        "versions": sorted(version for version in versions if version is not None),
        "cpu_cores": found["cpu"],
        "memory": found["memory"],
        "memory_available": found["memory_available"],
    }


def parse_boot(text: str) -> list[str]:
    """Return the boot parameters of /proc/cmdline that change performance, sorted."""
    return sorted(word for word in text.split() if word.partition("=")[0] in _BOOT)


def batch_grant(environment: Mapping[str, str]) -> tuple[int | None, int | None]:
    """Return the processors and the bytes of memory that a batch system granted its job on this node, None for either
    that is not stated. They come from the environment of the job: not every site has the kernel enforce them.

    Slurm: SLURM_CPUS_ON_NODE; SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU for each processor, in MiB, where 0 is all of
    the node's (sbatch(1), output environment variables). The step of the agents has all memory, so that it says nothing
    of the job's: HOWDAH_ and the name is the job's. PBS: NCPUS (pbs(8), environment of a job).
    """

    def number(name: str) -> int | None:
        text = environment.get("HOWDAH_" + name) or environment.get(name, "")
        return int(text) if text.isdigit() and int(text) > 0 else None

    if "SLURM_JOB_ID" in environment:
        processors, memory, each = map(number, ("SLURM_CPUS_ON_NODE", "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU"))
        if memory is None and each is not None and processors is not None:
            memory = each * processors
        return processors, None if memory is None else memory << 20
    if "PBS_JOBID" in environment:
        return number("NCPUS"), None
    return None, None


def parse_os_release(text: str) -> str | None:
    """Return the name that a distribution gives itself in /etc/os-release."""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip("\"'")
    return None


def parse_utmp(content: bytes, architecture: str) -> list[str]:
    """Return the users logged in according to a utmp file, sorted.

    A record (utmp(5)) has its type as a short at 0 (7: a user's process) and the user in 32 bytes at 44. It is 384
    bytes long if glibc keeps 32-bit times in it, 400 on ARM64.
    """
    length = 400 if architecture == "aarch64" else 384
    names = set()
    for start in range(0, len(content) - length + 1, length):
        kind, user = struct.unpack_from("=h42x32s", content, start)
        if kind == 7:
            names.add(user.split(b"\0")[0].decode("utf-8", "replace"))
    return sorted(names)


def parse_processor_times(text: str) -> list[int]:
    """Return the first line of /proc/stat in clock ticks: user, nice, system, idle, iowait, irq, softirq, steal."""
    return [int(word) for word in text.split("\n", 1)[0].split()[1:9]]


def shares(before: list[int], after: list[int]) -> dict[str, float] | None:
    """Return the share of all processors that was busy, and that was stolen, between two `parse_processor_times`."""
    spent = [after[place] - before[place] for place in range(len(before))]
    total = sum(spent)
    if total <= 0:
        return None
    steal = spent[7] if len(spent) > 7 else 0
    return {"busy": (total - spent[3] - spent[4] - steal) / total, "steal": steal / total}


def parse_process(text: str) -> dict[str, Any]:
    """Return `name`, `ppid`, and `ticks` of processor time (user + system) from /proc/PID/stat."""
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    return {"name": name, "ppid": int(fields[1]), "ticks": int(fields[11]) + int(fields[12])}


def short_command(words: list[str]) -> str:
    """Return the start of a command line. For Java, return the program and its main class or jar: options may hold
    secrets."""
    if os.path.basename(words[0]) != "java":
        return " ".join(words)[:100]
    rest = iter(words[1:])
    for word in rest:
        if word in ("-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules"):
            next(rest, None)
        elif word in ("-jar", "-m", "--module"):
            return "java {} {}".format(word, next(rest, ""))
        elif not word.startswith(("-", "@")):
            return "java " + word
    return "java"


def chosen(text: str | None) -> str | None:
    """Return the word in brackets of `always [madvise] never`; the whole text if nothing is in brackets."""
    if text is None:
        return None
    inside = text.partition("[")[2].partition("]")[0]
    return inside or text


def _cgroup_directories(controller: str, membership: str, mounts: list[dict[str, Any]]) -> tuple[int | None, list[str]]:
    """Return the version that has `controller`, and this process's group with all groups above it, deepest first."""
    for line in membership.splitlines():
        number, controllers, path = line.split(":", 2)
        unified = number == "0" and controllers == ""
        if controller not in controllers.split(",") and not unified:
            continue
        for mount in mounts:
            if mount["type"] == "cgroup2" if unified else mount["type"] == "cgroup" and controller in mount["options"]:
                return (2 if unified else 1), _upwards(mount, path)
    return None, []


def _upwards(mount: dict[str, Any], path: str) -> list[str]:
    root = mount["root"].rstrip("/")
    inside = path[len(root) :] if path.startswith(root) else path
    if inside.startswith("/.."):
        inside = ""  # Above what this name space shows: only the mount itself can be read.
    parts = [part for part in inside.split("/") if part]
    return ["/".join([mount["target"], *parts[:count]]) for count in range(len(parts), -1, -1)]


def _cpu_limit(directory: str, read: Reader) -> float | None:
    both = (read(directory + "/cpu.max") or "").split()
    quota = both[0] if both else read(directory + "/cpu.cfs_quota_us")
    period = both[1] if len(both) > 1 else read(directory + "/cpu.cfs_period_us")
    if quota is None or period is None or quota == "max" or int(quota) <= 0:
        return None
    return int(quota) / int(period)


def _memory_limit(directory: str, read: Reader) -> int | None:
    limit = read(directory + "/memory.max") or read(directory + "/memory.limit_in_bytes")
    # Version 1 says "no limit" with the largest number of pages that fits.
    if limit is None or limit == "max" or int(limit) >= 1 << 60:
        return None
    return int(limit)


def _memory_left(directory: str, read: Reader) -> int | None:
    limit = _memory_limit(directory, read)
    used = read(directory + "/memory.current") or read(directory + "/memory.usage_in_bytes")
    if limit is None or used is None:
        return limit
    statistics = dict(line.split() for line in (read(directory + "/memory.stat") or "").splitlines())
    cache = int(statistics.get("total_inactive_file") or statistics.get("inactive_file") or 0)
    return max(0, limit - int(used) + cache)


def _unescape(text: str) -> str:
    """Return `text` of mountinfo with space, tab, newline and backslash in place of their octal numbers."""
    for code, plain in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, plain)
    return text
