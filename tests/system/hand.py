"""A cluster that is started by hand, as Apache's documentation of a single node says, without anything of Howdah."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.system.running import Howdah
from tests.unit.hadoop.interfaces.fake_server import free_port

EXAMPLES = "$HADOOP_HOME/share/hadoop/mapreduce/hadoop-mapreduce-examples-3.4.2.jar"
LINES = 20_000
DAEMONS = (
    ("hdfs", "namenode"),
    ("hdfs", "datanode"),
    ("yarn", "resourcemanager"),
    ("yarn", "nodemanager"),
    ("mapred", "historyserver"),
)

Typed = Callable[[str], str]
Sites = Mapping[str, Mapping[str, object]]
"""Files of a configuration and their settings."""


@contextmanager
def by_hand(howdah: Howdah, root: Path, more: Sites, jars: Sequence[Path] = ()) -> Iterator[Typed]:
    """Runs commands where Hadoop's are on the path, and gives what they print; its cluster has `/in/text`.

    `root` is its directory, `more` what its configuration has beside the least, and `jars` are dropped into Hadoop.
    """
    home = root / "hadoop"
    shutil.copytree(howdah.home / "cache" / "hadoop" / "3.4.2", home, copy_function=os.link, symlinks=True)
    dropped = [shutil.copy(jar, home / "share" / "hadoop" / "common" / "lib" / jar.name) for jar in jars]
    least = _least(root)
    (root / "conf").mkdir()
    for file in {**least, **more}:
        site(root / "conf" / file, {**least.get(file, {}), **more.get(file, {})})
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("HADOOP")},
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
        "HADOOP_HOME": str(home),
        "HADOOP_MAPRED_HOME": str(home),
        "HADOOP_CONF_DIR": str(root / "conf"),
        "HADOOP_LOG_DIR": str(root / "logs"),
        "HADOOP_HEAPSIZE_MAX": "256",
        # The scripts of an Apache release take all of `lib`; those of one that was put together from published jars
        # have a list.
        "HADOOP_CLASSPATH": ":".join(map(str, dropped)),
    }

    def typed(script: str) -> str:
        done = subprocess.run(
            ["bash", "-ec", script], env=environment, cwd=root, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        return done.stdout + done.stderr

    typed("hdfs namenode -format -nonInteractive")
    started: list[subprocess.Popen[bytes]] = []
    with ExitStack() as running:
        for program, daemon in DAEMONS:
            log = running.enter_context((root / f"{daemon}.out").open("w"))
            one = subprocess.Popen([program, daemon], env=environment, cwd=root, stdout=log, stderr=subprocess.STDOUT)
            started.append(one)
            running.callback(_end, one)
        _wait_for(typed, started)
        (root / "text").write_text("".join(f"word{number % 1000} again\n" for number in range(LINES)))
        typed("hdfs dfs -mkdir /in; hdfs dfs -put text /in")
        yield typed


def _least(root: Path) -> Sites:
    """On ports of its own."""
    data, manager, node = "dfs.datanode", "yarn.resourcemanager", "yarn.nodemanager"
    history, here = "mapreduce.jobhistory", "$HADOOP_MAPRED_HOME/share/hadoop/mapreduce"
    queue = "yarn.scheduler.capacity"
    return {
        "core-site.xml": {"fs.defaultFS": f"hdfs://127.0.0.1:{free_port()}", "hadoop.tmp.dir": root / "tmp"},
        "hdfs-site.xml": {
            "dfs.replication": 1,
            **_any_of("dfs.namenode.http-address", f"{data}.address", f"{data}.http.address", f"{data}.ipc.address"),
        },
        "yarn-site.xml": {
            f"{node}.aux-services": "mapreduce_shuffle",
            f"{node}.env-whitelist": "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,PATH,LANG,TZ,"
            "CLASSPATH_PREPEND_DISTCACHE,HADOOP_YARN_HOME,HADOOP_HOME,HADOOP_MAPRED_HOME",
            f"{node}.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.9,
            f"{node}.resource.memory-mb": 4096,
            f"{node}.vmem-check-enabled": "false",
            # Two disks, as far as YARN knows.
            f"{node}.local-dirs": f"{root / 'local1'},{root / 'local2'}",
            # Below /tmp otherwise, where it stays.
            "yarn.node-attribute.fs-store.root-dir": f"file://{root}/node-attribute",
            **_known(f"{manager}.address", f"{manager}.scheduler.address", f"{manager}.resource-tracker.address"),
            **_any_of(f"{manager}.admin.address", f"{manager}.webapp.address", f"{node}.localizer.address"),
            **_any_of(f"{node}.address", f"{node}.webapp.address"),
        },
        "mapred-site.xml": {
            "mapreduce.framework.name": "yarn",
            "mapreduce.application.classpath": f"{here}/*,{here}/lib/*",
            "mapreduce.shuffle.port": 0,
            "yarn.app.mapreduce.am.staging-dir": "/staging",
            **_known(f"{history}.address"),
            **_any_of(f"{history}.webapp.address", f"{history}.admin.address"),
        },
        "capacity-scheduler.xml": {
            f"{queue}.root.queues": "default",
            f"{queue}.root.default.capacity": 100,
            f"{queue}.maximum-am-resource-percent": 1,
        },
    }


def _known(*keys: str) -> dict[str, str]:
    """Addresses that others have to know."""
    return {key: f"127.0.0.1:{free_port()}" for key in keys}


def _any_of(*keys: str) -> dict[str, str]:
    """Of these the daemon takes any."""
    return dict.fromkeys(keys, "127.0.0.1:0")


def properties(settings: Mapping[str, object]) -> str:
    every = (f"<property><name>{key}</name><value>{value}</value></property>" for key, value in settings.items())
    return "".join(every)


def site(path: Path, settings: Mapping[str, object]) -> None:
    path.write_text(f"<configuration>{properties(settings)}</configuration>")


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(30)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _wait_for(typed: Typed, daemons: list[subprocess.Popen[bytes]]) -> None:
    """Until both masters have their node."""
    for script in ("hdfs dfsadmin -report | grep 'Live datanodes (1)'", "yarn node -list | grep RUNNING"):
        for _ in range(30):
            ended = [daemon.args for daemon in daemons if daemon.poll() is not None]
            assert not ended, "a daemon has ended; see its .out"
            if typed(f"timeout 20 {script} 2>/dev/null || true"):
                break
            time.sleep(1)
        else:
            pytest.fail(f"{script} finds none")


def counter(said: str, group: str, name: str) -> int | None:
    """Of what a job's program or `mapred job -status` prints."""
    [found] = re.findall(rf"{group}\n(?:\t\t.*\n)*?\t\t{name}=(\d+)", said) or [None]
    return None if found is None else int(found)


def counted(typed: Typed, output: str) -> str:
    return typed(f"hdfs dfs -cat {output}/part-* 2>/dev/null | sha256sum")
