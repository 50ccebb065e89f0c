"""Apache Spark from PyPI (package `pyspark`), submitted to YARN."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from howdah.errors import UsageError

_CLASSPATH = "SPARK_DIST_CLASSPATH"
_SENT = "spark.yarn.dist.files"
_LEAST_MIB = 450  # UnifiedMemoryManager: 1.5 times the 300 MiB that it reserves.
_OVERHEAD_MIB, _OVERHEAD_SHARE = 384, 0.1  # spark.executor.memoryOverhead as it comes.


@dataclass(frozen=True, slots=True)
class Spark:
    """Spark at `home`."""

    home: Path
    version: str


def find_spark() -> Spark:
    """Return the Spark that is installed next to this Python. Raises UsageError if there is none."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise UsageError(
            f"Spark is not installed in {sys.prefix}",
            hint="It is the optional extra `spark`: `pip install 'howdah[spark]'`, or `make spark` in a checkout.",
        )
    return Spark(Path(found.origin).parent, importlib.metadata.version("pyspark"))


def heap_mib(container_mib: int) -> int:
    """Return the heap in MiB of a driver or executor whose container has `container_mib`. Raises UsageError for too
    little."""
    heap = int(min(container_mib / (1 + _OVERHEAD_SHARE), container_mib - _OVERHEAD_MIB))
    if heap < _LEAST_MIB:
        least = _LEAST_MIB + _OVERHEAD_MIB
        raise UsageError(f"Spark needs containers of at least {least} MiB; here is one of {container_mib}")
    return heap


def with_jars(environment: Mapping[str, str], jars: Sequence[Path], *, sent: bool = False) -> dict[str, str]:
    """Return `environment` with `jars` on the class path of `spark-submit`, of the driver and of every executor. They
    come after Spark's own jars and after the entries that the environment has already.

    Jars that are `sent` (`sending`) are also found in the working directory of YARN's containers.

    Source: Spark's documentation, "Using Spark's Hadoop Free Build"; Spark on YARN passes the variable to containers.
    """
    if not jars:
        return dict(environment)
    before = environment.get(_CLASSPATH)
    names = (*([before] if before else []), *map(str, jars), *(jar.name for jar in jars if sent))
    return {**environment, _CLASSPATH: ":".join(names)}


def sending(properties: Mapping[str, str], jars: Sequence[Path]) -> dict[str, str]:
    """Return `properties` that also send `jars` to the working directory of every container."""
    before = properties.get(_SENT)
    return {**properties, _SENT: ",".join((*([before] if before else []), *(jar.absolute().as_uri() for jar in jars)))}


def submit_command(spark: Spark, properties: Mapping[str, str], program: Sequence[str]) -> list[str]:
    """Return the command of `spark-submit PROGRAM…` on YARN, with the driver in the cluster."""
    given = [word for key, value in sorted(properties.items()) for word in ("--conf", f"{key}={value}")]
    return [f"{spark.home}/bin/spark-submit", "--master", "yarn", "--deploy-mode", "cluster", *given, *program]
