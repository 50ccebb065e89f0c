"""Add-ons in the cache: whole, missing, damaged."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from howdah.errors import HostProblem
from howdah.hadoop.addons import ADDONS, Addon, read_addon
from howdah.hadoop.fetch import fetch_addon
from howdah.hadoop.lock import Artifact
from howdah.host.channel import open_local

CONTENT = b"a jar"
JAR = Artifact("org.x", "x", "1.0", "", "", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), None)
ADDON = Addon("x", "X 1.0", (JAR,))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A Maven repository that has the jar."""
    jar = tmp_path / "m2" / JAR.in_repository
    jar.parent.mkdir(parents=True)
    jar.write_bytes(CONTENT)
    return tmp_path / "m2"


def fetch(cache: Path, repository: Path) -> tuple[Path, ...]:
    host = open_local("here")
    try:
        return fetch_addon(host, ADDON, cache, offline=True, progress=lambda _: None, repository=repository)
    finally:
        host.close()


def test_every_lock_is_read() -> None:
    assert "pig" in ADDONS
    for name in ADDONS:
        addon = read_addon(name)
        assert addon.title
        assert addon.artifacts[0].artifact == name, "the program's own jar is first"
        assert len({one.in_home for one in addon.artifacts}) == len(addon.artifacts)


def test_what_is_not_there_is_named_with_what_fetches_it(tmp_path: Path) -> None:
    with pytest.raises(HostProblem, match=r"X 1\.0 is not in the cache") as raised:
        ADDON.jars(tmp_path)
    assert raised.value.hint == "`howdah hadoop fetch --with x` fetches it."


def test_fetched_jars_are_there_and_a_damaged_one_is_replaced(tmp_path: Path, repository: Path) -> None:
    (jar,) = fetch(tmp_path / "cache", repository)
    assert jar.read_bytes() == CONTENT
    jar.write_bytes(b"b jar")
    with pytest.raises(HostProblem, match="not whole"):
        ADDON.jars(tmp_path / "cache")
    assert fetch(tmp_path / "cache", repository) == (jar,)
    assert jar.read_bytes() == CONTENT


def test_offline_without_the_jar_says_so(tmp_path: Path) -> None:
    with pytest.raises(HostProblem, match=r"x-1\.0\.jar of X 1\.0 not in the cache and this is an offline run"):
        fetch(tmp_path / "cache", tmp_path / "none")
