"""Control groups of hosts, of both versions, in directories that look like those of a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from howdah.host.simulation.groups import Groups, Hierarchy, Refused, hierarchies


def mounts(place: Path, *lines: str) -> Path:
    file = place / "mounts"
    file.write_text("".join(f"{line} 0 0\n" for line in ("proc /proc proc rw", *lines)))
    return file


def unified(place: Path, controllers: str = "cpuset cpu io memory pids") -> Path:
    """A hierarchy of version 2, in which groups may have no controller yet."""
    place.mkdir()
    (place / "cgroup.controllers").write_text(controllers + "\n")
    (place / "cgroup.subtree_control").write_text("pids\n")
    return place


def test_where_controllers_are(tmp_path: Path) -> None:
    both = unified(tmp_path / "unified", "hugetlb io")
    found = hierarchies(
        mounts(
            tmp_path,
            f"cgroup2 {both} cgroup2 rw",
            "cgroup /a cgroup rw,relatime,cpu,cpuacct",
            "cgroup /b cgroup rw,memory",
            "cgroup /c cgroup rw,name=systemd",
        )
    )
    of_one = {"cpu": Hierarchy(1, Path("/a")), "cpuacct": Hierarchy(1, Path("/a")), "memory": Hierarchy(1, Path("/b"))}
    assert found == {**of_one, "io": Hierarchy(2, both)}
    alone = unified(tmp_path / "alone")
    every = dict.fromkeys(("cpu", "cpuacct", "memory", "io"), Hierarchy(2, alone))
    assert hierarchies(mounts(tmp_path, f"cgroup2 {alone} cgroup2 rw")) == every
    assert hierarchies(mounts(tmp_path, "cgroup /d cgroup rw,blkio")) == {"io": Hierarchy(1, Path("/d"))}


def opened(group: Path, *files: str) -> None:
    """The files that a kernel puts into a group."""
    group.mkdir(parents=True, exist_ok=True)
    for file in ("cgroup.subtree_control", *files):
        (group / file).write_text("")


@pytest.mark.promise("Simulated hosts have shares by control groups of version 1 or 2", "reference/allocations")
def test_shares_of_version_2(tmp_path: Path) -> None:
    root = unified(tmp_path / "root")
    opened(root / "sim", "io.max")
    known = hierarchies(mounts(tmp_path, f"cgroup2 {root} cgroup2 rw"))
    groups = Groups("sim", 0.4, 1 << 30, known)
    assert groups.make("one") == (root / "sim" / "one",), "one group for all controllers"
    assert (root / "sim" / "one" / "cpu.max").read_text() == "8000 20000"
    assert (root / "sim" / "one" / "memory.max").read_text() == "1073741824"
    assert not (root / "sim" / "one" / "memory.swap.max").exists(), "of a kernel without swap"
    opened(root / "sim" / "one", "memory.swap.max")
    groups.make("one")
    assert (root / "sim" / "one" / "memory.swap.max").read_text() == "0"
    # A kernel adds words up; a file keeps the last one.
    assert (root / "cgroup.subtree_control").read_text() == "+cpu"
    assert (root / "sim" / "cgroup.subtree_control").read_text() == "+cpu"
    groups.set_rate("7:0", 30_000_000)
    assert (root / "sim" / "io.max").read_text() == "7:0 rbps=30000000 wbps=30000000\n"
    assert groups.rates() == {"7:0": 30_000_000}
    groups.set_rate("7:0", None)
    assert groups.rates() == {}


def test_shares_of_version_1(tmp_path: Path) -> None:
    lines = (f"cgroup {tmp_path}/{name} cgroup rw,{name}" for name in ("cpu", "cpuacct", "memory", "blkio"))
    known = hierarchies(mounts(tmp_path, *lines))
    groups = Groups("sim", 0.4, 1 << 30, known)
    (tmp_path / "blkio").mkdir()
    opened(tmp_path / "memory/sim/one", "memory.swappiness")
    assert set(groups.make("one")) == {tmp_path / name / "sim" / "one" for name in ("cpu", "cpuacct", "memory")}
    assert (tmp_path / "cpu/sim/one/cpu.cfs_quota_us").read_text() == "8000"
    assert (tmp_path / "memory/sim/one/memory.limit_in_bytes").read_text() == "1073741824"
    assert (tmp_path / "memory/sim/one/memory.swappiness").read_text() == "0"
    assert not list((tmp_path / "cpuacct/sim/one").iterdir())
    groups.set_rate("7:0", 30_000_000)
    assert groups.rates() == {"7:0": 30_000_000}
    assert (tmp_path / "blkio/blkio.throttle.write_bps_device").read_text() == "7:0 30000000\n"


@pytest.mark.parametrize("version", [1, 2])
def test_a_host_gets_a_share_of_processors_while_it_runs(tmp_path: Path, version: Literal[1, 2]) -> None:
    root = unified(tmp_path / "root", "cpu")
    counted = Hierarchy(version, root if version == 2 else tmp_path / "counted")
    groups = Groups("sim", None, None, {"cpuacct": counted, "cpu": Hierarchy(version, root)})
    [group] = groups.make("one")
    (group / "cgroup.procs").write_text("17\n")
    own = root / "sim" / "one"
    opened(own, "cgroup.procs")
    if version == 2:
        (own / "cgroup.procs").write_text("17\n")
        opened(root / "sim")
    groups.set_cpus("one", 0.2)
    assert (own / "cgroup.procs").read_text().split() == ["17"]
    name, text = ("cpu.max", "4000 20000") if version == 2 else ("cpu.cfs_quota_us", "4000")
    assert (own / name).read_text() == text
    groups.set_cpus("one", None)
    assert (own / name).read_text() == ("max 20000" if version == 2 else "-1")


def test_hosts_without_shares_are_counted_all_the_same(tmp_path: Path) -> None:
    root = unified(tmp_path / "root")
    groups = Groups("sim", None, None, {"cpuacct": Hierarchy(2, root)})
    assert groups.make("one") == (root / "sim" / "one",)
    assert (root / "cgroup.subtree_control").read_text() == "pids\n", "counting takes no controller"
    assert groups.remove()
    assert not (root / "sim").exists()


def test_what_a_controller_was_switched_on_for_is_switched_off_again(tmp_path: Path) -> None:
    root = unified(tmp_path / "root", "cpu")
    opened(root / "sim")
    groups = Groups("sim", 0.5, None, {"cpu": Hierarchy(2, root)})
    groups.make("one")
    for file in (*(root / "sim" / "one").iterdir(), root / "sim" / "cgroup.subtree_control"):
        file.unlink()  # A kernel removes a group's files with the group.
    assert groups.remove()
    assert (root / "cgroup.subtree_control").read_text() == "-cpu"


def test_a_rate_needs_memory_and_disks_in_one_version(tmp_path: Path) -> None:
    known = {"io": Hierarchy(2, unified(tmp_path / "root")), "memory": Hierarchy(1, tmp_path)}
    with pytest.raises(Refused, match="for memory are of version 1, those for io of 2"):
        Groups("sim", None, None, known).set_rate("7:0", 1)


def test_a_machine_without_control_groups_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="a host cannot have a share of cpu: this machine has no control groups for it"):
        Groups("sim", 0.5, None, {})
    with pytest.raises(Refused, match="a disk cannot have a rate: this machine has no control groups"):
        Groups("sim", None, None, {}).set_rate("7:0", 1)
    busy = unified(tmp_path / "root")
    (busy / "cgroup.subtree_control").unlink()
    with pytest.raises(Refused, match=r"a host cannot have a share of cpu: .*cgroup\.subtree_control"):
        Groups("sim", 0.5, None, {"cpu": Hierarchy(2, busy)}).make("one")
