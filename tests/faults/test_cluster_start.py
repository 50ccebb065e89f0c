"""Clusters that do not come up: two of one name, a daemon that cannot start, Ctrl-C, a disk that is too small."""

from __future__ import annotations

import os
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from tests.faults.conftest import Home, eventually, one_message

pytestmark = pytest.mark.daemons


@pytest.mark.promise("`howdah up` prints the web pages, which answer, and what to type next", "tutorial/first-cluster")
@pytest.mark.promise("Of two `howdah up` of one name at once, one is refused", "issue 2")
def test_two_of_one_name_at_once(home: Home) -> None:
    begun = [home.begin("up", "--name", "twin") for _ in range(2)]
    ended = [one.end() for one in begun]
    assert sorted(one.code for one in ended) == [0, 2], [one.said for one in ended]
    message = one_message(next(one for one in ended if one.code == 2))
    assert message.startswith("a cluster called 'twin' is already up or being started\n`howdah down --name twin`")
    (up,) = (one.out for one in ended if one.code == 0)
    pages = re.findall(r"http://\S+", up)
    assert len(pages) == 3
    for page in pages:
        with urllib.request.urlopen(page, timeout=20) as answer:
            assert answer.status == 200
    assert all(f"howdah {command}" in up.partition("Next:")[2] for command in ("exec", "run terasort", "down"))
    assert home.howdah("exec", "--name", "twin", "--", "hdfs", "dfs", "-ls", "/").code == 0
    down = home.howdah("down", "--name", "twin")
    assert down.code == 0, down.said
    assert not home.processes(), "down returned before everything had ended"


@pytest.mark.promise("A directory that no cluster has made is not emptied", "issue 2")
def test_what_is_not_the_clusters_own_is_not_removed(home: Home, tmp_path: Path) -> None:
    (tmp_path / "work" / "projects").mkdir(parents=True)
    precious = tmp_path / "work" / "projects" / "precious"
    precious.write_text("mine")
    ended = home.howdah("up", "--name", "projects", "--work-dir", str(tmp_path / "work"))
    assert ended.code == 2, ended.said
    message = one_message(ended)
    assert f"{precious.parent} is there already, and would be emptied: no cluster has made it" in message
    assert "--work-dir" in message
    assert precious.read_text() == "mine"
    assert home.howdah("down", "--name", "projects").code == 0
    assert precious.read_text() == "mine"


@pytest.mark.promise("A cluster that fails ends with 1; the daemon's log is kept and named", "reference/exit-codes")
@pytest.mark.parametrize(
    ("conf", "role", "reason"),
    [
        ("dfs.namenode.handler.count=0", "namenode of master", "LinkedBlockingQueue could not be constructed"),
        ("yarn.nodemanager.resource.memory-mb=none", "nodemanager of node1", 'For input string: "none"'),
    ],
)
def test_a_daemon_that_cannot_start(home: Home, conf: str, role: str, reason: str) -> None:
    ended = home.howdah("up", "--name", "bad", "--conf", conf)
    assert ended.code == 1, ended.said
    message = one_message(ended)
    assert f"{role} ended with code" in message
    assert reason in message
    assert "\tat " not in message, "a stack trace is no message"
    log = home.path / "clusters/bad/logs" / f"{role.split(maxsplit=1)[0]}{'-node1' if 'node1' in role else ''}.log"
    assert str(log) in message
    assert reason in log.read_text(), "the log was not kept"
    assert not home.processes(), "up returned before everything had ended"
    assert home.manifest("bad")["state"] == "failed"


def test_the_cluster_of_a_run_that_does_not_come_up_leaves_the_logs_that_it_names(home: Home) -> None:
    ended = home.howdah("run", "terasort", "--size", "smoke", "--conf", "dfs.namenode.handler.count=0")
    assert ended.code == 1, ended.said
    (log,) = (home.path / "clusters").glob("run-*/logs/namenode.log")
    assert str(log) in one_message(ended)
    assert not home.processes()
    assert not home.runs


@pytest.mark.soak(part="faults")
def test_a_damaged_kept_namespace_is_made_anew(bare_home: Home, cache: Path) -> None:
    own = bare_home.path / "cache"
    own.mkdir(parents=True)
    for shared in ("archives", "hadoop"):
        (own / shared).symlink_to(cache / shared)

    def identity() -> str:
        """The VERSION of a cluster that has come up and holds a file."""
        up = bare_home.howdah("up", "--name", "kept")
        assert up.code == 0, up.said
        version = (bare_home.path / "clusters/kept/work/master/name/current/VERSION").read_text()
        assert bare_home.howdah("down", "--name", "kept").code == 0
        return version

    formatted, copied = identity(), identity()
    [image] = own.glob("namespaces/*/fsimage_*0")
    broken = image.read_bytes()[:-1]
    image.write_bytes(broken)
    again = identity()
    namespaces, clusters = (
        [re.findall(f"{key}=.*", version) for version in (formatted, copied, again)]
        for key in ("namespaceID", "clusterID")
    )
    assert namespaces[0] == namespaces[1] != namespaces[2], "copied once, then formatted anew"
    assert len({one for [one] in clusters}) == 3
    assert not image.read_bytes().startswith(broken), "what was formatted anew is kept"


def test_a_nonsense_jvm_flag(home: Home) -> None:
    ended = home.howdah("up", "--name", "bad", "--jvm-flag=-XX:NoSuchFlag=1")
    assert ended.code == 1, ended.said
    assert "NoSuchFlag" in one_message(ended)
    assert not home.processes()


@pytest.mark.promise("An interrupted command ends with 130 after all that it started", "reference/exit-codes")
def test_interrupted_in_the_middle(home: Home) -> None:
    up = home.begin("up", "--name", "cut")
    eventually(lambda: home.pids("-Dproc_nodemanager"), 120, "daemons start", begun=up)
    up.signal(signal.SIGINT)
    ended = up.end(15)
    assert ended.code == 130, ended.said
    assert ended.err.endswith("howdah: interrupted\n")
    assert not home.processes(), "up returned before everything had ended"
    assert home.howdah("down", "--name", "cut").code == 0


@pytest.mark.promise("`kill -9` of Howdah stops every process that it started", "README")
def test_killed_in_the_middle(home: Home) -> None:
    up = home.begin("up", "--name", "cut")
    eventually(lambda: home.pids("-Dproc_nodemanager"), 120, "daemons start", begun=up)
    os.kill(up.pid, signal.SIGKILL)
    up.end()
    eventually(lambda: not home.processes(), 15, "nothing of it is left")


def test_a_supervisor_killed_while_it_starts(home: Home) -> None:
    up = home.begin("up", "--name", "cut")
    eventually(lambda: home.pids("-Dproc_nodemanager"), 120, "daemons start", begun=up)
    os.kill(home.pids("howdah.cluster.supervision.supervisor")[0], signal.SIGKILL)
    ended = up.end(20)
    assert ended.code == 1, ended.said
    message = one_message(ended)
    assert "the supervisor of 'cut' ended with code -9 before the cluster was up" in message
    down = home.howdah("down", "--name", "cut")
    assert down.code == 0, down.said
    assert "what it had left on the disk is removed" in down.out
    assert not (home.path / "clusters/cut/work").exists()
    log = re.search(r"Its log: (\S+)", message)
    assert log is not None
    assert Path(log[1]).exists()
    eventually(lambda: not home.processes(), 15, "nothing of it is left")
