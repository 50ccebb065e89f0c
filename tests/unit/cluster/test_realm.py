"""Keys of a cluster, made by a process on the masters' host."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from howdah.cluster.realm import access_of, credentials_of, make_keys, realm_arguments, realm_directory
from howdah.cluster.state import ClusterDirectory
from howdah.errors import ClusterProblem, HostProblem
from howdah.hadoop.configuration.plan import Plan
from howdah.hadoop.configuration.security import KEY_FILES, SECRET
from howdah.hadoop.interfaces.access import OPEN
from howdah.host import Host
from howdah.host.channel import open_local
from howdah.host.user import process_user
from tests.plans import plan_of


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
        for name in KEY_FILES:
            (directory / name).write_text(f"content of {name}")
        (directory / "ready").touch()
        return Realm()

    keys = make_keys(host, plan, "ann", start)
    assert keys.files["nn.keytab"] == b"content of nn.keytab"
    assert len(keys.files[SECRET]) == 64
    assert not directory.exists()
    other = make_keys(host, plan, "ann", start)
    assert other.files[SECRET] != keys.files[SECRET]


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
