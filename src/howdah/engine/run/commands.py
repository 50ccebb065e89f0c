"""The command and the environment of a program on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from howdah.cluster.live.cluster import LiveCluster
from howdah.engine.evidence.acceleration import jars_for_spark
from howdah.engine.run.software import stored_spark
from howdah.engine.run.storages import HOMES, as_default
from howdah.hadoop.distribution.spark import find_spark, sending, submit_command, with_jars
from howdah.storage import Storage
from howdah.workload.counts import count
from howdah.workload.programs import JarProgram, Program, Programs, ShellLine, SparkProgram

Client = Callable[[Path], tuple[Sequence[str], Mapping[str, str]]]
"""The command and the environment of a client, by its configuration directory."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The launch of a program: its `client`, and the part of the command that is `shown` for its phase. The program has
    failed once its output has `fatal`. It has also failed with an exit code other than 0, unless that code is to be
    `judged`.
    """

    shown: tuple[str, ...]
    client: Client
    fatal: str | None = None
    judged: bool = False


class Commands:
    """Builds the commands of one run, whose data is in `directory` of `storage` and whose jobs have `settings`."""

    def __init__(self, cluster: LiveCluster, storage: Storage, directory: str, settings: Mapping[str, str]) -> None:
        self._cluster = cluster
        self._storage = storage
        self._directory = directory
        self._settings = settings

    def programs(self) -> Programs:
        """Return the programs that workloads can run."""
        cluster = self._cluster
        return Programs(
            distribution=cluster.distribution,
            uri=self._storage.uri,
            default=tuple(as_default(cluster, self._storage, self._directory)),
            home=f"-D{HOMES}={self._directory}/home",
            staging=f"{cluster.client_temporary}/staging",
            client_maps=self._vcores() if cluster.is_one_node_here else 0,
            python=cluster.python,
        )

    def _vcores(self) -> int:
        """Return how many tasks the one node runs at once. On clusters of others the key may be -1: each node counts
        its own."""
        return count(self._cluster.settings, "yarn.nodemanager.resource.cpu-vcores", 8)

    def launch(self, program: Program, phase: str, tags: str) -> Launch:
        """Return how `program` runs as `phase`. Everything that it submits has the YARN application `tags`. Raises
        UsageError if it needs Spark and Spark is not installed."""
        cluster = self._cluster
        match program:
            case JarProgram(argv, fatal):
                return Launch(
                    argv, lambda conf: (cluster.client_command(argv, conf), cluster.client_environment(conf)), fatal
                )
            case ShellLine(text, judged):
                line = ("/bin/sh", "-c", text)
                own = {"HOWDAH_PHASE": phase, "HOWDAH_DIRECTORY": self._storage.uri(self._directory)}
                return Launch(line, lambda conf: (line, {**cluster.shell_environment(conf), **own}), judged=judged)
            case SparkProgram():
                return self._spark(program, tags)

    def _spark(self, program: SparkProgram, tags: str) -> Launch:
        cluster, spark = self._cluster, find_spark()
        own = {
            "spark.yarn.tags": tags,
            "spark.jars": str(cluster.distribution.examples_jar),
            # Spark leaves its directory behind: it goes with the run's data.
            "spark.yarn.stagingDir": self._storage.uri(self._directory),
            "spark.pyspark.python": cluster.python,
            **cluster.spark_properties(spark.home),
        }
        if cluster.runs_distribution and not cluster.shares_files:
            own["spark.yarn.archive"] = stored_spark(self._storage, spark)
        given = {**own, **program.properties}
        jars = jars_for_spark(cluster, self._settings)
        sent = not cluster.shares_files
        argv = submit_command(spark, sending(given, jars) if sent and jars else given, program.argv)
        return Launch(program.argv, lambda conf: (argv, with_jars(cluster.client_environment(conf), jars, sent=sent)))
