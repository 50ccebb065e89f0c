"""TeraSort's rows sorted by Spark on the same cluster, which many would use instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from howdah.hadoop.distribution.jars import own_jar
from howdah.workload import MAPS, REDUCES, Asked, Option, Session, Settings
from howdah.workload.programs import SparkProgram
from howdah.workload.spark import SPARK, spark_properties
from howdah.workload.terasort import TeraSort


class SparkTeraSort(TeraSort):
    """See `howdah.workload.Workload`. It is TeraSort, except for the sort itself."""

    name: ClassVar[str] = "spark-terasort"
    title: ClassVar[str] = "TeraSort on Spark"
    summary: ClassVar[str] = (
        "sorts TeraSort's rows by Spark on YARN: processor, disk and network; Howdah's own, for what many use instead"
    )
    options: ClassVar[tuple[Option, ...]] = (MAPS, REDUCES)
    profiles: ClassVar[Mapping[str, Mapping[str, int]]] = {}

    def resolve(self, asked: Asked, cluster: Mapping[str, str]) -> Settings:
        settings = super().resolve(asked, cluster)
        own = {
            # Rows are random: compressing them takes time and saves nothing.
            "spark.shuffle.compress": "false",
            "spark.shuffle.spill.compress": "false",
            "spark.hadoop.dfs.replication": str(settings["output_replication"]),
        }
        spark = spark_properties({**cluster, **asked.conf}, settings["reduces"], own)
        return {**settings, SPARK: spark}

    def run(self, session: Session, settings: Settings) -> None:
        source, target = self.places(session)
        program = SparkProgram(
            (str(own_jar("howdah-spark")), source, target, str(settings["reduces"])), settings[SPARK]
        )
        session.run("sort", "run", program, data_bytes=settings["size_bytes"])
