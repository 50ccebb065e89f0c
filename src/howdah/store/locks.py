"""Locks that keep commands out of each other's way.

A process of one host holds a lock, but many hosts may see the directory. On shared file systems, `flock` often locks
nothing and reports no error. A lock is therefore a file that is created exclusively, with its holder in it. Only the
holder's own host can know whether the holder lives, so a holder on another host never counts as gone.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from howdah.errors import HostProblem
from howdah.store.layout import private_directory

_GLANCE_SECONDS = 0.3
"""Longer than a process that only looks holds the lock of a file."""


@dataclass(frozen=True, slots=True)
class LockHolder:
    """The process that has a lock, identified so that no other process is mistaken for it."""

    host: str
    machine: str
    """The machine's id from systemd, because two machines may share a host name. Empty if systemd has none."""
    boot: str
    space: str
    """The namespace of process ids: a container's differs from its host's."""
    pid: int
    begun: int
    """The start of the process, in kernel ticks since the host started."""

    @property
    def is_here(self) -> bool:
        """Whether the holder is, or was, a process of this host."""
        here = _here()
        if (self.host, self.machine) != (here.host, here.machine):
            return False
        return self.boot != here.boot or self.space == here.space

    @property
    def may_live(self) -> bool:
        """Whether the holder lives, or this host cannot see whether it does."""
        if not self.is_here:
            return True
        return self.boot == _here().boot and _beginning(self.pid) == self.begun


class LockFile:
    """A lock that this process holds until it is released."""

    def __init__(self, path: Path, holder: LockHolder) -> None:
        self._path = path
        self._holder = holder

    def release(self) -> None:
        """Release the lock. May be called twice; leaves alone a lock that another process has taken since."""
        if _read(self._path) == self._holder:
            self._path.unlink(missing_ok=True)

    def __enter__(self) -> LockFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def take_lock(path: Path) -> LockFile | None:
    """Take the lock `path` in an existing directory; return None if another process holds it.

    Raises HostProblem if the lock cannot be made.
    """
    mine = _here()
    with _alone_on_this_host():  # Of two that see that a holder is dead, one removes its lock.
        try:
            if path.exists():
                if holder_of(path) is not None:
                    return None
                path.unlink()  # Of a process of this host, which is dead; no other host takes it for that.
            # A link is made whole, or not at all, on every file system that has links.
            fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
            try:
                fresh.write_text(json.dumps(asdict(mine)) + "\n", encoding="utf-8")
                os.link(fresh, path)
            finally:
                fresh.unlink(missing_ok=True)
        except FileExistsError:  # Another host was faster.
            return None
        except OSError as error:
            raise HostProblem(
                f"the lock {path} cannot be made: {error.strerror}", hint="Is there room, and may you write there?"
            ) from error
    return LockFile(path, mine)


def holder_of(path: Path) -> LockHolder | None:
    """Return the holder of the lock `path`, if it lives or if this host cannot see whether it does."""
    holder = _read(path)
    return holder if holder is not None and holder.may_live else None


def lock_file(handle: IO[Any], *, wait: bool) -> bool:
    """Lock an open file of this host alone until it is closed; return False if another process holds the lock.

    Without `wait`, the call waits only as long as a process that only looks holds the lock. Raises HostProblem if the
    file system locks nothing.
    """
    if wait:
        return _flock(handle, fcntl.LOCK_EX)
    if _flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB):
        return True
    time.sleep(_GLANCE_SECONDS)
    return _flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _flock(handle: IO[Any], how: int) -> bool:
    try:
        fcntl.flock(handle, how)
    except BlockingIOError:
        return False
    except OSError as error:
        raise HostProblem(
            f"{handle.name} cannot be locked: {error.strerror}",
            hint="Set HOWDAH_HOME to a directory on a disk of this machine.",
        ) from error
    return True


@contextmanager
def _alone_on_this_host() -> Iterator[None]:
    with (private_directory() / "locking").open("a") as handle:
        lock_file(handle, wait=True)
        yield


def _here() -> LockHolder:
    machine = ""
    with suppress(OSError):
        machine = Path("/etc/machine-id").read_text(encoding="utf-8").strip()
    return LockHolder(
        host=platform.node(),
        machine=machine,
        boot=Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip(),
        space=str(Path("/proc/self/ns/pid").readlink()),
        pid=os.getpid(),
        begun=_beginning(os.getpid()) or 0,
    )


def _beginning(pid: int) -> int | None:
    """Return when the process `pid` began; None if there is no such process, or it is a zombie."""
    try:
        # After the name, which may have spaces: state, and as the 20th from there the start. See proc(5).
        after = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if after[0] in "ZX" else int(after[19])


def _read(path: Path) -> LockHolder | None:
    try:
        return LockHolder(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
