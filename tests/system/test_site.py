"""The cluster of a site: Kerberos, HTTPS alone, high availability, a mount table. Howdah has started nothing of it."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.engine.evidence.readback import DAEMON_FLAGS
from howdah.hadoop.distribution.distribution import managed
from howdah.hadoop.distribution.jdk import choose_jdk, find_jdks
from howdah.host.channel import open_local
from howdah.host.user import process_user
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
    said = howdah("run", "terasort", *asked, "--conf", "hdp.version=3.1.5.0-152", env=environment).ok()
    assert "nothing sets" not in said.err
    assert re.search("warning: your ticket ends in (29|30) minutes", said.err)
    [run] = [read_run(place) for place in tmp_path.iterdir()]
    assert run.run.outcome.kind == "valid"
    assert "viewfs://site/howdah/" in (run.path / "run.json").read_text()
    assert {"namenode.json", "resourcemanager.json", "historyserver.json"} == {
        file.name for file in (run.path / "conf" / "effective").iterdir()
    }


@pytest.mark.soak(part="security")
@pytest.mark.promise("A ticket that ends in the middle of a run is named", "how-to/kerberos-clusters")
def test_a_ticket_that_ends_in_a_run_is_named(howdah: Howdah, at: Site, tmp_path: Path) -> None:
    environment = {"KRB5_CONFIG": str(at.krb5_conf), "KRB5CCNAME": str(at.ticket("short", "50s"))}
    asked = ("--size", "1G", "--cluster", f"conf:{at.conf}", "--out", str(tmp_path), "--no-report")
    said = howdah("run", "terasort", *asked, env=environment)
    assert said.code == 1
    assert "warning: your ticket ends in 1 minute," in said.err
    [run] = [read_run(place).run for place in tmp_path.iterdir()]
    assert run.outcome.kind == "failed"
    assert "your ticket ended at " in str(run.outcome.reason)


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


@pytest.mark.promise("A cluster may be in the realm of its site, and starts no KDC then", "how-to/secure")
def test_a_cluster_of_ones_own_in_the_realm_of_the_site(howdah: Howdah, at: Site, tmp_path: Path) -> None:
    # Clusters of one machine are apart by their addresses, and others may be up.
    given = at.realm_for(process_user(), [f"127.77.{block}.{one}" for block in range(16) for one in (1, 2)])
    whole = (given / "HTTP.keytab").read_bytes()
    shutil.copy(given / "nn.keytab", given / "HTTP.keytab")
    asked = ("run", "terasort", "--size", "smoke", "--realm", str(given), "--out", str(tmp_path), "--no-report")
    refused = howdah(*asked)
    assert refused.code == 2
    lacking = rf"HTTP\.keytab has no key of HTTP/howdah@{REALM}, HTTP/127\.77\.\d+\.1@{REALM}, .*: it has nn/howdah@"
    assert re.search(lacking, refused.err), refused.err
    (given / "HTTP.keytab").write_bytes(whole)
    howdah(*asked, "--protection", "privacy").ok()
    [run] = [read_run(place) for place in tmp_path.iterdir()]
    assert run.run.outcome.kind == "valid"
    assert run.run.cluster["security"] == "privacy"
    daemons = json.loads((run.path / "conf" / DAEMON_FLAGS).read_text())
    assert any(name.startswith("namenode") for name in daemons)
    assert not any(name.startswith("kdc") for name in daemons)
    assert not [file for file in run.path.rglob("*") if file.suffix == ".keytab"]
