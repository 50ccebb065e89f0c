"""Settings and files of a cluster with Kerberos: it is closed to everybody but its owner, without root on any host.

Services are principals without a host's name (`nn/howdah`), so daemons need no reverse look-ups. The differences
between hosts are below the conf directory of each daemon: its keytabs, the key of its web server, krb5.conf.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from howdah.errors import UsageError
from howdah.hadoop.configuration.plan import KDC_PORT, NONE, Place, Plan
from howdah.hadoop.configuration.site import render_site
from howdah.spec.slips import did_you_mean

_PRIVACY = "privacy"
PROTECTIONS = (NONE, "authentication", "integrity", _PRIVACY)
"""Levels of protection for the traffic of daemons and clients, as in `hadoop.rpc.protection`; nothing without
Kerberos."""
REALM = "HOWDAH"
"""The realm of a cluster that has its own."""
KRB5_CONF = "krb5.conf"
KEYS = "security"
"""Directory with keys in a conf directory."""
SECRET = "http-secret"  # noqa: S105, a file's name
CERTIFICATE = "certificate.pem"
OWNER_KEYTAB = "owner.keytab"
_SPARK = "spark"
"""Directory for Spark in a conf directory."""
_JVM_OPTIONS = ("HADOOP_OPTS", "SPARK_SUBMIT_OPTS")
"""Variables in which clients of Hadoop and of Spark find flags for their JVM."""
_INSTANCE = "howdah"
_WEB = "HTTP"
_EVERY = "*"
"""Principal of web servers: whichever one of their keytab a client asks for."""
_WORDS = ("hadoop.rpc.protection", "dfs.data.transfer.protection")
POLICIES = ("dfs.http.policy", "yarn.http.policy", "mapreduce.jobhistory.http.policy")
_CLOSED = {
    **dict.fromkeys(POLICIES, "HTTPS_ONLY"),
    "hadoop.security.authentication": "kerberos",
    "hadoop.security.authorization": "true",
    "hadoop.http.authentication.type": "kerberos",
    "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
    "dfs.block.access.token.enable": "true",
    "yarn.acl.enable": "true",
    # Hadoop's shuffle opens files by a class that needs native code where security is on: it is loaded once more with
    # ours.
    "yarn.nodemanager.aux-services.mapreduce_shuffle.class": "org.howdah.security.SecureShuffle",
    # An application master's web server believes whoever connects from the proxy's host, unless it asks for the proxy's
    # certificate.
    "yarn.resourcemanager.application-https.policy": "STRICT",
    "yarn.app.mapreduce.am.webapp.https.enabled": "true",
    "yarn.app.mapreduce.am.webapp.https.client.auth": "true",
    "mapreduce.cluster.acls.enabled": "true",
}
"""Settings without which a secured cluster is open, or does not start."""
_CLOSED_SPARK = {"spark.authenticate": "true", "spark.ui.enabled": "false"}
"""Without these, whoever reaches them may talk to the driver and the executors of Spark, and look at the driver's page:
YARN's proxy, whom it trusts, is any process of the ResourceManager's host."""
_ENCRYPTED_SPARK = {"spark.network.crypto.enabled": "true"}
_MASTERS = ("nn", "rm", "jhs")
_WORKERS = ("dn", "nm")
_ENCRYPTION = "aes256-cts-hmac-sha1-96 aes128-cts-hmac-sha1-96"
_HERE = f"${{env.HADOOP_CONF_DIR}}/{KEYS}"
_TRUST, _OWN_KEY, _PASSPHRASE = "trust.jks", "server.p12", "passphrase"

SECURE_IO = "HOWDAH_SECURE_IO"
"""Variable of a NodeManager with the jar by which its shuffle opens files."""

_CIPHER = {
    "dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding",
    # Java's own cipher; the other one needs Hadoop's native code and complains of it.
    "hadoop.security.crypto.codec.classes.aes.ctr.nopadding": "org.apache.hadoop.crypto.JceAesCtrCryptoCodec",
}

_DEFAULT_JVM = "-Djava.net.preferIPv4Stack=true -Dhadoop.metrics.log.level=WARN"
"""Stock value of mapreduce.admin.*.child.java.opts, which is lost when the key is set."""
_FLAG = "-Djava.security.krb5.conf="
_TOKEN_MS = 10 * 365 * 86_400_000

# Callers of these are an attempt or a job, with a token of its own, no person.
_OF_TOKENS = ("applicationmaster", "containermanagement", "job.task", "resourcelocalizer")


def check_protection(word: str) -> str:
    """Return `word` if it is one of `PROTECTIONS`. Raises UsageError otherwise."""
    if word not in PROTECTIONS:
        raise UsageError(f"there is no protection {word!r}", hint=did_you_mean(word, PROTECTIONS))
    return word


def check_overrides(settings: Mapping[str, str], protection: str) -> None:
    """Refuse user settings with which the daemons of a cluster with this `protection` would not start, would not
    understand each other, or would be less protected. Raises UsageError."""
    for key in settings.keys() & set(_WORDS):
        words = [word.strip() for word in settings[key].split(",") if word.strip()]
        if wrong := next((word for word in words if word not in PROTECTIONS[1:]), None):
            raise UsageError(f"{key} has {wrong!r}", hint=did_you_mean(wrong, PROTECTIONS[1:]))
        weakest = min(map(PROTECTIONS.index, words), default=0)
        if protection != NONE and weakest < PROTECTIONS.index(protection):
            raise UsageError(
                f"{key}={settings[key]} protects less than the cluster's protection, {protection}",
                hint=f"--protection {PROTECTIONS[weakest]}, if that is enough." if weakest else None,
            )
    if protection == NONE:
        return
    for key, needed in _CLOSED.items():
        if settings.get(key, needed) != needed:
            raise UsageError(
                f"{key}={settings[key]} would open the cluster: a secured one has {needed}",
                hint="--insecure makes a cluster without Kerberos.",
            )


def krb5_flag(conf: str) -> str:
    """Return the JVM flag by which Java finds the realm of the conf directory `conf`."""
    return f"{_FLAG}{conf}/{KRB5_CONF}"


def principals(plan: Plan, owner: str) -> Mapping[str, tuple[str, ...]]:
    """Return the principals in each keytab. Stock clients of web servers ask for the address that they connect to."""
    addresses = dict.fromkeys(place.address for place in plan.places)
    web = (f"{_WEB}/{_INSTANCE}", *(f"{_WEB}/{address}" for address in addresses))
    services = {service: (f"{service}/{_INSTANCE}",) for service in (*_MASTERS, *_WORKERS)}
    return {**services, _WEB: web, OWNER_KEYTAB.removesuffix(".keytab"): (owner,)}


def realm_of(plan: Plan) -> str:
    """Return the realm of a cluster with Kerberos."""
    return plan.realm or REALM


def krb5_conf(plan: Plan) -> str:
    """Return the text of krb5.conf for a cluster's own realm, which does not ask DNS."""
    return f"""\
[libdefaults]
  default_realm = {REALM}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  permitted_enctypes = {_ENCRYPTION}
  default_tkt_enctypes = {_ENCRYPTION}
  default_tgs_enctypes = {_ENCRYPTION}
[realms]
  {REALM} = {{
    kdc = {plan.masters.at(KDC_PORT)}
  }}
"""


