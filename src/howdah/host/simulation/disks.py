"""The disks of simulated hosts: files that are mounted in the host's own view of the file systems. The kernel releases
them with the host's last process."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from howdah.host.simulation.groups import Groups, Refused

_MOST_DISK, _LEAST_DISK = 32 << 30, 2 << 30
_SPARED = 0.9


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk of a host: the file behind it, and its mount point there."""

    image: Path
    directory: Path

    def mounting(self) -> str:
        """Return the command by which a host's shell mounts the disk."""
        return f"mount -t xfs -o loop,noatime '{self.image}' '{self.directory}'"

    def device(self) -> str:
        """Return the device of the disk, once it is mounted. Raises Refused."""
        name = run("losetup", "--noheadings", "--output", "NAME", "--associated", str(self.image)).strip()
        if not name:
            raise Refused(f"{self.image} has no device")
        return name.rpartition("/")[2]


class Disks:
    """The disks of hosts, whose files are in `directory`."""

    def __init__(self, directory: Path, hosts: Sequence[str], count: int, rate: int | None) -> None:
        """`count` disks for each host, of `rate` bytes per second. Raises Refused if there is no room."""
        self._directory = directory
        self._rate = rate
        self._devices: dict[str, str] = {}
        self._size = 0
        if count:
            free = shutil.disk_usage(directory).free
            self._size = min(_MOST_DISK, int(_SPARED * free) // (count * len(hosts))) >> 20 << 20
            if self._size < _LEAST_DISK:
                raise Refused(f"{free / 1e9:.1f} GB are free in {directory}: too little for {count * len(hosts)} disks")
        self._count = count

    def make(self, host: str) -> Sequence[Disk]:
        """Create and format the disks of a host; return them."""
        made = []
        for number in range(1, self._count + 1):
            disk = Disk(self._directory / f"{host}-{number}.img", self._directory / "disks" / host / str(number))
            disk.directory.mkdir(parents=True)
            with disk.image.open("wb") as image:
                image.truncate(self._size)
            run("mkfs.xfs", "-q", str(disk.image))
            made.append(disk)
        return made

    def hold(self, disk: Disk, groups: Groups) -> str:
        """Give a mounted disk its rate; return the name of its device. Raises Refused."""
        device = disk.device()
        with suppress(Refused):  # Where the file system below cannot, its pages are kept twice.
            run("losetup", "--direct-io=on", f"/dev/{device}")
        if self._rate is not None:
            self.set_rate(device, self._rate, groups)
        return device

    def set_rate(self, device: str, rate: int | None, groups: Groups) -> None:
        """Set the bytes per second of a device, both ways; None for no limit. Raises Refused."""
        number = (Path("/sys/block") / device / "dev").read_text().strip()
        groups.set_rate(number, rate)
        self._devices[device] = number

    def release(self, groups: Groups) -> None:
        """Remove the rates."""
        for number in self._devices.values():
            with suppress(Refused):
                groups.set_rate(number, None)


def run(*command: str) -> str:
    """Run a command and return its output. Raises Refused if it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Refused(f"`{' '.join(command)}`: {error.strerror}") from error
    if done.returncode != 0:
        raise Refused(f"`{' '.join(command)}`: {done.stderr.strip() or done.returncode}")
    return done.stdout
