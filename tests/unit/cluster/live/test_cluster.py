from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from howdah.cluster.control import ControlClient
from howdah.cluster.live.existing import WebAddresses, read_existing, web_addresses
from howdah.cluster.live.foreign import ForeignCluster
from howdah.cluster.live.managed import ManagedCluster
from howdah.cluster.state import ClusterDirectory, Daemon
from howdah.errors import UsageError
from howdah.hadoop.configuration.plan import Place, Plan, Quarters
from howdah.hadoop.configuration.site import expand, render_site
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk
from tests.plans import plan_of

HA = {
    "fs.defaultFS": "hdfs://prod",
    "dfs.ha.namenodes.prod": "nn1, nn2",
    "dfs.namenode.http-address.prod.nn1": "one:50070",
    "dfs.namenode.http-address.prod.nn2": "two:50070",
    "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
    "yarn.resourcemanager.hostname.rm1": "three",
    "yarn.resourcemanager.webapp.address.rm2": "four:9088",
    "mapreduce.jobhistory.webapp.address": "five:19888",
}


def test_what_the_configuration_names() -> None:
    settings = {
        "fs.defaultFS": "hdfs://nn:8020/",
        "dfs.namenode.http-address": "nn:1",
        "yarn.resourcemanager.webapp.address": "rm:2",
        "mapreduce.jobhistory.webapp.address": "hs:3",
    }
    assert web_addresses(settings) == WebAddresses(("nn:1",), ("rm:2",), ("hs:3",))


def test_hadoops_ports_where_it_names_none() -> None:
    settings = {"fs.defaultFS": "hdfs://nn:8020", "yarn.resourcemanager.hostname": "rm"}
    assert web_addresses(settings) == WebAddresses(("nn:9870",), ("rm:8088",), ("rm:19888",))


def test_a_cluster_without_hdfs_has_no_namenode() -> None:
    settings = {"fs.defaultFS": "posixfs:///", "yarn.resourcemanager.hostname": "rm"}
    assert web_addresses(settings) == WebAddresses((), ("rm:8088",), ("rm:19888",))


def test_variables_and_all_interfaces_are_resolved_as_hadoop_does() -> None:
    settings = {
        "fs.defaultFS": "hdfs://nn:8020",
        "dfs.namenode.http-address": "0.0.0.0:9871",
        "yarn.resourcemanager.hostname": "${main}",
        "yarn.resourcemanager.webapp.address": "${yarn.resourcemanager.hostname}:8089",
        "mapreduce.jobhistory.webapp.address": "${main}:1",
        "main": "rm",
        "loop": "${loop}",
        "other": "/tmp/${user.name}",
    }
    expanded = expand(settings)
    assert web_addresses(expanded) == WebAddresses(("nn:9871",), ("rm:8089",), ("rm:1",))
    assert (expanded["loop"], expanded["other"]) == ("${loop}", "/tmp/${user.name}")
    with pytest.raises(UsageError, match=r"the ResourceManager is \$\{main\}:8088, and nothing says"):
        web_addresses({"fs.defaultFS": "hdfs://nn", "yarn.resourcemanager.hostname": "${main}"})


def test_all_interfaces_are_those_of_the_host_that_another_key_names() -> None:
    every = {
        "dfs.namenode.http-address.prod.nn1": "0.0.0.0:1",
        "dfs.namenode.rpc-address.prod.nn1": "one:8020",
        "yarn.resourcemanager.webapp.address.rm1": "0.0.0.0:2",
        "mapreduce.jobhistory.webapp.address": "0.0.0.0:3",
        "mapreduce.jobhistory.address": "five:10020",
    }
    assert web_addresses({**HA, **every}) == WebAddresses(("one:1", "two:50070"), ("three:2", "four:9088"), ("five:3",))
    single = {"fs.defaultFS": "hdfs://nn", "yarn.resourcemanager.address": "rm:8032"}
    assert web_addresses(single) == WebAddresses(("nn:9870",), ("rm:8088",), ("rm:19888",))


