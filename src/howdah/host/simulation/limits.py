"""The parts of the machine that simulated hosts have: a share of its processors and memory, and disks of a rate.

Shares are control groups of version 1, one for each host. Disks are files that are mounted in the host's own view of
the file systems: the kernel releases them with its last process. A rate applies to the whole device, and is set in the
root group. It therefore limits also the data that the kernel writes back later, for no particular process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
_PERIOD_US = 20_000
"""The period in which a host gets its share of a processor. With the usual 100 ms, a host would stand still for as
long."""
_COUNTED = ("cpuacct", "memory")
"""Controllers that count what each host uses, also without a share."""
_LOOP = "7"
_THROTTLES = ("read_bps_device", "write_bps_device")
_MOST_DISK, _LEAST_DISK = 32 << 30, 2 << 30
_SPARED = 0.9


class Refused(Exception):
    """This machine cannot do something that simulated hosts need."""


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


class Shares:
    """The control groups of hosts: for a share that is asked for, and for counting the processor time and the memory of
    each, where the machine has groups of version 1."""

    def __init__(self, name: str, cpus: float | None, memory: int | None) -> None:
        """`name` tells these hosts from others of this machine; `cpus` and `memory` are of each host."""
        counted = [controller for controller in _COUNTED if os.access(GROUPS / controller, os.W_OK)]
        self._settings: dict[str, tuple[tuple[str, int], ...]] = dict.fromkeys(counted, ())
        if cpus is not None:
            quota = round(cpus * _PERIOD_US)
            self._settings["cpu"] = (("cpu.cfs_period_us", _PERIOD_US), ("cpu.cfs_quota_us", quota))
        if memory is not None:
            self._settings["memory"] = (("memory.limit_in_bytes", memory),)
        self._directories = {controller: GROUPS / controller / name for controller in (*_COUNTED, "cpu")}
        self.remove()  # Those of hosts that were killed.

    def make(self, host: str) -> Sequence[Path]:
        """Create the groups of a host, and return them. Its first process must be written to their `cgroup.procs`."""
        made = []
        for controller, settings in self._settings.items():
            group = self._directories[controller] / host
            try:
                group.mkdir(parents=True, exist_ok=True)
                for file, value in settings:
                    (group / file).write_text(str(value))
            except OSError as error:
                raise Refused(
                    f"a host cannot have a share of {controller}: {error} (it takes control groups of version 1)"
                ) from error
            made.append(group)
        return made

    def remove(self) -> bool:
        """Remove the groups in which nothing runs any more; return whether none is left."""
        for directory in self._directories.values():
            for group in (*directory.glob("*/"), directory):
                with suppress(OSError):
                    group.rmdir()
        return not any(directory.exists() for directory in self._directories.values())


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
        if rate is not None:
            _forget_rates()

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

    def hold(self, disk: Disk) -> str:
        """Give a mounted disk its rate; return the name of its device. Raises Refused."""
        device = disk.device()
        with suppress(Refused):  # Where the file system below cannot, its pages are kept twice.
            run("losetup", "--direct-io=on", f"/dev/{device}")
        if self._rate is not None:
            number = (Path("/sys/block") / device / "dev").read_text().strip()
            _set_rate(number, self._rate)
            self._devices[device] = number
        return device

    def release(self) -> None:
        """Remove the rates."""
        for number in self._devices.values():
            with suppress(Refused):
                _set_rate(number, 0)


def _set_rate(number: str, rate: int) -> None:
    """Set the bytes per second, both ways, of the device with this number (MAJOR:MINOR); 0 for no limit. Raises
    Refused."""
    for throttle in _THROTTLES:
        try:
            (GROUPS / "blkio" / f"blkio.throttle.{throttle}").write_text(f"{number} {rate}\n")
        except OSError as error:
            raise Refused(
                f"a disk cannot have a rate: {error} (it takes control groups of version 1, and their root)"
            ) from error


def _forget_rates() -> None:
    """Remove the rates of devices that no longer exist, because somebody was killed."""
    with suppress(OSError):
        for number in rates():
            if number.startswith(f"{_LOOP}:") and not Path(f"/sys/dev/block/{number}/loop/backing_file").exists():
                _set_rate(number, 0)


def rates() -> Mapping[str, int]:
    """Return the bytes per second of each device that has a rate, by its number."""
    text = (GROUPS / "blkio" / f"blkio.throttle.{_THROTTLES[0]}").read_text()
    return {line.split()[0]: int(line.split()[1]) for line in text.splitlines()}


def run(*command: str) -> str:
    """Run a command and return its output. Raises Refused if it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Refused(f"`{' '.join(command)}`: {error.strerror}") from error
    if done.returncode != 0:
        raise Refused(f"`{' '.join(command)}`: {done.stderr.strip() or done.returncode}")
    return done.stdout
