"""What simulated hosts and mounts of tests could leave on the machine, looked for when all tests have ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

_SECONDS = 20.0
"""For what is on its way out."""


def found(root: Path = Path("/")) -> set[str]:
    """Network cards, loop devices with their files, mounts, and control groups with processes that are Howdah's. Of a
    holder that was killed, empty groups and the rates of devices that are gone stay, until the next one begins."""
    seen = {f"card {one.name}" for one in (root / "sys/class/net").glob("howdah*")}
    for file in (root / "sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            name = file.read_text().strip()
            seen |= {f"{file.parts[-3]} with {name}"} if "howdah" in name or "/disks/" in name else set()
    groups = root / "sys/fs/cgroup"
    for depth in ("*", "*/*"):
        seen |= {f"control group {one}" for one in groups.glob(depth) if "howdah" in one.name and _is_used(one)}
    with suppress(OSError):
        places = [line.split()[1] for line in (root / "proc/self/mounts").read_text().splitlines()]
        seen |= {f"mount {place}" for place in places if "howdah" in place}
    return seen


def _is_used(group: Path) -> bool:
    """Whether a control group, or one below it, has a process."""
    for file in group.rglob("cgroup.procs"):
        with suppress(OSError):
            if file.read_text().strip():
                return True
    return False


def others_run(place: str, proc: Path = Path("/proc")) -> bool:
    """Whether somebody else has simulated hosts meanwhile: their holder knows nothing of `place`, which is ours."""
    for one in proc.glob("[0-9]*"):
        with suppress(OSError):
            is_holder = b"howdah.host.simulation.holder" in (one / "cmdline").read_bytes()
            if is_holder and place.encode() not in (one / "environ").read_bytes():
                return True
    return False


class Leftovers:
    """Makes the tests fail if there is more at their end than at their beginning. While others have simulated hosts,
    only what is below the directory of the tests is known to be theirs."""

    def __init__(self, place: Callable[[], str]) -> None:
        """`place` returns the directory of the tests, when it is there."""
        self._place = place

    def pytest_sessionstart(self) -> None:
        self._before = found()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        deadline = time.monotonic() + _SECONDS
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(0.2)
        if left:
            print("\n=== left on this machine:", *sorted(left), sep="\n")  # noqa: T201
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _left(self) -> set[str]:
        place, left = self._place(), found() - self._before
        return {one for one in left if place in one} if left and others_run(place) else left
