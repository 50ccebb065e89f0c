"""Runs with an accelerator: the result is that of runs without, and counters prove that it served. Some ten minutes."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import zipfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from howdah.hadoop.distribution.jars import own_jar
from howdah.hadoop.distribution.spark import find_spark
from howdah.model.accelerator import ACCELERATOR_JAR, settings_for
from howdah.model.storage import FILESYSTEM_JAR
from tests.system.kept import Kept, check_schemas
from tests.system.running import Howdah

pytestmark = pytest.mark.daemons

CLASSES = Path(__file__).parents[2] / "java" / "sort" / "target" / "test-classes"
TASK = "org.apache.hadoop.mapreduce.TaskCounter"
QUICK = ("--size", "smoke", "--no-calibration", "--no-probes", "--no-report", "--json")
SHAPE = ("--maps", "3", "--reduces", "2")
LEAST = ("--maps", "1", "--reduces", "1")
KEYS = settings_for("sort")
WORDS = str(resources.files("howdah.workload") / "scripts" / "spark_words.py")

OWN_WAY = re.compile(
    r"SPILLED_RECORDS|.*MATERIALIZED.*|.*SHUFFLE_BYTES|COMBINE_.*|MERGED_.*|FILE_.*|CPU_.*|GC_.*|.*MEMORY.*|.*HEAP.*"
)
"""Counters of how a sort and a shuffle did their work, and of what they took."""


def run(howdah: Howdah, workload: str, cluster: str, *options: str) -> tuple[Kept, dict[str, Any]]:
    """The directory of a valid run of the smallest size, and its record."""
    [one] = howdah("run", workload, "--cluster", cluster, *options, *QUICK).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    return Kept(Path(one["path"])), one["run"]


def counters(kept: Kept, phase: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = kept.job(phase)["counters"]
    return found


def same(found: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """The counters that say what a job read, handed on and wrote, where they are not 0 (Hadoop's own shuffle counts
    its errors, of which there are none); not those of time and place."""
    kept = {
        group: {name: value for name, value in values.items() if value and not OWN_WAY.fullmatch(name)}
        for group, values in found.items()
        if not group.startswith("Howdah ") and not group.endswith("JobCounter")
    }
    return {group: values for group, values in kept.items() if values}


def shortfalls(record: dict[str, Any], phase: str) -> list[str]:
    return [
        one["text"] for one in record["caveats"] if one["about"] == phase and "other applications" not in one["text"]
    ]


@pytest.fixture(scope="module")
def fast(howdah: Howdah) -> Iterator[dict[str, Any]]:
    """`fast`: one node."""
    own_jar(ACCELERATOR_JAR)
    yield howdah("up", "--name", "fast", "--json").json()
    howdah("down", "--name", "fast").ok()


@pytest.fixture(scope="module")
def plain(howdah: Howdah, fast: dict[str, Any]) -> tuple[Kept, dict[str, Any]]:
    return run(howdah, "terasort", "fast", *SHAPE, "--accelerator", "none")


@pytest.fixture(scope="module")
def accelerated(howdah: Howdah, fast: dict[str, Any]) -> tuple[Kept, dict[str, Any]]:
    return run(howdah, "terasort", "fast", *SHAPE, "--accelerator", "sort")


@pytest.mark.promise("A job with the sort and the shuffle has the same output as without", "README")
def test_the_output_is_the_same(plain: tuple[Kept, dict[str, Any]], accelerated: tuple[Kept, dict[str, Any]]) -> None:
    for kept, record in (plain, accelerated):
        check_schemas(kept)
        assert {check["name"]: check["passed"] for check in record["checks"]} == dict.fromkeys(
            ["order", "checksum", "length", "counted", "settings", "clock", "hadoop"], True
        )
    sums = [
        check["detail"] for _, record in (plain, accelerated) for check in record["checks"] if "sum" in check["name"]
    ]
    assert len(sums) == 2
    assert len(set(sums)) == 1


@pytest.mark.promise("The counters show that the plugins served every record of a job", "how-to/accelerate")
def test_the_plugins_served_all_of_it(accelerated: tuple[Kept, dict[str, Any]]) -> None:
    kept, record = accelerated
    found = counters(kept, "sort")
    assert found["Howdah Sort"]["RECORDS"] == found[TASK]["MAP_OUTPUT_RECORDS"] == 100_000
    assert found["Howdah Sort"].keys() == {
        "RECORDS",
        "BYTES",
    }  # No record was spilled, folded or left to Hadoop's sort.
    shuffle = found["Howdah Shuffle"]
    assert shuffle["RECORDS"] == found[TASK]["REDUCE_INPUT_RECORDS"]
    assert shuffle.get("SEGMENTS_DIRECT", 0) + shuffle.get("SEGMENTS_HTTP", 0) > 0
    assert shuffle.get("FALLBACKS", 0) == 0
    assert shortfalls(record, "sort") == []


@pytest.mark.promise("Stock counters of a job do not change with the plugins", "how-to/accelerate")
def test_what_the_job_did_is_the_same(
    plain: tuple[Kept, dict[str, Any]], accelerated: tuple[Kept, dict[str, Any]]
) -> None:
    before, after = (counters(kept, "sort") for kept, _ in (plain, accelerated))
    assert not any(group.startswith("Howdah ") for group in before)
    assert same(after) == same(before)


@pytest.mark.promise("`howdah runs` says which runs were accelerated", "how-to/accelerate")
def test_the_run_says_what_it_had(
    howdah: Howdah, plain: tuple[Kept, dict[str, Any]], accelerated: tuple[Kept, dict[str, Any]]
) -> None:
    digest = hashlib.sha256(own_jar(ACCELERATOR_JAR).read_bytes()).hexdigest()
    for (kept, record), level in ((plain, "none"), (accelerated, "sort")):
        jars = kept.record("environment.json")["before"]["hadoop"]["jars"]
        assert jars[f"{ACCELERATOR_JAR}.jar"] == digest
        assert list(record["cluster"]["plugins"].values()) == [digest]
        assert record["trial"]["settings"].get("accelerator", "none") == level
        held = kept.record("readback.json")["held"]
        for key, value in settings_for(level).items():
            assert held[f"sort/{key}"] == [value]
    names = {kept.path.name: level for (kept, _), level in ((plain, "none"), (accelerated, "sort"))}
    listed = {one["id"]: one["accelerator"] for one in howdah("runs", "--json").json()}
    assert {name: listed[name] for name in names} == names
    assert "with accelerator sort took" in howdah("show", accelerated[0].path.name).ok().out
    page = howdah("report", accelerated[0].path.name, "-o", str(accelerated[0].path / "page.md")).ok()
    assert page.code == 0
    assert "What its plugins did" in (accelerated[0].path / "page.md").read_text(encoding="utf-8")


CODECS: list[tuple[str | None, str]] = [("Lz4Codec", "HTTP"), (None, "DIRECT")]
MORE_CODECS = [
    ("Lz4Codec", "DIRECT"),
    *((codec, way) for codec in ("SnappyCodec", "GzipCodec", "BZip2Codec") for way in ("DIRECT", "HTTP")),
]


@pytest.mark.promise("Compressed map outputs work, read directly or over HTTP", "how-to/accelerate")
@pytest.mark.promise("The stock shuffle serves encrypted map outputs, and a counter says why", "how-to/accelerate")
@pytest.mark.parametrize(
    ("codec", "way"), [*CODECS, *(pytest.param(*one, marks=pytest.mark.soak(part="jobs")) for one in MORE_CODECS)]
)
def test_transformed_map_outputs_with_a_combiner(
    howdah: Howdah, fast: dict[str, Any], codec: str | None, way: str
) -> None:
    """Compressed, or encrypted where there is no codec; read where they lie, or fetched, by tasks that have a class
    loader of their own for the job's classes."""
    keys = {"howdah.shuffle.direct": str(way == "DIRECT").lower()}
    keys["mapreduce.job.classloader"] = str(way == "HTTP").lower()
    if codec is None:
        keys["mapreduce.job.encrypted-intermediate-data"] = "true"
    else:
        keys["mapreduce.map.output.compress"] = "true"
        keys["mapreduce.map.output.compress.codec"] = f"org.apache.hadoop.io.compress.{codec}"
    settings = [option for key, value in keys.items() for option in ("--conf", f"{key}={value}")]
    kept, record = run(howdah, "wordcount", "fast", *SHAPE, "--accelerator", "sort", *settings)
    assert all(check["passed"] for check in record["checks"])
    made = {phase["name"]: phase["jobs"] for phase in record["phases"]}
    assert made["gen"] == [], "on one node, generators of our own run in their client"
    found = counters(kept, "count")
    assert found["Howdah Sort"]["RECORDS"] == found[TASK]["MAP_OUTPUT_RECORDS"]
    assert found["Howdah Sort"]["FOLDED"] > 0
    shuffle = found["Howdah Shuffle"]
    if codec is None:
        assert shuffle["FALLBACKS_ENCRYPTED"] == 2
    else:
        segments = {name: shuffle.get(f"SEGMENTS_{name}", 0) for name in ("DIRECT", "HTTP")}
        assert segments == {**dict.fromkeys(segments, 0), way: 3 * 2}
        assert shuffle["RECORDS"] == found[TASK]["REDUCE_INPUT_RECORDS"] > 0


