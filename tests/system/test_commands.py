"""Other people's way to a cluster: hadoop, hdfs, yarn and mapred through `howdah exec` and `howdah shell`."""

from __future__ import annotations

import json
import re
import signal
import statistics
import subprocess
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from howdah.hadoop.configuration.tuning import TUNINGS
from howdah.hadoop.distribution.distribution import Distribution, managed
from tests.system.running import Howdah, Said, run

pytestmark = pytest.mark.daemons
On = Callable[..., Said]
TEXT = "seven elephants and seven seats\n"

MAPPER = """#!/usr/bin/env python3
import sys
for line in sys.stdin:
    for word in line.split():
        print(word, 1, sep="\\t")
"""
REDUCER = """#!/usr/bin/env python3
import sys
from itertools import groupby
rows = (line.rstrip("\\n").split("\\t") for line in sys.stdin)
for word, found in groupby(rows, key=lambda row: row[0]):
    print(word, sum(int(count) for _, count in found), sep="\\t")
"""


@pytest.fixture(scope="module")
def distribution(howdah: Howdah) -> Distribution:
    return managed("3.4.2", howdah.home / "cache")


@pytest.mark.promise("With an error, the exit code is 1, otherwise 0", "how-to/doctor")
def test_the_doctor_looks_at_this_machine(howdah: Howdah) -> None:
    said = howdah("doctor", "--all")
    assert said.code in (0, 1)
    checks = howdah("doctor", "--json")
    found = json.loads(checks.out)
    assert f"{len(found)} checks: " in said.out
    assert {one["level"] for one in found} <= {"ok", "note", "warning", "error"}
    assert all(one["fix"] for one in found if one["level"] in ("warning", "error"))
    assert (said.code == 1) == any(one["level"] == "error" for one in found)
    few = howdah("doctor", "--nodes", "20", "--size", "1000T")
    assert few.code == 1
    assert "howdah: a cluster would not come up here" in few.err


