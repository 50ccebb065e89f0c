"""The cluster of a site: Kerberos, HTTPS alone, high availability, a mount table. Howdah has started nothing of it."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.hadoop.distribution.distribution import managed
from howdah.hadoop.distribution.jdk import choose_jdk, find_jdks
from howdah.host.channel import open_local
from howdah.store import read_run
from tests.site import REALM, USER, Site, site
from tests.system.running import Howdah, processes_of

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.skipif(shutil.which("kinit") is None, reason="krb5-kdc and krb5-user are not installed"),
]


@pytest.fixture(scope="module")
def at(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    directory = tmp_path_factory.mktemp("site")
    distribution = managed("3.4.2", howdah.home / "cache")
    host = open_local("here")
    try:
        jdk = choose_jdk(find_jdks(host), distribution.version)
    finally:
        host.close()
    with site(directory, distribution, jdk.home) as found:
        yield found
    assert processes_of(directory) == []


@pytest.mark.promise("A secured cluster with high availability is measured with a ticket", "how-to/kerberos-clusters")
@pytest.mark.promise("Paths are found where a mount table of viewfs has them", "how-to/existing-cluster")
def test_a_terasort_with_a_ticket_and_a_mount_table_is_valid(howdah: Howdah, at: Site, tmp_path: Path) -> None:
    environment = {"KRB5_CONFIG": str(at.krb5_conf), "KRB5CCNAME": str(at.ticket("ticket"))}
    asked = ("--size", "smoke", "--cluster", f"conf:{at.viewed}", "--out", str(tmp_path))
    said = howdah("run", "terasort", *asked, env=environment).ok()
    assert re.search("warning: your ticket ends in (29|30) minutes", said.err)
    [run] = [read_run(place) for place in tmp_path.iterdir()]
    assert run.run.outcome.kind == "valid"
    assert "viewfs://site/howdah/" in (run.path / "run.json").read_text()
    assert {"namenode.json", "resourcemanager.json", "historyserver.json"} == {
        file.name for file in (run.path / "conf" / "effective").iterdir()
    }


@pytest.mark.soak(part="security")
def test_a_terasort_with_a_keytab_and_our_plugins_is_valid(howdah: Howdah, at: Site, tmp_path: Path) -> None:
    own = ("--keytab", str(at.keytab), "--principal", f"{USER}@{REALM}")
    asked = ("--size", "smoke", "--cluster", f"conf:{at.conf}", "--out", str(tmp_path), "--accelerator", "sort")
    howdah("run", "terasort", *asked, *own, "--no-report", env={"KRB5_CONFIG": str(at.krb5_conf)}).ok()
    [run] = [read_run(place) for place in tmp_path.iterdir()]
    assert run.run.outcome.kind == "valid"


@pytest.mark.promise("Without a valid ticket, a run does not begin, and says what to do", "how-to/kerberos-clusters")
def test_a_ticket_that_has_ended_is_refused(howdah: Howdah, at: Site, tmp_path: Path) -> None:
    cache = at.ticket("ended", "5s")
    time.sleep(6)
    environment = {"KRB5_CONFIG": str(at.krb5_conf), "KRB5CCNAME": str(cache)}
    asked = ("--size", "smoke", "--cluster", f"conf:{at.conf}", "--out", str(tmp_path))
    said = howdah("run", "terasort", *asked, env=environment)
    assert said.code == 1
    assert f"nobody can log in to the cluster of {at.conf}" in said.err
    assert "`kinit` gets a ticket" in said.err
    assert not list(tmp_path.iterdir())
