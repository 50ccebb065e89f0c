"""Logs that come home while a cluster runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.cluster.logs import LogKeeper
from howdah.host import Host
from howdah.host.channel import open_local
from tests.plans import plan_of


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    opened = open_local("a")
    yield opened
    opened.close()


@pytest.mark.promise("Logs of a batch job's daemons come home while they run", "how-to/batch")
def test_what_is_new_is_appended_and_what_is_lost_stays(tmp_path: Path, host: Host) -> None:
    plan = plan_of(2, hosts=("a", "b"), root=str(tmp_path / "w"))
    home = tmp_path / "home"
    home.mkdir()
    there = Path(plan.quarters["a"].logs)
    there.mkdir(parents=True)
    log = there / "namenode.log"
    log.write_text("one\n")
    keeper = LogKeeper(plan, {"a": host, "b": host}, home, every=600.0)
    keeper.collect()
    log.write_text("one\ntwo\n")
    keeper.collect()
    keeper.collect()
    assert (home / "namenode.log").read_text() == "one\ntwo\n"
    assert (home / "namenode.log").stat().st_mode & 0o077 == 0
    log.unlink()
    keeper.collect()
    assert {one.name: one.read_text() for one in home.iterdir()} == {"namenode.log": "one\ntwo\n"}
