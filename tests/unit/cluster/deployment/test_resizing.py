"""Hosts leave and come: what Hadoop is asked, in which order, and what is undone when it does not do it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from howdah.cluster.allocation.here import HereAllocation
from howdah.cluster.deployment.resizing import Assembled, Resizing
from howdah.errors import ClusterProblem, HostProblem, UsageError
from howdah.hadoop.configuration.plan import Place, Plan
from howdah.host.channel import open_local
from tests.plans import HOME, plan_of


@dataclass
class Node:
    """A DataNode or NodeManager, as its master sees it."""

    name: str
    transfer: str
    state: str = "In Service"

    @property
    def id(self) -> str:
        return self.name


@dataclass
class Hadoop:
    """The masters of a cluster on `plan`: what they are asked is in `asked`. DataNodes leave within `looks` looks, if
    at all; with `refuses`, none comes."""

    plan: Plan
    directory: Path
    looks: int | None = 2
    refuses: bool = False
    asked: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    live: Plan = field(init=False)
    going: list[Place] = field(default_factory=list)
    dead: dict[str, str] = field(default_factory=dict)
    silent: list[int] = field(default_factory=list)
    """How long dead DataNodes were silent at each further look; for ever at the end."""
    looked: int = 0
    """How long they were silent at the last look."""
    missing: int = 0

    def __post_init__(self) -> None:
        self.live = self.plan

    def notice(self, plan: Plan) -> None:
        """HDFS looks twice before it takes a DataNode for gone."""
        self.going = [node for node in self.live.nodes if node not in plan.nodes]
        self.live = plan

    def excluded(self, name: str) -> list[str]:
        return (self.directory / f"{name}.exclude").read_text(encoding="utf-8").splitlines()

    def status(self) -> Any:
        out = self.excluded("datanodes") if (self.directory / "datanodes.exclude").exists() else []
        live, leaving = [], {}
        going, self.going = self.going, []
        for node in (*self.live.nodes, *going):
            name, transfer = node.at("datanode_data"), f"127.0.0.1:{node.ports['datanode_data']}"
            seen = Node(name, transfer)
            if transfer in out:
                looks = self.left[name] = self.left.get(name, 0) + 1
                gone = self.looks is not None and looks > self.looks
                seen.state = "Decommissioned" if gone else "Decommission In Progress"
                if not gone:
                    leaving[name] = 12
            live.append(seen)
        alive = [node for node in live if node.name not in self.dead]
        # A dead one is decommissioned at once, unless its blocks are not elsewhere.
        dead = {name: came for name, came in self.dead.items() if came not in out or self.looks is None}
        silence = self.silent.pop(0) if self.dead and self.silent else 1000
        self.looked = silence
        return _Status(alive, leaving, dead, dict.fromkeys(self.dead, silence), self.missing)

    def nodes(self) -> list[Node]:
        out = self.excluded("nodemanagers") if (self.directory / "nodemanagers.exclude").exists() else []
        return [
            Node(node.at("nodemanager_rpc"), "", "DECOMMISSIONED" if node.address in out else "RUNNING")
            for node in self.live.nodes
        ]


@dataclass
class _Status:
    live: list[Node]
    leaving: dict[str, int]
    dead: dict[str, str]
    silent: dict[str, int]
    missing: int


class Daemons:
    """The daemons, which remember in `hadoop.asked` what was done with them."""

    def __init__(self, hadoop: Hadoop) -> None:
        self.plan = hadoop.plan
        self.installed: dict[str, Any] = {}
        self.running: list[Any] = []
        self._hadoop = hadoop
        self.stays: str | None = None
        self.fails = False
        self.over: list[tuple[Any, int]] = []
        self.told: list[int] = []
        """How long dead DataNodes had been silent each time that Hadoop was told something."""

    def leave(self, hosts: Collection[str]) -> None:
        self._hadoop.asked.append(f"expect {' '.join(hosts)}".strip())

    def ended(self) -> list[tuple[Any, int]]:
        return self.over

    def administer(self, program: str, *arguments: str) -> None:
        self._hadoop.asked.append(f"{program.rpartition('.')[2]} {arguments[0]}")
        self.told.append(self._hadoop.looked)
        if self.fails:
            raise ClusterProblem(f"{program} failed (exit code 255)")

    def part(self, host: Any, before: Plan, after: Plan, logs: Path) -> None:
        assert host.name in before.quarters
        assert logs
        self._hadoop.asked.append(f"part {host.name}")
        self.plan = after
        self._hadoop.notice(after)
        if host.name == self.stays:
            raise HostProblem("it may still have /d", host=host.name)

    def join(self, host: Any, plan: Plan, *_: Any) -> list[Any]:
        self._hadoop.asked.append(f"join {host.name}")
        self.plan = plan
        if not self._hadoop.refuses:
            self._hadoop.live = plan
        return []

    def check_alive(self, only: Sequence[Any]) -> None:
        assert only == []
        if self._hadoop.refuses:
            raise ClusterProblem("datanode of node4 ended with code 1", host="d")


class Case:
    """A cluster with masters on `a` and nodes on `b` and `c`; the allocation has `d`, too."""

    def __init__(self, directory: Path, **hadoop: Any) -> None:
        self.allocation = HereAllocation(("a", "b", "c", "d"), {"kind": "channels"}, open_local)
        self.allocation.open(("a", "b", "c"))
        root = str(directory / "work")
        plan = plan_of(2, hosts=("a", "b", "c"), root=root)
        conf = Path(plan.conf_of(plan.masters))
        conf.mkdir(parents=True)
        self.hadoop = Hadoop(plan, conf, **hadoop)
        self.daemons = Daemons(self.hadoop)
        self.saved: list[Plan] = []
        self.said: list[str] = []
        self.wanted = True
        configuration = SimpleNamespace(common={"dfs.replication": "2"})
        everything: Any = (self.daemons, self.hadoop, lambda _: configuration, lambda *_: None)
        daemons, masters, configure, nothing = everything
        home = replace(HOME, root=root)
        parts = Assembled(self.allocation, daemons, (masters, masters), home, 1, (), nothing, nothing, configure)
        self.resizing = Resizing(parts, directory, lambda plan, _: self.saved.append(plan), self.check_wanted)

    def check_wanted(self) -> None:
        if not self.wanted:
            raise ClusterProblem("the cluster is stopped")

    def shrink(self, *hosts: str, seconds: float = 60.0) -> None:
        self.resizing.shrink(hosts, seconds, self.said.append)

    def grow(self, *hosts: str) -> None:
        self.resizing.grow(hosts, self.said.append)

    @property
    def asked(self) -> list[str]:
        return self.hadoop.asked


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Case]:
    case = Case(tmp_path)
    yield case
    case.allocation.release()


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[Case]:
    """Its blocks have nowhere to go."""
    case = Case(tmp_path, looks=None)
    yield case
    case.allocation.release()


def names(nodes: Sequence[Place]) -> list[str]:
    return [node.name for node in nodes]


def test_blocks_leave_before_jobs_do_and_jobs_before_daemons(made: Case) -> None:
    made.shrink("c")
    assert made.asked == [
        *("DFSAdmin -refreshNodes", "expect c", "RMAdminCLI -refreshNodes", "part c", "expect"),
    ]
    assert made.said == ["HDFS has 12 blocks of c to copy elsewhere", "c has left the cluster"]
    node = made.hadoop.plan.nodes[1]
    assert made.hadoop.excluded("datanodes") == [f"127.0.0.1:{node.ports['datanode_data']}"], "as it came to HDFS"
    assert made.hadoop.excluded("nodemanagers") == [node.address]
    [saved] = made.saved
    assert names(saved.nodes) == ["node1"]
    assert set(saved.quarters) == {"a", "b"} == set(made.allocation.hosts)


@pytest.mark.promise("A host whose blocks have no other place stays in the cluster", "how-to/resize")
def test_what_hdfs_cannot_copy_keeps_its_host(stuck: Case) -> None:
    with pytest.raises(ClusterProblem, match=r"HDFS has 12 blocks of c .* nothing has changed") as problem:
        stuck.shrink("c", seconds=0.0)
    assert problem.value.hint is not None
    assert "`howdah exec --name p hadoop fs -setrep -R 1 /`" in problem.value.hint
    assert stuck.hadoop.excluded("datanodes") == []
    assert "part c" not in stuck.asked
    assert stuck.asked[-2:] == ["DFSAdmin -refreshNodes", "RMAdminCLI -refreshNodes"], "undone"
    assert not stuck.saved
    assert set(stuck.allocation.hosts) == {"a", "b", "c"}


def test_a_cluster_that_is_stopped_does_not_wait(stuck: Case) -> None:
    def stop(_: str) -> None:
        stuck.wanted = False

    for asked in (["DFSAdmin -refreshNodes", "expect"], []):
        with pytest.raises(ClusterProblem, match="the cluster is stopped"):
            stuck.resizing.shrink(["c"], 60.0, stop)
        assert stuck.asked == asked
        del stuck.asked[:]


@pytest.mark.promise("`howdah shrink` deletes no block whose DataNode died meanwhile", "how-to/resize")
def test_a_datanode_that_dies_before_all_is_copied_has_not_left(stuck: Case) -> None:
    node = stuck.hadoop.plan.nodes[1].at("datanode_data")

    def die(_: str) -> None:
        stuck.hadoop.dead = {node: "127.0.0.1:1"}

    with pytest.raises(ClusterProblem, match="nothing has changed"):
        stuck.resizing.shrink(["c"], 1.0, die)
    assert "part c" not in stuck.asked


def test_hdfs_is_not_asked_to_copy_from_a_datanode_that_has_stopped(made: Case) -> None:
    node = made.hadoop.plan.nodes[1]
    made.daemons.over = [(SimpleNamespace(daemon=SimpleNamespace(role="datanode", place=node.name)), -9)]

    def notice(said: str) -> None:
        made.said.append(said)
        made.hadoop.dead = {node.at("datanode_data"): f"127.0.0.1:{node.ports['datanode_data']}"}

    made.hadoop.silent = [20, 21, 22, 23, 24, 31, 32, 40, 41, 42]
    made.resizing.shrink(["c"], 60.0, notice)
    assert made.daemons.told[0] >= 32, "HDFS lists it as dead some time before it looks for other replicas"
    assert made.said == ["HDFS has not noticed yet that the DataNode of c has stopped", "c has left the cluster"]


def test_what_is_missing_may_be_on_a_host_without_its_datanode(made: Case) -> None:
    made.hadoop.dead = {made.hadoop.plan.nodes[1].at("datanode_data"): "127.0.0.1:1"}
    made.hadoop.missing = 3
    with pytest.raises(ClusterProblem, match="HDFS misses 3 blocks, which may be on c"):
        made.shrink("c")
    made.shrink("b")


@pytest.mark.parametrize(
    ("hosts", "said"),
    [
        (["a"], "the masters are on a"),
        (["b", "c"], "none would be left"),
        (["e"], "the cluster has no host 'e'"),
        (["d"], "the cluster has no host 'd'"),
    ],
)
def test_what_a_cluster_cannot_be_without(made: Case, hosts: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made.shrink(*hosts)
    assert not made.asked


@pytest.mark.parametrize(
    ("change", "said"),
    [({"persist": "/p"}, "--persist"), ({"job": "slurm:1"}, "batch job"), ({"shuffle": "/s"}, "shuffle")],
)
def test_clusters_that_stay_as_they_are(made: Case, change: dict[str, Any], said: str) -> None:
    made.daemons.plan = replace(made.daemons.plan, **change)
    for ask in (lambda: made.shrink("c"), lambda: made.grow("d")):
        with pytest.raises(UsageError, match=said):
            ask()


def test_a_host_that_was_not_used_has_a_node_with_ports_of_its_own(made: Case) -> None:
    made.grow("d")
    assert made.asked == ["join d"]
    assert made.said == ["d is in the cluster"]
    plan = made.saved[-1]
    assert names(plan.nodes) == ["node1", "node2", "node3"]
    assert len({place.address for place in plan.places}) == 4
    ports = [port for place in plan.places for port in place.ports.values()]
    assert len(ports) == len(set(ports))


def test_a_host_that_comes_back_is_what_it_was(made: Case) -> None:
    made.shrink("c")
    del made.asked[:]
    made.grow("c")
    assert made.asked == ["DFSAdmin -refreshNodes", "RMAdminCLI -refreshNodes", "join c"]
    assert made.said[-2:] == ["HDFS has not noticed yet that the DataNode of c has stopped", "c is in the cluster"]
    assert made.saved[-1] == made.hadoop.plan
    assert made.hadoop.excluded("datanodes") == made.hadoop.excluded("nodemanagers") == []
    made.shrink("b")
    made.grow("d")
    plan = made.saved[-1]
    assert names(plan.nodes) == ["node2", "node3"], "no name is used twice"
    assert plan.nodes[1].address not in {place.address for place in made.hadoop.plan.places}, "b may come back"


def test_a_host_that_does_not_come_leaves_nothing(tmp_path: Path) -> None:
    made = Case(tmp_path, refuses=True)
    with pytest.raises(ClusterProblem, match=r"\[d\] datanode of node4 ended"):
        made.grow("d")
    assert made.asked == ["join d", "part d"]
    assert set(made.allocation.hosts) == {"a", "b", "c"}
    assert set(made.saved[0].quarters) == {"a", "b", "c", "d"}, "known before anything is there"
    assert made.saved[-1] == made.hadoop.plan
    made.allocation.release()


def test_a_host_that_hadoop_does_not_take_back_leaves_nothing(made: Case) -> None:
    made.shrink("c")
    made.daemons.fails = True
    with pytest.raises(ClusterProblem, match="failed"):
        made.grow("c")
    assert set(made.allocation.hosts) == {"a", "b"} == set(made.saved[-1].quarters)
    made.daemons.fails = False
    made.grow("c")
    assert made.saved[-1] == made.hadoop.plan


@pytest.mark.parametrize(
    ("host", "said"), [("c", "c is in the cluster already"), ("x", "the cluster's allocation has no host 'x'")]
)
def test_what_cannot_come(made: Case, host: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made.grow(host)


def test_a_secured_cluster_has_keys_for_the_hosts_that_it_had(made: Case) -> None:
    made.daemons.plan = replace(made.daemons.plan, security="authentication")
    with pytest.raises(UsageError, match="made its keys when it started, without d") as problem:
        made.grow("d")
    assert problem.value.hint == "A host that has left can come back."
    made.shrink("c")
    made.grow("c")


def test_a_host_that_keeps_something_has_left_all_the_same(made: Case) -> None:
    made.daemons.stays = "c"
    with pytest.raises(HostProblem, match="it may still have /d"):
        made.shrink("c")
    assert names(made.saved[-1].nodes) == ["node1"]
