"""Software on its way to a host, through a real agent."""

from __future__ import annotations

import hashlib
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howdah.cluster.software.installation import Installation, check_alike, first_with_store, install_all
from howdah.cluster.software.shipping import relocated, ship, spread_files
from howdah.errors import HostProblem
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk
from howdah.host import Host, operations
from howdah.host.channel import open_local
from howdah.host.protocol import Completed
from tests.plans import HOME

LARGE = bytes(range(256)) * 40_000
"""More than two messages."""


class Counting:
    """A host that counts the bytes of files that it is sent; after `most` of them it is lost."""

    def __init__(self, host: Host, most: int | None = None) -> None:
        self.name = host.name
        self.lost: str | None = None
        self.sent = 0
        self._host = host
        self._most = most

    def call(self, operation: str, /, **arguments: Any) -> Any:
        if operation == "store.put":
            if self._most is not None and self.sent >= self._most:
                raise HostProblem("lost", host=self.name)
            self.sent += len(arguments["content"])
        return self._host.call(operation, **arguments)

    def run(self, argv: Sequence[str], **arguments: Any) -> Completed:
        return self._host.run(argv, **arguments)

    def close(self) -> None:
        self._host.close()


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = open_local("far")
    yield host
    host.close()


@pytest.fixture
def distribution(tmp_path: Path) -> Distribution:
    """Two jars in Hadoop's folders, web pages, and a jar of ours that is elsewhere."""
    home = tmp_path / "hadoop"
    files: Mapping[str, bytes] = {
        "share/hadoop/common/a.jar": LARGE,
        "share/hadoop/hdfs/b.jar": b"b",
        "share/hadoop/hdfs/webapps/hdfs/index.html": b"<p>",
        "share/hadoop/tools/lib/t.jar": b"t",
    }
    for path, content in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(content)
    own = tmp_path / "own.jar"
    own.write_bytes(b"own")
    jars = (home / "share/hadoop/common/a.jar", home / "share/hadoop/hdfs/b.jar")
    pages, tools = (home / "share/hadoop/hdfs",), (home / "share/hadoop/tools/lib/t.jar",)
    return Distribution("3.4.2", home, "home", jars, pages, tools, plugins=(own,))


def shipped(host: Host, distribution: Distribution, store: Path, most: int | None = None) -> tuple[Distribution, int]:
    counting = Counting(host, most)
    found = ship(counting, distribution, str(store))  # type: ignore[arg-type]
    return found, counting.sent


