"""Make src/howdah/hadoop/distribution/classes/VERSION.classes.gz, the list of classes that processes of Hadoop load.

Starts a cluster without class-data sharing, lets every JVM write the classes that it loads, runs a TeraSort, and merges
the lists. Run it when a Hadoop version is added:  .venv/bin/python tools/class_list.py 3.4.2
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

from howdah.cluster.live.cluster import LiveCluster
from howdah.cluster.live.managed import open_managed
from howdah.cluster.request import ClusterRequest
from howdah.cluster.supervision.client import StartedCluster

TARGET = Path(__file__).parent.parent / "src" / "howdah" / "hadoop" / "distribution" / "classes"
ROWS = "1000000"


def main(version: str) -> None:
    """Write the list of `version`."""
    with tempfile.TemporaryDirectory() as scratch:
        flag = f"-XX:DumpLoadedClassList={scratch}/%p.classes"
        options = ("mapreduce.map.java.opts", "mapreduce.reduce.java.opts", "yarn.app.mapreduce.am.command-opts")
        request = ClusterRequest(
            "class-list",
            nodes=1,
            hadoop=version,
            without=("class-data-sharing",),
            settings=dict.fromkeys(options, f"-Xmx1g -XX:+UseSerialGC {flag}"),
            jvm_flags=(flag,),
        )
        started = StartedCluster(request)
        try:
            cluster = open_managed(started.wait_until_up(print))
            try:
                work(cluster, flag)
            finally:
                cluster.close()
        finally:
            started.end()
            started.forget()
        lists = sorted(Path(scratch).glob("*.classes"))
        lines = merge([file.read_text(encoding="utf-8") for file in lists])
    TARGET.mkdir(exist_ok=True)
    target = TARGET / f"{version}.classes.gz"
    target.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
    print(f"{len(lists)} JVMs, {len(lines)} lines, {target.stat().st_size} bytes: {target}")


def work(cluster: LiveCluster, flag: str) -> None:
    """Run a small TeraSort, each client with `flag`."""
    jar = str(cluster.distribution.examples_jar)
    programs = [
        ("teragen", "-Dmapreduce.job.maps=2", ROWS, "/in"),
        ("terasort", "-Dmapreduce.job.reduces=2", "-Dmapreduce.task.io.sort.mb=32", "/in", "/out"),
        ("teravalidate", "/out", "/report"),
    ]
    for program in programs:
        command = cluster.client_command((jar, *program), cluster.conf)
        command.insert(1, flag)
        done = cluster.client.run(command, timeout=300, env=cluster.client_environment(cluster.conf))
        print(program[0], done.code)
        if done.code != 0:
            raise SystemExit(done.stderr.decode()[-2000:])


def merge(lists: list[str]) -> list[str]:
    """Return the union of class lists, classes first, then the lines about lambdas; generated classes are left out."""
    classes: dict[str, None] = {}
    hints: dict[str, None] = {}
    for text in lists:
        for line in text.splitlines():
            if line.startswith("@"):
                hints[line] = None
            elif line and not line.startswith("#") and "source:" not in line and "$$" not in line:
                classes[line.split(" id:")[0]] = None
    return [*sorted(classes), *sorted(hints)]


if __name__ == "__main__":
    main(sys.argv[1])
