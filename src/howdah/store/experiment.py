"""The directory of an experiment: a copy of its file, and a run directory per run.

The run directories alone record what has been run, so that nothing can be lost or disagree.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

from howdah.errors import HostProblem, UsageError
from howdah.store import layout
from howdah.store.locks import LockFile, holder_of, lock_file, take_lock

_FILE = "experiment.yaml"
_BEGUN = f".{_FILE}.begun"
"""A second copy of the file, from the beginning of the experiment. Changes are reported against this copy."""

_ORIGIN = "origin"
_CONFIRMATION = "confirmation"
_SYNTHETIC = "synthetic.yaml"


class ExperimentDirectory:
    """An experiment's directory. Only one process on a machine runs experiments at a time."""

    def __init__(self, path: Path) -> None:
        """Open the directory `path`. Raises UsageError if it has no experiment."""
        self.path = path.absolute()
        if not self.file.is_file():
            raise UsageError(f"{path} is no directory of an experiment: it has no {_FILE}")

    @classmethod
    def begin(cls, file: Path, path: Path, synthetic: Path | None = None) -> ExperimentDirectory:
        """Return a new directory with a copy of `file`, and of the file of a synthetic cluster if it runs there.

        Raises UsageError if `path` exists already.
        """
        try:
            path.mkdir(parents=True, mode=0o700)
        except FileExistsError:
            raise _taken(path) from None
        return cls._filled(path, file.read_bytes(), file.absolute(), synthetic)

    @classmethod
    def begin_with(cls, content: str, path: Path, synthetic: Path | None = None) -> ExperimentDirectory:
        """Return a new directory with a file of `content`. Raises UsageError if `path` exists already."""
        try:
            path.mkdir(parents=True, mode=0o700)
        except FileExistsError:
            raise _taken(path) from None
        return cls._filled(path, content.encode(), path / _FILE, synthetic)

    @classmethod
    def _filled(cls, path: Path, content: bytes, origin: Path, synthetic: Path | None) -> ExperimentDirectory:
        if synthetic is not None:
            (path / _SYNTHETIC).write_bytes(synthetic.read_bytes())
        (path / _ORIGIN).write_text(f"{origin}\n", encoding="utf-8")
        (path / _BEGUN).write_bytes(content)
        # Last, and whole: without it the directory is no experiment's.
        fresh = path / f".{_FILE}.new"
        fresh.write_bytes(content)
        fresh.replace(path / _FILE)
        return cls(path)

    @classmethod
    def find(cls, name: str, root: Path) -> ExperimentDirectory:
        """Return the experiment called `name`. Raises UsageError if there is none, or several.

        `name` is a path, the name of a directory in `root`, the unambiguous start of one, or `latest`, the one that
        began last.
        """
        if (Path(name) / _FILE).is_file():
            return cls(Path(name))
        known = [one.path.name for one in cls.every(root)]
        if name == "latest" and known:
            return cls(root / known[-1])
        matches = [one for one in known if one == name] or [one for one in known if one.startswith(name)]
        if len(matches) == 1:
            return cls(root / matches[0])
        if matches:
            raise UsageError(f"several experiments start with {name!r}: {', '.join(matches[:5])}")
        raise UsageError(f"no experiment {name!r} in {root}", hint="`howdah experiment list` lists them.")

    @classmethod
    def every(cls, root: Path) -> tuple[ExperimentDirectory, ...]:
        """Return the experiments in `root`, the oldest first: the names that `howdah` gives begin with the time."""
        found = sorted(root.iterdir()) if root.is_dir() else []
        return tuple(cls(path) for path in found if (path / _FILE).is_file())

    @property
    def confirmation(self) -> ExperimentDirectory | None:
        """The experiment inside this one that tests its result; None before it has begun."""
        path = self.path / _CONFIRMATION
        return ExperimentDirectory(path) if (path / _FILE).is_file() else None

    def begin_confirmation(self, content: str) -> ExperimentDirectory:
        """Begin the confirmation with a file of `content`."""
        path = self.path / _CONFIRMATION
        path.mkdir(mode=0o700, exist_ok=True)
        return self._filled(path, content.encode(), path / _FILE, self.synthetic)

    @property
    def synthetic(self) -> Path | None:
        """The file of the synthetic cluster that the experiment runs on; None for real clusters."""
        path = self.path / _SYNTHETIC
        return path if path.is_file() else None

    @property
    def earlier(self) -> int:
        """The number of runs made before the first run of this experiment: a confirmation follows its experiment."""
        outer = self.path.parent
        if self.path.name != _CONFIRMATION or not (outer / _FILE).is_file():
            return 0
        return sum(not (run / layout.LOCK).exists() for run in ExperimentDirectory(outer).runs.iterdir())

    @property
    def file(self) -> Path:
        """The copy of the experiment file, made when the experiment began."""
        return self.path / _FILE

    @property
    def runs(self) -> Path:
        """The directory with the run directories."""
        return self.path / "runs"

    def check_unchanged(self) -> None:
        """Raise UsageError with the difference if the experiment file has changed since the experiment began.

        The original file, its copy here and the files of the confirmation are all checked.
        """
        begun = self.path / _BEGUN
        begun = begun if begun.is_file() else self.file
        for file in (Path((self.path / _ORIGIN).read_text(encoding="utf-8").strip()), self.file):
            if file.is_file() and file.read_bytes() != begun.read_bytes():
                before, now = (one.read_text("utf-8", "replace").splitlines() for one in (begun, file))
                lines = difflib.unified_diff(before, now, n=0, lineterm="")
                raise UsageError(
                    f"{file} was changed since the experiment began:\n"
                    + "\n".join(line for line in lines if line[:2] not in ("--", "++")),
                    hint="Change it back to go on, or begin another experiment with it.",
                )
        if self.confirmation is not None:
            self.confirmation.check_unchanged()

    def is_held(self) -> bool:
        """Return whether a process runs this experiment, or its confirmation, now.

        A process on another host cannot be seen from here, and counts as running.
        """
        if holder_of(self.path / layout.LOCK) is not None:
            return True
        return self.confirmation is not None and self.confirmation.is_held()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the right to run this experiment, and the right to run experiments on this machine.

        Synthetic clusters disturb nobody, so they need only the first. Raises UsageError if another process has either
        right.
        """
        with nullcontext() if self.synthetic is not None else _machine(self.path), self._own():
            yield

    def _own(self) -> LockFile:
        """Return the lock of the experiment itself, which other hosts may see."""
        path = self.path / layout.LOCK
        lock = take_lock(path)
        if lock is None:
            holder = holder_of(path)
            who = "another process" if holder is None else f"process {holder.pid} on {holder.host}"
            hint = "`howdah experiment status` shows how far it is."
            if holder is not None and not holder.is_here:
                hint += f" If there is no such process on {holder.host} any more, remove {path}."
            raise UsageError(f"this experiment is run by {who}", hint=hint)
        return lock


@contextmanager
def _machine(experiment: Path) -> Iterator[None]:
    """Hold the right to measure this machine, for one experiment of any user."""
    with _open_for_all(layout.locks_directory() / "howdah-experiments.lock") as handle:
        if not lock_file(handle, wait=False):
            handle.seek(0)
            raise UsageError(
                f"another experiment runs on this machine: {handle.read().strip()}",
                hint="Two at once would measure each other.",
            )
        _write_over(handle, str(experiment))
        yield


def _write_over(handle: IO[str], line: str) -> None:
    handle.seek(0)
    handle.truncate()
    handle.write(f"{line}\n")
    handle.flush()


def _open_for_all(path: Path) -> IO[str]:
    """Return the file `path` in a public directory, which all may read, write and lock. Raises HostProblem.

    O_CREAT may fail for a file of another user (fs.protected_regular), and nobody's link may be followed.
    """
    try:
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        except FileExistsError:
            file = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        else:
            os.fchmod(file, 0o666)  # Whatever the umask.
    except OSError as error:
        raise HostProblem(
            f"cannot open {path}, by which experiments of several people keep out of each other's way: "
            f"{error.strerror}",
            hint="Remove it if no experiment runs, or name another directory for locks: HOWDAH_LOCKS.",
        ) from error
    return os.fdopen(file, "r+", encoding="utf-8")


def is_experiment(path: Path) -> bool:
    """Return whether `path` is the directory of an experiment."""
    return (path / _FILE).is_file()


def _taken(path: Path) -> UsageError:
    hint = f"`howdah experiment resume {path}` goes on with it; or choose --out."
    return UsageError(f"{path} is there already", hint=hint)
