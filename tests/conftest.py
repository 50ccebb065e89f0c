"""What every test has: settings of Hypothesis, a HOWDAH_HOME and locks of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from tests.grouping import gather, group_of
from tests.leftovers import Leftovers
from tools.budget import budgets

# Derandomised: a check that passed passes again. No deadline: two processors, shared with real daemons.
settings.register_profile("howdah", derandomize=True, deadline=None, database=None)
settings.load_profile("howdah")


class _Groups(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process of tests whole groups. The marker `xdist_group` does nothing with pytest 9 (xdist 3.8)."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Groups | None:
    return _Groups(config, log) if config.getvalue("dist") == "loadscope" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    gather(items, budgets())


class _Failures:
    """Prints each failure when it happens: the tests with daemons take half an hour."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            sys.stdout.write(f"\n=== failed: {report.nodeid} ({report.when})\n{report.longreprtext}\n")
            sys.stdout.flush()


def _directory(config: pytest.Config) -> str:
    """The directory of all of these tests. `locks` tells it to what they start."""
    factory: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined]
    return str(factory.getbasetemp())


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "numprocesses", None):  # Not in xdist's own processes.
        config.pluginmanager.register(_Failures())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Leftovers(lambda: _directory(config)))


@pytest.fixture(scope="session", autouse=True)
def locks(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests side by side run an experiment each."""
    os.environ["HOWDAH_LOCKS"] = str(tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def howdah_home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a test does reaches the user's runs; tests with daemons choose a home themselves, for Hadoop's jars."""
    if request.node.get_closest_marker("daemons") is None:
        monkeypatch.setenv("HOWDAH_LOCKS", str(tmp_path))
        monkeypatch.setenv("HOWDAH_HOME", str(tmp_path / "howdah-home"))
