"""What is checked before anything is started: keys, containers that could never be scheduled, space."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.cluster.live import LiveCluster
from howdah.errors import UsageError
from howdah.hadoop.distribution import Distribution
from howdah.hadoop.keys import check_key, known_keys
from howdah.hadoop.sizing import check_schedulable
from howdah.model.quantity import format_bytes
from howdah.storage import Storage
from howdah.workload import Settings, Workload


def check_keys(settings: Mapping[str, str], distribution: Distribution) -> None:
    """Refuses a Hadoop key that is spelled almost like a real one. Raises UsageError."""
    if settings:
        known = known_keys(distribution)
        for key in settings:
            check_key(key, known)


def check_job(cluster: LiveCluster, conf: Mapping[str, str]) -> None:
    """Refuses containers that no node of the live cluster could ever hold. Raises UsageError."""
    nodes = [node for node in cluster.resourcemanager.nodes() if node.state == "RUNNING"]
    if not nodes:
        raise UsageError("the cluster has no NodeManager that runs")
    most = cluster.resourcemanager.maximum_allocation()
    check_schedulable(
        {**cluster.settings, **conf},
        node_mib=max(node.memory_total for node in nodes),
        node_vcores=max(node.vcores_total for node in nodes),
        most_mib=most.memory,
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
        disk = cluster.host.call("files.space", path=cluster.plan.directory)["free"]
        if stored + intermediate > disk:
            raise UsageError(
                f"{workload.name} needs {format_bytes(stored + intermediate)} on the disk of {cluster.plan.directory} "
                f"({format_bytes(intermediate)} of it between map and reduce), {format_bytes(disk)} are free",
                hint="Choose a smaller --size, or another disk with --work-dir.",
            )
