"""Remove run directories, except those being written and those of an experiment, which would run them again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from howdah.errors import UsageError
from howdah.store import layout
from howdah.store.experiment import is_experiment
from howdah.store.locks import holder_of

_REMOVED = ".removed-"


def check_removable(path: Path) -> None:
    """Raise UsageError if the run directory `path` must stay."""
    if not (path / layout.RUN).exists() and not (path / layout.SERIES).is_dir():
        raise UsageError(f"not a run directory: {path}")
    holder = holder_of(path / layout.LOCK)
    if holder is not None:
        raise UsageError(f"{path} is in use: it is being written{'' if holder.is_here else f' on {holder.host}'}")
    outer = path.absolute().parent.parent
    if is_experiment(outer):
        raise UsageError(
            f"{path} is a run of the experiment {outer}, which would make it again", hint="Remove the experiment."
        )


def size_of(path: Path) -> int:
    """Return the bytes of all files in `path`."""
    return sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())


def remove_leftovers(root: Path) -> None:
    """Remove what an interrupted `remove_run` has left in `root`."""
    for left in root.glob(f"{_REMOVED}*"):
        shutil.rmtree(left, ignore_errors=True)


def remove_run(path: Path) -> None:
    """Remove a whole run directory. It is renamed first, so that an interruption leaves no half of a run.

    Raises UsageError as `check_removable` does, and OSError if the directory cannot be removed.
    """
    check_removable(path)
    gone = path.with_name(f"{_REMOVED}{path.name}-{os.getpid()}")
    path.rename(gone)
    shutil.rmtree(gone)