def security_settings(plan: Plan, owner: str) -> dict[str, str]:
    """Return the settings of the whole cluster, whose files and jobs belong to `owner`; empty without protection."""
    if plan.security == NONE:
        return {}
    return {**_common(plan, owner), **_hdfs(plan, owner), **_yarn(plan, owner), **_mapreduce(plan, owner)}


def node_settings(plan: Plan, node: Place) -> dict[str, str]:
    """Return the settings of one node. Web servers use the ports of plain HTTP, where nothing listens now."""
    if plan.security == NONE:
        return {}
    return {
        "dfs.datanode.https.address": node.at("datanode_web"),
        "yarn.nodemanager.webapp.https.address": node.at("nodemanager_web"),
    }


def _common(plan: Plan, owner: str) -> dict[str, str]:
    # No inner parentheses: Hadoop's parser of rules knows none.
    realm = realm_of(plan)
    services = "|".join(f"{service}@{realm}" for service in (*_MASTERS, *_WORKERS, _WEB))
    return {
        **_closed("hadoop."),
        "hadoop.security.auth_to_local": f"RULE:[2:$1@$0]({services})s/.*/{owner}/ DEFAULT",
        "hadoop.rpc.protection": plan.security,
        "hadoop.security.instrumentation.requires.admin": "true",
        "security.service.authorization.default.acl": owner,
        **{f"security.{name}.protocol.acl": "*" for name in _OF_TOKENS},
        "hadoop.http.authentication.signature.secret.file": f"{_HERE}/{SECRET}",
        "hadoop.http.authentication.kerberos.principal": _EVERY,
        "hadoop.http.authentication.kerberos.keytab": f"{_HERE}/{_WEB}.keytab",
        "hadoop.ssl.require.client.cert": "false",
    }


def _lasting(*keys: str) -> dict[str, str]:
    """Return the longest life of delegation tokens, in milliseconds. Hadoop's is a week, and a cluster's is its own."""
    return {f"{key}.delegation.token.max-lifetime": str(_TOKEN_MS) for key in keys}


