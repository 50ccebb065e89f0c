"""Run directories that several tests read."""

from __future__ import annotations

from pathlib import Path

import pytest

from howdah.model.run import Caveat, Outcome
from howdah.store import StoredRun
from tests.unit.report.example_runs import Example, write_example, write_group


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stored_runs")


@pytest.fixture(scope="session")
def single(root: Path) -> StoredRun:
    """A valid run with one attempt that failed."""
    return write_example(root, Example("single", 30, lost_attempt=True))


@pytest.fixture(scope="session")
def group(root: Path) -> list[StoredRun]:
    """Five valid runs of one trial, an invalid and a failed one."""
    caveats = (Caveat("sort", "speculative execution was off"),)
    return [
        *write_group(root, "base", 5, caveats=caveats),
        write_example(root, Example("base-6", 5, Outcome("invalid", "checksum of the output differs"))),
        write_example(root, Example("base-7", 6, Outcome("failed", "the sort job failed"), lost_attempt=True)),
    ]


@pytest.fixture(scope="session")
def faster(root: Path) -> list[StoredRun]:
    """Five valid runs of a trial with another setting and shorter tasks."""
    settings = {"mapreduce.task.io.sort.mb": 32}
    return write_group(root, "fast", 5, start=10, speed=1.5, settings=settings)
