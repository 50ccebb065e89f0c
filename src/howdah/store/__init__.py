"""Run directories: the published format that keeps every result. Plain text, append-only, versioned."""

from howdah.store.experiment import ExperimentDirectory
from howdah.store.layout import (
    experiments_root,
    howdah_home,
    known_runs,
    new_run_id,
    private_directory,
    runs_root,
)
from howdah.store.locks import LockFile, LockHolder, holder_of, lock_file, take_lock
from howdah.store.reader import StoredRun, find_run, list_runs, read_run, runs_under_way
from howdah.store.writer import RunWriter

__all__ = [
    "ExperimentDirectory",
    "LockFile",
    "LockHolder",
    "RunWriter",
    "StoredRun",
    "experiments_root",
    "find_run",
    "holder_of",
    "howdah_home",
    "known_runs",
    "list_runs",
    "lock_file",
    "new_run_id",
    "private_directory",
    "read_run",
    "runs_root",
    "runs_under_way",
    "take_lock",
]
