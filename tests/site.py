"""The cluster of a site, as distributions set it up: Kerberos by MIT's KDC, HTTPS alone, everything protected.

There are two NameNodes and two ResourceManagers, and the second one of each is active.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection, create_server

from howdah.hadoop.configuration.site import render_site
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jars import SECURE_IO_JAR, own_jar

REALM = "SITE.EXAMPLE"
USER, PASSWORD = "ann", "correct horse"
_SECONDS = 90.0
_BIN = "/usr/sbin"
_RM = "yarn.resourcemanager"
_SERVICES = ("hdfs", "rm", "nm", "jhs", "HTTP")
_NAMENODES, _MANAGERS = ("namenode31", "namenode47"), ("rm76", "rm120")
_CLOUDERA = {"__cloudera_generation__": "7\n", "topology.map": "<?xml version='1.0'?>\n<topology/>\n"}
_AMBARI = {
    "topology_mappings.data": "[network_topology]\nlocalhost=/default-rack\n",
    "hadoop-metrics2.properties": "*.period=10\n",
    "commons-logging.properties": "org.apache.commons.logging.Log=org.apache.commons.logging.impl.Log4JLogger\n",
    "taskcontroller.cfg": "mapred.local.dir=/tmp\n",
    "health_check": "#!/bin/bash\necho OK\n",
}
_DIRECTORIES = ("howdah", "tmp", "user")
_PORTS = (
    *("kdc", "datanode", "datanode_ipc", "datanode_web", "nodemanager", "localizer", "nodemanager_web", "shuffle"),
    *("history", "history_web", "history_admin"),
    *(f"{one}_{what}" for one in _NAMENODES for what in ("rpc", "web")),
    *(f"{one}_{what}" for one in _MANAGERS for what in ("rpc", "scheduler", "tracker", "admin", "web")),
)
_KRB5 = """\
[libdefaults]
  default_realm = {realm}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
[realms]
  {realm} = {{
    kdc = 127.0.0.1:{port}
  }}
"""
_KDC = """\
[kdcdefaults]
  kdc_listen = ""
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  {realm} = {{
    database_name = {directory}/principal
    key_stash_file = {directory}/stash
    max_life = 1h
  }}
[logging]
  kdc = FILE:{directory}/kdc.log
"""
_RULES = f"""\
RULE:[2:$1@$0](hdfs@{REALM})s/.*/hdfs/
RULE:[2:$1@$0]([rn]m@{REALM})s/.*/yarn/
RULE:[2:$1@$0](jhs@{REALM})s/.*/mapred/
DEFAULT"""


@dataclass(frozen=True)
class Site:
    """A running cluster. `conf` is what a gateway of it has, with Cloudera Manager's names; `viewed` is the same by the
    names of a mount table, with Ambari's names."""

    directory: Path
    conf: Path
    viewed: Path
    home: Path

    @property
    def krb5_conf(self) -> Path:
        return self.directory / "krb5.conf"

    @property
    def keytab(self) -> Path:
        """The keys of the user."""
        return self.directory / f"{USER}.keytab"

    def ticket(self, name: str, life: str = "30m") -> Path:
        """A ticket cache of the user, who has typed a password."""
        cache = self.directory / name
        command = ("kinit", "-c", str(cache), "-l", life, f"{USER}@{REALM}")
        subprocess.run(command, input=PASSWORD, text=True, check=True, env=self.environment, stdout=subprocess.DEVNULL)
        return cache

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "KRB5_CONFIG": str(self.krb5_conf), "KRB5_KDC_PROFILE": str(self.directory / "kdc.conf")}

    def realm_for(self, owner: str, addresses: Sequence[str]) -> Path:
        """What the site's administrator gives somebody for clusters of one's own: a directory with keytabs."""
        given = self.directory / "realm"
        given.mkdir()
        (given / "krb5.conf").write_bytes(self.krb5_conf.read_bytes())
        wanted = [(service, f"{service}/howdah") for service in ("nn", "rm", "jhs", "dn", "nm", "HTTP")]
        wanted += [("HTTP", f"HTTP/{address}") for address in addresses] + [("owner", owner)]
        lines = [f"addprinc -randkey {name}\nktadd -k {given}/{keytab}.keytab {name}\n" for keytab, name in wanted]
        command = (f"{_BIN}/kadmin.local", "-r", REALM)
        subprocess.run(command, input="".join(lines), text=True, env=self.environment, check=True, capture_output=True)
        return given


