"""Measuring workloads one or several times on one cluster: found by name, found by its configuration, or made for
them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.live.existing import conf_directory, read_existing
from howdah.cluster.live.foreign import open_existing
from howdah.cluster.live.managed import open_managed
from howdah.cluster.supervision.client import StartedCluster, find_cluster, wait_until_taken
from howdah.engine.evidence.acceleration import check_plugins
from howdah.engine.measurement.defaults import own_defaults
from howdah.engine.measurement.preflight import (
    check_before_cluster,
    check_job,
    check_keys,
    check_replicas,
    check_space,
    check_walltime,
    check_writable,
    resolve,
)
from howdah.engine.measurement.request import Measured, Measurement
from howdah.engine.measurement.synthetic import PREFIX, simulate
from howdah.engine.observer import Observer
from howdah.engine.run.bounds import Bounds, calibrate
from howdah.engine.run.execution import Execution, RunPlan
from howdah.engine.run.storages import choose_storage, storages_of
from howdah.errors import HostsTaken, HowdahError, UsageError
from howdah.hadoop.configuration.cluster import Scope, scope_of
from howdah.model.storage import HDFS
from howdah.probe.registry import make_probes
from howdah.spec.truth import read_truth
from howdah.storage import Storage
from howdah.workload import Settings, Workload
from howdah.workload.registry import check_installed, check_storages


def measure(measurement: Measurement, observer: Observer) -> Iterator[Measured]:
    """Yield each run once its directory is closed. A cluster made for this measurement is shut down in any case.

    A workload is not repeated after a run that was not valid: the next run would have the same problem. The next
    workload still runs.

    Raises:
        HowdahError: before the first run, when something stands in its way.
        KeyboardInterrupt: the running run was closed as aborted.
    """
    if measurement.cluster is not None and measurement.cluster.startswith(PREFIX):
        file = Path(measurement.cluster.removeprefix(PREFIX))
        yield from simulate(measurement, read_truth(file), file, observer)
        return
    # What is unknown or not installed is refused before a cluster is started.
    make_probes(measurement.options.probes, measurement.options.meters)
    for workload, _ in measurement.workloads:
        check_installed(workload)
    with _cluster(measurement, observer) as cluster:
        for text in cluster.warnings:
            observer.step(f"warning: {text}")
        observer.step("checking the job against the cluster")
        cluster.claim()
        storage = choose_storage(cluster, measurement.storage)
        check_keys(measurement.conf, cluster.distribution)
        check_plugins(cluster, measurement.conf)
        check_job(cluster, measurement.conf)
        if storage.name == HDFS:
            check_writable(cluster)
            check_replicas(measurement.conf, len(cluster.namenode.status().live))
        resolved = _resolved(measurement, cluster, storage, observer)
        bounds = Bounds({})
        # The hosts of a cluster that Howdah did not start are out of reach; this machine's bounds are not theirs.
        if measurement.calibrated and cluster.observed:
            observer.step("calibrating: processors, disks, network")
            bounds = calibrate(cluster)
        runs = measurement.runs
        for place, (workload, own) in enumerate(resolved):
            for number, one in enumerate(runs, place * len(runs) + 1):
                observer.run_started(one.title(workload), number, len(resolved) * len(runs))
                measured = _once(one, cluster, storage, workload, own, bounds, observer)
                yield measured
                if measured.run.outcome.kind != "valid":
                    break


def _resolved(
    measurement: Measurement, cluster: LiveCluster, storage: Storage, observer: Observer
) -> list[tuple[Workload, Settings]]:
    """Return the workloads, each with all its settings. Raises UsageError for a workload that cannot run on `storage`.
    If workloads may be left out, it is raised only when none can run."""
    found = []
    for workload, asked in measurement.workloads:
        try:
            seen = {**cluster.settings, **own_defaults(workload, cluster)}
            settings = resolve(workload, asked, seen, hdfs=storage.name == HDFS)
            check_storages(workload, settings, storage.name, tuple(storages_of(cluster)))
            check_space(cluster, storage, workload, settings)
            check_walltime(cluster, measurement.options.root, workload, settings)
        except UsageError as error:
            if not measurement.leave_out:
                raise
            observer.left_out(workload.name, error)
        else:
            found.append((workload, settings))
    if not found:
        raise UsageError("none of the workloads can be run here")
    return found


def _once(
    measurement: Measurement,
    cluster: LiveCluster,
    storage: Storage,
    workload: Workload,
    settings: Settings,
    bounds: Bounds,
    observer: Observer,
) -> Measured:
    plan = RunPlan(workload, settings, storage, own_defaults(workload, cluster))
    execution = Execution(cluster, plan, measurement.options, observer, bounds)
    return Measured(execution.execute(), execution.path, execution.refused)


@contextmanager
def _cluster(measurement: Measurement, observer: Observer) -> Iterator[LiveCluster]:
    named = measurement.cluster
    if named is None:
        with _made(measurement, observer) as cluster:
            yield cluster
        return
    directory = conf_directory(named)
    if directory is not None:
        made = measurement.made
        home = None if made.hadoop_home is None else Path(made.hadoop_home)
        cluster = open_existing(read_existing(directory, measurement.conf), hadoop=made.hadoop, hadoop_home=home)
    else:
        cluster = open_managed(find_cluster(named))
    try:
        yield cluster
    except HostsTaken:
        # A script that ends now would end its job, and what is copied out of HDFS meanwhile.
        cluster.close()
        observer.step("waiting for the end of the cluster")
        wait_until_taken(named)
        raise
    finally:
        cluster.close()


@contextmanager
def _made(measurement: Measurement, observer: Observer) -> Iterator[LiveCluster]:
    """Yield a cluster for this measurement alone. The cluster gets the settings that only daemons read, the jobs the
    others."""
    check_before_cluster(measurement.workloads, measurement.made, leave_out=measurement.leave_out)
    cluster_settings = {key: value for key, value in measurement.conf.items() if scope_of(key) is Scope.CLUSTER}
    request = replace(measurement.made, name=f"run-{secrets.token_hex(3)}", settings=cluster_settings)
    observer.step(f"starting a cluster of {request.nodes} node{'s' if request.nodes > 1 else ''}")
    started = StartedCluster(request)
    named = False
    try:
        try:
            manifest = started.wait_until_up(lambda _: None)
        except HowdahError:
            named = True
            raise
        cluster = open_managed(manifest)
        try:
            yield cluster
        finally:
            observer.step("ending the cluster")
            cluster.close()
    finally:
        started.end()
        if not named:  # What it says of a cluster that did not come up are logs in its directory.
            started.forget()