@pytest.mark.promise("In an uber job, the sort serves and the shuffle is the stock one", "how-to/accelerate")
@pytest.mark.soak(part="jobs")
def test_in_an_uber_job_the_sort_serves_and_the_shuffle_leaves_it(howdah: Howdah, fast: dict[str, Any]) -> None:
    """All tasks of such a job run in its application master, so that the shuffle finds its maps in its own process."""
    keys = {
        "mapreduce.job.ubertask.enable": "true",
        "mapreduce.map.memory.mb": "1024",
        "mapreduce.reduce.memory.mb": "1024",
        "yarn.app.mapreduce.am.resource.mb": "1536",
        "yarn.app.mapreduce.am.command-opts": "-Xmx1024m",
    }
    settings = [option for key, value in keys.items() for option in ("--conf", f"{key}={value}")]
    kept, record = run(howdah, "terasort", "fast", "--maps", "2", "--reduces", "1", "--accelerator", "sort", *settings)
    passed = {check["name"]: check["passed"] for check in record["checks"]}
    # Its counters have the master's own files too.
    assert "counted" not in passed
    assert all(passed.values())
    found = counters(kept, "sort")
    assert found["Howdah Sort"]["RECORDS"] == found[TASK]["MAP_OUTPUT_RECORDS"] == 100_000
    assert found["Howdah Shuffle"]["FALLBACKS_LOCAL"] == 1