@pytest.mark.promise("A cluster that one logs in to in an unknown way is refused", "how-to/existing-cluster")
@pytest.mark.parametrize(("key", "value"), [("hadoop.security.authentication", "token"), ("dfs.http.policy", "FTP")])
def test_a_cluster_that_cannot_be_asked_is_refused(tmp_path: Path, key: str, value: str) -> None:
    (tmp_path / "core-site.xml").write_text(render_site({"fs.defaultFS": "hdfs://nn", key: value}))
    with pytest.raises(UsageError, match=f"{key} of this cluster is {value}, which is not supported yet"):
        read_existing(tmp_path)


@pytest.mark.parametrize("key", ["hadoop.rpc.protection", "dfs.data.transfer.protection"])
def test_a_wrong_word_for_the_protection_of_a_cluster_of_others_is_named(tmp_path: Path, key: str) -> None:
    (tmp_path / "core-site.xml").write_text(render_site({"fs.defaultFS": "hdfs://nn", key: "integrity, privicy"}))
    with pytest.raises(UsageError, match=f"{key} .* is integrity, privicy, and there is no protection 'priv") as caught:
        read_existing(tmp_path)
    assert "privacy" in str(caught.value.hint)


@pytest.mark.promise("Pages by HTTPS alone are found where they are", "how-to/kerberos-clusters")
def test_pages_by_https_alone() -> None:
    only = {f"{name}.http.policy": "HTTPS_ONLY" for name in ("dfs", "mapreduce.jobhistory")}
    found = web_addresses({"fs.defaultFS": "hdfs://nn", "yarn.resourcemanager.address": "rm:8032", **only})
    assert found == WebAddresses(("nn:9871",), ("rm:8088",), ("rm:19890",), "https", "http", "https")
    named = {"dfs.namenode.https-address": "nn:1", "yarn.resourcemanager.webapp.https.address": "rm:2"}
    found = web_addresses({"fs.defaultFS": "hdfs://nn", "yarn.http.policy": "https_only", **only, **named})
    assert (found.namenode, found.resourcemanager, found.yarn) == (("nn:1",), ("rm:2",), "https")


@pytest.mark.promise("High availability of both masters is understood", "how-to/existing-cluster")
def test_high_availability() -> None:
    assert web_addresses(HA) == WebAddresses(("one:50070", "two:50070"), ("three:8088", "four:9088"), ("five:19888",))


VIEWED = {
    **HA,
    "fs.defaultFS": "viewfs://site",
    "fs.viewfs.mounttable.site.link./howdah": "hdfs://prod/bench",
    "fs.viewfs.mounttable.site.link./user": "hdfs://other:8020/user",
    "mapreduce.jobhistory.intermediate-done-dir": "/user/history/tmp",
    "mapreduce.jobhistory.done-dir": "viewfs://site/user/history/done",
}