@pytest.fixture(scope="module")
def text(on: On, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path in HDFS of a file with TEXT, put there by the shell."""
    file = tmp_path_factory.mktemp("text") / "text"
    file.write_text(TEXT, encoding="utf-8")
    on("hadoop", "fs", "-mkdir", "-p", "/text").ok()
    on("hadoop", "fs", "-put", str(file), "/text/text").ok()
    return "/text/text"


def counts(said: Said) -> dict[str, int]:
    rows = (line.split("\t") for line in said.ok().out.splitlines())
    return {word: int(count) for word, count in rows}


def test_files_come_and_go(on: On, text: str) -> None:
    assert on("hadoop", "fs", "-cat", text).ok().out == TEXT
    assert on("hadoop", "fs", "-ls", "/text").ok().out.splitlines()[-1].endswith(text)
    # Three nodes, so three replicas, which -du counts in its second column.
    assert on("hdfs", "dfs", "-du", "/text").ok().out.split() == [str(len(TEXT)), str(3 * len(TEXT)), text]
    on("hadoop", "fs", "-cp", text, "/text/again").ok()
    on("hadoop", "fs", "-rm", "/text/again").ok()
    missing = on("hadoop", "fs", "-ls", "/text/again")
    assert missing.code == 1
    assert "No such file or directory" in missing.err


@pytest.mark.promise("`exec` passes standard input and the exit code", "how-to/use-your-own-programs")
def test_standard_input_and_exit_codes_pass_through(on: On) -> None:
    on("hadoop", "fs", "-put", "-", "/from-stdin", stdin="typed\n").ok()
    assert on("hdfs", "dfs", "-cat", "/from-stdin").ok().out == "typed\n"
    assert on("sh", "-c", "exit 37").code == 37
    nothing = on("no-such-program")
    assert nothing.code == 2
    assert "no-such-program" in nothing.err


@pytest.mark.promise("`-D KEY=VALUE` and `--config DIR` work as with Apache's scripts", "how-to/use-your-own-programs")
def test_generic_options_reach_hadoop(on: On, text: str) -> None:
    on("hadoop", "fs", "-D", "dfs.replication=2", "-cp", text, "/twice").ok()
    assert on("hadoop", "fs", "-stat", "%r", "/twice").ok().out.strip() == "2"


@pytest.mark.promise("`hadoop`, `hdfs`, `yarn` and `mapred` work under `howdah exec`", "README")
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("hadoop version", "Hadoop 3.4.2"),
        ("hdfs dfsadmin -report", "Live datanodes (3)"),
        ("hdfs fsck /", "is HEALTHY"),
        ("hdfs getconf -confKey dfs.client.use.datanode.hostname", "true"),
        ("yarn node -list", "Total Nodes:3"),
        ("yarn application -list", "Total number of applications"),
        ("mapred job -list", "Total jobs:"),
        ("hadoop org.apache.hadoop.util.VersionInfo", "Hadoop 3.4.2"),
        ("hadoop --loglevel ERROR fs -ls /", "Found"),
    ],
)
def test_commands_answer(on: On, command: str, expected: str) -> None:
    assert expected in on(*command.split()).ok().out


@pytest.mark.promise(
    "`HADOOP_OPTS`, `HADOOP_CLIENT_OPTS` and `HADOOP_CLASSPATH` work as with Apache's scripts",
    "how-to/use-your-own-programs",
)
def test_what_users_export_is_obeyed(on: On, tmp_path: Path) -> None:
    source = tmp_path / "Show.java"
    source.write_text(
        "public class Show { public static void main(String[] names) {"
        " for (String name : names) System.out.println(name + '=' + System.getProperty(name)); } }",
        encoding="utf-8",
    )
    subprocess.run(["javac", "-d", str(tmp_path / "classes"), str(source)], check=True)
    package = ["--create", "--file", str(tmp_path / "show.jar"), "-C", str(tmp_path / "classes"), "."]
    subprocess.run(["jar", *package], check=True)
    environment = {
        "HADOOP_OPTS": "-Da=1",
        "HADOOP_CLIENT_OPTS": "-Db=2 -Xmx200m",
        "HADOOP_CLASSPATH": f"{tmp_path}/classes",
    }
    said = on("sh", "-c", "hadoop jar $1 Show a b c", "sh", f"{tmp_path}/show.jar", env=environment).ok()
    assert said.out.split() == ["a=1", "b=2", "c=null"]
    assert f"{tmp_path}/classes" in on("hadoop", "classpath", env=environment).ok().out.strip().split(":")


@pytest.mark.promise("`-D KEY=VALUE` and `--config DIR` work as with Apache's scripts", "how-to/use-your-own-programs")
def test_another_configuration_by_option(on: On, howdah: Howdah, tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text(
        "<configuration><property><name>fs.defaultFS</name><value>file:///</value></property></configuration>",
        encoding="utf-8",
    )
    (tmp_path / "seen").write_text("here", encoding="utf-8")
    assert on("hadoop", "--config", str(tmp_path), "fs", "-cat", str(tmp_path / "seen")).ok().out == "here"


@pytest.mark.promise(
    "The launcher and the configuration directory work with an empty environment", "how-to/use-your-own-programs"
)
def test_an_empty_environment_is_enough(howdah: Howdah, cluster: dict[str, Any], text: str) -> None:
    conf = howdah.home / "clusters" / "alpha" / "conf"
    command = [f"{cluster['hadoop']['home']}/bin/hadoop", "fs", "-cat", text]
    assert run(command, env={"HADOOP_CONF_DIR": str(conf), "PATH": "/usr/bin:/bin"}).ok().out == TEXT


@pytest.mark.promise("`howdah shell` gives a shell in which Hadoop's commands work", "tutorial/first-cluster")
def test_a_shell_has_the_commands(howdah: Howdah, cluster: dict[str, Any], text: str) -> None:
    said = howdah("shell", "--name", "alpha", stdin=f"hdfs dfs -cat {text}\nexit 5\n", env={"SHELL": "/bin/sh"})
    assert (said.code, said.out) == (5, TEXT)


def test_pages_are_served_until_one_is_done_with_them(howdah: Howdah, cluster: dict[str, Any]) -> None:
    command = [*howdah.command, "open", "--name", "alpha", "--no-browser"]
    # As a browser, which brings the token along once it has it.
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with subprocess.Popen(command, env=howdah.environment, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None
            lines = list(iter(serving.stdout.readline, "Ctrl-C ends.\n"))
            (page,) = [line.split()[1] for line in lines if line.startswith("resourcemanager")]
            browser.open(page, timeout=20).close()
            with browser.open(page.partition("?")[0], timeout=20) as answer:
                assert b"Cluster" in answer.read()
            serving.send_signal(signal.SIGINT)
            assert serving.wait(20) == 0
        finally:
            serving.kill()


def test_examples(on: On, distribution: Distribution, text: str) -> None:
    jar = str(distribution.examples_jar)
    assert "Estimated value of Pi is 3.8" in on("hadoop", "jar", jar, "pi", "2", "10").ok().out
    on("yarn", "jar", jar, "wordcount", text, "/counted").ok()
    found = counts(on("hadoop", "fs", "-cat", "/counted/part-r-*"))
    assert found == {"seven": 2, "elephants": 1, "and": 1, "seats": 1}


@pytest.mark.promise("Your programs compute the same as with Hadoop's defaults", "how-to/use-your-own-programs")
def test_examples_that_read_the_output_of_one_reduce_print_right_numbers(
    on: On, distribution: Distribution, tmp_path: Path
) -> None:
    """They never set how many reduces they have, and read `part-r-00000` alone."""
    lengths = [1, 2, 2, 3, 5, 5, 7, 8, 8, 8, 13]
    (tmp_path / "words").write_text("\n".join("x" * length for length in lengths), encoding="utf-8")
    on("hadoop", "fs", "-mkdir", "-p", "/lengths").ok()
    on("hadoop", "fs", "-put", str(tmp_path / "words"), "/lengths/words").ok()

    def printed(program: str, title: str) -> list[float]:
        said = on("hadoop", "jar", str(distribution.examples_jar), program, "/lengths", f"/{program}").ok()
        return [float(found) for found in re.findall(rf"^The {title} is: (.+)$", said.out, re.MULTILINE)]

    expected = {
        ("wordmean", "mean"): statistics.fmean(lengths),
        ("wordmedian", "median"): statistics.median(lengths),
        ("wordstandarddeviation", "standard deviation"): statistics.pstdev(lengths),
    }
    with ThreadPoolExecutor() as at_once:
        found = dict(zip(expected, at_once.map(printed, *zip(*expected, strict=True)), strict=True))
    assert found == {program: pytest.approx([number], rel=1e-12) for program, number in expected.items()}


@pytest.mark.promise("Streaming runs with programs in Python", "how-to/use-your-own-programs")
def test_streaming_with_python(on: On, distribution: Distribution, text: str, tmp_path: Path) -> None:
    (tmp_path / "map.py").write_text(MAPPER, encoding="utf-8")
    (tmp_path / "reduce.py").write_text(REDUCER, encoding="utf-8")
    files = f"{tmp_path}/map.py,{tmp_path}/reduce.py"
    programs = ("-mapper", "python3 map.py", "-reducer", "python3 reduce.py")
    paths = ("-input", text, "-output", "/streamed")
    on("hadoop", "jar", str(distribution.streaming_jar), "-files", files, *programs, *paths).ok()
    assert counts(on("hadoop", "fs", "-cat", "/streamed/part-*"))["seven"] == 2


def test_distcp(on: On, text: str) -> None:
    on("hadoop", "distcp", "/text", "/copied").ok()
    assert on("hadoop", "fs", "-cat", "/copied/text").ok().out == TEXT


@pytest.mark.promise("Programs of the tests jars run", "how-to/use-your-own-programs")
def test_a_program_of_the_tests_jar(on: On, distribution: Distribution, tmp_path: Path) -> None:
    arguments = ("TestDFSIO", "-write", "-nrFiles", "2", "-fileSize", "1MB", "-resFile", str(tmp_path / "result"))
    on("hadoop", "jar", str(distribution.jobclient_tests_jar), *arguments).ok()
    assert "Number of files: 2" in (tmp_path / "result").read_text(encoding="utf-8")


@pytest.mark.promise("`howdah defaults` shows what the tuned defaults set here", "CHANGELOG")
def test_the_tuned_defaults_are_shown_beside_stock(howdah: Howdah) -> None:
    found = {one["name"]: one for one in howdah("defaults", "--nodes", "2", "--json").ok().json()}
    assert list(found) == [one.name for one in TUNINGS]
    rows = {row["key"]: row for row in found["sort-buffer"]["settings"]}
    assert (rows["mapreduce.task.io.sort.mb"]["stock"], rows["mapreduce.task.io.sort.mb"]["value"]) == ("100", "32")
    said = howdah("defaults", "sort-buffer").ok().out
    assert "mapreduce.task.io.sort.mb      100    32" in said
    assert "Changes no results: " in said
    assert "container-sizes" not in said
    assert howdah("defaults", "nosuch").code == 2
