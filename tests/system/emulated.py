"""A Debian of another architecture in a directory, whose programs QEMU emulates. Only root can make one."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FORMATS = Path("/proc/sys/fs/binfmt_misc")
_NAME = "howdah-aarch64"
# What an ELF file of 64 bits, little-endian, for aarch64 (0xb7) begins with. F: the emulator is opened now, since
# there is none in the directory.
_MAGIC = (
    rb":%s:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
    rb":\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:%s:F"
)
_PACKAGES = ("openjdk-17-jre-headless", "python3-venv", "procps")


def missing() -> str | None:
    """What this machine lacks to emulate aarch64; None where nothing is missing."""
    if os.geteuid() != 0:
        return "only root can make a Debian of another architecture"
    lacking = [name for name in ("debootstrap", "qemu-aarch64-static") if shutil.which(name) is None]
    return f"apt-get install debootstrap qemu-user-static: no {' and no '.join(lacking)} here" if lacking else None


@contextmanager
def arm_debian(root: Path) -> Iterator[None]:
    """A Debian 12 for aarch64 with Java and Python in the new directory `root`, while the body runs."""
    with _format(), _mounts(root):
        run("debootstrap", "--arch=arm64", "--variant=minbase", "bookworm", root)
        # How the host reaches Debian's packages is how this Debian does.
        shutil.copytree("/etc/apt/apt.conf.d", root / "etc/apt/apt.conf.d", dirs_exist_ok=True)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        (root / "etc/hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {platform.node()}\n")
        for kind, place in (("proc", "proc"), ("sysfs", "sys"), ("devtmpfs", "dev")):
            run("mount", "-t", kind, kind, root / place)
        run("chroot", root, "apt-get", "update", "-q")
        quietly = ("-q", "-y", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0")  # There is no /dev/pts.
        run("chroot", root, "apt-get", "install", *quietly, *_PACKAGES)
        yield


def run(*command: str | Path) -> None:
    """Run a command to its end; what it prints is in the error if it fails."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"


@contextmanager
def _format() -> Iterator[None]:
    """The kernel runs programs for aarch64, by an entry of our own that goes with the body."""
    mounted = (_FORMATS / "register").exists()
    if not mounted:
        run("mount", "-t", "binfmt_misc", "none", _FORMATS)
    emulator = shutil.which("qemu-aarch64-static")
    assert emulator is not None
    (_FORMATS / "register").write_bytes(_MAGIC % (_NAME.encode(), emulator.encode()))
    try:
        yield
    finally:
        (_FORMATS / _NAME).write_bytes(b"-1")
        if not mounted:
            run("umount", _FORMATS)


@contextmanager
def _mounts(root: Path) -> Iterator[None]:
    """Whatever is mounted below `root` is unmounted after the body, the latest first."""
    root.mkdir()
    try:
        yield
    finally:
        lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
        for place in reversed([line.split()[1] for line in lines]):
            if place.startswith(f"{root}/"):
                run("umount", place)
