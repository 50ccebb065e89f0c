"""The how-to pages of both plugins, followed on a cluster that was started by hand, with the commands they print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.hadoop.distribution.jars import own_jar
from howdah.model.accelerator import ACCELERATOR_JAR, settings_for
from tests.system.hand import EXAMPLES, LINES, Sites, Typed, by_hand, counted, counter, properties
from tests.system.running import Howdah

pytestmark = pytest.mark.daemons

STREAMING = "$HADOOP_HOME/share/hadoop/tools/lib/hadoop-streaming-3.4.2.jar"
PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def typed_on(page: str, begins: str) -> str:
    """The block of commands on a how-to page that has a line which begins so."""
    text = (PAGES / page).read_text()
    [block] = [one for one in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) if f"\n{begins}" in f"\n{one}"]
    return str(block)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture(scope="module")
def typed(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory, shared: Path) -> Iterator[Typed]:
    """What runs commands on a cluster whose file system has the three keys of its page, and whose limit of counters is
    raised as the other page says."""
    keys = dict(re.findall(r"<name>(.*?)</name><value>(.*?)</value>", (PAGES / "filesystem.md").read_text()))
    assert len(keys) == 3
    here = {key: str(shared) if value == "/mnt/shared" else value for key, value in keys.items()}
    sites: Sites = {"core-site.xml": here, "mapred-site.xml": {"mapreduce.job.counters.max": 130}}
    jars = [own_jar("howdah-filesystem")]
    with by_hand(howdah, tmp_path_factory.mktemp("by-hand"), sites, jars) as typed:
        yield typed


@pytest.fixture(scope="module")
def stock(typed: Typed) -> str:
    """What a job without any of it prints; its output is in /stock."""
    said = typed(f"hadoop jar {EXAMPLES} wordcount /in /stock")
    assert "Howdah" not in said
    return said


@pytest.mark.promise(
    "The sort and the shuffle work by hand for one job, with the commands of the page", "how-to/accelerate"
)
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


@pytest.mark.promise("The buffer before HDFS changes neither what is read nor the counters", "how-to/accelerate")
def test_the_third_key_of_the_accelerator_for_one_job(typed: Typed, stock: str) -> None:
    """Without the jar, which has to be sent with the job, the class that it names is nowhere."""
    key = typed_on("accelerate.md", "-D fs.hdfs.impl=").strip()
    program = f"hadoop jar {EXAMPLES} wordcount"
    said = typed(f"{program} -libjars {own_jar(ACCELERATOR_JAR)} {key} /in /third")
    assert counted(typed, "/third") == counted(typed, "/stock")
    read = "HDFS: Number of bytes read"
    assert counter(said, "File System Counters", read) == counter(stock, "File System Counters", read)
    assert "BufferedFileSystem not found" in typed(f"{program} {key} /in /nowhere 2>&1 || true")


@pytest.mark.promise("A job with nearly as many counters as it may have still ends", "how-to/accelerate")
def test_a_job_with_nearly_all_the_counters_that_it_may_have(typed: Typed) -> None:
    """As many as it may have without ours where 120 are allowed, to its application master by the site alone."""
    script = 'for one in $(seq $1); do echo "reporter:counter:own,$2$one,1" >&2; done; cat'
    typed(f"echo '{script}' > counting.sh")
    given = " ".join(f"-D '{key}={value}'" for key, value in settings_for("sort").items())
    said = typed(
        f"hadoop jar {STREAMING} -libjars {own_jar(ACCELERATOR_JAR)} {given} -files counting.sh -input /in"
        " -output /full -mapper 'sh counting.sh 60 map' -reducer 'sh counting.sh 51 reduce'"
    )
    assert (counter(said, "own", "map60"), counter(said, "own", "reduce51")) == (2, 1), "of two maps and a reduce"
    assert counter(said, "Howdah Sort", "RECORDS") == counter(said, "Howdah Shuffle", "RECORDS") == LINES
    typed("hdfs dfs -cat '/full/part-*' | tr -d '\\t' | cmp - <(LC_ALL=C sort text)")


@pytest.mark.promise("The sort and the shuffle work for every job, and can be turned off for one", "how-to/accelerate")
@pytest.mark.soak(part="jobs")
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


@pytest.mark.promise("The jar and three keys are enough, with the commands of the page", "how-to/filesystem")
def test_the_file_system(typed: Typed, shared: Path) -> None:
    typed("hdfs dfs -mkdir /data")
    typed("hdfs dfs -cp /in/text /data")
    typed(typed_on("filesystem.md", "hadoop fs -ls posixfs:///"))
    assert len((shared / "data/text").read_text().splitlines()) == LINES
    said = typed(f"hadoop jar {EXAMPLES} wordcount posixfs:///data posixfs:///counted")
    assert counter(said, "File System Counters", "POSIXFS: Number of bytes read") is not None
    words = (shared / "counted/part-r-00000").read_text().splitlines()
    assert sum(int(line.split("\t")[1]) for line in words) == 2 * LINES
