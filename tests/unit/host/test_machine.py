"""The parsers on what several kinds of machine show, and the fingerprint of the machine that runs the tests."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Mapping

import pytest

from howdah.host.agent import kernel, machine
from howdah.model.environment import Environment, differences

AMD = """processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 1
model name	: AMD EPYC 7763 64-Core Processor
stepping	: 1
microcode	: 0xa0011d5
flags		: fpu vme aes avx2 sha_ni
bugs		: sysret_ss_attrs

processor	: 1
vendor_id	: AuthenticAMD
model name	: AMD EPYC 7763 64-Core Processor
flags		: fpu vme aes avx2 sha_ni
"""
INTEL = """processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 106
model name	: Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz
stepping	: 6
microcode	: 0xd0003a5
flags		: fpu aes avx512f hypervisor
vmx flags	: vnmi preemption_timer
"""
ARM = """processor	: 0
BogoMIPS	: 50.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x3
CPU part	: 0xd0c
CPU revision	: 1

processor	: 1
BogoMIPS	: 50.00
CPU implementer	: 0x41
CPU part	: 0xd0c
"""
POWER = """processor	: 0
cpu		: POWER9, altivec supported
clock		: 2300.000000MHz
revision	: 2.2 (pvr 004e 1202)
"""


def test_cpuinfo_of_amd():
    facts = kernel.parse_cpuinfo(AMD)
    assert facts["model"] == "AMD EPYC 7763 64-Core Processor"
    assert (facts["vendor"], facts["family"], facts["threads"]) == ("AuthenticAMD", "25", 2)
    assert facts["flags"] == ["aes", "avx2", "fpu", "sha_ni", "vme"]


def test_cpuinfo_of_intel_does_not_take_vmx_flags_for_flags():
    facts = kernel.parse_cpuinfo(INTEL)
    assert facts["model"].startswith("Intel(R) Xeon(R) Platinum 8375C")
    assert facts["flags"] == ["aes", "avx512f", "fpu", "hypervisor"]


def test_cpuinfo_of_arm_names_the_core_by_its_numbers():
    facts = kernel.parse_cpuinfo(ARM)
    assert (facts["model"], facts["vendor"], facts["threads"]) == ("ARM Neoverse-N1", "ARM", 2)
    assert "crc32" in facts["flags"]
    assert kernel.parse_cpuinfo(ARM.replace("0xd0c", "0xfff"))["model"] == "ARM part 0xfff"
    assert kernel.parse_cpuinfo(ARM.replace("0x41", "0x99"))["model"] == "implementer 0x99 part 0xd0c"


def test_cpuinfo_of_power_and_of_nothing():
    assert kernel.parse_cpuinfo(POWER)["model"] == "POWER9, altivec supported"
    assert kernel.parse_cpuinfo("") == {
        "model": None,
        "vendor": None,
        "family": None,
        "stepping": None,
        "microcode": None,
        "flags": [],
        "threads": 0,
    }


def test_meminfo_is_in_bytes_and_counts_stay_counts():
    sizes = kernel.parse_meminfo("MemTotal:       24684092 kB\nHugePages_Total:       8\nHugepagesize:       2048 kB\n")
    assert sizes == {"MemTotal": 24684092 * 1024, "HugePages_Total": 8, "Hugepagesize": 2048 * 1024}


MOUNTS = r"""22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 8:2 / / rw,relatime shared:1 master:2 - ext4 /dev/sda2 rw,errors=remount-ro
40 27 259:3 / /data rw,noatime - xfs /dev/nvme0n1p1 rw,attr2
41 27 0:50 /vol /data/with\040space rw - btrfs /dev/sdb rw,subvol=/vol
42 27 0:60 / /home rw - nfs4 server:/home rw,vers=4.2
43 27 0:61 / /tmp rw,nosuid,noexec - tmpfs tmpfs rw,size=1g
44 27 8:17 / /tmp rw - ext4 /dev/sdb1 rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/data", "xfs"),
        ("/database", "ext4"),
        ("/data/with space/x", "btrfs"),
        ("/home/u/x", "nfs4"),
    ],
)
def test_the_deepest_mount_holds_a_path(path: str, kind: str):
    mount = kernel.mount_of(path, kernel.parse_mountinfo(MOUNTS))
    assert mount is not None
    assert mount["type"] == kind


