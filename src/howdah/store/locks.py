"""Locks of files, by which commands keep out of each other's way; the kernel drops them with the process."""

from __future__ import annotations

import fcntl
from typing import IO, Any

from howdah.errors import HostProblem


def lock_file(handle: IO[Any], *, wait: bool) -> bool:
    """Locks an open file until it is closed; False where another process has it and this one is not to `wait`.

    Raises HostProblem where the file system locks nothing, as Lustre and NFS do if they are mounted so.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise HostProblem(
            f"{handle.name} cannot be locked: {error.strerror}",
            hint="Set HOWDAH_HOME to a directory on a disk of this machine.",
        ) from error
    return True
