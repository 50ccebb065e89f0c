"""The programs that workloads run: `hadoop jar`, lines of the shell, applications of Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from howdah.hadoop.distribution.distribution import Distribution
from howdah.hadoop.distribution.jars import own_jar

# Each takes some 15 MB of the client's heap: tables of words, and what a stream of HDFS has on its way.
_MOST_IN_CLIENT = 16
_SCRIPTS = Path(__file__).parent / "scripts"
_NAMENODE_BENCHMARK = "org.apache.hadoop.hdfs.server.namenode.NNThroughputBenchmark"


@dataclass(frozen=True, slots=True)
class JarProgram:
    """`hadoop jar ARGV…`: a jar and its arguments. Once its output has `fatal`, it is killed and has failed."""

    argv: tuple[str, ...]
    fatal: str | None = None


@dataclass(frozen=True, slots=True)
class ShellLine:
    """A line for `/bin/sh`. It finds `hadoop` and its kin on PATH, HADOOP_CONF_DIR, and HOWDAH_DIRECTORY: the run's
    directory in the storage. With `judged`, an exit code other than 0 is an answer, not a failure."""

    text: str
    judged: bool = False


@dataclass(frozen=True, slots=True)
class SparkProgram:
    """`spark-submit ARGV…` with Spark's `properties`, its driver in the cluster. It has no job history."""

    argv: tuple[str, ...]
    properties: Mapping[str, str]


Program = JarProgram | ShellLine | SparkProgram


@dataclass(frozen=True, slots=True)
class Programs:
    """Programs of Hadoop and of Howdah for one run. Every method only builds a command.

    `uri` returns a path of the run's storage as programs take it. `default` are definitions that make this storage the
    default one. `home` is a definition of the directory below which its users have their homes. `staging` is a local
    directory for jobs in the client. A client's JVM runs at most `client_maps` maps at once, 0 if it should run none.
    `python` runs scripts on every node.
    """

    distribution: Distribution
    uri: Callable[[str], str]
    default: tuple[str, ...]
    home: str
    staging: str
    client_maps: int
    python: str

    def examples(self, *arguments: str) -> JarProgram:
        """Return a program of Hadoop's MapReduce examples."""
        return JarProgram((str(self.distribution.examples_jar), *arguments))

    def workloads(self, *arguments: str) -> JarProgram:
        """Return one of Howdah's own programs (`java/workloads`). Raises HostProblem if they are not built."""
        return JarProgram((str(own_jar("howdah-workloads")), *arguments))

    def dfsio(self, directory: str, *arguments: str) -> JarProgram:
        """Return TestDFSIO with its files in `directory` of the run's storage."""
        own = (f"-Dtest.build.data={self.uri(directory)}", "-resFile", "/dev/null")
        return JarProgram((*self.distribution.dfsio, *self.default, *own, *arguments))

    def distcp(self, *arguments: str) -> JarProgram:
        """Return DistCp."""
        return JarProgram((str(self.distribution.distcp_jar), *arguments))

    def namenode_benchmark(self, *arguments: str, fatal: str | None = None) -> JarProgram:
        """Return NNThroughputBenchmark of the tests jar of HDFS."""
        return JarProgram((str(self.distribution.hdfs_tests_jar), _NAMENODE_BENCHMARK, *arguments), fatal)

    def streaming(self, *arguments: str, mapper: str, reducer: str) -> JarProgram:
        """Return Hadoop Streaming with two Python programs of `howdah/workload/scripts`. `arguments` begin with
        Hadoop's generic options."""
        files = ",".join(map(self.script, (mapper, reducer)))
        return JarProgram(
            (
                *(str(self.distribution.streaming_jar), "-files", files, *arguments),
                *("-mapper", f"{self.python} {mapper}", "-reducer", f"{self.python} {reducer}"),
            )
        )

    def script(self, name: str) -> str:
        """Return the path of a program of `howdah/workload/scripts`."""
        return str(_SCRIPTS / name)

    def at_home(self) -> tuple[str, ...]:
        """Return definitions for programs that keep something in their user's home directory, in the default storage.
        They make the run's storage the default, and put the home below the run's directory, with which it is removed.
        """
        return (*self.default, self.home)

    def in_client(self, maps: int) -> tuple[str, ...]:
        """Return definitions with which a job of `maps` maps alone runs in its client, if that is as quick as the
        cluster; empty otherwise. Such a job has no history. It starts no JVMs and no application master, which takes
        longer than making some GB.
        """
        at_once = min(maps, self.client_maps)
        if not 0 < at_once <= _MOST_IN_CLIENT:
            return ()
        return (
            "-Dmapreduce.framework.name=local",
            f"-Dmapreduce.local.map.tasks.maximum={at_once}",
            # Always on the local disk. Hadoop's default, below /tmp, stays after the job.
            f"-Dmapreduce.jobtracker.staging.root.dir={self.staging}",
        )
