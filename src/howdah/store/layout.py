"""The places of all files: one directory, `HOWDAH_HOME`, and the names of the files in a run directory.

Format history of the run directory (the number stands in `run.json` as `schema`):
1   first version
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

from howdah.errors import HostProblem

SCHEMA = 1

RUN = "run.json"
ENVIRONMENT = "environment.json"
READBACK = "readback.json"
ENERGY = "energy.json"
SAMPLES = "samples.jsonl"
CONF = "conf"
SERIES = "series"
JOBS = "jobs"
LOGS = "logs"
LOCK = ".lock"
"""The lock of the process that writes the run, which removes it at the end."""


def howdah_home() -> Path:
    """Return `HOWDAH_HOME`, or `~/.howdah`: caches, clusters and runs of this user. Nothing is created here."""
    return Path(os.environ.get("HOWDAH_HOME") or Path.home() / ".howdah").absolute()


def locks_directory() -> Path:
    """Return the directory of the locks that all users of this machine share: `HOWDAH_LOCKS`, or /tmp."""
    return Path(os.environ.get("HOWDAH_LOCKS") or "/tmp").absolute()


def private_directory() -> Path:
    """Return this user's part of `locks_directory`. Raises HostProblem if another user has made it.

    It is for things that belong to this host and go with it: sockets, and the lock that is held while others are taken.
    """
    path = locks_directory() / f"howdah-run-{os.getuid()}"
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise HostProblem(
            f"{path} is not a directory of yours that others are kept out of",
            hint="Remove it, or name another directory for locks: HOWDAH_LOCKS.",
        )
    return path


def experiments_root() -> Path:
    """Return the directory that holds one directory per experiment unless `--out` names another."""
    return howdah_home() / "experiments"


def runs_root() -> Path:
    """Return the directory that holds one directory per run unless `--out` names another."""
    return howdah_home() / "runs"


def known_runs() -> tuple[Path, ...]:
    """Return every directory with run directories in its usual place: `runs_root`, and those of experiments."""
    experiments = experiments_root()
    return (runs_root(), *experiments.glob("*/runs"), *experiments.glob("*/confirmation/runs"))


def new_run_id(workload: str, begun: float, place: int | None = None) -> str:
    """Return the id of a run that began at `begun` (Unix time in seconds): unique, and sorted by time as text.

    `place` sorts runs if many of them begin in one second.
    """
    of_second = "" if place is None else f"{place:04x}"
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(begun))}-{workload}-{of_second}{secrets.token_hex(2)}"