def test_of_two_mounts_at_one_place_the_last_counts():
    mount = kernel.mount_of("/tmp/x", kernel.parse_mountinfo(MOUNTS))
    assert mount is not None
    assert mount["source"] == "/dev/sdb1"


V2_MOUNTS = "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1_MOUNTS = """34 31 0:32 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct
35 31 0:33 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"""


def limits(membership: str, mounts: str, files: Mapping[str, str]) -> dict:
    return kernel.cgroup_limits(membership, kernel.parse_mountinfo(mounts), files.get)


def test_cgroup_2_takes_the_smallest_limit_on_the_way_up():
    root = "/sys/fs/cgroup"
    assert limits(
        "0::/user.slice/job.scope\n",
        V2_MOUNTS,
        {
            f"{root}/user.slice/job.scope/cpu.max": "max 100000",
            f"{root}/user.slice/job.scope/memory.max": "8589934592",
            f"{root}/user.slice/job.scope/memory.current": "3000000000",
            f"{root}/user.slice/job.scope/memory.stat": "anon 5\ninactive_file 1000000000",
            f"{root}/user.slice/cpu.max": "150000 100000",
            f"{root}/user.slice/memory.max": "max",
        },
    ) == {"versions": [2], "cpu_cores": 1.5, "memory": 8 << 30, "memory_available": (8 << 30) - 2000000000}


def test_cgroup_1_in_a_container():
    cpu, memory = "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/memory"
    files = {
        f"{cpu}/cpu.cfs_quota_us": "50000",
        f"{cpu}/cpu.cfs_period_us": "100000",
        f"{memory}/memory.limit_in_bytes": "1073741824",
        f"{memory}/memory.usage_in_bytes": "1073741824",
        f"{memory}/memory.stat": "inactive_file 1\ntotal_inactive_file 4096",
    }
    membership = "9:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/docker/abc\n"
    assert limits(membership, V1_MOUNTS, files) == {
        "versions": [1],
        "cpu_cores": 0.5,
        "memory": 1 << 30,
        "memory_available": 4096,
    }


def test_no_limit_is_none_in_both_versions():
    nothing = {"cpu_cores": None, "memory": None, "memory_available": None}
    files = {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1", "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "1"}
    files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712"
    assert limits("9:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n", V1_MOUNTS, files) == {"versions": [1], **nothing}
    assert limits("0::/\n", V2_MOUNTS, {}) == {"versions": [2], **nothing}
    assert limits("", "", {}) == {"versions": [], **nothing}


def test_a_cgroup_outside_the_name_space_is_read_at_its_mount():
    files = {"/sys/fs/cgroup/memory.max": "4096"}
    assert limits("0::/../../other\n", V2_MOUNTS, files)["memory"] == 4096


@pytest.mark.parametrize(
    ("environment", "granted"),
    [
        ({}, (None, None)),
        ({"SLURM_CPUS_ON_NODE": "4"}, (None, None)),
        ({"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "4", "SLURM_MEM_PER_NODE": "16384"}, (4, 16 << 30)),
        ({"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "4", "SLURM_MEM_PER_CPU": "2048"}, (4, 8 << 30)),
        ({"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "64", "SLURM_MEM_PER_NODE": "0"}, (64, None)),
        (
            {
                "SLURM_JOB_ID": "1",
                "SLURM_CPUS_ON_NODE": "4",
                "SLURM_MEM_PER_NODE": "0",
                "HOWDAH_SLURM_MEM_PER_NODE": "8192",
                "HOWDAH_SLURM_MEM_PER_CPU": "",
            },
            (4, 8 << 30),
        ),
        ({"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "4(x2)"}, (None, None)),
        ({"PBS_JOBID": "7.head", "NCPUS": "8"}, (8, None)),
    ],
)
def test_what_a_batch_system_granted(environment: Mapping[str, str], granted: tuple[int | None, int | None]):
    assert kernel.batch_grant(environment) == granted


def test_boot_keeps_what_changes_performance():
    text = "BOOT_IMAGE=/vmlinuz root=UUID=1 ro quiet mitigations=off isolcpus=2-5 password=x\n"
    assert kernel.parse_boot(text) == ["isolcpus=2-5", "mitigations=off"]


@pytest.mark.parametrize(("architecture", "length"), [("x86_64", 384), ("aarch64", 400)])
def test_utmp_has_the_users_logged_in(architecture: str, length: int):
    def record(kind: int, user: bytes) -> bytes:
        return struct.pack("=h2xi32s4s32s", kind, 1, b"pts/0", b"ts/0", user).ljust(length, b"\0")

    content = record(2, b"reboot") + record(7, b"ann") + record(7, b"bob") + record(7, b"ann") + record(8, b"gone")
    assert kernel.parse_utmp(content, architecture) == ["ann", "bob"]
    assert kernel.parse_utmp(b"", architecture) == []


def test_shares_of_the_processors():
    before = kernel.parse_processor_times("cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\n")
    after = kernel.parse_processor_times("cpu  140 0 110 740 105 0 0 5 0 0\n")
    assert kernel.shares(before, after) == {"busy": 0.5, "steal": 0.05}
    assert kernel.shares(before, before) is None


def test_process_names_may_hold_anything():
    text = "42 (a) b (c) S 7 42 42 0 -1 4194304 1 2 3 4 11 22 0 0 20 0 1 0 100 4096 5"
    assert kernel.parse_process(text) == {"name": "a) b (c", "ppid": 7, "ticks": 33}


@pytest.mark.parametrize(
    ("words", "short"),
    [
        (["/usr/bin/java", "-Xmx1g", "-Dkey=secret", "-cp", "/a:/b", "org.x.Main", "secret"], "java org.x.Main"),
        (["java", "-jar", "/opt/a.jar"], "java -jar /opt/a.jar"),
        (["java", "@options", "-version"], "java"),
        (["/bin/sleep", "5"], "/bin/sleep 5"),
        ([""], ""),
    ],
)
def test_short_commands_show_no_options_of_java(words: list[str], short: str):
    assert kernel.short_command(words) == short


def test_chosen():
    assert kernel.chosen("always [madvise] never") == "madvise"
    assert kernel.chosen("none") == "none"
    assert kernel.chosen(None) is None


def test_the_fingerprint_agrees_with_itself():
    first = machine.fingerprint(["/tmp", "/proc"])
    second = machine.fingerprint(["/tmp", "/proc"])
    second["network"] = first["network"]  # Tests beside this one simulate hosts, whose cables come and go.
    assert differences(Environment({"h": first}, {}), Environment({"h": second}, {})) == ()
    assert first["cpu"]["allowed"] == len(os.sched_getaffinity(0))
    assert first["memory"]["total"] > 1 << 28
    assert first["mounts"]["/proc"]["type"] == "proc"
    assert first["mounts"]["/proc"]["disk"] is None
    assert set(first["now"]) >= {"load", "cpu_busy", "memory_available", "java", "other_users", "clock"}


def test_the_capacity_is_not_more_than_the_machine():
    capacity = machine.capacity()
    assert 1 <= capacity["processors"] <= len(os.sched_getaffinity(0))
    assert 0 < capacity["memory_available"] <= capacity["memory"]


def test_a_daemon_is_stray_once_its_agent_is_gone():
    # The child of a shell that has ended goes to whoever adopts orphans here, which is no Python process.
    environment = {**os.environ, "HOWDAH_CLUSTER": "test-of-strays"}
    shell = subprocess.run(
        ["sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], env=environment, capture_output=True, check=True
    )
    orphan = int(shell.stdout)
    child = subprocess.Popen(["sleep", "60"], env=environment)
    try:
        strays = {stray["pid"]: stray for stray in machine.stray_processes()}
        assert strays[orphan]["cluster"] == "test-of-strays"
        assert strays[orphan]["command"] == "sleep 60"
        assert child.pid not in strays, f"it is looked after by {sys.executable}"
    finally:
        os.kill(orphan, 9)
        child.kill()
        child.wait()
