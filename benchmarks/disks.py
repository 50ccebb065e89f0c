"""A disk for a benchmark alone: XFS on a loop device, as slow as is asked for. Needs root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.pairs import output_of

_LIMITS = tuple(Path(f"/sys/fs/cgroup/blkio/blkio.throttle.{way}_bps_device") for way in ("read", "write"))


@contextmanager
def own_disk(home: Path, rate: int | None) -> Iterator[Path]:
    """Where a new disk of 16 GiB is mounted, below `home`; `rate` is its limit in bytes per second, each way."""
    if os.geteuid() != 0 or shutil.which("mkfs.xfs") is None:
        raise SystemExit("only root can make a disk, and with mkfs.xfs (apt-get install xfsprogs)")
    if rate is not None and not all(limit.exists() for limit in _LIMITS):
        raise SystemExit("a disk can only be slowed down with cgroup v1's blkio")
    image, mount = home / "bench-disk.img", home / "bench-disk"
    device = None
    mount.mkdir(exist_ok=True)
    try:
        with image.open("wb") as file:
            file.truncate(16 << 30)
        device = output_of(["losetup", "--direct-io=on", "-f", "--show", str(image)]).strip()
        output_of(["mkfs.xfs", "-q", "-f", device])
        output_of(["mount", device, str(mount)])
        _limit(device, rate)
        yield mount
    finally:
        if device is not None:
            _limit(device, None if rate is None else 0)
            subprocess.run(["umount", "-l", str(mount)], check=False)
            subprocess.run(["losetup", "-d", device], check=False)
        image.unlink(missing_ok=True)
        with suppress(OSError):
            mount.rmdir()


def _limit(device: str, rate: int | None) -> None:
    number = Path(device).stat().st_rdev
    for limit in _LIMITS if rate is not None else ():
        limit.write_text(f"{os.major(number)}:{os.minor(number)} {rate}")
