"""What is looked for when all tests have ended."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import tools.leftovers
from tests import leftovers


def test_everything_of_simulated_hosts_is_found(tmp_path: Path) -> None:
    def write(path: str, text: str = "") -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    assert leftovers.found(tmp_path) == set()
    for card in ("eth0", "howdah-sim3"):
        (tmp_path / "sys/class/net" / card).mkdir(parents=True)
    write("sys/block/loop1/loop/backing_file", "/tmp/t/work-sim/disks/sim1/1.img\n")
    write("sys/block/loop2/loop/backing_file", "/var/lib/snapd/core.snap\n")
    write("sys/fs/cgroup/memory/howdah-sim3/sim1/cgroup.procs", "17\n")
    write("sys/fs/cgroup/memory/howdah-sim4/sim1/cgroup.procs")
    write("proc/self/mounts", "none /tmp/howdah-a/mount fuse rw 0 0\n/dev/sda1 / ext4 rw 0 0\n")
    assert leftovers.found(tmp_path) == {
        "card howdah-sim3",
        "loop1 with /tmp/t/work-sim/disks/sim1/1.img",
        f"control group {tmp_path}/sys/fs/cgroup/memory/howdah-sim3",
        "mount /tmp/howdah-a/mount",
    }


@pytest.mark.parametrize(("left", "code"), [(set(), 0), ({"card howdah-sim3"}, 1)])
def test_tests_that_leave_something_have_failed(monkeypatch: pytest.MonkeyPatch, left: set[str], code: int) -> None:
    monkeypatch.setattr(leftovers, "_SECONDS", 0.0)
    monkeypatch.setattr(leftovers, "found", set)
    session: Any = SimpleNamespace(exitstatus=0)
    monkeypatch.setattr(leftovers, "others_run", lambda _: False)
    one = leftovers.Leftovers(lambda: "/tmp/t")
    one.pytest_sessionstart()
    monkeypatch.setattr(leftovers, "found", lambda: left)
    one.pytest_sessionfinish(cast(pytest.Session, session))
    assert session.exitstatus == code


def test_what_others_have_meanwhile_is_not_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for pid, place in (("7", "/tmp/t/popen-gw0"), ("8", "/tmp/other")):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_bytes(b"python\0-m\0howdah.host.simulation.holder\0")
        (tmp_path / pid / "environ").write_bytes(b"HOWDAH_LOCKS=" + place.encode() + b"\0")
    assert leftovers.others_run("/tmp/t", tmp_path)
    assert not leftovers.others_run("/tmp", tmp_path)
    monkeypatch.setattr(leftovers, "_SECONDS", 0.0)
    monkeypatch.setattr(leftovers, "others_run", lambda _: True)
    for left, code in (({"card howdah-sim3"}, 0), ({"loop1 with /tmp/t/a/disks/1.img"}, 1)):
        monkeypatch.setattr(leftovers, "found", set)
        session: Any = SimpleNamespace(exitstatus=0)
        one = leftovers.Leftovers(lambda: "/tmp/t")
        one.pytest_sessionstart()
        monkeypatch.setattr(leftovers, "found", lambda left=left: left)
        one.pytest_sessionfinish(cast(pytest.Session, session))
        assert session.exitstatus == code


def test_where_ip_keeps_network_namespaces_is_no_leftover(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools.leftovers, "_mounts", lambda: ["/", "/run/netns", "/run/netns/hd1-a"])
    assert tools.leftovers.look()["mount"] == {"/", "/run/netns/hd1-a"}
