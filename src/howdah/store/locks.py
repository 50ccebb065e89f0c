"""Locks of files, by which commands keep out of each other's way; the kernel drops them with the process."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path
from typing import IO, Any

from howdah.errors import HostProblem

_GLANCE_SECONDS = 0.3
"""Longer than `is_locked` has the lock."""


def lock_file(handle: IO[Any], *, wait: bool) -> bool:
    """Locks an open file until it is closed; False where another process has it and this one is not to `wait`: no
    longer than somebody who only looks has it.

    Raises HostProblem where the file system locks nothing, as Lustre and NFS do if they are mounted so.
    """
    if wait:
        return _flock(handle, fcntl.LOCK_EX)
    if _flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB):
        return True
    time.sleep(_GLANCE_SECONDS)
    return _flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(path: Path) -> bool:
    """Whether a process has the lock of a file, which need not be there. Raises HostProblem as `lock_file` does."""
    try:
        with path.open("r+") as handle:
            return not _flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False


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
