"""Keys of a cluster, made by a process on the masters' host."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest

from howdah.cluster.deployment.realm import (
    access_of,
    check_can_log_in,
    check_clocks,
    check_names,
    credentials_of,
    make_keys,
    realm_arguments,
    realm_directory,
)
from howdah.cluster.software.installation import Installation
from howdah.cluster.state import ClusterDirectory
from howdah.errors import ClusterProblem, HostProblem
from howdah.hadoop.configuration.plan import Plan
from howdah.hadoop.configuration.security import KEYTABS, SECRET, TLS_FILES
from howdah.hadoop.configuration.site_realm import SiteRealm
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk
from howdah.hadoop.interfaces.access import OPEN
from howdah.host import Host
from howdah.host.channel import open_local
from howdah.host.user import process_user
from tests.plans import plan_of
from tests.unit.engine.run.clusters import FakeHost


class Realm:
    """A process that has made keys, or has ended."""

    pid = 1
    lost_with: str | None = None
    ended_at: tuple[float, float] | None = None
    cpu_seconds: float | None = None

    def __init__(self, code: int | None = None) -> None:
        self._code = code

    def poll(self) -> int | None:
        return self._code

    def wait(self, timeout: float | None = None) -> int | None:
        return self._code

    def signal(self, number: int) -> None: ...


@pytest.fixture
def host() -> Iterator[Host]:
    opened = open_local(platform.node())
    yield opened
    opened.close()


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    made = plan_of(1, name="c")
    return replace(made, security="integrity", masters=replace(made.masters, directory=str(tmp_path / "masters")))


def test_the_realm_is_told_its_principals_and_leaves_keys_that_are_then_nowhere_else(host: Host, plan: Plan) -> None:
    directory = Path(realm_directory(plan))

    def start() -> Realm:
        lines = (directory / "request").read_text().splitlines()
        assert "principal nn nn/howdah" in lines
        assert "principal owner ann" in lines
        assert f"address {plan.masters.address}" in lines
        assert directory.stat().st_mode & 0o077 == 0
        for name in (*KEYTABS, *TLS_FILES):
            (directory / name).write_text(f"content of {name}")
        (directory / "ready").touch()
        return Realm()

    keys = make_keys(host, plan, "ann", start)
    assert keys.files["nn.keytab"] == b"content of nn.keytab"
    assert len(keys.files[SECRET]) == 64
    assert not directory.exists()
    other = make_keys(host, plan, "ann", start)
    assert other.files[SECRET] != keys.files[SECRET]


def test_in_the_realm_of_a_site_only_keys_of_tls_are_made(host: Host, plan: Plan) -> None:
    directory = Path(realm_directory(plan))

    def start() -> Realm:
        assert "principal" not in (directory / "request").read_text()
        for name in TLS_FILES:
            (directory / name).write_text(f"content of {name}")
        (directory / "ready").touch()
        return Realm(0)

    site = SiteRealm("SITE", {"krb5.conf": b"theirs", **dict.fromkeys(KEYTABS, b"key")})
    keys = make_keys(host, plan, "ann", start, site)
    assert set(keys.files) == {*KEYTABS, *TLS_FILES, SECRET, "krb5.conf"}
    assert keys.files["nn.keytab"] == b"key"
    assert not directory.exists()


def test_a_realm_that_ends_is_an_error(host: Host, plan: Plan) -> None:
    with pytest.raises(ClusterProblem, match=rf"\[{platform.node()}\] the kdc ended with code 3"):
        make_keys(host, plan, "ann", lambda: Realm(3))


def test_it_listens_where_the_plan_says(plan: Plan) -> None:
    port = str(plan.masters.ports["kdc"])
    assert realm_arguments(plan) == (realm_directory(plan), "HOWDAH", plan.masters.address, port)


def test_an_open_cluster_has_no_keys_and_keys_that_are_gone_are_an_error(plan: Plan, tmp_path: Path) -> None:
    directory = ClusterDirectory("c", tmp_path)
    plain = replace(plan, security="none")
    assert access_of(plain, directory) is OPEN
    assert credentials_of(plain, directory) is None
    with pytest.raises(HostProblem, match="the keys of the cluster 'c' cannot be read"):
        access_of(plan, directory)
    credentials = credentials_of(plan, directory)
    assert credentials is not None
    assert credentials.environment["KRB5PRINCIPAL"] == f"{process_user()}@HOWDAH"


def installation(*modules: str) -> Installation:
    hadoop = Distribution("3.4.2", Path("/hadoop"), "home", (), (), ())
    return Installation(hadoop, Jdk("/jdk", (17, 0, 1), "any", "amd64", modules), None)


@pytest.mark.promise("A JDK without GSSAPI is an error before daemons start", "how-to/secure")
def test_a_java_without_kerberos_is_named_with_its_host() -> None:
    check_can_log_in({"red": installation("java.base", "jdk.security.jgss"), "unknown": installation()})
    with pytest.raises(HostProblem, match=r"\[blue\] the Java in /jdk has no module jdk.security.jgss"):
        check_can_log_in({"red": installation("jdk.security.jgss"), "blue": installation("java.base")})


@dataclass
class Clock:
    """A host whose clock is so many seconds ahead."""

    name: str
    ahead: float

    def call(self, operation: str, /) -> dict[str, float]:
        assert operation == "machine.moment"
        return {"utc": time.time() + self.ahead, "monotonic": 1.0}


def clocks(**ahead: float) -> dict[str, Host]:
    return {name: cast("Host", Clock(name, seconds)) for name, seconds in ahead.items()}


@pytest.mark.promise("A host that does not know its own name is an error before daemons start", "how-to/secure")
def test_a_host_that_does_not_know_itself_is_named() -> None:
    def answering(**found: object) -> Host:
        known = {"10.9.8.7": "localhost"}
        whole = {"name": "vm", "addresses": ["127.0.1.1"], "reverse": known, "seconds": 0.0, **found}
        return cast("Host", FakeHost({"network.resolve": lambda **_: whole}))

    check_names({"red": answering()}, {"red": "10.9.8.8"})
    with pytest.raises(HostProblem, match=r"\[red\] 'vm', its name for itself, does not resolve there: no such name"):
        check_names({"red": answering(addresses=[], error="no such name")}, {})
    words = r"\[red\] its address 10.9.8.7 is localhost to itself; to this machine that name is .*127.0.0.1"
    with pytest.raises(HostProblem, match=words):
        check_names({"red": answering()}, {"red": "10.9.8.7"})


@pytest.mark.promise("Clocks with which no ticket is good are an error before daemons start", "how-to/secure")
def test_clocks_that_differ_too_much_are_named() -> None:
    check_clocks(clocks(red=100.0, blue=-100.0), "red")
    with pytest.raises(HostProblem, match=r"\[blue\] its clock is 300 s behind that of red; Kerberos allows 240 s"):
        check_clocks(clocks(red=100.0, blue=-200.0), "red")
    with pytest.raises(HostProblem, match=r"\[this machine\] its clock is 300 s behind that of red"):
        check_clocks(clocks(red=300.0, blue=300.0), "red")