@contextmanager
def site(directory: Path, distribution: Distribution, java_home: str) -> Iterator[Site]:
    """The cluster, with its files in `directory`; everything has ended afterwards."""
    ports = _free_ports(_PORTS)
    with ExitStack() as made:
        found = Site(directory, directory / "conf", directory / "viewed", distribution.home)
        _realm(made, found, ports["kdc"])
        _certificates(directory, java_home)
        settings = _settings(directory, distribution.home, ports)
        _write(found.conf, settings, _CLOUDERA)
        links = {f"fs.viewfs.mounttable.site.link./{one}": f"hdfs://nameservice1/{one}" for one in _DIRECTORIES}
        mounts = {"fs.defaultFS": "viewfs://site", **links}
        _write(found.viewed, _of_ambari({**settings, "core": {**settings["core"], **mounts}}), _AMBARI)
        servers = directory / "servers"
        _write(servers, {**settings, **_of_servers(directory, settings)}, {})
        _start(made, found, servers, java_home, ports)
        yield found


def _free_ports(names: Sequence[str]) -> dict[str, int]:
    with ExitStack() as held:
        return {name: held.enter_context(create_server(("127.0.0.1", 0))).getsockname()[1] for name in names}


def _realm(made: ExitStack, found: Site, port: int) -> None:
    directory = found.directory
    found.krb5_conf.write_text(_KRB5.format(realm=REALM, port=port))
    (directory / "kdc.conf").write_text(_KDC.format(realm=REALM, port=port, directory=directory))
    environment = found.environment

    def run(*command: str, given: str = "") -> None:
        done = subprocess.run(command, env=environment, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    run(f"{_BIN}/kdb5_util", "create", "-s", "-r", REALM, "-P", secrets.token_hex(16))
    lines = [f"addprinc -randkey {service}/localhost" for service in _SERVICES]
    lines += [f"ktadd -k {directory}/{service}.keytab {service}/localhost" for service in _SERVICES]
    lines += [f'addprinc -pw "{PASSWORD}" {USER}', f"ktadd -norandkey -k {found.keytab} {USER}"]
    run(f"{_BIN}/kadmin.local", "-r", REALM, given="\n".join((*lines, "")))
    with (directory / "kdc.out").open("wb") as said:
        kdc = subprocess.Popen((f"{_BIN}/krb5kdc", "-n", "-r", REALM), env=environment, stdout=said, stderr=said)
    made.callback(_end, kdc)
    _wait_for(port, kdc, directory / "kdc.out")


def _certificates(directory: Path, java_home: str) -> None:
    store, password = directory / "server.p12", "changeit"
    keytool = (f"{java_home}/bin/keytool", "-storepass", password, "-noprompt")
    name = ("-dname", "CN=localhost", "-ext", "SAN=dns:localhost,ip:127.0.0.1")
    made = (*keytool, "-genkeypair", "-keyalg", "RSA", "-alias", "web", *name, "-validity", "30")
    pem = directory / "web.pem"
    for command in (
        (*made, "-keystore", str(store), "-storetype", "PKCS12"),
        (*keytool, "-exportcert", "-rfc", "-alias", "web", "-keystore", str(store), "-file", str(pem)),
        (*keytool, "-importcert", "-alias", "web", "-file", str(pem), "-keystore", str(directory / "trust.jks")),
    ):
        subprocess.run(command, check=True, capture_output=True)


def _settings(directory: Path, home: Path, ports: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """What servers and clients have in common, by file, with the names that Cloudera Manager gives."""

    def at(name: str) -> str:
        return f"localhost:{ports[name]}"

    core = {
        "fs.defaultFS": "hdfs://nameservice1",
        "hadoop.security.authentication": "kerberos",
        "hadoop.security.authorization": "true",
        "hadoop.rpc.protection": "privacy",
        "hadoop.security.auth_to_local": _RULES,
        # On a site's hosts, these users exist.
        "hadoop.user.group.static.mapping.overrides": f"hdfs=hadoop;yarn=hadoop;mapred=hadoop;{USER}=users;dr.who=",
        "hadoop.ssl.require.client.cert": "false",
        "hadoop.ssl.client.conf": "ssl-client.xml",
    }
    client = {
        "ssl.client.truststore.location": f"{directory}/trust.jks",
        "ssl.client.truststore.password": "changeit",
        "ssl.client.truststore.type": "jks",
    }
    jobs = _mapred(at, home, f"-Djava.net.preferIPv4Stack=true -Djava.security.krb5.conf={directory}/krb5.conf")
    return {"core": core, "hdfs": _hdfs(at), "yarn": _yarn(at, home), "mapred": jobs, "ssl-client": client}


def _principal(service: str) -> str:
    return f"{service}/_HOST@{REALM}"


def _hdfs(at: Callable[[str], str]) -> dict[str, str]:
    provider = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
    return {
        "dfs.nameservices": "nameservice1",
        "dfs.ha.namenodes.nameservice1": ",".join(_NAMENODES),
        "dfs.client.failover.proxy.provider.nameservice1": provider,
        "dfs.ha.automatic-failover.enabled.nameservice1": "false",
        **{f"dfs.namenode.rpc-address.nameservice1.{one}": at(f"{one}_rpc") for one in _NAMENODES},
        **{f"dfs.namenode.https-address.nameservice1.{one}": at(f"{one}_web") for one in _NAMENODES},
        "dfs.replication": "1",
        "dfs.http.policy": "HTTPS_ONLY",
        "dfs.block.access.token.enable": "true",
        "dfs.data.transfer.protection": "privacy",
        "dfs.namenode.kerberos.principal": _principal("hdfs"),
        "dfs.datanode.kerberos.principal": _principal("hdfs"),
        "dfs.web.authentication.kerberos.principal": _principal("HTTP"),
    }


def _yarn(at: Callable[[str], str], home: Path) -> dict[str, str]:
    servers = {
        "address": "rpc",
        "scheduler.address": "scheduler",
        "resource-tracker.address": "tracker",
        "admin.address": "admin",
        "webapp.https.address": "web",
    }
    return {
        "yarn.resourcemanager.ha.enabled": "true",
        "yarn.resourcemanager.ha.automatic-failover.enabled": "false",
        "yarn.resourcemanager.cluster-id": "yarnRM",
        "yarn.resourcemanager.ha.rm-ids": ",".join(_MANAGERS),
        **{f"{_RM}.{key}.{one}": at(f"{one}_{what}") for one in _MANAGERS for key, what in servers.items()},
        "yarn.resourcemanager.principal": _principal("rm"),
        "yarn.nodemanager.principal": _principal("nm"),
        "yarn.http.policy": "HTTPS_ONLY",
        "yarn.acl.enable": "true",
        "yarn.admin.acl": "yarn",
        "yarn.application.classpath": _classpath(home),
        "yarn.scheduler.minimum-allocation-mb": "256",
    }


def _mapred(at: Callable[[str], str], home: Path, flag: str) -> dict[str, str]:
    named = f"HADOOP_MAPRED_HOME={home}"
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.jobhistory.address": at("history"),
        "mapreduce.jobhistory.webapp.https.address": at("history_web"),
        "mapreduce.jobhistory.http.policy": "HTTPS_ONLY",
        "mapreduce.jobhistory.principal": _principal("jhs"),
        "mapreduce.jobhistory.intermediate-done-dir": "/user/history/done_intermediate",
        "mapreduce.jobhistory.done-dir": "/user/history/done",
        "yarn.app.mapreduce.am.staging-dir": "/user",
        "yarn.app.mapreduce.am.env": named,
        "mapreduce.map.env": named,
        "mapreduce.reduce.env": named,
        "yarn.app.mapreduce.am.admin-command-opts": flag,
        "mapreduce.admin.map.child.java.opts": flag,
        "mapreduce.admin.reduce.child.java.opts": flag,
        "yarn.app.mapreduce.am.resource.mb": "512",
        "mapreduce.map.memory.mb": "512",
        "mapreduce.reduce.memory.mb": "512",
    }


def _of_servers(directory: Path, common: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """What only servers have: keys, directories, addresses."""

    def keytab(service: str) -> str:
        return f"{directory}/{service}.keytab"

    (directory / "http-secret").write_text(secrets.token_hex(32))
    web = f"HTTP/_HOST@{REALM}"
    core = {
        "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
        "hadoop.http.authentication.type": "kerberos",
        "hadoop.http.authentication.signature.secret.file": f"{directory}/http-secret",
        "hadoop.http.authentication.kerberos.principal": web,
        "hadoop.http.authentication.kerberos.keytab": keytab("HTTP"),
        "hadoop.tmp.dir": f"{directory}/tmp",
    }
    hdfs = {
        "dfs.namenode.keytab.file": keytab("hdfs"),
        "dfs.datanode.keytab.file": keytab("hdfs"),
        "dfs.web.authentication.kerberos.keytab": keytab("HTTP"),
        "dfs.namenode.shared.edits.dir.nameservice1": f"file://{directory}/edits",
        **{f"dfs.namenode.name.dir.nameservice1.{one}": f"file://{directory}/{one}" for one in _NAMENODES},
        "dfs.ha.fencing.methods": "shell(/bin/true)",
        "dfs.permissions.superusergroup": "hadoop",
        "dfs.datanode.data.dir": f"file://{directory}/data",
        "dfs.namenode.safemode.extension": "0",
        "dfs.ha.tail-edits.period": "1",
    }
    yarn = {
        "yarn.resourcemanager.keytab": keytab("rm"),
        "yarn.nodemanager.keytab": keytab("nm"),
        **{f"yarn.{one}.webapp.spnego-principal": web for one in ("resourcemanager", "nodemanager")},
        **{f"yarn.{one}.webapp.spnego-keytab-file": keytab("HTTP") for one in ("resourcemanager", "nodemanager")},
        "yarn.scheduler.capacity.root.queues": "default",
        "yarn.scheduler.capacity.root.default.capacity": "100",
        "yarn.scheduler.capacity.maximum-am-resource-percent": "1",
        "yarn.node-attribute.fs-store.root-dir": f"file://{directory}/attributes",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.local-dirs": f"{directory}/local",
        "yarn.nodemanager.log-dirs": f"{directory}/containers",
        "yarn.nodemanager.resource.memory-mb": "4096",
        "yarn.nodemanager.resource.cpu-vcores": "8",
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
    }
    mapred = {
        "mapreduce.jobhistory.keytab": keytab("jhs"),
        "mapreduce.jobhistory.webapp.spnego-principal": web,
        "mapreduce.jobhistory.webapp.spnego-keytab-file": keytab("HTTP"),
    }
    server = {
        "ssl.server.keystore.location": f"{directory}/server.p12",
        "ssl.server.keystore.type": "PKCS12",
        "ssl.server.keystore.password": "changeit",
        "ssl.server.keystore.keypassword": "changeit",
    }
    own = {"core": core, "hdfs": hdfs, "yarn": yarn, "mapred": mapred}
    return {**{name: {**common[name], **more} for name, more in own.items()}, "ssl-server": server}


def _classpath(home: Path) -> str:
    places = ("common", "common/lib", "hdfs", "hdfs/lib", "mapreduce", "mapreduce/lib", "yarn", "yarn/lib")
    return ",".join(("$HADOOP_CONF_DIR", *(f"{home}/share/hadoop/{place}/*" for place in places)))


def _of_ambari(settings: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """The settings as Ambari writes them: its names of daemons, and the version of the stack in options of JVMs."""
    names = {**dict(zip(_NAMENODES, ("nn1", "nn2"), strict=True)), **dict(zip(_MANAGERS, ("rm1", "rm2"), strict=True))}

    def renamed(text: str) -> str:
        for theirs, own in names.items():
            text = text.replace(theirs, own)
        return text

    found = {file: {renamed(key): renamed(value) for key, value in of.items()} for file, of in settings.items()}
    for key in ("yarn.app.mapreduce.am.admin-command-opts", "mapreduce.admin.map.child.java.opts"):
        found["mapred"][key] = f"-Dhdp.version=${{hdp.version}} {found['mapred'][key]}"
    found["hdfs"]["dfs.internal.nameservices"] = "nameservice1"
    return found


def _write(conf: Path, settings: Mapping[str, Mapping[str, str]], others: Mapping[str, str]) -> None:
    """Writes site files, and the `others`, which are of no interest to Howdah."""
    conf.mkdir()
    for name, found in settings.items():
        file = f"{name}.xml" if name.startswith("ssl-") else f"{name}-site.xml"
        (conf / file).write_text(render_site(found))
    for name, text in others.items():
        (conf / name).write_text(text)


def _start(made: ExitStack, found: Site, conf: Path, java_home: str, ports: Mapping[str, int]) -> None:
    directory = found.directory
    (directory / "tmp").mkdir()
    options = f"-Djava.security.krb5.conf={found.krb5_conf} -Djava.net.preferIPv4Stack=true -XX:TieredStopAtLevel=1"
    options += f" -Djava.io.tmpdir={directory}/tmp"
    environment = {
        **os.environ,
        "JAVA_HOME": java_home,
        "HADOOP_CONF_DIR": str(conf),
        "HADOOP_LOG_DIR": str(directory / "logs"),
        "HADOOP_OPTS": options,
        "HADOOP_HEAPSIZE_MAX": "256m",
        "KRB5CCNAME": str(directory / "ticket-of-services"),
        "KRB5_CONFIG": str(found.krb5_conf),
    }

    def daemon(name: str, program: str, *words: str, port: int, **more: str) -> None:
        log = directory / f"{name}.out"
        command = (f"{found.home}/bin/{program}", *words)
        with log.open("wb") as said:
            process = subprocess.Popen(command, env={**environment, **more}, stdout=said, stderr=said)
        made.callback(_end, process)
        _wait_for(port, process, log)

    def run(program: str, *words: str, **more: str) -> str:
        command = (f"{found.home}/bin/{program}", *words)
        done = subprocess.run(command, env={**environment, **more}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def login(service: str) -> None:
        command = ("kinit", "-k", "-t", f"{directory}/{service}.keytab", f"{service}/localhost@{REALM}")
        subprocess.run(command, env=environment, check=True)

    first, second = _NAMENODES
    run("hdfs", "namenode", f"-Ddfs.ha.namenode.id={first}", "-format", "-nonInteractive")
    subprocess.run(("cp", "-r", f"{directory}/{first}", f"{directory}/{second}"), check=True)
    for one in _NAMENODES:
        daemon(one, "hdfs", "namenode", f"-Ddfs.ha.namenode.id={one}", port=ports[f"{one}_web"])
    addresses = {"address": "datanode", "ipc.address": "datanode_ipc", "https.address": "datanode_web"}
    own = [f"-Ddfs.datanode.{key}=localhost:{ports[name]}" for key, name in addresses.items()]
    daemon("datanode", "hdfs", "datanode", *own, port=ports["datanode_web"])
    for one in _MANAGERS:
        daemon(one, "yarn", "resourcemanager", f"-Dyarn.resourcemanager.ha.id={one}", port=ports[f"{one}_admin"])
    login("hdfs")
    run("hdfs", "haadmin", "-transitionToActive", second)
    run("hdfs", "dfs", "-mkdir", "-p", "/tmp", "/user/history", f"/user/{USER}", "/howdah")
    run("hdfs", "dfs", "-chmod", "1777", "/tmp", "/user/history")
    run("hdfs", "dfs", "-chown", f"{USER}:users", f"/user/{USER}", "/howdah")
    login("rm")
    run("yarn", "rmadmin", "-transitionToActive", _MANAGERS[1])
    addresses = {"address": "nodemanager", "localizer.address": "localizer", "webapp.https.address": "nodemanager_web"}
    own = [f"-Dyarn.nodemanager.{key}=localhost:{ports[name]}" for key, name in addresses.items()]
    # Sites have Hadoop's native code, with which the shuffle opens files; the managed release has none.
    secure_io = {"HADOOP_CLASSPATH": str(own_jar(SECURE_IO_JAR)), "HADOOP_USER_CLASSPATH_FIRST": "yes"}
    own.append(f"-Dmapreduce.shuffle.port={ports['shuffle']}")
    daemon("nodemanager", "yarn", "nodemanager", *own, port=ports["nodemanager_web"], **secure_io)
    own = [f"-Dmapreduce.jobhistory.admin.address=localhost:{ports['history_admin']}"]
    daemon("history", "mapred", "historyserver", *own, port=ports["history_web"])


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while True:
        assert process.poll() is None, log.read_text(errors="replace")[-4000:]
        assert time.monotonic() < deadline, log.read_text(errors="replace")[-4000:]
        try:
            create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.2)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends a daemon; a NodeManager ends its containers then."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
