"""Hosts leave a cluster that runs, and come into it; HDFS loses nothing, and nothing stays on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.store import read_run
from tests.system.running import Howdah, processes_of

pytestmark = pytest.mark.daemons

_NAME = "rho"


@pytest.fixture(scope="module")
def content(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[bytes]:
    """The content of /file: two replicas on two nodes, in blocks of 1 MB. The masters are on `channel1`, and `channel4`
    is not used."""
    howdah("up", "--name", _NAME, "--on", "channels:4", "--nodes", "2").ok()
    content = bytes(range(256)) * (4 << 12)
    file = tmp_path_factory.mktemp("resizing") / "file"
    file.write_bytes(content)
    hadoop(howdah, "fs", "-Ddfs.blocksize=1048576", "-put", str(file), "/file")
    yield content
    howdah("down", "--name", _NAME)


def hadoop(howdah: Howdah, *words: str) -> str:
    return howdah("exec", "--name", _NAME, "hadoop", *words).ok().out


def read(howdah: Howdah) -> bytes:
    """What HDFS has in /file."""
    copy = howdah.home / "copy"
    hadoop(howdah, "fs", "-get", "-f", "/file", str(copy))
    return copy.read_bytes()


def nodes_of(howdah: Howdah) -> dict[str, str]:
    """By host, what `howdah status` says of it."""
    lines = howdah("status").ok().out.splitlines()
    return {line.split()[0]: line for line in lines if line.strip().startswith("channel")}


def left_on(howdah: Howdah, host: str) -> list[object]:
    root = howdah.home / "clusters" / _NAME / f"work-{host}"
    return [*processes_of(root), *([root] if root.exists() else [])]


@pytest.mark.promise("`howdah grow` takes in a host that the cluster has not used", "how-to/resize")
def test_a_host_comes(howdah: Howdah, content: bytes) -> None:
    assert content
    assert set(nodes_of(howdah)) == {"channel1", "channel2", "channel3"}
    assert "  not used         channel4: `howdah grow HOST --name rho` takes a host in" in howdah("status").ok().out
    said = howdah("grow", "channel4", "--name", _NAME).ok()
    assert said.out == "channel4 is in the cluster.\n"
    assert "node3;" in nodes_of(howdah)["channel4"]
    report = howdah("exec", "--name", _NAME, "hdfs", "dfsadmin", "-report", "-live").ok().out
    assert "Live datanodes (3):" in report
    listed = howdah("exec", "--name", _NAME, "yarn", "node", "-list").ok().out
    assert "Total Nodes:3" in listed


@pytest.mark.promise("`howdah shrink` loses no data and leaves nothing on the host", "how-to/resize")
def test_a_host_leaves_and_no_block_is_lost(howdah: Howdah, content: bytes) -> None:
    said = howdah("shrink", "channel2", "--name", _NAME).ok()
    assert re.search(r"HDFS has \d+ blocks of channel2 to copy elsewhere\.", said.out)
    assert said.out.endswith("channel2 has left the cluster.\n")
    assert not left_on(howdah, "channel2")
    assert "  not used         channel2: " in howdah("status").ok().out
    assert set(nodes_of(howdah)) == {"channel1", "channel3", "channel4"}
    state = howdah("exec", "--name", _NAME, "hdfs", "fsck", "/file").ok().out
    assert "Status: HEALTHY" in state
    assert re.search(r"Under-replicated blocks:\s+0 ", state)
    assert read(howdah) == content
    assert "lost:" not in howdah("status").ok().out


@pytest.mark.promise("Runs after a change of hosts are runs on the hosts that are there", "how-to/resize")
def test_a_run_has_the_hosts_of_its_moment(howdah: Howdah, content: bytes) -> None:
    assert content
    record = howdah("run", "pi", "--size", "smoke", "--no-calibration", "--cluster", _NAME, "--json").json()
    stored = read_run(Path(record["runs"][0]["path"]))
    assert stored.run.outcome.kind == "valid"
    assert stored.run.trial.settings["cluster"]["nodes"] == 2


def test_what_cannot_leave_says_why_and_stays(howdah: Howdah, content: bytes) -> None:
    assert content
    masters = howdah("shrink", "channel1", "--name", _NAME)
    assert (masters.code, "the masters are on channel1" in masters.err) == (2, True)
    stays = howdah("shrink", "channel4", "--name", _NAME, "--timeout", "4s")
    assert stays.code == 1, "one node is left for two replicas"
    assert "of channel4 to copy elsewhere, after 4 s; nothing has changed" in stays.err
    assert "setrep -R 1 /" in stays.err
    report = howdah("exec", "--name", _NAME, "hdfs", "dfsadmin", "-report", "-live").ok().out
    assert report.count("Decommission Status : Normal") == 2
    assert "Total Nodes:2" in howdah("exec", "--name", _NAME, "yarn", "node", "-list").ok().out
    assert "lost:" not in howdah("status").ok().out


@pytest.mark.promise("A host that has left comes back with the nodes that it had", "how-to/resize")
def test_a_host_comes_back_and_a_dead_one_leaves_at_once(howdah: Howdah, content: bytes) -> None:
    howdah("grow", "channel2", "--name", _NAME).ok()
    assert "node1;" in nodes_of(howdah)["channel2"]
    howdah("fault", "kill", "channel4", "--name", _NAME).ok()
    howdah("shrink", "channel4", "--name", _NAME).ok()
    assert not left_on(howdah, "channel4")
    status = howdah("status").ok().out
    assert "daemons          7 of 7 alive" in status
    assert read(howdah) == content
