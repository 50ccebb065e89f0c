"""What every Storage must do, on a file system that is up."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.live.existing import web_addresses
from howdah.errors import ClusterProblem
from howdah.hadoop.configuration.site import read_conf_dir
from howdah.hadoop.interfaces.namenode import NameNode
from howdah.hadoop.interfaces.webhdfs import WebHdfs
from howdah.host.channel import open_local
from howdah.storage import Storage, StoredFile
from howdah.storage.posix import PosixFiles
from howdah.storage.registry import files_at, open_storages
from tests.system.running import Said

pytestmark = pytest.mark.daemons

HERE = "/storage contract/é"
BLOCK = 1 << 20


@pytest.fixture(scope="module", params=["hdfs", "file", "posix"])
def storage(
    cluster: dict[str, Any],
    on: Callable[..., Said],
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Storage]:
    if request.param == "file":
        host = open_local("here")
        yield files_at(host, str(tmp_path_factory.mktemp("file")))
        host.close()
        return
    if request.param == "posix":
        host = open_local("here")
        yield PosixFiles(host, {"fs.posixfs.mount": str(tmp_path_factory.mktemp("posix"))})
        host.close()
        return
    conf = Path(on("sh", "-c", "echo $HADOOP_CONF_DIR").ok().out.strip())
    settings = read_conf_dir(conf)
    (address,) = web_addresses(settings).namenode
    host = open_local("here")
    yield open_storages(settings, NameNode(address), WebHdfs((address,), user=getpass.getuser()), host)["hdfs"]
    host.close()


@pytest.fixture(autouse=True)
def empty(storage: Storage) -> None:
    storage.remove(HERE.rpartition("/")[0])


def test_what_is_written_is_read_and_replaced_whole(storage: Storage) -> None:
    for content in (b"", b"\0\xff" * 70_000, b"short"):
        storage.write(f"{HERE}/a/file", content)
        assert storage.read(f"{HERE}/a/file") == content


def test_files_are_those_of_one_directory_and_layout_those_of_a_tree(storage: Storage) -> None:
    storage.write(f"{HERE}/one", b"1")
    storage.write(f"{HERE}/deep/er/three", b"333")
    assert storage.files(HERE) == {"one": 1}
    found = storage.layout(HERE)
    assert {name: file.length for name, file in found.items()} == {"one": 1, "deep/er/three": 3}
    assert len({(file.replication, file.block_size) for file in found.values()}) == 1
    assert all(file.replication >= 1 and file.block_size >= BLOCK for file in found.values())
    assert isinstance(found["one"], StoredFile)


def test_what_is_not_there(storage: Storage) -> None:
    assert storage.files(f"{HERE}/none") == {}
    assert storage.layout(f"{HERE}/none") == {}
    storage.remove(f"{HERE}/none")
    for ask in (storage.read, storage.checksum):
        with pytest.raises(ClusterProblem, match="none"):
            ask(f"{HERE}/none")


def test_checksums_are_equal_where_the_content_is(storage: Storage) -> None:
    for name, content in (("a", b"same"), ("b", b"same"), ("c", b"some")):
        storage.write(f"{HERE}/{name}", content)
    first, second, third = (storage.checksum(f"{HERE}/{name}") for name in "abc")
    assert first == second != third


def test_a_directory_gets_another_name_at_once_and_never_hides_another(storage: Storage) -> None:
    storage.write(f"{HERE}/old/file", b"x")
    storage.rename(f"{HERE}/old", f"{HERE}/new/place")
    assert storage.files(f"{HERE}/new/place") == {"file": 1}
    assert storage.files(f"{HERE}/old") == {}
    storage.write(f"{HERE}/third/file", b"y")
    with pytest.raises(ClusterProblem, match="there already"):
        storage.rename(f"{HERE}/third", f"{HERE}/new/place")
    assert storage.read(f"{HERE}/new/place/file") == b"x"


def test_a_tree_is_removed(storage: Storage) -> None:
    storage.write(f"{HERE}/a/b/file", b"x")
    storage.remove(f"{HERE}/a")
    assert storage.layout(HERE) == {}


def test_hadoops_own_programs_find_it_by_its_uri(storage: Storage, on: Callable[..., Said]) -> None:
    if storage.name == "posix":
        return  # The cluster of this module has none; test_posix.py has one.
    storage.write(f"{HERE}/file", b"found")
    assert on("hdfs", "dfs", "-cat", storage.uri(f"{HERE}/file")).ok().out == "found"


def test_it_says_how_much_is_free_and_what_it_is(storage: Storage) -> None:
    assert storage.free_bytes() > BLOCK
    assert storage.describe()["kind"] == storage.name


def test_its_master_if_there_is_one_counts_what_is_asked_of_it(storage: Storage) -> None:
    if storage.name != "hdfs":
        assert storage.activity(fresh=True) == {}
        return
    before = storage.activity(fresh=True)
    for number in range(5):
        storage.write(f"{HERE}/{number}", b"")
    after = storage.activity(fresh=True)
    assert sum(after.values()) >= sum(before.values()) + 5


def test_the_policy_that_files_are_erasure_coded_by_comes_from_above(storage: Storage, on: Callable[..., Said]) -> None:
    storage.write(f"{HERE}/replicated", b"x")
    assert storage.layout(HERE)["replicated"].erasure_coding is None
    assert storage.erasure_coding(f"{HERE}/not/there") is None
    if storage.name != "hdfs":
        return
    place, policy = "/storage contract", "XOR-2-1-1024k"
    on("hdfs", "ec", "-enablePolicy", "-policy", policy).ok()
    on("hdfs", "ec", "-setPolicy", "-path", place, "-policy", policy).ok()
    assert storage.erasure_coding(f"{HERE}/not/there") == policy
    assert storage.erasure_coding(HERE) == policy
    assert storage.layout(HERE)["replicated"].erasure_coding is None, "it was written before"
