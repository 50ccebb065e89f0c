"""Evidence about a cluster that Howdah started: whether it is as requested, and what it has lost, as its processes
report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.state import Lost
from howdah.engine.evidence.readback import ReadBack
from howdah.errors import HowdahError
from howdah.hadoop.configuration.tuning import TASK_OPTIONS
from howdah.host import operations
from howdah.host.over import of_reachable
from howdah.model.quantity import format_bytes
from howdah.model.run import Check

_TASKS = (TASK_OPTIONS, "mapreduce.map.java.opts", "mapreduce.reduce.java.opts")
_LOCAL, _DEFAULT = "yarn.nodemanager.local-dirs", "yarn-default.xml"
_LEFT_SHARE, _LEFT_BYTES = 0.1, 256 << 20
"""The share, or the bytes if they are more, that may be left of the page cache: files that are read or written
meanwhile."""
_FULL = 512 << 20
"""The free bytes below which NodeManagers give up a disk (`hadoop.configuration`)."""


def check_cluster(cluster: LiveCluster, held: ReadBack) -> Iterator[Check]:
    """Yield a check for everything that was requested by name. These are processors, JVM flags, the directory of map
    outputs, the managed version, and the rates and shares of simulated hosts. Yield nothing for a cluster that Howdah
    did not start.
    """
    asked: Mapping[str, Any] = cluster.description.get("defaults", {})
    if (wanted := asked.get("processors")) is not None:
        found: set[int] = set()
        for host, daemons in cluster.daemons_by_host().values():
            allowed = partial(operations.allowed_processors, pids=[one.pid for one in daemons])
            found |= set(of_reachable(host, allowed) or ())
        yield Check("processors", found == {wanted}, f"daemons may use {', '.join(map(str, sorted(found)))}")
    if asked.get("jvm_flags") or asked.get("task_flags"):
        yield _check_flags(asked, held)
    if (directory := asked.get("shuffle_directory")) is not None:
        # Daemons that are no NodeManager have Hadoop's default.
        own = (one for one in held.daemons.get(_LOCAL, ()) if one.source != _DEFAULT)
        values = sorted({one.value for one in own})
        right = bool(values) and all(value.startswith(f"{directory}/") for value in values)
        yield Check("shuffle directory", right, f"NodeManagers have {', '.join(values) or 'not said'}")
    if cluster.runs_distribution and cluster.distribution.source == "managed":
        manager = cluster.resourcemanager
        versions = {manager.info().version, *(node.version for node in manager.nodes() if node.state == "RUNNING")}
        right = versions == {cluster.distribution.version}
        yield Check("hadoop", right, f"the ResourceManager and its nodes are {' and '.join(sorted(versions))}")
    for part in cluster.parts.check():
        yield Check(part.name, part.held, part.words)


def check_emptied(before: int, after: int) -> Check:
    """Return a check that the page cache was emptied. `before` and `after` are the bytes of unmapped files in it."""
    passed = after <= max(_LEFT_BYTES, _LEFT_SHARE * before)
    return Check("cache", passed, f"{format_bytes(before)} of files were in it, then {format_bytes(after)}")


def losses(cluster: LiveCluster) -> tuple[str, ...]:
    """Return sentences about losses that jobs do not survive: daemons that stopped on their own, and full disks."""
    return (*(lost.sentence for lost in lost_daemons(cluster)), *full_disk(cluster))


def lost_daemons(cluster: LiveCluster) -> tuple[Lost, ...]:
    """Return the daemons that stopped on their own; none if the supervisor does not answer."""
    with suppress(HowdahError):
        return cluster.lost_daemons()
    return ()


def full_disk(cluster: LiveCluster) -> tuple[str, ...]:
    """Return a sentence for each full disk that has a directory of the cluster. A disk that cannot be asked is
    skipped."""
    found: dict[tuple[str, int], str] = {}
    for host, directory in cluster.work_directories:
        with suppress(HowdahError):
            space = operations.space(host, directory)
            disk = (cluster.machine_of(host.name), space.device)
            if space.free < _FULL and disk not in found:
                found[disk] = f"the disk of {directory} is full: {format_bytes(space.free)} are free"
    return tuple(found.values())


def _check_flags(asked: Mapping[str, Any], held: ReadBack) -> Check:
    """Return a check of the flags of daemons, by their command lines, and of tasks, by the configurations of the
    jobs."""
    lacking = [
        f"{role} runs without {flag}"
        for flag in asked.get("jvm_flags", ())
        for role, lines in held.flags.items()
        if any(flag not in line for line in lines)
    ]
    lacking += [
        f"{phase} has {key} without {flag}"
        for flag in asked.get("task_flags", ())
        for phase, settings in held.jobs.items()
        for key in _TASKS
        if any(flag not in one.value.split() for one in settings.get(key, ()))
    ]
    return Check("jvm", not lacking, "; ".join(lacking) or "daemons and tasks have the flags that were asked for")
