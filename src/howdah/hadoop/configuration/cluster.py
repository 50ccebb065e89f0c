"""The configuration of a cluster: every file of a complete HADOOP_CONF_DIR, for the masters and for each node.

This module has the settings that the cluster needs to run where it is. `tuning` has those that make it faster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from howdah.hadoop.configuration.plan import Place, Plan
from howdah.hadoop.configuration.security import Credentials, node_settings, security_settings
from howdah.hadoop.configuration.site import SITES, SiteFile, parse_site, render_site
from howdah.hadoop.configuration.tuning import is_collector
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jdk import Jdk, jvm_flags
from howdah.model.storage import HDFS, POSIX_SCHEME

Sites = dict[str, dict[str, str]]
"""Settings: file name (`core-site.xml`, …) → key → value."""

BLOCK_SIZE, POSIX_BLOCK_SIZE = "dfs.blocksize", f"fs.{POSIX_SCHEME}.block.size"
_CLIENT_KEYS = frozenset({"dfs.replication", BLOCK_SIZE, "dfs.bytes-per-checksum", "dfs.checksum.type"})

_LOG4J = """\
log4j.rootLogger=${hadoop.root.logger}
hadoop.root.logger=INFO,console
log4j.threshold=ALL
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
# At INFO, they write down each URL of a request, with the token of who has sent it.
log4j.logger.datanode.webhdfs=WARN
log4j.logger.http.requests=WARN
"""

_CAPACITY = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    # Hadoop's default of 10 % for application masters allows one on a small cluster, and the second job waits for ever.
    "yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
}

EXCLUDED_DATANODES, EXCLUDED_NODEMANAGERS = "datanodes.exclude", "nodemanagers.exclude"
"""Files of the masters' conf directory: what the cluster gives up, a line each."""

_RACKS = "topology.table"
_TOPOLOGY = {
    "net.topology.node.switch.mapping.impl": "org.apache.hadoop.net.TableMapping",
    # Each daemon and application master has its own conf directory, and this name of it.
    "net.topology.table.file.name": f"${{env.HADOOP_CONF_DIR}}/{_RACKS}",
}


def file_of(key: str) -> str:
    """Return the configuration file that a key belongs in."""
    if key.startswith("yarn.scheduler.capacity."):
        return "capacity-scheduler.xml"
    if key.startswith("dfs."):
        return "hdfs-site.xml"
    if key.startswith(("mapreduce.", "mapred.", "yarn.app.mapreduce.")):
        return "mapred-site.xml"
    if key.startswith("yarn."):
        return "yarn-site.xml"
    return "core-site.xml"


class Scope(Enum):
    """The reader of a key: the cluster or a job."""

    CLUSTER = "cluster"
    JOB = "job"