@pytest.mark.soak(part="jobs")
def test_a_run_without_map_output_says_that_nothing_was_accelerated(howdah: Howdah, fast: dict[str, Any]) -> None:
    _, record = run(howdah, "namenode", "fast", "--accelerator", "sort")
    assert any("accelerator sort has no part in" in caveat["text"] for caveat in record["caveats"])


@pytest.mark.promise("With `--accelerator sort`, the jar goes with every job", "how-to/existing-cluster")
def test_to_a_cluster_that_howdah_did_not_start_the_jar_is_sent(
    howdah: Howdah, fast: dict[str, Any], tmp_path: Path
) -> None:
    """Its own class path is as bare as those of others: the copy of the configuration does not name the jar."""
    jar, conf = own_jar(ACCELERATOR_JAR), tmp_path / "conf"
    conf.mkdir()
    for file in (howdah.home / "clusters" / "fast" / "conf").glob("*.*"):
        shutil.copy(file, conf)
    site = conf / "mapred-site.xml"
    text = site.read_text(encoding="utf-8")
    assert f",{jar}" in text
    # Without the class archive, whose class path of tasks names the jar too.
    text = re.sub(r"@\S+\.args", "", text.replace(f",{jar}", ""))
    site.write_text(text, encoding="utf-8")
    assert str(jar) not in text
    assert ".args" not in text
    kept, record = run(howdah, "terasort", f"conf:{conf}", *LEAST, "--accelerator", "sort")
    assert kept.setting("sort", "tmpjars").endswith(f"/{jar.name}")
    assert counters(kept, "sort")["Howdah Sort"]["RECORDS"] == 100_000
    assert shortfalls(record, "sort") == [
        "cpu_seconds is missing: not every process of the cluster could be accounted for"
    ]


