"""One Hadoop cluster of three nodes for all system tests, in a HOWDAH_HOME of their own; for each process of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.grouping import ends_its_group
from tests.system.running import Howdah, Said, processes_of

_ALPHA = pytest.StashKey[Howdah]()


@pytest.fixture(scope="package")
def howdah(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Howdah]:
    """The command; the jars are those of the user's cache, everything else is new. Nothing is left running after it."""
    cache = Path.home() / ".howdah" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    home = tmp_path_factory.mktemp("howdah")
    (home / "cache").symlink_to(cache)
    howdah = Howdah(home)
    howdah("hadoop", "fetch", "3.4.2", timeout=500).ok()
    yield howdah
    howdah("down", "--all")
    assert processes_of(home) == []


@pytest.fixture(scope="package")
def cluster(howdah: Howdah, pytestconfig: pytest.Config) -> dict[str, Any]:
    """What `up --json` says of the cluster `alpha`: three nodes, 3.4.2, tuned defaults."""
    manifest: dict[str, Any] = howdah("up", "--name", "alpha", "--nodes", "3", "--json").json()
    pytestconfig.stash[_ALPHA] = howdah
    return manifest


@pytest.fixture(scope="package")
def on(howdah: Howdah, cluster: dict[str, Any]) -> Callable[..., Said]:
    """Runs a command with `howdah exec` on `alpha`."""
    return partial(howdah, "exec", "--name", "alpha", "--")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Any:
    """Nine idle daemons take a tenth of a processor: `alpha` goes down after the last test with it."""
    answer = yield
    if ends_its_group(item, nextitem) and _ALPHA in item.config.stash:
        item.config.stash[_ALPHA]("down", "--name", "alpha").ok()
        del item.config.stash[_ALPHA]
    return answer


_CRASHED = pytest.StashKey[bool]()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """pytest-xdist's: one of its processes has ended, by itself if there is an `error`."""
    if error:
        node.config.stash[_CRASHED] = True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """What a process that crashed was to test is not tested: that is more than a failed test."""
    if session.config.stash.get(_CRASHED, False):
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
