from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.namespace import keep_namespace, lay_namespace, namespace_key
from howdah.host import Host
from howdah.host.channel import open_local

IMAGE = "fsimage_0000000000000000000"
# As the NameNode of 3.4.2 writes it.
VERSION = """\
#Sat Nov 21 15:54:14 UTC 2026
namespaceID=786059985
blockpoolID=BP-887536536-127.0.0.1-1795276454050
storageType=NAME_NODE
cTime=1795276454050
clusterID=CID-d4ce8452-6ebc-42ac-a605-7903082fa4e1
layoutVersion=-67
"""


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = open_local("here")
    yield host
    host.close()


@pytest.fixture
def kept(host: Host, tmp_path: Path) -> Path:
    current = tmp_path / "formatted" / "current"
    current.mkdir(parents=True)
    (current / "VERSION").write_text(VERSION, encoding="utf-8")
    (current / "seen_txid").write_text("0\n", encoding="utf-8")
    (current / IMAGE).write_bytes(b"HDFSIMG1 image")
    digest = hashlib.md5(b"HDFSIMG1 image").hexdigest()
    (current / f"{IMAGE}.md5").write_text(f"{digest} *{IMAGE}\n", encoding="utf-8")
    keep_namespace(host, str(current.parent), str(tmp_path / "kept"))
    return tmp_path / "kept"


def test_every_copy_has_ids_of_its_own_and_all_else_alike(host: Host, kept: Path, tmp_path: Path) -> None:
    seen = set()
    for name in ("one", "two"):
        assert lay_namespace(host, str(kept), str(tmp_path / name))
        current = tmp_path / name / "current"
        assert (current / IMAGE).read_bytes() == b"HDFSIMG1 image"
        lines = (current / "VERSION").read_text(encoding="utf-8").splitlines()
        pool, cluster = lines.pop(2), lines.pop(4)
        assert lines == [line for line in VERSION.splitlines() if "BP-" not in line and "CID-" not in line]
        assert pool.startswith("blockpoolID=BP-")
        assert "-127.0.0.1-" in pool
        seen |= {pool, cluster}
    assert len(seen | set(VERSION.splitlines())) == len(VERSION.splitlines()) + 4


def test_nothing_kept(host: Host, tmp_path: Path) -> None:
    assert not lay_namespace(host, str(tmp_path / "none"), str(tmp_path / "name"))
    assert not (tmp_path / "name").exists()


@pytest.mark.parametrize(
    ("name", "content"),
    [(IMAGE, b"HDFSIMG1 imagf"), (f"{IMAGE}.md5", b""), ("VERSION", b"namespaceID=1\n"), ("seen_txid", b"")],
)
def test_a_damaged_one_is_not_used_and_is_replaced(
    host: Host, kept: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    (kept / name).write_bytes(content)
    assert not lay_namespace(host, str(kept), str(tmp_path / "name"))
    assert not (tmp_path / "name").exists()
    keep_namespace(host, str(tmp_path / "formatted"), str(kept))
    assert lay_namespace(host, str(kept), str(tmp_path / "name"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["formatted", "kept", "name"]


def test_key(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_text("jar", encoding="utf-8")
    distribution = Distribution("3.4.2", tmp_path, "managed", (jar,), (), ())
    key = namespace_key(distribution, "ann", {})
    assert key is not None
    assert namespace_key(distribution, "ann", {"dfs.blocksize": "1m", "mapreduce.job.maps": "1"}) == key
    assert namespace_key(distribution, "bob", {}) != key
    for shaping in ("dfs.namenode.name.dir", "dfs.permissions.superusergroup", "fs.permissions.umask-mode"):
        assert namespace_key(distribution, "ann", {shaping: "x"}) is None
    assert namespace_key(replace(distribution, plugins=(jar,)), "ann", {}) == key, "plugins have no part in it"
    jar.write_text("another", encoding="utf-8")
    assert namespace_key(distribution, "ann", {}) != key
