"""A pytest plugin for long parts of `make soak`: tests that have passed are not run again, and time may run out.

    pytest -p tests.resuming --passed FILE --minutes 55

FILE holds the ids of the tests that have passed, a line each; it grows with each test.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("resuming")
    group.addoption("--passed", type=Path, required=True, help="the file of the tests that have passed")
    group.addoption("--minutes", type=float, default=55.0, help="after so long no further test begins; one always does")


class _Resuming:
    def __init__(self, passed: Path, minutes: float) -> None:
        self._passed = passed
        self._end = time.monotonic() + 60 * minutes
        self._failed = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        done = set(self._passed.read_text(encoding="utf-8").splitlines()) if self._passed.exists() else set()
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
        items[:] = [item for item in items if item.nodeid not in done]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup":
            self._failed = False
        self._failed = self._failed or report.failed
        if report.when == "teardown" and not self._failed:
            with self._passed.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> object:
        answer = yield
        if time.monotonic() > self._end:
            item.session.shouldstop = "the time of this part is over; run it again to go on"
        return answer


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Resuming(config.getoption("--passed"), config.getoption("--minutes")))