def _closed(*beginnings: str) -> dict[str, str]:
    return {key: value for key, value in _CLOSED.items() if key.startswith(beginnings)}


def _service(plan: Plan, name: str) -> str:
    return f"{name}/{_INSTANCE}@{realm_of(plan)}"


def _hdfs(plan: Plan, owner: str) -> dict[str, str]:
    if not plan.storages.hdfs:
        return {}
    cipher = _CIPHER if plan.security == _PRIVACY else {}
    return {
        **_closed("dfs."),
        **_lasting("dfs.namenode"),
        "dfs.data.transfer.protection": plan.security,
        **cipher,
        "dfs.namenode.https-address": plan.masters.at("namenode_web"),
        "dfs.namenode.kerberos.principal": _service(plan, "nn"),
        "dfs.namenode.keytab.file": f"{_HERE}/nn.keytab",
        "dfs.datanode.kerberos.principal": _service(plan, "dn"),
        "dfs.datanode.keytab.file": f"{_HERE}/dn.keytab",
        "dfs.web.authentication.kerberos.principal": _EVERY,
        "dfs.web.authentication.kerberos.keytab": f"{_HERE}/{_WEB}.keytab",
        "dfs.cluster.administrators": owner,
        "dfs.permissions.superusergroup": owner,
    }


def _yarn(plan: Plan, owner: str) -> dict[str, str]:
    spnego = {
        f"yarn.{daemon}.webapp.spnego-{what}": value
        for daemon in ("resourcemanager", "nodemanager")
        for what, value in (("principal", _EVERY), ("keytab-file", f"{_HERE}/{_WEB}.keytab"))
    }
    return {
        **_closed("yarn.acl", "yarn.http", "yarn.nodemanager", "yarn.resourcemanager"),
        **_lasting("yarn.resourcemanager"),
        "yarn.admin.acl": owner,
        "yarn.resourcemanager.webapp.https.address": plan.masters.at("resourcemanager_web"),
        "yarn.resourcemanager.principal": _service(plan, "rm"),
        "yarn.resourcemanager.keytab": f"{_HERE}/rm.keytab",
        "yarn.nodemanager.principal": _service(plan, "nm"),
        "yarn.nodemanager.keytab": f"{_HERE}/nm.keytab",
        **spnego,
        "yarn.scheduler.capacity.root.acl_submit_applications": " ",
        "yarn.scheduler.capacity.root.acl_administer_queue": " ",
        "yarn.scheduler.capacity.root.default.acl_submit_applications": owner,
        "yarn.scheduler.capacity.root.default.acl_administer_queue": owner,
    }


def _mapreduce(plan: Plan, owner: str) -> dict[str, str]:
    # The shell of a container puts in the conf directory of its NodeManager.
    flag = krb5_flag("$HADOOP_CONF_DIR")
    return {
        **_closed("mapreduce.", "yarn.app."),
        **_lasting("mapreduce.cluster"),
        "mapreduce.cluster.administrators": owner,
        "mapreduce.jobhistory.admin.acl": owner,
        "mapreduce.jobhistory.webapp.https.address": plan.masters.at("historyserver_web"),
        "mapreduce.jobhistory.principal": _service(plan, "jhs"),
        "mapreduce.jobhistory.keytab": f"{_HERE}/jhs.keytab",
        "mapreduce.jobhistory.webapp.spnego-principal": _EVERY,
        "mapreduce.jobhistory.webapp.spnego-keytab-file": f"{_HERE}/{_WEB}.keytab",
        "mapreduce.admin.map.child.java.opts": f"{_DEFAULT_JVM} {flag}",
        "mapreduce.admin.reduce.child.java.opts": f"{_DEFAULT_JVM} {flag}",
        "yarn.app.mapreduce.am.admin-command-opts": flag,
        # A map reads the index of a spill from disk once they are larger together; without Hadoop's native code it
        # cannot, where security is on (SecureIOUtils). 24 bytes for each spill and reduce.
        "mapreduce.task.index.cache.limit.bytes": str(1 << 30),
    }