def scope_of(key: str) -> Scope:
    """Return whether a key must be set when the cluster starts, or with the job. Keys of clients and tasks go with the
    job, and so do `dfs.` keys that are both."""
    if key.startswith(("mapreduce.jobhistory.", "mapreduce.shuffle.")):
        return Scope.CLUSTER
    if key.startswith(("mapreduce.", "mapred.", "yarn.app.mapreduce.")) or key in _CLIENT_KEYS:
        return Scope.JOB
    if key.startswith("dfs.client."):
        return Scope.JOB
    return Scope.CLUSTER if key.startswith(("dfs.", "yarn.", "hadoop.", "ipc.", "net.")) else Scope.JOB


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings of one cluster: `common` for all daemons and clients, `nodes` the additional settings of each node.
    `racks` are by address; empty if none were given."""

    common: Mapping[str, str]
    nodes: Mapping[str, Mapping[str, str]]
    racks: Mapping[str, str]

    def files(self, place: str | None, environment: str) -> dict[str, bytes]:
        """Return the files of a conf directory: of node `place`, or of the masters and clients if None.

        `environment` is the text of hadoop-env.sh.
        """
        settings = {**self.common, **(self.nodes[place] if place else {})}
        sites: Sites = {name: {} for name in (*SITES, "capacity-scheduler.xml")}
        for key, value in settings.items():
            sites[file_of(key)][key] = value
        sites["capacity-scheduler.xml"] |= _CAPACITY | sites["capacity-scheduler.xml"]
        files = {name: render_site(properties).encode() for name, properties in sites.items()}
        if place is None:
            files |= {EXCLUDED_DATANODES: b"", EXCLUDED_NODEMANAGERS: b""}
        if self.racks:
            files[_RACKS] = "".join(f"{address} {rack}\n" for address, rack in self.racks.items()).encode()
        return {**files, "log4j.properties": _LOG4J.encode(), "hadoop-env.sh": environment.encode()}


def configure(
    plan: Plan,
    distribution: Distribution,
    tuned: Mapping[str, str],
    overrides: Mapping[str, str],
    of_nodes: Mapping[str, Mapping[str, str]] | None = None,
    owner: str = "",
) -> Configuration:
    """Return the configuration of `plan`; a secured cluster belongs to `owner`. The user's `overrides` win over
    `tuned`, and `tuned` wins over needed settings. `of_nodes` has the settings that are tuned for single nodes, by
    name."""
    needed = {**_core(plan), **_hdfs(plan), **_posix(plan), **_yarn(plan), **_mapreduce(plan, distribution)}
    racks = {place.address: place.rack for place in plan.places if place.rack is not None}
    secured = security_settings(plan, owner)
    common = {**needed, **(_TOPOLOGY if racks else {}), **secured, **tuned, **overrides}
    if plan.storages.directory is not None:
        # Jobs split files by their blocks: those of both storages are as large.
        common.setdefault(POSIX_BLOCK_SIZE, common.get(BLOCK_SIZE, "128m"))
    own = {
        node: {key: value for key, value in tuned_there.items() if key not in overrides}
        for node, tuned_there in (of_nodes or {}).items()
    }
    nodes = {
        node.name: {**_node(plan, node), **node_settings(plan, node), **own.get(node.name, {})} for node in plan.nodes
    }
    return Configuration(common, nodes, racks)


def with_overrides(files: Mapping[str, bytes], overrides: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files of a conf directory in which `overrides` hold for clients and jobs. Each key is in its own file
    and in no other. A final key stays unchanged, because Hadoop lets no job set it.

    Raises UsageError for a file that Hadoop would not read, or a value that XML cannot hold.
    """
    sites = {name: parse_site(content, name) for name, content in files.items() if name.endswith("-site.xml")}
    final = {key for site in sites.values() for key in site.final}
    wanted = {key: value for key, value in overrides.items() if key not in final}
    changed = dict(files)
    for name in {*sites, *map(file_of, wanted)}:
        site = sites.get(name, SiteFile({}))
        properties = {key: value for key, value in site.properties.items() if key not in wanted}
        properties |= {key: value for key, value in wanted.items() if file_of(key) == name}
        if properties != site.properties:
            changed[name] = render_site(properties, final=site.final).encode()
    return changed


