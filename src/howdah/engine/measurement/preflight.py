"""Checks before anything is started: keys, containers that could never be scheduled, space."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from howdah.cluster.allocation import find_allocation
from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.request import ClusterRequest
from howdah.cluster.walltime import check_time
from howdah.errors import ClusterProblem, UsageError
from howdah.hadoop.configuration.keys import check_key, known_keys
from howdah.hadoop.configuration.sizing import check_schedulable
from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jars import own_jar
from howdah.host import Host, operations
from howdah.host.channel import this_host
from howdah.model.accelerator import ACCELERATOR_JAR, plugins_of
from howdah.model.quantity import format_bytes
from howdah.model.run import Run
from howdah.model.storage import HDFS, POSIX, parse_storages
from howdah.storage import Storage
from howdah.store import howdah_home, list_runs
from howdah.workload import Asked, Settings, Workload
from howdah.workload.registry import check_storages

_ALIKE = ("nodes", "sizing", "defaults")
"""The facts that are equal in clusters on which a run takes a similar time."""
REPLICATION = ("dfs.replication", "mapreduce.terasort.output.replication")
"""The keys for the number of replicas that HDFS keeps of data from workloads."""


def check_keys(settings: Mapping[str, str], distribution: Distribution) -> None:
    """Refuse a Hadoop key that is spelled almost like a real one, and plugins of Howdah that have not been built.
    Raises UsageError or HostProblem."""
    if plugins_of(settings):
        own_jar(ACCELERATOR_JAR)
    if settings:
        known = known_keys(distribution)
        for key in settings:
            check_key(key, known)


def check_before_cluster(
    workloads: Sequence[tuple[Workload, Asked]], made: ClusterRequest, *, leave_out: bool = False
) -> None:
    """Refuse, before a cluster is made, what no cluster made here could run: settings, storages, more replicas than
    nodes, and data larger than the disk. With `leave_out`, it is enough that one of `workloads` could run.

    Raises UsageError, the first of several.
    """
    work = made.work_directory or str(howdah_home())
    storages = parse_storages(made.storage)
    there = [name for name, exists in ((HDFS, storages.hdfs), (POSIX, storages.directory)) if exists]
    hdfs = storages.default == HDFS
    data = work if hdfs else str(storages.directory)
    is_here = find_allocation(made.allocation, made.links).is_here
    refused = []
    with this_host() as host:
        for workload, asked in workloads:
            try:
                if hdfs:
                    check_replicas(asked.conf, made.nodes)
                settings = resolve(workload, asked, {"dfs.replication": "1"}, hdfs=hdfs)
                check_storages(workload, settings, storages.default, there)
                stored, intermediate = workload.space_bytes(settings)
                if is_here:  # The disks of others are looked at once there is a cluster.
                    check_disks(host, workload, (data, stored), (work, intermediate))
            except UsageError as error:
                refused.append(error)
    if refused and not (leave_out and len(refused) < len(workloads)):
        raise refused[0]


def check_job(cluster: LiveCluster, conf: Mapping[str, str]) -> None:
    """Refuse containers that no node of the live cluster could ever hold. Raises UsageError."""
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
    """Refuse a cluster whose NameNode is in safe mode. Raises ClusterProblem."""
    if cluster.namenode.status().safe_mode is not None:
        raise ClusterProblem(
            "the NameNode is in safe mode: nothing can be written",
            hint="`hdfs dfsadmin -safemode get` says more; `-safemode leave` ends one that was turned on by hand.",
        )


def check_replicas(conf: Mapping[str, str], datanodes: int) -> None:
    """Refuse more replicas in `conf` than HDFS has DataNodes, each of which keeps one. Raises UsageError."""
    for key in REPLICATION:
        wanted = conf.get(key, "").strip()
        if wanted.isdecimal() and int(wanted) > datanodes:
            nodes = f"{datanodes} DataNode" + ("" if datanodes == 1 else "s")
            raise UsageError(
                f"{key} is {wanted}, and HDFS has {nodes}: there would be no more replicas than that",
                hint="Ask for fewer replicas, or for more --nodes.",
            )


def resolve(workload: Workload, asked: Asked, settings: Mapping[str, str], *, hdfs: bool) -> Settings:
    """Return every setting of `workload` with its value, for clients that see `settings`. Storages other than HDFS keep
    one copy of each file as far as Hadoop knows, whatever is asked of HDFS. Raises UsageError for impossible settings.
    """
    if hdfs:
        return workload.resolve(asked, settings)
    one = dict.fromkeys(REPLICATION, "1")
    resolved = workload.resolve(replace(asked, conf={**asked.conf, **one}), {**settings, **one})
    return {**resolved, "conf": dict(asked.conf)}


def check_space(cluster: LiveCluster, storage: Storage, workload: Workload, settings: Settings) -> None:
    """Refuse data that does not fit, including the data between map and reduce. Raises UsageError."""
    stored, intermediate = workload.space_bytes(settings)
    free = storage.free_bytes()
    if stored > free:
        raise UsageError(
            f"{workload.name} needs {format_bytes(stored)} in {storage.name} (replicas counted), "
            f"{format_bytes(free)} are free",
            hint="Choose a smaller --size.",
        )
    places = cluster.data_places(storage.name)
    for place in places:
        part, between = (-(-size // len(places)) for size in (stored, intermediate))
        check_disks(place.host, workload, (place.data, part), (place.work, between))


def check_walltime(cluster: LiveCluster, root: Path, workload: Workload, settings: Settings) -> None:
    """Refuse a run that took longer before than a batch system leaves the hosts to the cluster. Runs below `root` give
    that time. Raises HostProblem."""
    left = cluster.check_hosts()
    if left is None:
        return
    wanted = json.loads(json.dumps(dict(settings)))
    took = [
        run.end.monotonic - run.start.monotonic
        for _, run in list_runs(root)
        if isinstance(run, Run) and run.end is not None and run.outcome.kind == "valid"
        if run.trial.workload == workload.name and run.trial.settings.get("workload") == wanted
        if all(run.cluster.get(name) == cluster.description.get(name) for name in _ALIKE)
    ]
    if took:
        check_time(left, run=max(took))


def check_disks(host: Host, workload: Workload, stored: tuple[str, int], intermediate: tuple[str, int]) -> None:
    """Refuse more bytes than are free. `stored` is the directory of the data with its bytes, `intermediate` that of the
    data between map and reduce. The bytes add up if both directories are on one disk."""
    (data, size), (work, between) = stored, intermediate
    there, here = (operations.space(host, directory) for directory in (data, work))
    together = there.device == here.device
    parts = ((work, size + between),) if together else ((data, size), (work, between))
    for (directory, needed), free in zip(parts, (there.free, here.free), strict=False):
        if needed > free:
            raise UsageError(
                f"{workload.name} needs {format_bytes(needed)} on the disk of {directory} "
                f"({format_bytes(between)} between map and reduce), {format_bytes(free)} are free",
                hint="Choose a smaller --size, or another disk with --work-dir.",
            )
