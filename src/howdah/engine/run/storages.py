"""The storages of a cluster: the one that a run uses, and the one where its jobs leave their history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from howdah.cluster.live.cluster import LiveCluster
from howdah.errors import UsageError
from howdah.hadoop.history.job_files import JobFiles, intermediate_directory
from howdah.model.storage import POSIX, POSIX_SCHEME, parse_storages
from howdah.storage import Storage
from howdah.storage.posix import PosixFiles
from howdah.storage.registry import open_storages

HOMES = "dfs.user.home.dir.prefix"
"""The key of the directory that has users' home directories, in HDFS and in Howdah's file system. Clients set it."""

_DEFAULT = "default"
"""The name of the cluster's default storage, a directory, for jobs with another default."""


def storages_of(cluster: LiveCluster) -> Mapping[str, Storage]:
    """Return the storages by name, the default first. Raises UsageError if the default is of an unknown kind."""
    return open_storages(cluster.settings, cluster.namenode, cluster.webhdfs, cluster.client)


def choose_storage(cluster: LiveCluster, wanted: str | None) -> Storage:
    """Return the storage `wanted`, as a user writes it; the cluster's default for None. Raises UsageError for a storage
    that the cluster does not have."""
    storages = storages_of(cluster)
    if wanted is None:
        return next(iter(storages.values()))
    asked = parse_storages(wanted)
    if asked.default not in storages or (asked.default == POSIX and asked.directory != _root(cluster)):
        there = ", ".join(written(cluster, storage) for storage in storages.values())
        raise UsageError(f"the cluster has no storage {wanted}; it has {there}", hint=f"howdah up --storage {wanted}")
    return storages[asked.default]


def written(cluster: LiveCluster, storage: Storage) -> str:
    """Return a storage of the cluster as a user writes it."""
    return f"{POSIX}:{_root(cluster)}" if storage.name == POSIX else storage.name


def _root(cluster: LiveCluster) -> str:
    return cluster.settings.get(f"fs.{POSIX_SCHEME}.mount", "/")


def job_files(cluster: LiveCluster) -> JobFiles:
    """Return the place for files of jobs and of the history server: the default storage."""
    default = next(iter(storages_of(cluster).values()))
    return default if isinstance(default, PosixFiles) else cluster.webhdfs


def as_default(cluster: LiveCluster, storage: Storage, directory: str) -> Sequence[str]:
    """Return definitions that make `storage` the default of a job, for programs that work on no other. Empty if it is
    the default.

    An ApplicationMaster looks for its job's files in the default storage; then they are below `directory`. The history
    goes where the JobHistoryServer finds it. A secure HDFS wants a token for that.
    """
    default = next(iter(storages_of(cluster).values()))
    if storage.name == default.name:
        return ()
    history, staging = (
        cluster.settings.get(key)
        for key in ("mapreduce.jobhistory.intermediate-done-dir", "yarn.app.mapreduce.am.staging-dir")
    )
    # Whole URIs, and a directory by a name: to a path without a scheme Hadoop gives that of the cluster's default, and
    # to one without an authority that of `storage`, whatever its scheme.
    there = default.uri("")
    named: tuple[str, ...] = ()
    if default.name == POSIX:
        there = f"{POSIX_SCHEME}://{_DEFAULT}"
        named = (f"-Dfs.{POSIX_SCHEME}.mount.{_DEFAULT}={_root(cluster)}",)
    return (
        f"-Dfs.defaultFS={storage.uri('/')}",
        f"-Dyarn.app.mapreduce.am.staging-dir={storage.uri(f'{directory}/staging')}",
        f"-Dmapreduce.job.hdfs-servers={there}/",
        f"-Dmapreduce.jobhistory.intermediate-done-dir={there}{intermediate_directory(history, staging)}",
        *named,
    )
