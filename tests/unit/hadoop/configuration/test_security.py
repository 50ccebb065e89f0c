"""What a secured cluster has beside a plain one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from howdah.errors import UsageError
from howdah.hadoop.configuration.cluster import Configuration, configure, environment_script
from howdah.hadoop.configuration.plan import Plan
from howdah.hadoop.configuration.security import (
    KEYS,
    KEYTABS,
    SECRET,
    TLS_FILES,
    Keys,
    check_overrides,
    check_protection,
    krb5_conf,
    own_credentials,
    principals,
    security_settings,
)
from howdah.hadoop.configuration.site import read_client_files, read_conf_dir
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk
from tests.plans import plan_of

DISTRIBUTION = Distribution("3.4.2", Path("/hadoop"), "home", (), (), ())
PLAN = replace(plan_of(2, name="c"), security="privacy")
FILES = {name: name.encode() for name in (*KEYTABS, *TLS_FILES, SECRET)}


def made(plan: Plan) -> Configuration:
    return configure(plan, DISTRIBUTION, {}, {}, owner="ann")


def test_a_cluster_without_protection_has_none_of_it() -> None:
    plain = replace(PLAN, security="none")
    assert security_settings(plain, "ann") == {}
    assert made(plain).common["hadoop.security.authentication"] == "simple"
    assert not any("https" in key or "kerberos" in key for key in made(plain).common)
    assert not any("https" in key for key in made(plain).nodes["node1"])


@pytest.mark.parametrize("word", ["authentication", "integrity", "privacy"])
def test_protection_holds_for_calls_and_for_data(word: str) -> None:
    found = made(replace(PLAN, security=word)).common
    assert found["hadoop.security.authentication"] == "kerberos"
    assert found["hadoop.rpc.protection"] == found["dfs.data.transfer.protection"] == word
    assert ("dfs.encrypt.data.transfer.cipher.suites" in found) == (word == "privacy")


def test_only_the_owner_may_do_anything() -> None:
    found = made(PLAN).common
    assert found["security.service.authorization.default.acl"] == "ann"
    assert found["yarn.scheduler.capacity.root.default.acl_submit_applications"] == "ann"
    assert found["yarn.scheduler.capacity.root.acl_submit_applications"] == " ", "nobody: empty would be everybody"
    rule = found["hadoop.security.auth_to_local"]
    assert rule == "RULE:[2:$1@$0](nn@HOWDAH|rm@HOWDAH|jhs@HOWDAH|dn@HOWDAH|nm@HOWDAH|HTTP@HOWDAH)s/.*/ann/ DEFAULT"


def test_web_servers_keep_their_ports_and_speak_tls_alone() -> None:
    configuration = made(PLAN)
    found, node = configuration.common, configuration.nodes["node2"]
    assert {found[f"{name}.http.policy"] for name in ("dfs", "yarn", "mapreduce.jobhistory")} == {"HTTPS_ONLY"}
    assert found["dfs.namenode.https-address"] == found["dfs.namenode.http-address"]
    assert found["yarn.resourcemanager.webapp.https.address"] == found["yarn.resourcemanager.webapp.address"]
    assert node["dfs.datanode.https.address"] == node["dfs.datanode.http.address"]
    assert node["yarn.nodemanager.webapp.https.address"] == node["yarn.nodemanager.webapp.address"]


def test_what_the_user_sets_wins() -> None:
    plan = replace(PLAN, security="authentication")
    found = configure(plan, DISTRIBUTION, {}, {"hadoop.rpc.protection": "integrity"}, owner="ann").common
    assert found["hadoop.rpc.protection"] == "integrity"


def test_the_page_of_an_application_master_and_every_block_want_a_key() -> None:
    found = made(PLAN).common
    assert found["yarn.resourcemanager.application-https.policy"] == "STRICT"
    assert found["yarn.app.mapreduce.am.webapp.https.enabled"] == "true"
    assert found["yarn.app.mapreduce.am.webapp.https.client.auth"] == "true"
    assert found["dfs.block.access.token.enable"] == "true"
    for daemon in ("dfs.namenode", "yarn.resourcemanager", "mapreduce.cluster"):
        assert int(found[f"{daemon}.delegation.token.max-lifetime"]) > 10**11, "a cluster lasts longer than a week"
    assert found["mapreduce.task.index.cache.limit.bytes"] == str(1 << 30), "else large jobs need native code"


def test_a_cluster_without_hdfs_has_no_keys_of_it() -> None:
    plan = replace(PLAN, storage="posix:/shared")
    assert not any(key.startswith("dfs.") for key in security_settings(plan, "ann"))


def test_stock_clients_find_the_principal_of_every_address() -> None:
    found = principals(PLAN, "ann")
    assert found["owner"] == ("ann",)
    assert found["HTTP"] == ("HTTP/howdah", *(f"HTTP/{place.address}" for place in PLAN.places))
    assert f"kdc = {PLAN.masters.at('kdc')}\n" in krb5_conf(PLAN)


@pytest.mark.promise("Spark's driver and executors talk to the owner's alone", "how-to/secure")
def test_each_place_has_its_own_keytabs_and_clients_have_the_owners() -> None:
    keys = Keys(FILES, "ann")
    masters, node = keys.of_place(PLAN, PLAN.masters, "/m"), keys.of_place(PLAN, PLAN.nodes[0], "/n")
    clients = keys.of_clients(PLAN, "/c")

    def keytabs(files: dict[str, bytes]) -> set[str]:
        return {name.removeprefix(f"{KEYS}/") for name in files if name.endswith(".keytab")}

    assert keytabs(masters) == {"nn.keytab", "rm.keytab", "jhs.keytab", "HTTP.keytab", "owner.keytab"}
    assert keytabs(node) == {"dn.keytab", "nm.keytab", "HTTP.keytab", "owner.keytab"}
    assert keytabs(clients) == {"owner.keytab"}
    assert b"passphrase" in masters["ssl-server.xml"]
    assert b"/n/security/server.p12" in node["ssl-server.xml"]
    assert not any("server" in name for name in clients)
    assert b"/c/security/trust.jks" in clients["ssl-client.xml"]
    spark = clients["spark/spark-defaults.conf"]
    assert b"spark.kerberos.keytab /c/security/owner.keytab\n" in spark
    assert b"spark.authenticate true\n" in spark
    assert b"spark.ui.enabled false\n" in spark
    assert (b"spark.network.crypto.enabled true\n" in spark) == (PLAN.security == "privacy")
    private = keys.of_clients(replace(PLAN, security="privacy"), "/c")
    assert b"spark.network.crypto.enabled true\n" in private["spark/spark-defaults.conf"]
    assert b"spark.driver." not in spark, "a driver outside of containers has no directory that YARN puts in"


@pytest.mark.promise("Keys and passwords are never in a run directory", "how-to/secure")
def test_what_runs_keep_of_a_conf_directory_has_no_keys(tmp_path: Path) -> None:
    for name, content in {
        **made(PLAN).files(None, ""),
        **Keys(FILES, "ann").of_place(PLAN, PLAN.masters, "/m"),
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    kept = read_client_files(tmp_path)
    assert "core-site.xml" in kept
    assert not any(secret in content for secret in (b"passphrase", b"owner.keytab") for content in kept.values())
    assert read_conf_dir(tmp_path)["hadoop.security.authentication"] == "kerberos"


@pytest.mark.promise("A cluster may be in the realm of its site, and starts no KDC then", "how-to/secure")
def test_a_cluster_in_the_realm_of_its_site_has_its_principals_there() -> None:
    plan = replace(PLAN, realm="SITE.EXAMPLE")
    settings = security_settings(plan, "ann")
    assert settings["dfs.namenode.kerberos.principal"] == "nn/howdah@SITE.EXAMPLE"
    assert settings["yarn.nodemanager.principal"] == "nm/howdah@SITE.EXAMPLE"
    assert "@HOWDAH" not in "".join(settings.values())
    assert "kdc" in {role.name for role, _ in PLAN.daemons()}
    assert "kdc" not in {role.name for role, _ in plan.daemons()}
    given = {**FILES, "krb5.conf": b"of the site"}
    files = Keys(given, "ann").of_clients(plan, "/c")
    assert files["krb5.conf"] == b"of the site"
    assert b"ann@SITE.EXAMPLE" in files["spark/spark-defaults.conf"]


def test_the_owner_s_programs_log_in_by_themselves() -> None:
    credentials = own_credentials(PLAN, "ann", "/c")
    jdk = Jdk("/jdk", (17, 0, 1), "any", "amd64", ())
    script = environment_script(DISTRIBUTION, jdk, (), "/logs", credentials)
    assert "export KRB5PRINCIPAL='ann@HOWDAH'\n" in script
    assert "export KRB5KEYTAB='/c/security/owner.keytab'\n" in script
    assert "-Djava.security.krb5.conf=/c/krb5.conf" in script
    found = credentials.environment_of({"HADOOP_OPTS": "-Dmine", "SPARK_CONF_DIR": "/mine"})
    assert found["HADOOP_OPTS"] == "-Dmine -Djava.security.krb5.conf=/c/krb5.conf"
    assert found["SPARK_CONF_DIR"] == "/mine"
    assert credentials.environment_of({})["SPARK_CONF_DIR"] == "/c/spark"


def test_a_wrong_word_is_refused_with_the_right_one() -> None:
    assert check_protection("privacy") == "privacy"
    with pytest.raises(UsageError, match="no protection 'privat'"):
        check_protection("privat")


@pytest.mark.promise("Settings with which secured daemons would not start are refused", "how-to/secure")
@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("hadoop.rpc.protection", "privat", "hadoop.rpc.protection has 'privat'"),
        ("dfs.data.transfer.protection", "privacy,nothing", "dfs.data.transfer.protection has 'nothing'"),
        (
            "dfs.data.transfer.protection",
            "",
            "protection= protects less than the cluster's protection, privacy",
        ),
        ("hadoop.rpc.protection", "privacy,integrity", "hadoop.rpc.protection=privacy,integrity protects less than"),
        ("dfs.data.transfer.protection", "none", "dfs.data.transfer.protection has 'none'"),
        ("dfs.http.policy", "HTTP_ONLY", "would open the cluster: a secured one has HTTPS_ONLY"),
        ("hadoop.security.authentication", "simple", "would open the cluster: a secured one has kerberos"),
        ("hadoop.security.authorization", "false", "would open the cluster: a secured one has true"),
        ("dfs.block.access.token.enable", "false", "would open the cluster: a secured one has true"),
        ("yarn.app.mapreduce.am.webapp.https.client.auth", "false", "would open the cluster: a secured one has true"),
        (
            "yarn.nodemanager.aux-services.mapreduce_shuffle.class",
            "org.x.Mine",
            "has org.howdah.security.SecureShuffle",
        ),
    ],
)
def test_settings_that_contradict_protection_are_refused(key: str, value: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check_overrides({key: value}, "privacy")


def test_other_settings_are_the_users_own() -> None:
    check_overrides({"hadoop.rpc.protection": "privacy,integrity", "dfs.replication": "1"}, "authentication")
    check_overrides({"dfs.http.policy": "HTTP_ONLY", "hadoop.security.authentication": "simple"}, "none")
