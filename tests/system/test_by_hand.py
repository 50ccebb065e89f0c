"""The how-to pages of both plugins, followed on a cluster that was started by hand, with the commands they print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from howdah.hadoop.jars import own_jar
from howdah.model.accelerator import ACCELERATOR_JAR
from tests.system.running import Howdah
from tests.unit.hadoop.fake_server import free_port

pytestmark = pytest.mark.daemons

PAGES = Path(__file__).parents[2] / "docs" / "how-to"
EXAMPLES = "$HADOOP_HOME/share/hadoop/mapreduce/hadoop-mapreduce-examples-3.4.2.jar"
DAEMONS = (
    ("hdfs", "namenode"),
    ("hdfs", "datanode"),
    ("yarn", "resourcemanager"),
    ("yarn", "nodemanager"),
    ("mapred", "historyserver"),
)
LINES = 20_000

Typed = Callable[..., str]


def typed_on(page: str, begins: str) -> str:
    """The block of commands on a how-to page that has a line which begins so."""
    text = (PAGES / page).read_text()
    [block] = [one for one in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if f"\n{begins}" in f"\n{one}"]
    return str(block)


def properties(settings: Mapping[str, object]) -> str:
    every = (f"<property><name>{key}</name><value>{value}</value></property>" for key, value in settings.items())
    return "".join(every)


def site(path: Path, settings: Mapping[str, object], more: str = "") -> None:
    path.write_text(f"<configuration>{more}{properties(settings)}</configuration>")


def addresses(fixed: tuple[str, ...], free: tuple[str, ...]) -> dict[str, str]:
    """`fixed` are what others have to know; of the others the daemon takes any."""
    return {key: f"127.0.0.1:{free_port()}" for key in fixed} | dict.fromkeys(free, "127.0.0.1:0")


def configured(conf: Path, root: Path, shared: Path) -> None:
    """What Apache's documentation of a single node has, on ports of its own, and the keys of `filesystem.md`."""
    conf.mkdir()
    keys = re.findall(r"<property>.*?</property>", (PAGES / "filesystem.md").read_text())
    assert len(keys) == 3
    core = {"fs.defaultFS": f"hdfs://127.0.0.1:{free_port()}", "hadoop.tmp.dir": root / "tmp"}
    site(conf / "core-site.xml", core, "".join(keys).replace("/mnt/shared", str(shared)))
    data = "dfs.datanode"
    hdfs = ("dfs.namenode.http-address", f"{data}.address", f"{data}.http.address", f"{data}.ipc.address")
    site(conf / "hdfs-site.xml", {"dfs.replication": 1, **addresses((), hdfs)})
    manager, node = "yarn.resourcemanager", "yarn.nodemanager"
    fixed = tuple(f"{manager}.{one}" for one in ("address", "scheduler.address", "resource-tracker.address"))
    free = (f"{manager}.admin.address", f"{manager}.webapp.address", f"{node}.localizer.address")
    yarn = {
        f"{node}.aux-services": "mapreduce_shuffle",
        f"{node}.env-whitelist": "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,PATH,LANG,TZ,"
        "CLASSPATH_PREPEND_DISTCACHE,HADOOP_YARN_HOME,HADOOP_HOME,HADOOP_MAPRED_HOME",
        f"{node}.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.9,
        f"{node}.resource.memory-mb": 4096,
        f"{node}.vmem-check-enabled": "false",
        **addresses(fixed, (*free, f"{node}.address", f"{node}.webapp.address")),
    }
    site(conf / "yarn-site.xml", yarn)
    site(conf / "mapred-site.xml", mapreduce())
    queue = "yarn.scheduler.capacity.root"
    one = {f"{queue}.queues": "default", f"{queue}.default.capacity": 100}
    site(conf / "capacity-scheduler.xml", {**one, "yarn.scheduler.capacity.maximum-am-resource-percent": 1})


