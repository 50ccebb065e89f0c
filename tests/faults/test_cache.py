"""A corrupted jar in the cache, a cache that is filled only in part, and one that is used without a network."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.faults.conftest import Home, eventually, one_message


@pytest.fixture
def jar(bare_home: Home, cache: Path) -> Path:
    """A jar in a cache of this home's own, damaged in the middle, its size as it was."""
    shutil.copytree(cache / "hadoop/3.4.2", bare_home.path / "cache/hadoop/3.4.2", symlinks=True)
    (jar,) = (bare_home.path / "cache/hadoop/3.4.2").rglob("hadoop-hdfs-client-*.jar")
    before = jar.stat()
    with jar.open("r+b") as content:
        content.seek(before.st_size // 2)
        content.write(b"damaged")
    return jar


@pytest.mark.promise("A damaged jar is named when offline", "reference/hadoop")
def test_offline_it_is_named_with_what_to_do(bare_home: Home, jar: Path, tmp_path: Path) -> None:
    # Without the user's Maven repository, which would repair it even offline.
    ended = bare_home.howdah("up", "--offline", HOME=str(tmp_path))
    assert ended.code == 1, ended.said
    message = one_message(ended)
    assert jar.name in message
    assert "offline" in message
    assert "while online" in message
    assert not (bare_home.path / "clusters").exists()


@pytest.mark.promise("Every jar of the managed Hadoop is checked against the SHA-256 of a lock file", "README")
def test_verify_finds_damage_that_size_and_time_do_not_show(bare_home: Home, jar: Path) -> None:
    home = bare_home.path / "cache/hadoop/3.4.2"
    time = json.loads((home / "howdah.json").read_text())["mtime_ns"][str(jar.relative_to(home))]
    os.utime(jar, ns=(time, time))
    ended = bare_home.howdah("hadoop", "verify")
    assert ended.code == 1
    message = one_message(ended)
    assert f"{jar} does not have the SHA-256 of the lock" in message
    assert "howdah hadoop fetch 3.4.2" in message


@pytest.mark.promise("An interrupted fetch goes on where it was", "reference/hadoop")
def test_killed_while_it_fetches(bare_home: Home, tmp_path: Path) -> None:
    # Without the user's Maven repository, out of which offline everything would be mended.
    fetch = bare_home.begin("hadoop", "fetch", HOME=str(tmp_path))
    eventually(lambda: list((bare_home.path / "cache").rglob("*.jar*")), 300, "jars arrive", begun=fetch)
    fetch.signal(signal.SIGKILL)
    fetch.end()
    eventually(lambda: not bare_home.processes(), 15, "nothing of it is left")
    offline = bare_home.howdah("up", "--offline", HOME=str(tmp_path))
    assert offline.code == 1, offline.said
    assert "offline" in one_message(offline)
    again = bare_home.howdah("hadoop", "fetch", HOME=str(tmp_path))
    assert again.code == 0, again.said
    assert bare_home.howdah("hadoop", "verify").code == 0
    kept = bare_home.path / "cache/hadoop"
    assert {entry.name for entry in kept.iterdir()} == {"3.4.2", ".3.4.2.lock"}, "what the killed one left is gone"
    assert not list(kept.rglob("*.part"))


@pytest.mark.promise("Once fetched, everything works without a network", "reference/hadoop")
@pytest.mark.daemons
def test_without_a_network_what_was_fetched_does(home: Home) -> None:
    alone = ("unshare", "--net", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "alone")
    ended = home.howdah("run", "pi", "--size", "smoke", "--no-calibration", around=alone)
    assert ended.code == 0, ended.said
