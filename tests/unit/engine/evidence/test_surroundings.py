"""What a run keeps of what it ran on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from howdah.engine.evidence.surroundings import read_environment
from howdah.hadoop.distribution.jdk import Jdk
from howdah.hadoop.distribution.spark import Spark
from howdah.model.environment import differences
from tests.unit.engine.run.clusters import FakeCluster, FakeHost

JDK = Jdk("/jdk", (17, 0, 1), "any", "amd64", ())


@dataclass
class Cluster(FakeCluster):
    """One on a host that says nothing of itself."""

    client: FakeHost = field(default_factory=lambda: FakeHost({"machine.fingerprint": lambda **_: {"mounts": {}}}))
    jdk: Jdk = JDK


def test_programs_of_ours_and_spark_are_part_of_it_where_the_workload_uses_them(tmp_path: Path) -> None:
    jar = tmp_path / "howdah-spark.jar"
    jar.write_bytes(b"one")
    before = read_environment(Cluster().live(), [jar], Spark(Path("/spark"), "4.1.0"))
    assert before.hadoop["jars"] == {"howdah-spark.jar": hashlib.sha256(b"one").hexdigest()}
    assert before.hadoop["spark"] == {"version": "4.1.0"}
    jar.write_bytes(b"another")
    after = read_environment(Cluster().live(), [jar], Spark(Path("/spark"), "4.2.0"))
    paths = [entry.path for entry in differences(before, after)]
    assert paths == ["hadoop.jars.howdah-spark.jar", "hadoop.spark.version"]
    without = read_environment(Cluster().live(), (), None)
    assert "spark" not in without.hadoop
    assert without.hadoop["jars"] == {}
