"""Where things are kept: one directory, `HOWDAH_HOME`, and the names of the files in a run directory.

Format history of the run directory (the number stands in `run.json` as `schema`):

1   first version
"""

from __future__ import annotations

import os
from pathlib import Path

SCHEMA = 1

RUN = "run.json"
ENVIRONMENT = "environment.json"
READBACK = "readback.json"
SAMPLES = "samples.jsonl"
CONF = "conf"
SERIES = "series"
JOBS = "jobs"
LOGS = "logs"
LOCK = ".lock"
"""Held by the process that writes the run, and removed when it has ended it."""


def howdah_home() -> Path:
    """`HOWDAH_HOME`, or `~/.howdah`: caches, clusters and runs of this user. Nothing is created here."""
    return Path(os.environ.get("HOWDAH_HOME") or Path.home() / ".howdah").absolute()


def experiments_root() -> Path:
    """The directory that holds one directory per experiment unless `--out` names another."""
    return howdah_home() / "experiments"


def runs_root() -> Path:
    """The directory that holds one directory per run unless `--out` names another."""
    return howdah_home() / "runs"