def environment_script(
    distribution: Distribution,
    jdk: Jdk,
    client_flags: tuple[str, ...],
    logs: str,
    credentials: Credentials | None = None,
) -> str:
    """Return hadoop-env.sh, which the `hadoop` launchers of this or of the user's own distribution read. With
    `credentials`, they log in by themselves."""
    collectors = " ".join(filter(is_collector, client_flags))
    rest = (flag for flag in client_flags if not is_collector(flag))
    realm = () if credentials is None else credentials.flags
    options = " ".join((*jvm_flags(jdk, distribution.version), *rest, *realm))
    lines = [
        f"export JAVA_HOME='{jdk.home}'",
        f"export HADOOP_HOME='{distribution.home}'",
        f"export HADOOP_LOG_DIR='{logs}'",
        f'export HADOOP_OPTS="{options} ${{HADOOP_OPTS:-}}"',
    ]
    if credentials is not None:
        lines += [f"export {name}='{value}'" for name, value in credentials.environment.items()]
    if collectors:  # A JVM takes one collector: the user's, in whatever variable.
        add = f'export HADOOP_OPTS="{collectors} $HADOOP_OPTS"'
        lines.append(f'case "$(env)" in *-XX:+Use*GC*) ;; *) {add} ;; esac')
    if plugins := ":".join(map(str, distribution.plugins)):
        lines.append(f"export HOWDAH_PLUGINS='{plugins}'")
        if distribution.source == "home":  # Apache's scripts know nothing of that.
            lines.append('export HADOOP_CLASSPATH="${HADOOP_CLASSPATH:+$HADOOP_CLASSPATH:}$HOWDAH_PLUGINS"')
    return "\n".join(lines) + "\n"


def _core(plan: Plan) -> dict[str, str]:
    hdfs = f"hdfs://{plan.masters.at('namenode_rpc')}"
    return {
        "fs.defaultFS": hdfs if plan.storages.default == HDFS else f"{POSIX_SCHEME}:///",
        "hadoop.tmp.dir": f"{plan.masters.directory}/tmp",
        "hadoop.security.authentication": "simple",
        # A daemon that is not there yet will be in a moment.
        "ipc.client.connect.retry.interval": "200",
        "ipc.client.connect.max.retries": "50",
    }


def _posix(plan: Plan) -> dict[str, str]:
    if plan.storages.directory is None:
        return {}
    keys = {
        f"fs.{POSIX_SCHEME}.impl": "org.howdah.filesystem.PosixFileSystem",
        f"fs.AbstractFileSystem.{POSIX_SCHEME}.impl": "org.howdah.filesystem.PosixFs",
        f"fs.{POSIX_SCHEME}.mount": plan.storages.directory,
        # So that no process writes to the disk below once the mount is lost, nor to another partition.
        f"fs.{POSIX_SCHEME}.mount.required": "true" if plan.mount_types else "false",
    }
    if plan.mount_types:
        keys[f"fs.{POSIX_SCHEME}.mount.type"] = ",".join(plan.mount_types)
    return keys


def _hdfs(plan: Plan) -> dict[str, str]:
    if not plan.storages.hdfs:
        # What workloads reckon with when they look at the space they need.
        return {"dfs.replication": "1"}
    masters = plan.masters
    return {
        "dfs.replication": str(min(3, len(plan.nodes))),
        "dfs.namenode.name.dir": f"file://{plan.name_directory}",
        "dfs.namenode.rpc-address": masters.at("namenode_rpc"),
        "dfs.namenode.http-address": masters.at("namenode_web"),
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.client.use.datanode.hostname": "true",
        "dfs.datanode.use.datanode.hostname": "true",
        "dfs.namenode.heartbeat.recheck-interval": "5000",
        "dfs.heartbeat.interval": "1",
        "dfs.namenode.safemode.extension": "0",
        "dfs.hosts.exclude": f"{plan.conf_of(masters)}/{EXCLUDED_DATANODES}",
        # Hadoop's 30 s between two looks at a node that is decommissioned are made for larger ones.
        "dfs.namenode.decommission.interval": "2",
        # Small clusters lose DataNodes to fault tests; with fewer than three there is nothing to replace them by.
        "dfs.client.block.write.replace-datanode-on-failure.policy": "NEVER" if len(plan.nodes) < 4 else "DEFAULT",
    }


