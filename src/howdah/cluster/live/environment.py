"""The environment in which other programs find a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from howdah.cluster.deployment.realm import credentials_of
from howdah.cluster.state import Manifest, cluster_directory
from howdah.hadoop.configuration.security import Credentials
from howdah.hadoop.distribution.spark import with_jars


def shell_environment(manifest: Manifest, base: Mapping[str, str]) -> dict[str, str]:
    """Return `program_environment` for a managed cluster, with the cluster's name in addition."""
    conf = cluster_directory(manifest.name).conf
    jars = tuple(map(Path, manifest.plugins))
    credentials = credentials_of(manifest.plan, cluster_directory(manifest.name))
    found = program_environment(manifest.hadoop["home"], manifest.jdk["home"], conf, base, jars, credentials)
    return {**found, "HOWDAH_CLUSTER_NAME": manifest.name}


def program_environment(
    home: Path | str,
    java: Path | str,
    conf: Path,
    base: Mapping[str, str],
    jars: Sequence[Path],
    credentials: Credentials | None = None,
) -> dict[str, str]:
    """Return `base` with the variables that programs look for. These are PATH with the commands, HADOOP_CONF_DIR and
    its kin, JAVA_HOME, and Howdah's `jars` for Spark, which has its own Hadoop.

    `home` is HADOOP_HOME, `java` is JAVA_HOME. With `credentials`, programs log in by themselves.
    """
    return {
        **with_jars(base, jars),
        "PATH": f"{home}/bin:{java}/bin:{base.get('PATH', '/usr/local/bin:/usr/bin:/bin')}",
        "JAVA_HOME": str(java),
        "HADOOP_HOME": str(home),
        "HADOOP_CONF_DIR": str(conf),
        "YARN_CONF_DIR": str(conf),
        "HADOOP_COMMON_HOME": str(home),
        "HADOOP_HDFS_HOME": str(home),
        "HADOOP_YARN_HOME": str(home),
        "HADOOP_MAPRED_HOME": str(home),
        **({} if credentials is None else credentials.environment_of(base)),
    }
