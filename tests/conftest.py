"""What every test has: settings of Hypothesis, a HOWDAH_HOME and locks of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from tests.grouping import gather

# Derandomised: a check that passed passes again. No deadline: two processors, shared with real daemons.
settings.register_profile("howdah", derandomize=True, deadline=None, database=None)
settings.load_profile("howdah")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest-xdist's, which reads the marks of groups."""
    gather(items)


@pytest.fixture(autouse=True)
def howdah_home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a test does reaches the user's runs; tests with daemons choose a home themselves, for Hadoop's jars."""
    monkeypatch.setenv("HOWDAH_LOCKS", str(tmp_path))
    if request.node.get_closest_marker("daemons") is None:
        monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "howdah-home"))
