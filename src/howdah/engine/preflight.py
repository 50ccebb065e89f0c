"""What is checked before anything is started: keys, containers that could never be scheduled, space."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence

from howdah.cluster.live import LiveCluster
from howdah.cluster.request import ClusterRequest
from howdah.errors import ClusterProblem, UsageError
from howdah.hadoop.distribution import Distribution
from howdah.hadoop.jars import own_jar
from howdah.hadoop.keys import check_key, known_keys
from howdah.hadoop.sizing import check_schedulable
from howdah.host.channel import open_local
from howdah.model.accelerator import ACCELERATOR_JAR, plugins_of
from howdah.model.quantity import format_bytes
from howdah.storage import Storage
from howdah.store import howdah_home
from howdah.workload import Asked, Settings, Workload


def check_keys(settings: Mapping[str, str], distribution: Distribution) -> None:
    """Refuses a Hadoop key that is spelled almost like a real one, and plugins of ours that have not been built. Raises
    UsageError or HostProblem."""
    if plugins_of(settings):
        own_jar(ACCELERATOR_JAR)
    if settings:
        known = known_keys(distribution)
        for key in settings:
            check_key(key, known)


def check_before_cluster(workloads: Sequence[tuple[Workload, Asked]], made: ClusterRequest) -> None:
    """Refuses what no cluster made here could run, before one is made: settings, and data larger than the disk.

    Raises UsageError.
    """
    needed = [(one, *one.space_bytes(one.resolve(asked, {"dfs.replication": "1"}))) for one, asked in workloads]
    directory = made.work_directory or str(howdah_home())
    host = open_local(platform.node())
    try:
        free = host.call("files.space", path=directory)["free"]
    finally:
        host.close()
    for workload, stored, intermediate in needed:
        _check_disk(workload, stored + intermediate, intermediate, directory, free)


def check_job(cluster: LiveCluster, conf: Mapping[str, str]) -> None:
    """Refuses containers that no node of the live cluster could ever hold. Raises UsageError."""
    nodes = [node for node in cluster.resourcemanager.nodes() if node.state == "RUNNING"]
    if not nodes:
        raise UsageError("the cluster has no NodeManager that runs")
    most = cluster.resourcemanager.maximum_allocation()
    check_schedulable(
        {**cluster.settings, **conf},
        nodes_mib=[node.memory_total for node in nodes],
        node_vcores=max(node.vcores_total for node in nodes),
        most_mib=most.memory,
    )


def check_writable(cluster: LiveCluster) -> None:
    """Refuses a cluster whose NameNode is in safe mode. Raises ClusterProblem."""
    if cluster.namenode.status().safe_mode is not None:
        raise ClusterProblem(
            "the NameNode is in safe mode: nothing can be written",
            hint="`hdfs dfsadmin -safemode get` says more; `-safemode leave` ends one that was turned on by hand.",
        )


def check_space(cluster: LiveCluster, storage: Storage, workload: Workload, settings: Settings) -> None:
    """Refuses data that does not fit. On one machine, intermediate data is on the same disk. Raises UsageError."""
    stored, intermediate = workload.space_bytes(settings)
    free = storage.free_bytes()
    if stored > free:
        raise UsageError(
            f"{workload.name} needs {format_bytes(stored)} in {storage.name} (replicas counted), "
            f"{format_bytes(free)} are free",
            hint="Choose a smaller --size.",
        )
    if cluster.plan is not None:
        directory = cluster.plan.directory
        disk = cluster.host.call("files.space", path=directory)["free"]
        _check_disk(workload, stored + intermediate, intermediate, directory, disk)


def _check_disk(workload: Workload, needed: int, intermediate: int, directory: str, free: int) -> None:
    if needed > free:
        raise UsageError(
            f"{workload.name} needs {format_bytes(needed)} on the disk of {directory} "
            f"({format_bytes(intermediate)} of it between map and reduce), {format_bytes(free)} are free",
            hint="Choose a smaller --size, or another disk with --work-dir.",
        )
