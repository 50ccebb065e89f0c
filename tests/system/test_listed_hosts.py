"""A cluster on hosts that are reached by ssh: real servers, in network namespaces of their own."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from howdah.store import read_run
from tests.lab import Lab, lab
from tests.system.intruder import intrude, ways
from tests.system.running import Howdah, Said, archives_of, processes_of

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.skipif(os.getuid() != 0, reason="network namespaces are made by root"),
]

_HOSTS = ("red", "green", "blue")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab(tmp_path_factory.mktemp("lab"), _HOSTS) as made:
        yield made


@pytest.fixture(scope="module")
def listed(hosts: Lab, howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the hosts."""
    file = tmp_path_factory.mktemp("list") / "hosts.yaml"
    scratch = tmp_path_factory.mktemp("scratch")
    disks = ", ".join(str(tmp_path_factory.mktemp("disk")) for _ in range(2))
    file.write_text(
        f"scratch: {scratch}\nnetwork: eth*\nhosts:\n- {{host: red, rack: /r1}}\n"
        f"- {{host: green, rack: /r1, disks: [{disks}]}}\n"
        f"- {{host: blue, rack: /r2, address: {hosts.addresses['blue']}}}\n"
    )
    return file


@pytest.fixture(scope="module")
def there(hosts: Lab, howdah: Howdah) -> Iterator[Any]:
    """Runs a command that reaches the hosts by name."""

    def typed(*arguments: str, timeout: float = 400) -> Said:
        return howdah(*arguments, timeout=timeout, env=hosts.environment)

    yield typed
    typed("down", "--name", "far")


@pytest.fixture(scope="module")
def far(there: Any, listed: Path) -> dict[str, Any]:
    """What `up --json` says of a cluster on the hosts."""
    manifest: dict[str, Any] = there("up", "--name", "far", "--on", f"hosts:{listed}", "--json").json()
    return manifest


def network_of(process: str) -> str:
    return str(Path(f"/proc/{process}/ns/net").readlink())


@pytest.mark.promise("`--on hosts:` starts a node on each host that ssh reaches", "reference/allocations")
def test_daemons_are_on_the_hosts_and_in_their_networks(hosts: Lab, far: dict[str, Any]) -> None:
    assert [node["host"] for node in far["plan"]["nodes"]] == list(_HOSTS)
    assert [node["address"] for node in far["plan"]["nodes"]] == list(hosts.addresses.values())
    spaces: dict[str, set[str]] = {}
    for daemon in far["daemons"]:
        spaces.setdefault(daemon["host"], set()).add(network_of(str(daemon["pid"])))
    assert all(len(one) == 1 for one in spaces.values())
    assert len(set.union(*spaces.values(), {network_of("self")})) == 4


@pytest.mark.promise("Software reaches each host once", "reference/allocations")
def test_daemons_run_what_was_sent_and_nobody_else_can_look_there(far: dict[str, Any]) -> None:
    for daemon in far["daemons"]:
        quarters = far["plan"]["quarters"][daemon["host"]]
        assert {Path(file).parent for file in archives_of(daemon["pid"])} == {Path(quarters["store"], "archives")}
        for place in (quarters["root"], quarters["store"], Path(quarters["store"]).parent):
            assert stat.S_IMODE(Path(place).stat().st_mode) == 0o700


@pytest.mark.promise("TeraSort validates on hosts that ssh reaches", "reference/allocations")
def test_terasort_validates_and_every_host_is_observed(there: Any, far: dict[str, Any]) -> None:
    record = there("run", "terasort", "--size", "smoke", "--cluster", "far", "--json").json()
    stored = read_run(Path(record["runs"][0]["path"]))
    assert stored.run.outcome.kind == "valid"
    assert set(stored.environment["before"].hosts) == set(_HOSTS)
    assert {one.phase for one in stored.samples if one.metric == "cpu_seconds"} == {"gen", "sort", "validate"}
    for bound in ("bound_cpu_cores", "bound_network"):
        assert {one.host for one in stored.samples if one.metric == bound} == set(_HOSTS)


@pytest.mark.promise("`disks` have the data of nodes", "reference/allocations")
def test_blocks_are_on_every_disk_of_a_host(far: dict[str, Any]) -> None:
    used = [list(Path(disk).rglob("blk_*.meta")) for disk in far["plan"]["quarters"]["green"]["disks"]]
    assert len(used) == 2
    assert all(used)
    assert not list(Path(far["plan"]["quarters"]["green"]["root"]).rglob("blk_*"))


@pytest.mark.promise("Racks are told to Hadoop by address", "reference/allocations")
def test_the_namenode_knows_the_racks(there: Any, hosts: Lab, far: dict[str, Any]) -> None:
    said = there("exec", "--name", "far", "--", "hdfs", "dfsadmin", "-printTopology").ok().out
    racks = [part.split()[0] for part in said.split("Rack: ")[1:]]
    assert racks == ["/r1", "/r2"]
    assert hosts.addresses["blue"] in said.partition("Rack: /r2")[2]


