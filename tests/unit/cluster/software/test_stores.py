"""What hosts keep, looked at and cleaned through real agents."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from howdah.cli.main import howdah
from howdah.cluster.request import Links
from howdah.cluster.software.stores import HostStore, open_stores
from howdah.errors import HostProblem, UsageError
from howdah.host import Host, operations
from howdah.host.channel import open_local

A_DAY = 86400.0


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    host = open_local("far")
    yield host
    host.close()


def fill(host: Host, store: Path) -> tuple[str, str]:
    """A tree with two files, one of which another tree has too; the names of both trees."""
    names = []
    for name, contents in (("one", (b"shared", b"own")), ("two", (b"shared",))):
        digests = {content: hashlib.sha256(content).hexdigest() for content in contents}
        there = operations.stored(host, str(store), list(digests.values()))
        for content, digest in digests.items():
            if there[digest] >= 0:
                operations.put_file(host, str(store), digest, 0, content, last=True)
        operations.lay_tree(host, str(store), name, {content.decode(): digest for content, digest in digests.items()})
        names.append(f"trees/{name}")
    return names[0], names[1]


def look(host: Host, store: Path) -> HostStore:
    return HostStore(host, str(store), (), tuple(operations.store_contents(host, str(store))))


def age(path: Path, days: float) -> None:
    then = time.time() - days * A_DAY
    os.utime(path, (then, then))


def names_of(kept: Sequence[operations.Kept]) -> list[str]:
    return [one.name for one in kept]


def test_what_is_kept_has_its_size_and_when_it_was_used(host: Host, tmp_path: Path) -> None:
    fill(host, tmp_path)
    age(tmp_path / "trees" / "one", 40)
    one, two = look(host, tmp_path).contents
    assert (one.name, one.bytes, one.busy) == ("trees/one", len(b"sharedown"), False)
    assert (two.name, two.bytes) == ("trees/two", len(b"shared"))
    assert time.time() - two.used < 60
    assert names_of(look(host, tmp_path).unused(30 * A_DAY)) == ["trees/one"]


def test_a_tree_that_is_laid_again_was_used_now(host: Host, tmp_path: Path) -> None:
    fill(host, tmp_path)
    age(tmp_path / "trees" / "one", 40)
    fill(host, tmp_path)
    assert not look(host, tmp_path).unused(A_DAY)


@pytest.mark.promise("`store gc` removes what is unused, and nothing that a cluster uses", "reference/allocations")
def test_what_others_have_stays_and_what_nobody_has_goes_after_a_day(host: Host, tmp_path: Path) -> None:
    fill(host, tmp_path)
    store = look(host, tmp_path)
    store.discard([one for one in store.contents if one.name == "trees/one"])
    assert (tmp_path / "trees/two/shared").read_bytes() == b"shared"
    loose = look(host, tmp_path).contents[-1]
    assert (loose.name, loose.bytes) == ("files", len(b"own"))
    assert len(list((tmp_path / "files").iterdir())) == 2, "somebody may be about to need what was sent today"


@pytest.mark.promise("`store gc` removes what is unused, and nothing that a cluster uses", "reference/allocations")
def test_what_a_process_has_is_in_use_however_old_it_is(host: Host, tmp_path: Path) -> None:
    fill(host, tmp_path)
    age(tmp_path / "trees" / "one", 400)
    command = [sys.executable, "-c", "input()", f"-cp={tmp_path}/trees/one/own"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as user:
        try:
            assert {one.name: one.busy for one in look(host, tmp_path).contents} == {
                "trees/one": True,
                "trees/two": False,
            }
            assert not look(host, tmp_path).unused(A_DAY)
        finally:
            user.kill()


@pytest.mark.parametrize("name", ["trees/..", "trees/", "../files", "clusters/mine", "trees/a/b"])
def test_nothing_else_is_removed(host: Host, tmp_path: Path, name: str) -> None:
    fill(host, tmp_path)
    with pytest.raises(HostProblem, match="no such entry"):
        operations.discard_kept(host, str(tmp_path), [name])
    assert len(look(host, tmp_path).contents) == 2


def test_the_stores_of_an_allocation_are_looked_at_each_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    with open_stores("channels:2", Links()) as stores:
        fill(stores[0].host, Path(stores[0].path))
    with open_stores("channels:2", Links()) as stores:
        assert [store.host.name for store in stores] == ["channel1", "channel2"]
        assert [names_of(store.contents) for store in stores] == [["trees/one", "trees/two"], []]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(howdah, ["store", *arguments, "--on", "channels:2"])


def test_the_command_shows_what_goes_and_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))
    assert "Nothing is unused." in call("gc").output
    store = tmp_path / "cache" / "hosts" / "channel2"
    with open_stores("channels:2", Links()) as stores:
        fill(stores[1].host, store)
    age(store / "trees" / "one", 40)
    listed = call("ls").output
    assert re.search(r"^channel2: .*/hosts/channel2, 15 B$", listed, re.M)
    assert re.search(r"^ +9 B  40 days ago  trees/one$", listed, re.M)
    assert re.search(r"^ +6 B  today        trees/two$", listed, re.M)
    assert json.loads(call("ls", "--json").output)[1]["contents"][0]["name"] == "trees/one"
    asked = call("gc")
    assert "channel2: trees/one  9 B, last used 40 days ago" in asked.output
    assert isinstance(asked.exception, UsageError)
    assert "Add --yes" in str(asked.exception.hint)
    assert "1 removed, 9 B." in call("gc", "--yes").output
    assert sorted(one.name for one in (store / "trees").iterdir()) == ["two"]
