"""The doctor's rules on recorded facts: of the machine they were written on, and of what else can be met."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howdah.engine.doctor import RULES, DoctorFinding, Facts, Request, examine, failed, judgement, to_json
from howdah.engine.doctor.machine import in_a_line
from howdah.engine.doctor.page import page
from howdah.errors import HostProblem
from howdah.hadoop.configuration.sizing import size_cluster
from howdah.hadoop.distribution.jdk import Jdk
from howdah.host.operations import Capacity, ResolvedName, Space, Stray
from tests.plans import plan_of

GIB = 1 << 30

MACHINE: dict[str, Any] = {
    "architecture": "x86_64",
    "cpu": {"model": "AMD EPYC", "threads": 2, "allowed": 2, "governor": None, "frequency_driver": None},
    "control_groups": {"versions": [1], "cpu_cores": None, "memory": None},
    "memory": {"total": 24 * GIB, "swap": 0},
    "sysctl": {
        "vm.swappiness": "60",
        "vm.overcommit_memory": "0",
        "net.ipv4.ip_local_port_range": "32768 60999",
    },
    "huge_pages": {"enabled": "madvise", "defrag": "madvise"},
    "mounts": {
        "/home/ann/.howdah": {"target": "/", "source": "/dev/vda", "type": "ext4", "options": ["rw"], "disk": "vda"},
        "/tmp": {"target": "/", "source": "/dev/vda", "type": "ext4", "options": ["rw"], "disk": "vda"},
    },
    "virtualisation": {"hypervisor": None, "machine": None, "container": None},
    "limits": {"nofile": {"soft": 1024, "hard": 20000}, "nproc": {"soft": 96365, "hard": "unlimited"}},
    "now": {
        "cpu_busy": 0.02,
        "cpu_steal": 0.0,
        "swap_used": 0,
        "busiest": [],
        "java": [],
        "other_users": [],
        "clock": {"synchronised": True, "error_seconds": 0.01},
    },
}
JDK = Jdk("/usr/lib/jvm/java-17", (17, 0, 15), "Debian", "x86_64", ())
CALIBRATION = {"cpu_cores_obtained": 1.97, "places": [{"bound_disk_write": 365e6, "bound_disk_read": 1.2e9}]}
HEALTHY = Facts(
    request=Request("/home/ann/.howdah", 3, "3.4.2", 10 * 10**9),
    machine=MACHINE,
    capacity=Capacity(processors=2, memory=24 * GIB, memory_available=22 * GIB),
    space=Space(total=270 * 10**9, free=80 * 10**9, inodes_total=10**7, inodes_free=9 * 10**6, device=1),
    name=ResolvedName("vm", ["127.0.0.1"], {}, 0.001),
    jdk=JDK,
    sizing=size_cluster(3, 2, 24 * GIB, 22 * GIB, 80 * GIB),
    plan=plan_of(3, name="doctor", hosts=("vm",)),
    release=None,
    maven="/usr/bin/mvn",
    strays=(),
    leftovers=(),
    calibration=CALIBRATION,
)


def with_machine(**changes: Any) -> Facts:
    """HEALTHY with other facts of the machine: `now__cpu_busy=0.5` changes one inside `now`."""
    machine = copy.deepcopy(MACHINE)
    for path, value in changes.items():
        *sections, last = path.split("__")
        section = machine
        for name in sections:
            section = section[name]
        section[last] = value
    return replace(HEALTHY, machine=machine)


def with_mount(path: str, **changes: Any) -> Facts:
    return with_machine(mounts={**MACHINE["mounts"], path: {**MACHINE["mounts"][path], **changes}})


def with_sysctl(**changes: str) -> Mapping[str, str]:
    return {**MACHINE["sysctl"], **{name.replace("__", "."): value for name, value in changes.items()}}


def of(facts: Facts, name: str) -> list[DoctorFinding]:
    return [finding for finding in examine(facts, RULES) if finding.name == name]


@pytest.mark.promise("A fact that the machine does not show is a note", "how-to/doctor")
def test_a_healthy_machine_has_nothing_but_what_it_does_not_show():
    findings = examine(HEALTHY, RULES)
    assert {finding.name for finding in findings} == {rule.name for rule in RULES}
    assert [finding.name for finding in findings if finding.level != "ok"] == ["governor"]
    assert all(finding.fix is None for finding in findings)
    assert not failed(findings)


HOME = "/home/ann/.howdah"
PROBLEM = HostProblem("it is not there", hint="Do something.")
JAVA = {"pid": 7, "user": "bob", "command": "java org.x.NameNode"}

CASES: list[tuple[str, str, str, Facts]] = [
    ("java", "error", "it is not there", replace(HEALTHY, jdk=PROBLEM)),
    ("java", "note", "jdk.security.jgss", replace(HEALTHY, jdk=replace(JDK, modules=("java.base",)))),
    ("java", "warning", "is for aarch64", replace(HEALTHY, jdk=replace(JDK, architecture="aarch64"))),
    ("java", "ok", "amd64", replace(HEALTHY, jdk=replace(JDK, architecture="amd64"))),
    ("hadoop", "error", "no mvn", replace(HEALTHY, release=PROBLEM, maven=None)),
    ("hadoop", "ok", "/usr/bin/mvn will fetch", replace(HEALTHY, release=PROBLEM)),
    ("ports", "error", "it is not there", replace(HEALTHY, plan=PROBLEM)),
    (
        "ports",
        "warning",
        "15000 to 60999",
        with_machine(sysctl=with_sysctl(net__ipv4__ip_local_port_range="15000 60999")),
    ),
    ("host-name", "error", "no answer", replace(HEALTHY, name=replace(HEALTHY.name, addresses=[], error="no answer"))),
    ("host-name", "warning", "5.0 s", replace(HEALTHY, name=replace(HEALTHY.name, seconds=5.0))),
    ("leftovers", "warning", "'lab'", replace(HEALTHY, leftovers=("lab",))),
    ("stray-processes", "warning", "1 processes", replace(HEALTHY, strays=(Stray(7, "bob", "lab", "java"),))),
    ("other-users", "warning", "bob", with_machine(now__other_users=["bob"])),
    ("memory", "error", "it is not there", replace(HEALTHY, sizing=PROBLEM)),
    ("swap", "warning", "1.00 GB are swapped out", with_machine(memory__swap=4 * GIB, now__swap_used=10**9)),
    ("swap", "warning", "vm.swappiness is 60", with_machine(memory__swap=4 * GIB)),
    ("swap", "ok", "is 1", with_machine(memory__swap=4 * GIB, sysctl=with_sysctl(vm__swappiness="1"))),
    ("overcommit", "warning", "is 2", with_machine(sysctl=with_sysctl(vm__overcommit_memory="2"))),
    ("huge-pages", "warning", "always", with_machine(huge_pages={"enabled": "always", "defrag": "always"})),
    ("huge-pages", "note", "always", with_machine(huge_pages={"enabled": "always", "defrag": "madvise"})),
    ("huge-pages", "note", "not checked", with_machine(huge_pages={"enabled": None, "defrag": None})),
    ("disk-space", "error", "9.00 GB free", replace(HEALTHY, space=replace(HEALTHY.space, free=9 * 10**9))),
    ("disk-space", "warning", "96% full", replace(HEALTHY, space=replace(HEALTHY.space, total=2 * 10**12))),
    ("disk-space", "warning", "only 12 more files", replace(HEALTHY, space=replace(HEALTHY.space, inodes_free=12))),
    ("file-system", "warning", "memory, not a disk", with_mount(HOME, type="tmpfs", source="tmpfs")),
    ("file-system", "warning", "the network", with_mount(HOME, type="nfs4", source="server:/home")),
    ("file-system", "warning", "the network", with_mount(HOME, type="fuse.sshfs", source="server:")),
    ("file-system", "note", "layered", with_mount(HOME, type="overlay", source="overlay")),
    ("file-system", "warning", "every write waits", with_mount(HOME, options=["rw", "sync"])),
    (
        "disk-speed",
        "warning",
        "40.0 MB/s written",
        replace(HEALTHY, calibration={**CALIBRATION, "places": [{"bound_disk_write": 40e6, "bound_disk_read": 1e9}]}),
    ),
    ("disk-speed", "note", "not measured", replace(HEALTHY, calibration=None)),
    (
        "disk-speed",
        "note",
        "too little",
        replace(
            HEALTHY,
            calibration={**CALIBRATION, "places": [{"how": {"disk_write": "too little", "disk_read": "too little"}}]},
        ),
    ),
    ("disk-speed", "warning", "it is not there", replace(HEALTHY, calibration=PROBLEM)),
    ("tmp", "warning", "noexec", with_mount("/tmp", target="/tmp", options=["rw", "noexec"])),
    ("open-files", "warning", "at most 4096", with_machine(limits__nofile={"soft": 1024, "hard": 4096})),
    ("open-files", "error", "at most 512", with_machine(limits__nofile={"soft": 512, "hard": 512})),
    ("process-limit", "warning", "at most 2000", with_machine(limits__nproc={"soft": 2000, "hard": 2000})),
    ("processors", "warning", "1.5 only", with_machine(control_groups__cpu_cores=1.5)),
    (
        "processors",
        "warning",
        "60% of their time",
        replace(HEALTHY, calibration={**CALIBRATION, "cpu_cores_obtained": 1.2}),
    ),
    ("processors", "note", "4.29 GB of memory", with_machine(control_groups__memory=4 * GIB)),
    ("load", "warning", "50% of the processors", with_machine(now__cpu_busy=0.5)),
    ("load", "note", "not checked", with_machine(now__cpu_busy=None)),
    ("java-processes", "note", "org.x.NameNode (bob, pid 7)", with_machine(now__java=[JAVA])),
    ("java-processes", "note", "here: java (bob, pid 7)", with_machine(now__java=[{**JAVA, "command": ""}])),
    ("steal", "warning", "20%", with_machine(now__cpu_steal=0.2)),
    ("steal", "note", "kvm", with_machine(virtualisation__hypervisor="kvm")),
    ("governor", "warning", "ondemand", with_machine(cpu__governor="ondemand", cpu__frequency_driver="acpi-cpufreq")),
    ("governor", "note", "powersave", with_machine(cpu__governor="powersave", cpu__frequency_driver="intel_pstate")),
    ("governor", "ok", "performance", with_machine(cpu__governor="performance")),
    ("clock", "note", "no time server", with_machine(now__clock={"synchronised": False, "error_seconds": 16.0})),
    ("clock", "note", "not checked", with_machine(now__clock=None)),
]


@pytest.mark.promise("Each check of the page finds what is wrong, and nothing else", "how-to/doctor")
@pytest.mark.parametrize(("name", "level", "text", "facts"), CASES, ids=[f"{case[0]}-{case[2]}" for case in CASES])
def test_what_is_wrong_is_found_and_nothing_else(name: str, level: str, text: str, facts: Facts):
    assert [finding for finding in of(facts, name) if finding.level == level and text in finding.finding]
    changed = {finding for finding in examine(facts, RULES) if finding.level in ("warning", "error")}
    assert {finding.name for finding in changed} <= {name}
    assert failed(changed) == (level == "error")


@pytest.mark.promise("Each check of the page finds what is wrong, and nothing else", "how-to/doctor")
def test_every_rule_is_tried_on_something_that_is_wrong():
    assert {case[0] for case in CASES if case[1] != "ok"} == {rule.name for rule in RULES}


def test_a_fix_names_what_was_found():
    assert of(replace(HEALTHY, leftovers=("lab",)), "leftovers")[0].fix == "howdah down --name lab"
    strays = tuple(Stray(pid, "bob", "lab", "java org.x.NameNode") for pid in (7, 8))
    assert of(replace(HEALTHY, strays=strays), "stray-processes")[0].fix == "kill 7 8"


def test_a_file_system_without_a_number_of_inodes_has_enough():
    facts = replace(HEALTHY, space=replace(HEALTHY.space, inodes_total=0, inodes_free=0))
    assert [finding.level for finding in of(facts, "disk-space")] == ["ok"]


def test_as_json_a_finding_is_plain():
    (record,) = to_json(of(with_machine(now__other_users=["bob"]), "other-users"))
    assert record["level"] == "warning"
    assert set(record) == {"name", "level", "finding", "meaning", "fix", "looks", "host"}


@pytest.mark.promise("The doctor ends with a judgement", "how-to/doctor")
@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (HEALTHY, "Clusters will start, and nothing was found that makes numbers doubtful."),
        (with_machine(now__other_users=["bob"]), "Clusters will start. Numbers made now will be doubtful: 1 warning."),
        (replace(HEALTHY, jdk=HostProblem("no Java")), "Clusters will not start, or not stay up: 1 error."),
    ],
)
def test_the_last_word_is_a_judgement(facts: Facts, words: str):
    assert judgement(examine(facts, RULES)) == words


@pytest.mark.promise("The doctor tells a command that fixes from one that only shows more", "how-to/doctor")
def test_a_fix_is_told_from_a_look():
    [busy] = [one for one in of(with_machine(now__cpu_busy=0.9), "load") if one.level == "warning"]
    assert (busy.fix, busy.looks) == ("top -o %CPU", True)
    [swap] = of(with_machine(now__swap_used=10**10, memory__swap=10**11), "swap")
    assert swap.looks is False
    assert not any(one.looks for one in of(HEALTHY, "load"))
    others = of(with_machine(now__other_users=["bob"]), "other-users")
    assert "down" not in (others[0].fix or ""), "nobody's clusters are in the way"


def test_a_command_is_one_line_whatever_it_is():
    assert in_a_line("python3 -c import runpy\nimport sys\n" + "x" * 100) == (
        "python3 -c import runpy import sys " + "x" * 24 + "…"
    )
    assert in_a_line("a\x1b[31mb") == "a [31mb"


@pytest.mark.promise("The page is made from the table that the program uses", "how-to/doctor")
def test_the_page_is_the_table():
    written = Path(__file__).parents[4] / "docs" / "how-to" / "doctor.md"
    assert written.read_text(encoding="utf-8") == page(), "python -m howdah.engine.doctor.page > docs/how-to/doctor.md"


@pytest.mark.promise("Each warning and error has a command that fixes it or shows its place", "how-to/doctor")
@pytest.mark.parametrize(
    ("name", "facts"), [(name, facts) for name, level, _, facts in CASES if level in ("warning", "error")]
)
def test_what_is_wrong_has_a_command_that_mends_it_or_shows_where_it_is(name: str, facts: Facts):
    assert [one.finding for one in of(facts, name) if one.level in ("warning", "error") and not one.fix] == []