@pytest.fixture(scope="module")
def by_default(howdah: Howdah) -> Iterator[None]:
    """`by-default`: two nodes, whose jobs all have the keys."""
    settings = [word for key, value in KEYS.items() for word in ("--conf", f"{key}={value}")]
    howdah("up", "--name", "by-default", "--nodes", "2", *settings).ok()
    yield
    howdah("down", "--name", "by-default").ok()


@pytest.mark.promise("The sort and the shuffle work for every job, and can be turned off for one", "how-to/accelerate")
def test_a_cluster_may_have_it_for_all_its_jobs(howdah: Howdah, by_default: None) -> None:
    kept, record = run(howdah, "terasort", "by-default", *LEAST)
    assert record["trial"]["settings"]["accelerator"] == "sort"
    assert counters(kept, "sort")["Howdah Sort"]["RECORDS"] == 100_000
    assert shortfalls(record, "sort") == []
    kept, record = run(howdah, "terasort", "by-default", *LEAST, "--accelerator", "none")
    assert "accelerator" not in record["trial"]["settings"]
    assert not any(group.startswith("Howdah ") for group in counters(kept, "sort"))


@pytest.mark.soak(part="jobs")
def test_spark_reads_hdfs_by_its_client(howdah: Howdah, fast: dict[str, Any]) -> None:
    run(howdah, "wordcount", "fast", *LEAST, "--engine", "spark", "--accelerator", "sort")


@pytest.mark.promise("A `spark-submit` under `exec` finds the jar", "how-to/accelerate")
def test_a_spark_submit_of_a_user_finds_the_client_of_the_cluster(
    howdah: Howdah, by_default: None, tmp_path: Path
) -> None:
    def on(*argv: str) -> str:
        return howdah("exec", "--name", "by-default", "--", *argv).ok().out

    (tmp_path / "text").write_text("a b\na\n", encoding="utf-8")
    on("hdfs", "dfs", "-put", str(tmp_path / "text"), "/text")
    spark = find_spark().home
    shape = ("--num-executors", "1", "--executor-memory", "512m", "--conf", f"spark.yarn.jars=local:{spark}/jars/*")
    on(f"{spark}/bin/spark-submit", "--master", "yarn", *shape, WORDS, "/text", "/counts")
    assert sorted(on("hdfs", "dfs", "-cat", "/counts/part-*").splitlines()) == ["a\t2", "b\t1"]