def mapreduce() -> dict[str, object]:
    here = "$HADOOP_MAPRED_HOME/share/hadoop/mapreduce"
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": f"{here}/*,{here}/lib/*",
        "mapreduce.shuffle.port": 0,
        "yarn.app.mapreduce.am.staging-dir": "/staging",
        **addresses(("mapreduce.jobhistory.address",), ("mapreduce.jobhistory.webapp.address",)),
        "mapreduce.jobhistory.admin.address": "127.0.0.1:0",
    }


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def typed(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Typed]:
    """Runs commands where Hadoop's are on the path, and gives what they print; its cluster has `/in/text`."""
    root = tmp_path_factory.mktemp("by-hand")
    home = root / "hadoop"
    shutil.copytree(howdah.home / "cache" / "hadoop" / "3.4.2", home, copy_function=os.link, symlinks=True)
    dropped = home / "share" / "hadoop" / "common" / "lib" / "howdah-filesystem.jar"
    shutil.copy(own_jar("howdah-filesystem"), dropped)
    configured(root / "conf", root, shared)
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
        "HADOOP_CLASSPATH": str(dropped),
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
            running.callback(end, one)
        wait_for(typed, started)
        (root / "text").write_text("".join(f"word{number % 1000} again\n" for number in range(LINES)))
        typed("hdfs dfs -mkdir /in; hdfs dfs -put text /in")
        yield typed


def end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(30)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def wait_for(typed: Typed, daemons: list[subprocess.Popen[bytes]]) -> None:
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


@pytest.fixture(scope="module")
def stock(typed: Typed) -> str:
    """What a job without any of it prints; its output is in /stock."""
    said = typed(f"hadoop jar {EXAMPLES} wordcount /in /stock")
    assert "Howdah" not in said
    return said


@pytest.mark.usefixtures("stock")
def test_the_accelerator_for_one_job(typed: Typed) -> None:
    jar = own_jar(ACCELERATOR_JAR)
    page = typed_on("accelerate.md", "JAR=howdah-accelerator.jar")
    script = page.replace("PROGRAM.jar MAIN", f"{EXAMPLES} wordcount").replace("INPUT OUTPUT", "/in /one")
    said = typed(f"ln -s {jar} .\n{script}")
    [job] = re.findall(r"Running job: (job_\d+_\d+)", said)
    status = typed(f"mapred job -status {job}")
    for printed in (said, status):
        assert counter(printed, "Howdah Sort", "RECORDS") == 2 * LINES
        reduced = counter(printed, "Map-Reduce Framework", "Reduce input records")
        assert counter(printed, "Howdah Shuffle", "RECORDS") == reduced
        assert counter(printed, "Howdah Shuffle", "SEGMENTS_DIRECT") == 1
    assert counted(typed, "/one") == counted(typed, "/stock")


def test_the_third_key_of_the_accelerator_for_one_job(typed: Typed, stock: str) -> None:
    """Without the jar, which has to be sent with the job, the class that it names is nowhere."""
    key = typed_on("accelerate.md", "-D fs.hdfs.impl=").strip()
    program = f"hadoop jar {EXAMPLES} wordcount"
    said = typed(f"{program} -libjars {own_jar(ACCELERATOR_JAR)} {key} /in /third")
    assert counted(typed, "/third") == counted(typed, "/stock")
    read = "HDFS: Number of bytes read"
    assert counter(said, "File System Counters", read) == counter(stock, "File System Counters", read)
    assert "BufferedFileSystem not found" in typed(f"{program} {key} /in /nowhere 2>&1 || true")


def test_the_accelerator_for_every_job(typed: Typed) -> None:
    """The jar on the class path of tasks, the keys in mapred-site.xml; and turned off for one job."""
    typed(f"cp {own_jar(ACCELERATOR_JAR)} $HADOOP_HOME/share/hadoop/mapreduce/")
    keys = dict(re.findall(r"-D '?(\S+?)=(\S+?)'? ", typed_on("accelerate.md", "JAR=howdah-accelerator.jar")))
    assert len(keys) == 2
    conf = Path(typed("echo $HADOOP_CONF_DIR").strip())
    before = (conf / "mapred-site.xml").read_text()
    (conf / "mapred-site.xml").write_text(before.replace("</configuration>", f"{properties(keys)}</configuration>"))
    try:
        said = typed(f"hadoop jar {EXAMPLES} wordcount /in /every")
        assert counter(said, "Howdah Sort", "RECORDS") == 2 * LINES
        off = typed_on("accelerate.md", "-D 'mapreduce.job.map.output.collector.class=org.apache")
        assert "Howdah" not in typed(f"hadoop jar {EXAMPLES} wordcount {off.strip()} /in /off")
    finally:
        (conf / "mapred-site.xml").write_text(before)
    assert counted(typed, "/every") == counted(typed, "/off")


def test_the_file_system(typed: Typed, shared: Path) -> None:
    typed("hdfs dfs -mkdir /data")
    typed("hdfs dfs -cp /in/text /data")
    typed(typed_on("filesystem.md", "hadoop fs -ls posixfs:///"))
    assert len((shared / "data/text").read_text().splitlines()) == LINES
    said = typed(f"hadoop jar {EXAMPLES} wordcount posixfs:///data posixfs:///counted")
    assert counter(said, "File System Counters", "POSIXFS: Number of bytes read") is not None
    words = (shared / "counted/part-r-00000").read_text().splitlines()
    assert sum(int(line.split("\t")[1]) for line in words) == 2 * LINES
