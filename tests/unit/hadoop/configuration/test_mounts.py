"""Mount tables of `viewfs:`, as clients resolve paths by them."""

from __future__ import annotations

import pytest

from howdah.errors import UsageError
from howdah.hadoop.configuration.mounts import MountTable, mount_table

TABLE = MountTable(
    "site",
    {
        "/data": "hdfs://cold/",
        "/data/hot": "hdfs://hot/fast/",
        "/logs": "s3a://bucket/logs",
        "/": "hdfs://cold/rest",
    },
)


@pytest.mark.promise("Paths are found where a mount table of viewfs has them", "how-to/existing-cluster")
@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/data", ("cold", "/")),
        ("/data/a/b", ("cold", "/a/b")),
        ("/data/hot/a", ("hot", "/fast/a")),
        ("/data/hotter", ("cold", "/hotter")),
        ("/dat", ("cold", "/rest/dat")),
        ("/", ("cold", "/rest")),
    ],
)
def test_the_longest_link_has_the_path(path: str, target: tuple[str, str]) -> None:
    assert TABLE.target(path) == target


def test_what_is_on_no_hdfs_is_refused() -> None:
    with pytest.raises(UsageError, match="/logs/a is at s3a://bucket/logs by the mount table site; Howdah"):
        TABLE.target("/logs/a")
    with pytest.raises(UsageError, match="/a is not in the mount table site of viewfs: it links /data"):
        MountTable("site", {"/data": "hdfs://a/"}).target("/a")


@pytest.mark.parametrize(
    ("default", "more", "name"),
    [
        ("viewfs://site", {}, "site"),
        ("viewfs:///", {"fs.viewfs.mounttable.default.name.key": "site"}, "site"),
        ("viewfs:///", {}, "default"),
    ],
)
def test_tables_are_read_by_name(default: str, more: dict[str, str], name: str) -> None:
    links = {f"link.{point}": f"hdfs://ns{point}" for point in ("/user", "/tmp/x")}
    links |= {"linkFallback": "hdfs://ns/", "homedir": "/user"}
    settings = {f"fs.viewfs.mounttable.{name}.{key}": value for key, value in links.items()}
    other = {"fs.viewfs.mounttable.another.link./a": "hdfs://elsewhere/"}
    found = mount_table({"fs.defaultFS": default, **settings, **other, **more})
    assert found == MountTable(name, {"/user": "hdfs://ns/user", "/tmp/x": "hdfs://ns/tmp/x", "/": "hdfs://ns/"})


def test_other_file_systems_have_no_table() -> None:
    assert mount_table({"fs.defaultFS": "hdfs://nn"}) is None
    assert mount_table({}) is None
