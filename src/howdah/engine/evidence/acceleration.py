"""Whether the accelerator of a run is where its jobs look for it, and whether it served them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from howdah.cluster.live.cluster import LiveCluster
from howdah.errors import UsageError
from howdah.hadoop.distribution.distribution import sha256
from howdah.hadoop.distribution.jars import how_to_get_jars
from howdah.model.accelerator import (
    ACCELERATOR_JAR,
    NONE,
    Plugin,
    has_map_output,
    is_served,
    plugins_named,
    plugins_of,
    service,
)
from howdah.model.job import Job
from howdah.model.run import Caveat
from howdah.store import StoredRun
from howdah.store.codec_job import decode_job

_PACKAGE = "org.howdah."

_SHIPPED = "tmpjars"
"""The jars that the job client sends with a job and puts on its class path; `-libjars` sets it."""


def check_plugins(cluster: LiveCluster, conf: Mapping[str, str]) -> None:
    """Refuses jobs whose settings `conf` name plugins of ours on a cluster that came up without their jar. Raises
    UsageError."""
    there = any(jar.stem == ACCELERATOR_JAR for jar in cluster.distribution.plugins)
    if plugins_of(conf) and cluster.runs_distribution and not there:
        name = cluster.description["name"]
        raise UsageError(
            f"the cluster {name!r} does not have {ACCELERATOR_JAR}.jar, which had not been built when it came up",
            hint=f"{how_to_get_jars()} Then `howdah down` and `howdah up` start the cluster again, with it.",
        )


def with_plugins(cluster: LiveCluster, conf: Mapping[str, str]) -> Mapping[str, str]:
    """`conf` for jobs on the cluster. To one that Howdah did not start, the plugins that `conf` names are sent with
    each job: what is on its class path is its owner's business."""
    if cluster.runs_distribution or not plugins_of(conf):
        return conf
    jars = [jar.absolute().as_uri() for jar in cluster.distribution.plugins]
    return {**conf, _SHIPPED: ",".join((*filter(None, [conf.get(_SHIPPED)]), *jars))}


def jars_for_spark(cluster: LiveCluster, conf: Mapping[str, str]) -> tuple[Path, ...]:
    """Return our jars that Spark needs for jobs with the settings `conf`, since it has its own Hadoop: all of a cluster
    that Howdah started; elsewhere those of this machine if a file system of the jobs is ours."""
    settings = {**cluster.settings, **conf}
    ours = any(key.startswith("fs.") and value.startswith(_PACKAGE) for key, value in settings.items())
    return cluster.distribution.plugins if cluster.runs_distribution or ours else ()


def rebuilt(cluster: LiveCluster) -> Iterator[Caveat]:
    """A caveat where a jar of ours is not what it was when the cluster came up."""
    for path, digest in cluster.description.get("plugins", {}).items():
        jar = Path(path)
        if not jar.is_file() or sha256(jar) != digest:
            what = "was built anew" if jar.is_file() else "is gone"
            yield Caveat("run", f"{jar.name} {what} since the cluster came up: JVMs start without the class archive")


def shortfalls(job: Job, asked: Sequence[Plugin], held: Mapping[str, str]) -> Iterator[str]:
    """What of a job that has ended did not go through the plugins that were `asked` for, and those that it `held` in
    its settings; nothing where the job has no map output."""
    if not has_map_output(job):
        return
    for plugin in dict.fromkeys((*asked, *plugins_of(held))):
        found = service(plugin, job)
        if found.whole:
            continue
        counted = ", ".join(f"{name} {count:,}" for name, count in found.fallbacks.items())
        own = f"Hadoop's own {plugin.work}"
        if found.records == 0:
            why = counted or f"no counter of {plugin.group} tells of it"
            if not plugin.is_named_by(held):
                why = f"{plugin.key} is {held.get(plugin.key, 'not set')}"
            yield f"{plugin.name} did not serve {job.id}, {own} did: {why}"
        elif found.expected is not None and found.records < found.expected:
            share = f"{found.records:,} of {found.expected:,} records"
            yield f"{plugin.name} served {share} of {job.id}, {own} the others" + (f": {counted}" if counted else "")
        else:
            yield f"{plugin.name} left a part of {job.id} to {own}: {counted}"


def no_part(accelerator: str, measured: Sequence[str], phases_with_map_output: set[str]) -> Iterator[Caveat]:
    """A caveat for every phase that is `measured` in which an accelerated run had nothing to accelerate: it sorted
    nothing by MapReduce."""
    for phase in measured:
        if accelerator != NONE and phase not in phases_with_map_output:
            text = f"no MapReduce job of {phase} hands records from maps to reduces"
            yield Caveat(phase, f"accelerator {accelerator} has no part in {phase}: {text}")


def is_accelerated(stored: StoredRun, measured: Collection[str]) -> bool:
    """Whether the accelerator that a run was to have served all of the phases that are `measured`. True where it was to
    have none.

    Raises UsageError where its jobs cannot be read.
    """
    run = stored.run
    if run.trial.accelerator == NONE:
        return True
    jobs = []
    for phase in run.phases:
        for job_id in phase.jobs if phase.name in measured else ():
            try:
                record = stored.job_file(f"{job_id}.json")
                if record is not None:
                    jobs.append(decode_job(record)[0])
            except (KeyError, TypeError, ValueError) as error:
                raise UsageError(f"damaged run directory: {stored.path}, {job_id} cannot be read ({error})") from error
    return is_served(plugins_named(run.trial.accelerator), jobs)
