"""The evidence of the accelerator: whether a run's jobs can find it, and whether it served them."""

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
"""The key of the jars that the job client sends with a job and puts on its class path; `-libjars` sets this key."""


def check_plugins(cluster: LiveCluster, conf: Mapping[str, str]) -> None:
    """Refuse jobs whose settings `conf` name Howdah's plugins on a cluster that came up without their jar. Raises
    UsageError."""
    there = any(jar.stem == ACCELERATOR_JAR for jar in cluster.distribution.plugins)
    if plugins_of(conf) and cluster.runs_distribution and not there:
        name = cluster.description["name"]
        raise UsageError(
            f"the cluster {name!r} does not have {ACCELERATOR_JAR}.jar, which had not been built when it came up",
            hint=f"{how_to_get_jars()} Then `howdah down` and `howdah up` start the cluster again, with it.",
        )


def with_plugins(cluster: LiveCluster, conf: Mapping[str, str]) -> Mapping[str, str]:
    """Return `conf` for jobs on the cluster. On a cluster that Howdah did not start, each job carries the plugins that
    `conf` names. The class path of such a cluster is its owner's business."""
    if cluster.runs_distribution or not plugins_of(conf):
        return conf
    jars = [jar.absolute().as_uri() for jar in cluster.distribution.plugins]
    return {**conf, _SHIPPED: ",".join((*filter(None, [conf.get(_SHIPPED)]), *jars))}


def jars_for_spark(cluster: LiveCluster, conf: Mapping[str, str]) -> tuple[Path, ...]:
    """Return Howdah's jars for Spark jobs with the settings `conf`: Spark has its own Hadoop.

    These are all jars of a cluster that Howdah started. On other clusters they are the jars of this machine, if a file
    system of the jobs is Howdah's.
    """
    settings = {**cluster.settings, **conf}
    ours = any(key.startswith("fs.") and value.startswith(_PACKAGE) for key, value in settings.items())
    return cluster.distribution.plugins if cluster.runs_distribution or ours else ()


def rebuilt(cluster: LiveCluster) -> Iterator[Caveat]:
    """Yield a caveat for each jar of Howdah that has changed since the cluster came up."""
    for path, digest in cluster.description.get("plugins", {}).items():
        jar = Path(path)
        if not jar.is_file() or sha256(jar) != digest:
            what = "was rebuilt" if jar.is_file() else "is gone"
            yield Caveat("run", f"{jar.name} {what} since the cluster came up: JVMs start without the class archive")


def shortfalls(job: Job, asked: Sequence[Plugin], held: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each plugin that did not serve all of a finished job. Plugins are those `asked` for, and
    those that the job `held` in its settings. A job without map output yields nothing."""
    if not has_map_output(job):
        return
    for plugin in dict.fromkeys((*asked, *plugins_of(held))):
        found = service(plugin, job)
        if found.whole:
            continue
        counted = ", ".join(f"{name} {count:,}" for name, count in found.fallbacks.items())
        own = f"stock {plugin.work}"
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
    """Yield a caveat for each `measured` phase of an accelerated run in which the accelerator had no part. Such a phase
    sorted nothing by MapReduce."""
    for phase in measured:
        if accelerator != NONE and phase not in phases_with_map_output:
            text = f"no MapReduce job of {phase} hands records from maps to reduces"
            yield Caveat(phase, f"accelerator {accelerator} has no part in {phase}: {text}")


def is_accelerated(stored: StoredRun, measured: Collection[str]) -> bool:
    """Return whether the accelerator of a run served all phases that are `measured`. True for a run without an
    accelerator.

    Raises UsageError if the run's jobs cannot be read.
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