EXAMPLES = "hadoop jar $HADOOP_HOME/share/hadoop/mapreduce/*examples-3*.jar"
TESTS = "hadoop jar $HADOOP_HOME/share/hadoop/mapreduce/*jobclient-3*-tests.jar"
HERE = "$HOWDAH_DIRECTORY"
SEQUENCES = "org.apache.hadoop.mapred.SequenceFile"
PROGRAMS = {
    "sort and its validator": (
        f"{EXAMPLES} randomwriter -Dmapreduce.randomwriter.totalbytes=20000000 "
        f"-Dmapreduce.randomwriter.bytespermap=10000000 {HERE}/in && "
        f"{EXAMPLES} sort -r 3 {HERE}/in {HERE}/out && "
        f"{TESTS} testmapredsort -sortInput {HERE}/in -sortOutput {HERE}/out"
    ),
    "loadgen": (
        f"{EXAMPLES} randomtextwriter -Dmapreduce.randomtextwriter.totalbytes=20000000 "
        f"-Dmapreduce.randomtextwriter.bytespermap=10000000 {HERE}/in && "
        f"{TESTS} loadgen -m 2 -r 2 -keepmap 50 -keepred 100 -indir {HERE}/in -outdir {HERE}/out "
        f"-inFormat {SEQUENCES}InputFormat -outFormat {SEQUENCES}OutputFormat "
        "-outKey org.apache.hadoop.io.Text -outValue org.apache.hadoop.io.Text"
    ),
    "large sorts": (
        f"{TESTS} largesorter -Dmapreduce.large-sorter.mbs-per-map=64 -Dmapreduce.large-sorter.map-tasks=2 "
        f"-Dmapreduce.large-sorter.reduce-tasks=2 {HERE}/out"
    ),
    "one big map output": f"{TESTS} testbigmapoutput -input {HERE}/in -output {HERE}/out -create 64",
    "many small jobs": f"{TESTS} mrbench -baseDir {HERE}/bench -numRuns 2 -maps 3 -reduces 2 -inputLines 500",
    "streaming": (
        f"{EXAMPLES} randomtextwriter -Dmapreduce.randomtextwriter.totalbytes=4000000 "
        "-Dmapreduce.output.fileoutputformat.outputformat.class="
        f"org.apache.hadoop.mapreduce.lib.output.TextOutputFormat {HERE}/in && "
        "hadoop jar $HADOOP_HOME/share/hadoop/tools/lib/hadoop-streaming-*.jar -D mapreduce.job.reduces=2 "
        f"-input {HERE}/in -output {HERE}/out -mapper 'tr a-z A-Z' -combiner 'uniq' -reducer 'uniq -c'"
    ),
    "words": (
        f"{EXAMPLES} randomtextwriter -Dmapreduce.randomtextwriter.totalbytes=4000000 "
        "-Dmapreduce.output.fileoutputformat.outputformat.class="
        f"org.apache.hadoop.mapreduce.lib.output.TextOutputFormat {HERE}/in && "
        f"{EXAMPLES} aggregatewordcount {HERE}/in {HERE}/counts 2 textinputformat && "
        f"{EXAMPLES} wordmedian {HERE}/in {HERE}/median && "
        f"{EXAMPLES} multifilewc {HERE}/in {HERE}/files"
    ),
    "several spills": f"{TESTS} threadedmapbench -dataSizePerMap 10 -numSpillsPerMap 3 -numMapsPerHost 1",
}
"""Programs of Hadoop's own jars, most of them tests of sort and shuffle, that end with an error if they find one. Its
validator of sorts sees no disorder: the workload `sort` has a check that does."""

QUICK_PROGRAMS = ("sort and its validator",)
"""What `make test` runs of them; the others are in `make soak PART=jobs`."""


def ran(howdah: Howdah, program: str) -> Kept:
    """The directory of a valid run of a program."""
    options = ("--cluster", "by-default", "--no-calibration", "--no-probes", "--no-report", "--json")
    [one] = howdah("run", "command", "--run", program, *options).json()["runs"]
    assert one["run"]["outcome"]["kind"] == "valid"
    return Kept(Path(one["path"]))


@pytest.mark.soak(part="jobs")
@pytest.mark.parametrize("direct", ["true", "false"])
def test_a_part_of_a_map_output_may_be_larger_than_2_gib(howdah: Howdah, fast: dict[str, Any], direct: str) -> None:
    one_map = "mapreduce.input.fileinputformat.split.minsize=3000000000"
    shape = ("--size", "3G", *LEAST, "--conf", one_map, "--conf", f"howdah.shuffle.direct={direct}")
    said = howdah("run", "terasort", "--cluster", "fast", "--accelerator", "sort", *QUICK, *shape)
    [one] = said.json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    found = counters(Kept(Path(one["path"])), "sort")
    assert found["Howdah Shuffle"]["BYTES"] > 2 << 30
    assert found["Howdah Shuffle"]["SEGMENTS_DIRECT" if direct == "true" else "SEGMENTS_HTTP"] == 1


