"""The file system of `failing.py`, mounted for a test. Needs root."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes.util import find_library
from pathlib import Path

import pytest

FAILING_MOUNT_IS_POSSIBLE = (
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount"),
    pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="this machine has no FUSE"),
    pytest.mark.skipif(find_library("fuse3") is None, reason="libfuse3 is not installed (make setup-tests)"),
)


class FailingMount:
    """What is in `backing` is seen at `mount`."""

    def __init__(self, root: Path) -> None:
        self.backing, self.mount, self._fault = root / "backing", root / "mount", root / "fault"
        for directory in (self.backing, self.mount):
            directory.mkdir(parents=True)
        self.fail("")
        program = [sys.executable, str(Path(__file__).with_name("failing.py"))]
        self._process = subprocess.Popen([*program, *map(str, (self.backing, self.mount, self._fault))])
        while not os.path.ismount(self.mount):
            assert self._process.poll() is None, "it ended before it was mounted"
            time.sleep(0.05)

    def fail(self, fault: str) -> None:
        """From now on this fault, whose words `failing.py` has; none if there are none."""
        new = self._fault.with_suffix(".new")
        new.write_text(fault)
        new.replace(self._fault)

    def failed(self) -> list[str]:
        """The operations that have failed, in their order."""
        said = self._fault.with_suffix(".failed")
        return said.read_text().splitlines() if said.exists() else []

    def close(self) -> None:
        subprocess.run(["umount", str(self.mount)], check=True)
        try:
            assert self._process.wait(5) == 0
        except subprocess.TimeoutExpired:
            # It ends with the last copy of the mount, of which other tests' mount namespaces have one each.
            self._process.terminate()
            self._process.wait(60)


@contextmanager
def failing_mount(root: Path) -> Iterator[FailingMount]:
    """Mounted, in a directory `root` of its own."""
    mounted = FailingMount(root)
    try:
        yield mounted
    finally:
        mounted.close()