def _yarn(plan: Plan) -> dict[str, str]:
    masters = plan.masters
    return {
        "yarn.resourcemanager.hostname": masters.address,
        "yarn.resourcemanager.address": masters.at("resourcemanager_rpc"),
        "yarn.resourcemanager.scheduler.address": masters.at("resourcemanager_scheduler"),
        "yarn.resourcemanager.resource-tracker.address": masters.at("resourcemanager_tracker"),
        "yarn.resourcemanager.admin.address": masters.at("resourcemanager_admin"),
        "yarn.resourcemanager.webapp.address": masters.at("resourcemanager_web"),
        "yarn.resourcemanager.nodes.exclude-path": f"{plan.conf_of(masters)}/{EXCLUDED_NODEMANAGERS}",
        # Hadoop's default is one directory below /tmp for all clusters of a user, and stays.
        "yarn.node-attribute.fs-store.root-dir": f"file://{masters.directory}/node-attribute",
        "yarn.resourcemanager.connect.retry-interval.ms": "500",
        "yarn.nm.liveness-monitor.expiry-interval-ms": "20000",
        # An application master that was given a container on a node that has just died tries for 3 minutes otherwise.
        "yarn.client.nodemanager-connect.max-wait-ms": "10000",
        "yarn.client.nodemanager-connect.retry-interval-ms": "500",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        # The machine's disk is not the cluster's own: it may be fuller than Hadoop's 90 % and still have room.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
        "yarn.nodemanager.disk-health-checker.min-free-space-per-disk-mb": "512",
        "yarn.nodemanager.vmem-check-enabled": "false",
        # A JVM that cannot start says why on its standard output, which YARN does not quote by itself.
        "yarn.nodemanager.container.stderr.pattern": "{*stderr*,*STDERR*,*stdout*}",
    }


def _mapreduce(plan: Plan, distribution: Distribution) -> dict[str, str]:
    masters = plan.masters
    folders = dict.fromkeys(f"{jar.parent}/*" for jar in distribution.jars)
    jars = ",".join((*folders, *map(str, distribution.plugins)))
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": jars,
        "yarn.app.mapreduce.am.staging-dir": f"{plan.own_files}/user",
        "yarn.app.mapreduce.am.job.client.port-range": "{}-{}".format(*plan.application_ports),
        "yarn.app.mapreduce.am.webapp.port-range": "{}-{}".format(*plan.application_web_ports),
        "mapreduce.jobhistory.address": masters.at("historyserver_rpc"),
        "mapreduce.jobhistory.webapp.address": masters.at("historyserver_web"),
        "mapreduce.jobhistory.admin.address": masters.at("historyserver_admin"),
        "mapreduce.jobhistory.intermediate-done-dir": f"{plan.own_files}/mr-history/tmp",
        "mapreduce.jobhistory.done-dir": f"{plan.own_files}/mr-history/done",
        # For our own shuffle, which fetches what is not there: as where hosts do not share this directory.
        **({} if plan.shuffle is None else {"howdah.shuffle.shared": f"{plan.shuffle}/{{host}}"}),
    }


def _node(plan: Plan, node: Place) -> dict[str, str]:
    hdfs = {
        "dfs.datanode.hostname": node.address,
        "dfs.datanode.address": node.at("datanode_data"),
        "dfs.datanode.http.address": node.at("datanode_web"),
        "dfs.datanode.ipc.address": node.at("datanode_ipc"),
        "dfs.datanode.data.dir": ",".join(f"file://{place}" for place in plan.block_directories(node)),
    }
    return {
        **(hdfs if plan.storages.hdfs else {}),
        "hadoop.tmp.dir": f"{node.directory}/tmp",
        "yarn.nodemanager.hostname": node.address,
        "yarn.nodemanager.address": node.at("nodemanager_rpc"),
        "yarn.nodemanager.localizer.address": node.at("nodemanager_localizer"),
        "yarn.nodemanager.webapp.address": node.at("nodemanager_web"),
        "yarn.nodemanager.local-dirs": ",".join(plan.container_files(node)),
        "yarn.nodemanager.log-dirs": f"{node.directory}/containers",
        "mapreduce.shuffle.port": str(node.ports["shuffle"]),
    }
