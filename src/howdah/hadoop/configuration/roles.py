"""Hadoop's daemons: their names, their main classes, and their ports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Role:
    """One kind of daemon. `heap_mib` is its -Xmx; `web` is the port name of its HTTP server (`/jmx`, `/conf`), if it
    has one."""

    name: str
    main_class: str
    heap_mib: int
    ports: tuple[str, ...]
    web: str | None
    per_node: bool
    arguments: tuple[str, ...] = ()


NAMENODE = Role(
    "namenode",
    "org.apache.hadoop.hdfs.server.namenode.NameNode",
    512,
    ("namenode_rpc", "namenode_web"),
    "namenode_web",
    per_node=False,
)
RESOURCEMANAGER = Role(
    "resourcemanager",
    "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    512,
    (
        "resourcemanager_rpc",
        "resourcemanager_scheduler",
        "resourcemanager_tracker",
        "resourcemanager_admin",
        "resourcemanager_web",
    ),
    "resourcemanager_web",
    per_node=False,
)
HISTORYSERVER = Role(
    "historyserver",
    "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
    256,
    ("historyserver_rpc", "historyserver_web", "historyserver_admin"),
    "historyserver_web",
    per_node=False,
    # It starts together with the NameNode. When its first call to HDFS fails it sleeps for ten seconds
    # (HistoryFileManager.createHistoryDirs, 3.4.2), so the call itself is retried: 200 ms apart, 100 times.
    arguments=("-Ddfs.client.retry.policy.enabled=true", "-Ddfs.client.retry.policy.spec=200,100"),
)
DATANODE = Role(
    "datanode",
    "org.apache.hadoop.hdfs.server.datanode.DataNode",
    256,
    ("datanode_data", "datanode_web", "datanode_ipc"),
    "datanode_web",
    per_node=True,
)
NODEMANAGER = Role(
    "nodemanager",
    "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
    256,
    ("nodemanager_rpc", "nodemanager_localizer", "nodemanager_web", "shuffle"),
    "nodemanager_web",
    per_node=True,
)

KDC = Role("kdc", "org.howdah.security.Realm", 64, ("kdc",), None, per_node=False)
"""The Kerberos realm of a cluster, if the cluster has one. Running jobs continue without it."""

MASTERS = (NAMENODE, RESOURCEMANAGER, HISTORYSERVER)
WORKERS = (DATANODE, NODEMANAGER)
ROLES = {role.name: role for role in (*MASTERS, KDC, *WORKERS)}

JVM_OVERHEAD_MIB = 200
"""Memory of a daemon in addition to its heap (code cache, metaspace, thread stacks, direct buffers). Resident sizes of
190–270 MiB were seen at -Xmx160m on 3.4.2."""
