"""Secrets in settings, and what is none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from howdah.hadoop.configuration.site import redacted_file, render_site
from howdah.model.redaction import REDACTED, is_sensitive, redacted, redacted_script
from howdah.model.run import Trial

SECRET_KEYS = (
    "fs.s3a.access.key",
    "fs.s3a.secret.key",
    "fs.s3a.session.token",
    "fs.s3a.bucket.mine.secret.key",
    "fs.s3a.encryption.key",
    "fs.azure.account.key.mine.blob.core.windows.net",
    "fs.azure.account.oauth2.client.secret",
    "fs.adl.oauth2.refresh.token",
    "ssl.server.keystore.password",
    "ssl.server.keystore.keypassword",
    "ssl.client.truststore.password",
    "hadoop.security.group.mapping.ldap.bind.password",
    "javax.jdo.option.ConnectionPassword",
    "dfs.datanode.shared.pass",
    "my.own.passwd",
    "my.own.pwd",
    "my.own.credentials",
    "my.own.passphrase",
    "hadoop.kms.authentication.signer.secret",
    "a.b.c.password.1",
    # Those of Hadoop 3.4.2's hadoop.security.sensitive-config-keys.
    "fs.s3.awsSecretAccessKey",
    "fs.s3a.server-side-encryption.key",
    "fs.s3a.bucket.mine.server-side-encryption.key",
    "fs.s3a.encryption.context",
    "fs.azure.account.key.mine",
    "fs.azure.oauth2.client.id",
    "fs.gs.encryption.key",
    "fs.gs.proxy.username",
    "fs.gs.auth.service.account.private.key",
    "oauth.some.password",
    "fs.azure.account.oauth2.user.password.acc.dfs.core.windows.net",
    "fs.azure.sas.fixed.token.acc.dfs.core.windows.net",
    "hadoop.zk.auth",
    "ha.zookeeper.auth",
)
PLAIN_KEYS = (
    "hadoop.http.authentication.signature.secret.file",
    "dfs.block.access.token.enable",
    "hadoop.security.credential.provider.path",
    "hadoop.security.group.mapping.ldap.bind.password.file",
    "dfs.namenode.delegation.token.max-lifetime",
    "yarn.resourcemanager.delegation-token.renewer.thread-count",
    "mapreduce.job.reduce.slowstart.completedmaps",
    "dfs.bytes-per-checksum",
    "spec_store_bypass",
    "fs.s3a.aws.credentials.provider",
    "hadoop.security.crypto.codec.classes.aes.ctr.nopadding",
    "passed",
)
PLANTED = {f"{key}#{number}": f"planted-{number:03}-{key}" for number in range(10) for key in SECRET_KEYS}
"""Two hundred."""


def key_of(planted: str) -> str:
    return planted.partition("#")[0]


@pytest.mark.parametrize("key", SECRET_KEYS)
def test_secrets_are_known_by_their_keys(key: str) -> None:
    assert is_sensitive(key)


@pytest.mark.parametrize("key", PLAIN_KEYS)
def test_what_only_speaks_of_secrets_is_kept(key: str) -> None:
    assert not is_sensitive(key)
    assert redacted({key: "value"}) == {key: "value"}
    assert redacted([f"-D{key}=value"]) == [f"-D{key}=value"]


@pytest.mark.promise("Of 200 planted secrets none is in what a run keeps", "how-to/secure")
def test_planted_secrets_are_left_out() -> None:
    for planted, secret in PLANTED.items():
        key = key_of(planted)
        site = redacted_file("core-site.xml", render_site({key: secret, "dfs.replication": "3"}).encode())
        one = f"<property><name>{key}</name><value>{secret}</value><source>x</source></property>"
        job = redacted_file("job_1_conf.xml", f"<configuration>{one}</configuration>".encode())
        record = {
            "trial": {"settings": {key: secret, "conf": {key: secret}, "jvm_flags": [f"-D{key}={secret}"]}},
            "command": ["howdah", "run", "--conf", f"{key}={secret}", f"--conf={key}={secret}"],
            "held": {f"daemons/{key}": [secret], f"gen/{key}": [secret, secret]},
        }
        kept = json.dumps(redacted(record))
        for content in (site, job):
            assert secret.encode() not in content
            assert REDACTED.replace("<", "&lt;").encode() in content.replace(b"&gt;", b">")
        assert secret not in kept, kept
        assert kept.count(REDACTED) == 8
    assert b"<value>3</value>" in site


def test_files_without_secrets_are_the_same_bytes() -> None:
    plain = render_site(dict.fromkeys(PLAIN_KEYS, "value")).encode()
    assert redacted_file("core-site.xml", plain) is plain
    assert redacted_file("broken.xml", b"<configuration>") == b"<configuration>"
    assert redacted_file("log4j.properties", b"password=x") == b"password=x", "of no kind that has any"


def test_scripts_lose_variables_and_flags() -> None:
    text = (
        "export AWS_SECRET_ACCESS_KEY=abc\n"
        'export HADOOP_OPTS="-Xmx1g -Djavax.net.ssl.trustStorePassword=abc -Dx=1"\n'
        "  DB_PASSWORD='abc'\nexport JAVA_HOME=/jdk\n"
    )
    kept = redacted_script(text)
    assert "abc" not in kept
    assert "-Xmx1g" in kept
    assert "-Dx=1" in kept
    assert "export JAVA_HOME=/jdk\n" in kept


def test_the_identity_of_a_trial_is_the_same_when_it_is_read_again() -> None:
    trial = Trial("terasort", {"conf": {"fs.s3a.secret.key": "abc"}, "jvm_flags": ("-Xmx1g",)})
    read = replace(trial, settings=json.loads(json.dumps(redacted(dict(trial.settings)))))
    assert read.identity == trial.identity
    assert Trial("terasort", {"conf": {"dfs.replication": "1"}}).identity != Trial("terasort", {}).identity