@pytest.mark.promise("Paths are found where a mount table of viewfs has them", "how-to/existing-cluster")
def test_the_namenodes_of_a_mount_table() -> None:
    found = web_addresses(VIEWED)
    assert found.namenode == ("one:50070", "two:50070"), "of Howdah's own directory"
    assert found.services == {"prod": ("one:50070", "two:50070"), "other:8020": ("other:9870",)}
    assert found.locate("/howdah/run") == (("one:50070", "two:50070"), "/bench/run")
    assert found.locate("/user/history/done") == (("other:9870",), "/user/history/done")
    assert web_addresses(HA).locate("/howdah/run") == (("one:50070", "two:50070"), "/howdah/run")
    with pytest.raises(UsageError, match="/howdah is not in the mount table site"):
        web_addresses({key: value for key, value in VIEWED.items() if not key.endswith("howdah")})
    with pytest.raises(UsageError, match="on which Howdah has nothing"):
        web_addresses({**VIEWED, "fs.viewfs.mounttable.site.link./x": "hdfs://third/"}).locate("/x/a")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"yarn.resourcemanager.hostname": "rm"}, "names no NameNode"),
        ({"fs.defaultFS": "hdfs://nn"}, "names no ResourceManager"),
        ({**HA, "dfs.namenode.http-address.prod.nn2": ""}, "names no NameNode"),
        ({key: value for key, value in HA.items() if not key.endswith(".rm1")}, "names no ResourceManager"),
    ],
)
def test_a_configuration_that_lacks_one_is_refused(settings: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        web_addresses(settings)


@dataclass
class Supervisor:
    """Gives the cluster to the first who claims it, unless its hosts are `changing`. It has these `nodes` now."""

    holder: str | None = None
    closed: bool = False
    changing: bool = False
    nodes: tuple[str, ...] = ("node0",)

    def ask(self, request: str, **arguments: Any) -> dict[str, Any]:
        if request == "status":
            return {"plan": {"nodes": [{"name": name} for name in self.nodes]}}
        assert request == "claim"
        if self.changing:
            return {"error": "the hosts of this cluster are changing", "hint": None, "code": 2}
        self.holder = self.holder or arguments["by"]
        return {"claimed_by": self.holder}

    def close(self) -> None:
        self.closed = True


@dataclass
class Nowhere:
    """A host of which nothing is asked."""

    name: str = "here"
    closed: bool = False

    def close(self) -> None:
        self.closed = True


SHARED: dict[str, Any] = {
    "description": {"name": "c1"},
    "conf": Path("/conf"),
    "settings": {},
    "addresses": WebAddresses(("nn:1",), ("rm:1",), ("hs:1",)),
    "distribution": Distribution("3.4.2", Path("/hadoop"), "managed", (), (), ()),
    "jdk": Jdk("/jdk", (17, 0, 1), "any", "amd64", ()),
    "client": Nowhere(),
}


def plan(*nodes: str) -> Plan:
    """Masters on `here`, a node on each host of `nodes`."""
    places = [Place(f"node{number}", host, "127.0.0.1", {}, "/n") for number, host in enumerate(nodes)]
    master = Place("master", "here", "127.0.0.1", {}, "/m")
    quarters = {host: Quarters(host, "/c", "/conf", "/logs", "/store") for host in dict.fromkeys(("here", *nodes))}
    return Plan("c", master, tuple(places), quarters, (1, 2), (3, 4), "simple")


def cluster(control: Supervisor, *nodes: str) -> ManagedCluster:
    made = plan(*nodes)
    hosts = {name: Nowhere(name) for name in made.quarters}
    directory = ClusterDirectory("c", Path("/home/c"))
    return ManagedCluster(made, directory, cast(ControlClient, control), **{**SHARED, "hosts": hosts})


def channels(count: int) -> ManagedCluster:
    """Three nodes on so many hosts, all on this machine."""
    made = plan_of(3, hosts=[f"channel{number}" for number in range(1, count + 1)], root="/c", machine="here")
    hosts = {name: Nowhere(name) for name in made.quarters}
    directory = ClusterDirectory("p", Path("/home/p"))
    return ManagedCluster(made, directory, cast(ControlClient, Supervisor()), **{**SHARED, "hosts": hosts})


@pytest.mark.parametrize(
    ("nodes", "one", "common"),
    [(["here"], True, "/c/files"), (["here", "here"], False, "/c/files"), (["there"], False, None)],
)
def test_what_a_plan_tells_of_its_hosts(nodes: list[str], one: bool, common: str | None) -> None:
    found = cluster(Supervisor(), *nodes)
    assert (found.is_one_node_here, found.common_directory, found.shares_files) == (one, common, common is not None)


@pytest.mark.promise("Several hosts on one machine are observed once", "reference/allocations")
def test_hosts_on_one_machine_are_one_machine() -> None:
    found = channels(3)
    assert found.machines == {"here": found.client}, "the run's own channel, and no processor twice"
    assert {found.machine_of(host) for host in found.hosts} == {"here"}
    assert found.data_directories("here") == ("/c-channel1", "/c-channel2", "/c-channel3")
    assert found.mounts("here") == {"/": "/", **dict.fromkeys(found.data_directories("here"), "cluster")}
    assert [place.work for place in found.data_places("hdfs")] == ["/c-channel1"], "one disk for all"
    assert found.common_directory == "/c-channel1/files"
    assert found.client_temporary == "/home/p/client", "none of a host's"
    assert [host.name for host, _ in found.container_logs] == ["channel1", "channel2", "channel3"]
    assert ("channel2", "/c-channel2/logs/datanode-node2.log") in [(host.name, log) for host, log in found.log_files]


def test_each_machine_is_observed_through_a_host_of_it() -> None:
    found = cluster(Supervisor(), "here", "there", "there")
    assert found.machines == {"here": found.client, "there": found.hosts["there"]}
    assert [place.host.name for place in found.data_places("hdfs")] == ["here", "there"]


def test_a_directory_in_another_one_is_named_first() -> None:
    names = list(channels(2).own_names)
    assert names.index("/c-channel1/conf") < names.index("/c-channel1")


def test_closing_closes_every_channel() -> None:
    found = channels(3)
    found.close()
    assert found.client.closed  # type: ignore[attr-defined]
    assert all(host.closed for host in found.hosts.values())  # type: ignore[attr-defined]


def test_daemons_are_found_by_their_host() -> None:
    daemons = (Daemon("namenode", "master", "here", 1), Daemon("datanode", "node0", "there", 1))
    made = plan("there")
    one = ManagedCluster(
        made,
        ClusterDirectory("c", Path("/home/c")),
        cast(ControlClient, Supervisor()),
        **{**SHARED, "hosts": {name: Nowhere(name) for name in made.quarters}, "daemons": daemons},
    )
    assert {name: found for name, (_, found) in one.daemons_by_host().items()} == {
        "here": daemons[:1],
        "there": daemons[1:],
    }


def test_of_a_cluster_that_howdah_did_not_start_nothing_is_made_up() -> None:
    found = ForeignCluster(**SHARED)
    assert not any((found.observed, found.runs_distribution, found.shares_files, found.is_one_node_here))
    assert found.common_directory is None
    assert not [*found.data_directories("here"), *found.work_directories, *found.log_files, *found.data_places("hdfs")]
    assert (found.lost_daemons(), found.mounts("here"), found.own_names) == ((), {"/": "/"}, {"/conf": "CONF"})
    with pytest.raises(UsageError, match="a datanode can only be killed on a cluster that Howdah started"):
        found.kill_daemon("datanode")


@pytest.mark.promise("A second run on a cluster that is in use is refused", "issue 3")
def test_a_cluster_that_somebody_measures_on_is_refused() -> None:
    with pytest.raises(UsageError, match="the cluster 'c1' is in use: process 7 measures on it") as caught:
        cluster(Supervisor("process 7")).claim()
    assert "would measure each other" in str(caught.value.hint)


@pytest.mark.promise("During a run, the hosts of a cluster stay as they are", "how-to/resize")
def test_a_cluster_whose_hosts_change_cannot_be_claimed() -> None:
    with pytest.raises(UsageError, match="are changing"):
        cluster(Supervisor(changing=True), "here").claim()
    with pytest.raises(UsageError, match="have changed a moment ago"):
        cluster(Supervisor(nodes=("node0", "node1")), "here").claim()


def test_a_cluster_is_claimed_by_this_process_and_others_own_cannot_be() -> None:
    supervisor = Supervisor(nodes=())
    cluster(supervisor).claim()
    assert supervisor.holder == f"process {os.getpid()}"
    cluster(supervisor).claim()
    ForeignCluster(**SHARED).claim()