@pytest.mark.promise("Hadoop's own programs run with the plugins as the cluster's default", "issue 6")
@pytest.mark.parametrize(
    "program",
    [one if one in QUICK_PROGRAMS else pytest.param(one, marks=pytest.mark.soak(part="jobs")) for one in PROGRAMS],
)
def test_hadoops_own_programs_run_with_it_as_the_clusters_default(
    howdah: Howdah, by_default: None, program: str
) -> None:
    sorting = [job["counters"] for job in ran(howdah, PROGRAMS[program]).jobs() if job["reduces"]]
    assert sorting
    for found in sorting:
        assert found["Howdah Sort"]["RECORDS"] == found[TASK]["MAP_OUTPUT_RECORDS"] > 0
        assert found["Howdah Shuffle"]["RECORDS"] == found[TASK]["REDUCE_INPUT_RECORDS"] > 0
        assert not found["Howdah Shuffle"].get("FALLBACKS")


def test_hadoops_own_check_of_sums_passes_where_jobs_run_in_the_client(
    howdah: Howdah, by_default: None, tmp_path: Path
) -> None:
    """Its jobs run in the program itself, whatever the cluster: with our sort, and Hadoop's own shuffle.

    It draws how often each of 50 numbers occurs. One in a thousand runs has a number that does not occur.
    """
    staging = f"-Dmapreduce.jobtracker.staging.root.dir={tmp_path}"  # Else /tmp/hadoop, which stays.
    run = ran(howdah, f"{TESTS} mapredtest {staging} 50 1000")
    said = (run.path / "logs" / "run-client.log").read_text(encoding="utf-8")
    assert "Success=true" in said
    sorted_records = re.findall(r"Howdah Sort\n\s+BYTES=\d+\n\s+RECORDS=(\d+)\n", said)
    assert sorted_records == re.findall(r"Map output records=(\d+)", said)
    assert int(sorted_records[-1]) > 40
    assert "FALLBACKS=1" in said


@pytest.mark.promise("A job with the sort and the shuffle has the same output as without", "README")
def test_random_jobs_give_what_they_give_without(howdah: Howdah, by_default: None, tmp_path: Path) -> None:
    """Keys, values, orders, combiners, codecs, encryption, partitions, memory, and how map outputs come: all drawn.

    HOWDAH_RANDOM_JOBS says how many jobs there are, HOWDAH_FAULT_SEED from what they are drawn.
    """
    jar = tmp_path / "random-jobs.jar"
    with zipfile.ZipFile(jar, "w") as packed:
        for one in sorted(CLASSES.rglob("*.class")):
            packed.write(one, one.relative_to(CLASSES))
    seed = os.environ.get("HOWDAH_FAULT_SEED") or str(random.randrange(1 << 31))
    rounds = os.environ.get("HOWDAH_RANDOM_JOBS", "2")
    program = ("hadoop", "jar", str(jar), "org.howdah.sort.RandomJobs", "random", seed, rounds)
    said = howdah("exec", "--name", "by-default", "--", *program, timeout=120 + 90 * int(rounds)).ok()
    assert said.out.count(f"seed {seed} round ") == int(rounds)
    assert re.search(r"SEGMENTS_DIRECT=\d+ SEGMENTS_HTTP=[1-9]\d*", said.out), "two nodes, and nothing was fetched"


@pytest.mark.promise("The plugin jars hold classes for Java 8", "how-to/accelerate")
@pytest.mark.parametrize("name", [ACCELERATOR_JAR, FILESYSTEM_JAR])
def test_our_plugins_are_for_java_8_and_newer(name: str) -> None:
    with zipfile.ZipFile(own_jar(name)) as jar:
        classes = [one for one in jar.namelist() if one.endswith(".class")]
        versions = {int.from_bytes(jar.read(one)[6:8], "big") for one in classes}
    assert classes
    assert versions == {52}


def test_given_twice_it_is_refused(howdah: Howdah) -> None:
    said = howdah("run", "pi", "--accelerator", "sort", "--factor", "accelerator=none")
    assert said.code == 2
    assert "exclude each other" in said.err
