"""Write the lock file of a managed Hadoop: `python3 tools/lock_hadoop.py 3.4.2`.

Maven resolves the artifacts below with the versions that this Hadoop release was built with; its own `hadoop-project`
is imported. The lock records the result: exact coordinates, size, SHA-256 and the place in HADOOP_HOME. It also has the
configuration keys that this release calls deprecated. The order of the entries is the order of the class path: Hadoop's
jars first, then all others, by name.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOCKS = Path(__file__).parent.parent / "src" / "howdah" / "hadoop" / "distribution" / "locks"
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"

# What is wanted; Maven adds what these need. The place is where an Apache distribution has the jar.
HADOOP = {
    "common": "annotations auth common common:tests registry",
    "hdfs": "hdfs hdfs-client hdfs:tests",
    "yarn": "yarn-api yarn-client yarn-common yarn-applications-distributedshell "
    "yarn-server-applicationhistoryservice yarn-server-common yarn-server-nodemanager yarn-server-resourcemanager "
    "yarn-server-tests:tests yarn-server-timeline-pluginstorage yarn-server-timelineservice yarn-server-web-proxy",
    "mapreduce": "mapreduce-client-app mapreduce-client-common mapreduce-client-core mapreduce-client-hs "
    "mapreduce-client-hs-plugins mapreduce-client-jobclient mapreduce-client-jobclient:tests "
    "mapreduce-client-nativetask mapreduce-client-shuffle mapreduce-client-uploader mapreduce-examples",
    "tools/lib": "archives distcp gridmix rumen streaming",
}
# Real distributions have these two beside the libraries of `common`.
HADOOP_LIBRARIES = {"hadoop-annotations", "hadoop-auth"}
# What differs between releases. `lz4`, for the LZ4 codec, is `provided` in Hadoop's pom, hence not resolved by itself.
# `tests` is what the programs in the tests jars (TestDFSIO, MiniHadoopClusterManager) load. Not every module of 3.5.0
# was published: `substitutes` names the release whose jar stands in, `absent` those that nothing here needs.
LINES: dict[str, dict[str, Any]] = {
    "3.4.2": {
        "lz4": "org.lz4:lz4-java",
        "tests": ["junit:junit", "org.mockito:mockito-core"],
        "substitutes": {},
        "absent": [],
    },
    "3.5.0": {
        "lz4": "at.yawk.lz4:lz4-java",
        "tests": ["org.junit.jupiter:junit-jupiter-api", "org.mockito:mockito-core"],
        "substitutes": {
            f"hadoop-{name}": "3.4.2"
            for name in "archives gridmix mapreduce-examples rumen streaming yarn-applications-distributedshell".split()
        },
        "absent": [
            f"hadoop-{name}"
            for name in "mapreduce-client-hs-plugins mapreduce-client-nativetask mapreduce-client-uploader "
            "yarn-server-timeline-pluginstorage".split()
        ],
    },
}
# Natives of other systems, and the database driver of YARN federation's state store.
LEFT_OUT = re.compile(r"osx|macos|riscv64|windows|loongarch|mssql-jdbc")


@dataclass(frozen=True)
class Wanted:
    group: str
    artifact: str
    version: str
    classifier: str = ""

    def xml(self, *, alone: bool) -> str:
        parts = [f"<groupId>{self.group}</groupId><artifactId>{self.artifact}</artifactId>"]
        parts += [f"<version>{self.version}</version>"] if self.version else []
        parts += [f"<classifier>{self.classifier}</classifier>"] if self.classifier else []
        exclusion = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
        parts += [f"<scope>compile</scope><exclusions>{exclusion}</exclusions>"] if alone else []
        return f"<dependency>{''.join(parts)}</dependency>"


def managed_by_hadoop(name: str) -> Wanted:
    group, artifact = name.split(":")
    return Wanted(group, artifact, version="")


def main(version: str) -> None:
    places = {f"hadoop-{name.split(':')[0]}": place for place, names in HADOOP.items() for name in names.split()}
    line = LINES[version]
    substitutes = line["substitutes"]
    hadoop: list[Wanted] = []
    standing_in: list[Wanted] = []
    for name in (name for names in HADOOP.values() for name in names.split()):
        artifact, _, classifier = f"hadoop-{name}".partition(":")
        wanted = Wanted("org.apache.hadoop", artifact, substitutes.get(artifact, version), classifier)
        if artifact not in line["absent"]:
            (standing_in if artifact in substitutes else hadoop).append(wanted)
    servers = resolve(version, hadoop, [*standing_in, managed_by_hadoop(line["lz4"])])
    tests = resolve(version, [managed_by_hadoop(name) for name in line["tests"]], [])
    entries = []
    for relative, file in {**tests, **servers}.items():
        if not LEFT_OUT.search(file.name):
            entries.append(entry(relative, file, places, in_tests=relative not in servers, substitutes=substitutes))
    entries.sort(key=class_path_order)
    jars = ",\n".join("  " + json.dumps(entry) for entry in entries)
    deprecated = json.dumps(deprecated_keys(list(servers.values())), indent=2, sort_keys=True)
    lock = LOCKS / f"{version}.json"
    lock.write_text(f'{{"hadoop": "{version}", "jars": [\n{jars}\n], "deprecated": {deprecated}}}\n', encoding="utf-8")
    print(f"{lock}: {len(entries)} jars, {sum(entry['size'] for entry in entries)} bytes")


def resolve(version: str, wanted: list[Wanted], alone: list[Wanted]) -> dict[str, Path]:
    """Return the jars that `wanted` need, and those of `alone` alone, by their path in a Maven repository."""
    dependencies = "".join([*(one.xml(alone=False) for one in wanted), *(one.xml(alone=True) for one in alone)])
    managed = (
        f"<dependency><groupId>org.apache.hadoop</groupId><artifactId>hadoop-project</artifactId>"
        f"<version>{version}</version><type>pom</type><scope>import</scope></dependency>"
    )
    work = Path(tempfile.mkdtemp(prefix="lock-hadoop-"))
    (work / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>howdah</groupId><artifactId>lock</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>"
        f"<dependencies>{dependencies}</dependencies></project>",
        encoding="utf-8",
    )
    subprocess.run(
        ["mvn", "-B", "-q", "-Dmaven.artifact.threads=8", f"{PLUGIN}:copy-dependencies", "-DincludeScope=test",
         "-Dmdep.useRepositoryLayout=true", f"-DoutputDirectory={work / 'jars'}"],
        cwd=work,
        check=True,
    )  # fmt: skip
    return {str(file.relative_to(work / "jars")): file for file in sorted((work / "jars").rglob("*.jar"))}


def deprecated_keys(jars: list[Path]) -> dict[str, str]:
    """Return deprecated configuration keys and their replacements, as these two classes of Hadoop print them."""
    printed = ""
    for printer in ("org.apache.hadoop.hdfs.HdfsConfiguration", "org.apache.hadoop.mapreduce.util.ConfigUtil"):
        command = ["java", "-cp", ":".join(map(str, jars)), printer]
        printed += subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(line.strip().split("\t") for line in printed.splitlines())


def entry(relative: str, file: Path, places: dict[str, str], *, in_tests: bool, substitutes: dict[str, str]) -> Any:
    *group, artifact, version, name = relative.split("/")
    classifier = name.removesuffix(".jar").removeprefix(f"{artifact}-{version}").lstrip("-")
    place = (
        places.get(artifact, "tools/lib" if in_tests else "common/lib")
        if artifact not in HADOOP_LIBRARIES
        else "common/lib"
    )
    record = {"groupId": ".".join(group), "artifactId": artifact, "version": version}
    record |= {"classifier": classifier} if classifier else {}
    record |= {"type": "jar", "place": place}
    record |= {"substitute": version} if artifact in substitutes else {}
    return record | {"size": file.stat().st_size, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}


def class_path_order(record: dict[str, Any]) -> tuple[Any, ...]:
    places = list(HADOOP)
    own = record["groupId"] == "org.apache.hadoop"
    place = places.index(record["place"]) if record["place"] in places else 0
    return not own, place, record["artifactId"], record.get("classifier", "")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
