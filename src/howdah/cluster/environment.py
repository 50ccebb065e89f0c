"""The environment in which other people's programs find a cluster."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.cluster.state import Manifest, cluster_directory


def shell_environment(manifest: Manifest, base: Mapping[str, str]) -> dict[str, str]:
    """`base` with what programs look for: the commands on PATH, HADOOP_CONF_DIR and its kin, JAVA_HOME."""
    home, java = manifest.hadoop["home"], manifest.jdk["home"]
    conf = str(cluster_directory(manifest.name).conf)
    return {
        **base,
        "PATH": f"{home}/bin:{java}/bin:{base.get('PATH', '/usr/local/bin:/usr/bin:/bin')}",
        "JAVA_HOME": java,
        "HADOOP_HOME": home,
        "HADOOP_CONF_DIR": conf,
        "YARN_CONF_DIR": conf,
        "HADOOP_COMMON_HOME": home,
        "HADOOP_HDFS_HOME": home,
        "HADOOP_YARN_HOME": home,
        "HADOOP_MAPRED_HOME": home,
        "HOWDAH_CLUSTER_NAME": manifest.name,
    }