@pytest.mark.promise("Software reaches each host once", "reference/allocations")
def test_what_is_on_class_paths_is_there_and_is_sent_once(
    host: Host, distribution: Distribution, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    found, sent = shipped(host, distribution, store)
    assert sent == len(LARGE) + len(b"b<p>own")
    assert [jar.read_bytes() for jar in found.prefix] == [LARGE, b"b", b"own"]
    assert (found.directories[0] / "webapps/hdfs/index.html").read_bytes() == b"<p>"
    assert not list(found.home.rglob("t.jar"))
    assert found == relocated(distribution, found.home)
    assert shipped(host, distribution, store) == (found, 0)


def test_another_tree_shares_what_it_has_in_common(host: Host, distribution: Distribution, tmp_path: Path) -> None:
    first, _ = shipped(host, distribution, tmp_path / "store")
    distribution.plugins[0].write_bytes(b"newer")
    second, sent = shipped(host, distribution, tmp_path / "store")
    assert sent == len(b"newer")
    assert first.home != second.home
    assert first.jars[0].samefile(second.jars[0])
    assert (first.plugins[0].read_bytes(), second.plugins[0].read_bytes()) == (b"own", b"newer")


@pytest.mark.promise("An interrupted copy goes on where it was", "reference/allocations")
def test_a_copy_that_was_interrupted_goes_on(host: Host, distribution: Distribution, tmp_path: Path) -> None:
    with pytest.raises(HostProblem, match="lost"):
        shipped(host, distribution, tmp_path / "store", most=1)
    found, sent = shipped(host, distribution, tmp_path / "store")
    assert 0 < sent < len(LARGE)
    assert found.jars[0].read_bytes() == LARGE


@pytest.mark.promise("What was sent is verified by its hash", "reference/allocations")
def test_a_file_that_arrives_damaged_is_refused_and_can_be_sent_again(host: Host, tmp_path: Path) -> None:
    store, right = str(tmp_path / "store"), hashlib.sha256(b"right").hexdigest()
    with pytest.raises(HostProblem, match=rf"\[far\] store.put: .*another SHA-256 than {right}"):
        operations.put_file(host, store, right, 0, b"wrong", last=True)
    assert operations.stored(host, store, [right]) == {right: 0}
    operations.put_file(host, store, right, 0, b"right", last=True)
    assert operations.stored(host, store, [right]) == {right: -1}


@pytest.mark.promise("Hosts with one store fill it once", "reference/allocations")
def test_hosts_with_one_store_fill_it_once(distribution: Distribution, tmp_path: Path) -> None:
    stores = {name: str(tmp_path / place) for name, place in (("a", "one"), ("b", "one"), ("c", "other"))}
    quarters = {name: replace(HOME, store=store) for name, store in stores.items()}
    hosts = {name: Counting(open_local(name)) for name in stores}
    try:
        found = install_all(hosts, distribution, quarters, {}, here="elsewhere", archive=False)  # type: ignore[arg-type]
    finally:
        for host in hosts.values():
            host.close()
    whole = len(LARGE) + len(b"b<p>own")
    assert {name: host.sent for name, host in hosts.items()} == {"a": whole, "b": 0, "c": whole}
    assert list(found) == ["a", "b", "c"]
    assert found["a"].distribution == found["b"].distribution
    assert found["c"].distribution.home.is_relative_to(tmp_path / "other")
    assert sorted(entry.name for entry in (tmp_path / "one").iterdir()) == ["files", "trees"]


@pytest.fixture
def several() -> Iterator[dict[str, Counting]]:
    """Five hosts that count what they are sent."""
    hosts = {name: Counting(open_local(name)) for name in "abcde"}
    yield hosts
    for host in hosts.values():
        host.close()


def points_of(hosts: Iterable[str]) -> dict[str, tuple[str, int]]:
    """A free port for each host, at an address of its own."""
    found = {}
    for number, name in enumerate(hosts, start=1):
        with socket.create_server((f"127.0.9.{number}", 0)) as free:
            found[name] = free.getsockname()[:2]
    return found


@pytest.mark.promise("Hosts copy software from each other", "reference/allocations")
def test_one_host_is_sent_the_files_and_the_others_fetch_them(
    several: dict[str, Counting], distribution: Distribution, tmp_path: Path
) -> None:
    stores, points = {name: str(tmp_path / name) for name in several}, points_of(several)
    spread_files(several, distribution, stores, points)  # type: ignore[arg-type]
    assert [host.sent for host in several.values()] == [len(LARGE) + len(b"b<p>own"), 0, 0, 0, 0]
    for name, host in several.items():
        assert ship(host, distribution, stores[name]).jars[0].read_bytes() == LARGE  # type: ignore[arg-type]
        assert (host.sent == 0) is (name != "a")
    for point in points.values():
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(point, 1).close()


def test_whoever_has_the_files_gives_them_to_the_others(
    several: dict[str, Counting], distribution: Distribution, tmp_path: Path
) -> None:
    stores = {name: str(tmp_path / name) for name in several}
    ship(several["d"], distribution, stores["d"])  # type: ignore[arg-type]
    before = several["d"].sent
    spread_files(several, distribution, stores, points_of(several))  # type: ignore[arg-type]
    assert {name: host.sent for name, host in several.items()} == {"a": 0, "b": 0, "c": 0, "d": before, "e": 0}
    assert all(len(list(Path(store, "files").iterdir())) == 4 for store in stores.values())


def test_what_cannot_be_fetched_comes_through_the_channel(
    several: dict[str, Counting], distribution: Distribution, tmp_path: Path
) -> None:
    stores, points = {name: str(tmp_path / name) for name in several}, points_of(several)
    two: Any = {name: several[name] for name in "ab"}
    with socket.create_server(points["a"]):  # Somebody else's, who says nothing; nobody serves there.
        spread_files(two, distribution, stores, points, patience=0.5)
    ship(several["b"], distribution, stores["b"])  # type: ignore[arg-type]
    assert several["b"].sent == several["a"].sent > 0


def test_who_lacks_the_secret_or_asks_for_something_else_is_sent_nothing(host: Host, tmp_path: Path) -> None:
    (point,) = points_of(["far"]).values()
    (tmp_path / "secret").write_bytes(b"private")
    content = hashlib.sha256(b"right").hexdigest()
    operations.put_file(host, str(tmp_path / "from"), content, 0, b"right", last=True)
    operations.serve_files(host, str(tmp_path / "from"), *point, secret="s", patience=0.2)
    try:
        for secret, asked, why in (
            ("t", content, "closed|reset"),
            ("s", "../../secret", "closed|reset"),
            ("s", "0" * 64, "not there"),
        ):
            to = str(tmp_path / "to")
            said = operations.fetch_files(host, to, [asked], *point, secret=secret, patience=5)
            assert said is not None
            assert re.search(why, said)
            assert not Path(to).exists()
        assert operations.fetch_files(host, str(tmp_path / "to"), [content], *point, secret="s", patience=5) is None
    finally:
        operations.end_serving_files(host, *point)
    assert (tmp_path / "to" / "files" / content).read_bytes() == b"right"


def test_content_that_was_changed_on_its_way_is_refused(host: Host, tmp_path: Path) -> None:
    (point,) = points_of(["far"]).values()
    content = hashlib.sha256(b"right").hexdigest()
    (tmp_path / "from" / "files").mkdir(parents=True)
    (tmp_path / "from" / "files" / content).write_bytes(b"wrong")
    operations.serve_files(host, str(tmp_path / "from"), *point, secret="s", patience=1)
    try:
        said = operations.fetch_files(host, str(tmp_path / "to"), [content], *point, secret="s", patience=5)
    finally:
        operations.end_serving_files(host, *point)
    assert said == f"what has arrived has another SHA-256 than {content}"
    assert not list((tmp_path / "to" / "files").iterdir())


def test_one_path_on_two_file_systems_is_two_stores(tmp_path: Path) -> None:
    class Rooted(Counting):
        """A host that sees another directory by the same path."""

        def call(self, operation: str, /, **arguments: Any) -> Any:
            path = str(arguments["path"]).replace("/scratch", f"{tmp_path}/{self.name}")
            return super().call(operation, **{**arguments, "path": path})

    hosts = {name: Rooted(open_local(name)) for name in ("a", "b")}
    try:
        found = first_with_store(hosts, dict.fromkeys(hosts, "/scratch/store"))  # type: ignore[arg-type]
    finally:
        for host in hosts.values():
            host.close()
    assert found == {"a": "a", "b": "b"}
    assert [list((tmp_path / name / "store").iterdir()) for name in hosts] == [[], []]


def test_an_empty_file_is_a_file(host: Host, distribution: Distribution, tmp_path: Path) -> None:
    distribution.plugins[0].write_bytes(b"")
    found, _ = shipped(host, distribution, tmp_path / "store")
    assert found.plugins[0].read_bytes() == b""


def test_hosts_have_java_of_one_line(distribution: Distribution) -> None:
    one, other = (Installation(distribution, Jdk("/jdk", (line, 0, 1), "any", "amd64", ()), None) for line in (17, 21))
    check_alike({"a": one, "b": one})
    with pytest.raises(HostProblem, match="different lines of Java: 17 on a, 21 on b"):
        check_alike({"a": one, "b": other})
