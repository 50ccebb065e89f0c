"""Spark next to MapReduce: both get equally much of the cluster."""

from __future__ import annotations

from collections.abc import Mapping

from howdah.hadoop.distribution.spark import heap_mib
from howdah.workload.counts import count

SPARK = "spark"
"""The setting, of workloads that run on Spark, for its properties."""


def spark_properties(conf: Mapping[str, str], tasks: int, own: Mapping[str, str]) -> dict[str, str]:
    """Return properties for a Spark that runs `tasks` tasks at once, with the memory that as many tasks of MapReduce
    have. There is one executor per node as far as the configuration tells. A driver takes the place of the application
    master.

    `conf` is the configuration that clients of the cluster see. Its keys of Spark win over the properties here, and
    over the workload's `own`. Raises UsageError if the containers are too small for Spark.
    """
    # YARN counts memory only, unless told otherwise; a node of Howdah's has one virtual core beside its slots.
    cores = min(tasks, max(1, count(conf, "yarn.nodemanager.resource.cpu-vcores", 2) - 1))
    return {
        "spark.executor.instances": str(-(-tasks // cores)),
        "spark.executor.cores": str(cores),
        "spark.executor.memory": f"{heap_mib(cores * count(conf, 'mapreduce.map.memory.mb', 1024))}m",
        "spark.driver.memory": f"{heap_mib(count(conf, 'yarn.app.mapreduce.am.resource.mb', 1536))}m",
        "spark.dynamicAllocation.enabled": "false",
        "spark.ui.enabled": "false",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        # The driver is busiest while it starts, as an application master is (`hadoop.tuning`, quick-compiler).
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.extraJavaOptions": "-XX:+UseParallelGC",
        "spark.yarn.report.interval": "500ms",
        **own,
        **{key: value for key, value in conf.items() if key.startswith("spark.")},
    }