@dataclass(frozen=True, slots=True)
class Credentials:
    """The login of programs: as `principal` from a `keytab`, or with the tickets of a `cache` if there is no keytab.
    `krb5_conf` defines the realms; None for Java's default. `cluster` is the conf directory of a Howdah cluster with
    these credentials; `encrypted` is whether its traffic is."""

    principal: str | None = None
    keytab: str | None = None
    krb5_conf: str | None = None
    cache: str | None = None
    cluster: str | None = None
    encrypted: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags by which a JVM finds the realm."""
        return () if self.krb5_conf is None else (f"{_FLAG}{self.krb5_conf}",)

    @property
    def environment(self) -> dict[str, str]:
        """Variables that clients look for: Hadoop's (`UserGroupInformation`, LoginParams), and those of Spark's JVM."""
        found = {
            "KRB5PRINCIPAL": self.principal,
            "KRB5KEYTAB": self.keytab,
            "KRB5CCNAME": self.cache,
            "SPARK_SUBMIT_OPTS": " ".join(self.flags) or None,
        }
        return {name: value for name, value in found.items() if value is not None}

    def environment_of(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of programs in addition to the user's environment `base`. The user's own flags and own
        Spark come first."""
        options = {name: " ".join((base.get(name, ""), *self.flags)).strip() for name in _JVM_OPTIONS}
        spark = {} if self.cluster is None else {"SPARK_CONF_DIR": f"{self.cluster}/{_SPARK}"}
        return {
            **{name: base.get(name, value) for name, value in spark.items()},
            **self.environment,
            **{name: value for name, value in options.items() if value},
        }

    @property
    def spark(self) -> dict[str, str]:
        """Properties with which Spark on YARN logs in, finds the realm in containers of a Howdah cluster, and is as
        closed as that cluster. YARN replaces the part in braces, because Spark lets no shell do that."""
        login = {"spark.kerberos.principal": self.principal, "spark.kerberos.keytab": self.keytab}
        closed = {} if self.cluster is None else {**_CLOSED_SPARK, **(_ENCRYPTED_SPARK if self.encrypted else {})}
        flag = None if self.cluster is None else krb5_flag("{{HADOOP_CONF_DIR}}")
        # A driver outside of containers has `SPARK_SUBMIT_OPTS`, which flags for all drivers would win over.
        jvms = {"spark.yarn.appMasterEnv.JAVA_TOOL_OPTIONS": flag, "spark.executor.defaultJavaOptions": flag}
        return {name: value for name, value in {**login, **closed, **jvms}.items() if value is not None}


def own_credentials(plan: Plan, owner: str, conf: str) -> Credentials:
    """Return the credentials of the `owner` of a cluster, in its conf directory `conf`."""
    keytab = f"{conf}/{KEYS}/{OWNER_KEYTAB}"
    encrypted = plan.security == _PRIVACY
    return Credentials(f"{owner}@{realm_of(plan)}", keytab, f"{conf}/{KRB5_CONF}", cluster=conf, encrypted=encrypted)


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of the cluster of `owner`: `files` by name as its realm has made them, with the secret that signs
    cookies. They have the krb5.conf of a site's realm, too."""

    files: Mapping[str, bytes]
    owner: str

    def of_place(self, plan: Plan, place: Place, conf: str) -> dict[str, bytes]:
        """Return the security files of the daemons at `place`, whose conf directory is `conf`, by path in it."""
        services = _MASTERS if place == plan.masters else _WORKERS
        names = (*(f"{name}.keytab" for name in (*services, _WEB)), _OWN_KEY, SECRET)
        own = {f"{KEYS}/{name}": self.files[name] for name in names}
        passphrase = self.files[_PASSPHRASE].decode()
        server = {
            "ssl.server.keystore.location": f"{conf}/{KEYS}/{_OWN_KEY}",
            "ssl.server.keystore.type": "PKCS12",
            "ssl.server.keystore.password": passphrase,
            "ssl.server.keystore.keypassword": passphrase,
        }
        return {**self.of_clients(plan, conf), **own, "ssl-server.xml": render_site(server).encode()}

    def of_clients(self, plan: Plan, conf: str) -> dict[str, bytes]:
        """Return the security files of the owner's programs, whose conf directory is `conf`, by path in it."""
        names = (OWNER_KEYTAB, _TRUST, CERTIFICATE, SECRET)
        client = {"ssl.client.truststore.location": f"{conf}/{KEYS}/{_TRUST}", "ssl.client.truststore.type": "jks"}
        spark = "".join(f"{name} {value}\n" for name, value in own_credentials(plan, self.owner, conf).spark.items())
        return {
            **{f"{KEYS}/{name}": self.files[name] for name in names},
            KRB5_CONF: self.files.get(KRB5_CONF) or krb5_conf(plan).encode(),
            f"{_SPARK}/spark-defaults.conf": spark.encode(),
            "ssl-client.xml": render_site(client).encode(),
        }


KEYTABS = (*(f"{name}.keytab" for name in (*_MASTERS, *_WORKERS, _WEB)), OWNER_KEYTAB)
TLS_FILES = (_OWN_KEY, _PASSPHRASE, _TRUST, CERTIFICATE)
"""Files that `org.howdah.security.Realm` leaves, in addition to keytabs."""