def test_status_says_where_and_that_it_is_closed(there: Any, hosts: Lab, far: dict[str, Any]) -> None:
    said = there("status").ok().out
    for host, address in hosts.addresses.items():
        assert any(line.split()[:1] == [host] and address in line for line in said.splitlines())
    assert "Secured by Kerberos (authentication): only you can use it." in said
    assert "Not secured" not in said


@pytest.mark.promise("A second user on a second host is refused by every service", "how-to/secure")
def test_another_user_on_another_host_is_refused_everywhere(hosts: Lab, far: dict[str, Any]) -> None:
    found = ways(far["plan"])
    assert len(found) > 30
    assert intrude(found, *hosts.inside("blue")) == {}


@pytest.mark.promise("A cluster on a list of hosts is secured, and one that is not says so", "how-to/secure")
def test_an_open_cluster_says_that_it_is(there: Any, hosts: Lab, listed: Path, tmp_path: Path) -> None:
    scratch, *_ = listed.read_text().splitlines()
    alone = tmp_path / "one.yaml"
    alone.write_text(f"{scratch}\nhosts: [red]\n")  # What was sent and made there is used again.
    said = there("up", "--name", "open", "--on", f"hosts:{alone}", "--insecure").ok().out
    [manifest] = there("status", "--name", "open", "--json").json()
    # A server without Kerberos waits for more words of a call.
    found = {name: way for name, way in ways(manifest["plan"], secured=False).items() if "SIMPLE" not in way[1]}
    served = intrude(found, *hosts.inside("blue"))
    there("down", "--name", "open").ok()
    assert {"200"} == {answer for name, answer in served.items() if "/" in name}, "what is tried does get in"
    assert any("datanode_data" in name for name in served), served
    assert "is up after" in said
    assert "Not secured: whoever reaches" in said


@pytest.mark.promise("Hosts copy software from each other", "reference/allocations")
def test_software_leaves_this_machine_once(there: Any, hosts: Lab, tmp_path: Path) -> None:
    own = "".join(f"- {{host: {name}, scratch: {tmp_path}/{name}}}\n" for name in _HOSTS)
    (tmp_path / "apart.yaml").write_text(f"hosts:\n{own}")
    before = hosts.bytes_sent_to_hosts()
    there("up", "--name", "apart", "--on", f"hosts:{tmp_path}/apart.yaml", "--without", "class-data-sharing").ok()
    sent = hosts.bytes_sent_to_hosts() - before
    there("down", "--name", "apart").ok()
    sizes = [sum(one.stat().st_size for one in (tmp_path / name).rglob("store/files/*")) for name in _HOSTS]
    assert sizes[0] == sizes[1] == sizes[2]
    assert sizes[0] < sent < 2 * sizes[0]


def test_logs_come_from_the_hosts(there: Any, far: dict[str, Any]) -> None:
    assert "STARTUP_MSG" in there("logs", "--name", "far", "nodemanager-node3", "-n", "10000").ok().out


def test_down_leaves_the_store_and_the_logs(there: Any, howdah: Howdah, far: dict[str, Any]) -> None:
    there("down", "--name", "far").ok()
    for quarters in far["plan"]["quarters"].values():
        assert not [place for place in (quarters["root"], *quarters["disks"]) if Path(place).exists()]
        assert Path(quarters["store"]).exists()
    assert len(list((howdah.home / "clusters" / "far" / "logs").glob("*.log"))) == 10
    assert not [line for line in processes_of(howdah.home) if "far" in str(line)]


@pytest.mark.promise("Two names of one host are refused", "reference/allocations")
def test_one_host_under_two_names_is_refused(there: Any, hosts: Lab) -> None:
    said = there("up", "--name", "twins", "--on", f"hosts:red,{hosts.addresses['red']}")
    assert said.code == 2
    assert f"red and {hosts.addresses['red']} are one host, which calls itself " in said.err


@pytest.mark.promise("Hosts that do not reach each other are named, with the port", "reference/allocations")
def test_a_firewall_is_named_with_both_ends_and_the_port(there: Any, hosts: Lab) -> None:
    target = hosts.addresses["green"]
    hosts.run("blue", "ip", "route", "add", "blackhole", f"{target}/32")
    try:
        said = there("up", "--name", "walled", "--on", "hosts:red,green,blue")
    finally:
        hosts.run("blue", "ip", "route", "del", "blackhole", f"{target}/32")
    assert said.code == 1
    assert f"blue does not reach green at {target}:2" in said.err
    assert "red does not" not in said.err
    assert "firewall" in said.err


def test_hosts_that_are_not_there_are_told_each_with_the_reason(there: Any) -> None:
    said = there("up", "--name", "nowhere", "--on", "hosts:red,no-such-host,nor-this-one")
    assert said.code == 1
    assert "2 hosts have a problem" in said.err
    for name in ("no-such-host", "nor-this-one"):
        assert f"[{name}] cannot start the agent: there is no host of this name" in said.err
