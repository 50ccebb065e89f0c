"""Secured clusters on several hosts, with everything that runs on them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.hadoop.distribution.jars import own_jar
from howdah.host.user import process_user
from howdah.model.accelerator import ACCELERATOR_JAR, settings_for
from howdah.store import read_run
from tests.lab import lab
from tests.system.running import Howdah, Said

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.soak(part="security"),
    pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root"),
]

_PROGRAMS = (
    ("terasort",),
    ("terasort", "--accelerator", "sort"),
    ("wordcount", "--engine", "streaming"),
    ("wordcount", "--engine", "spark"),
    ("spark-terasort",),
    ("dfsio",),
    ("distcp",),
    ("namenode",),
)


@pytest.fixture(scope="module", params=["privacy", "integrity"])
def protected(request: pytest.FixtureRequest, howdah: Howdah) -> Iterator[str]:
    """The name of a cluster on three hosts."""
    name = request.param
    howdah("up", "--name", name, "--on", "sim:3", "--protection", name).ok()
    yield name
    howdah("down", "--name", name).ok()


@pytest.mark.promise("Every kind of program runs on secured hosts, at every protection", "how-to/secure")
@pytest.mark.parametrize("program", _PROGRAMS, ids=" ".join)
def test_programs_are_valid(howdah: Howdah, protected: str, program: tuple[str, ...], tmp_path: Path) -> None:
    arguments = ("--size", "smoke", "--cluster", protected, "--out", str(tmp_path), "--no-report")
    howdah("run", *program, *arguments).ok()
    [run] = [read_run(place).run for place in tmp_path.iterdir()]
    assert run.outcome.kind == "valid"
    assert run.cluster["security"] == protected


@pytest.mark.promise("Reverse look-ups that lie are named before daemons start", "how-to/secure")
def test_names_of_hosts_that_lie_are_told(howdah: Howdah, tmp_path: Path) -> None:
    names = ("red", "green", "blue")
    (tmp_path / "scratch").mkdir(mode=0o700)
    listed = tmp_path / "hosts.yaml"
    with lab(tmp_path, names, lying=True) as hosts:
        listed.write_text(
            f"scratch: {tmp_path}/scratch\nhosts:\n"
            + "".join(f"- {{host: {name}, address: {address}}}\n" for name, address in hosts.addresses.items())
        )
        asked = ("--size", "smoke", "--on", f"hosts:{listed}", "--out", str(tmp_path / "runs"), "--no-report")
        refused = howdah("run", "terasort", *asked, env=hosts.environment)
        assert refused.code == 1
        assert (
            f"[red] its address {hosts.addresses['red']} is green to itself; to this machine that name is "
            in refused.err
        )
        howdah("run", "terasort", *asked, "--insecure", env=hosts.environment).ok()
    [run] = [read_run(place).run for place in (tmp_path / "runs").iterdir()]
    assert run.outcome.kind == "valid"


@pytest.mark.promise("mrjob runs on secured hosts", "how-to/mrjob")
def test_mrjob_counts_words(howdah: Howdah, protected: str, tmp_path: Path) -> None:
    subprocess.run((sys.executable, "-m", "venv", tmp_path / "mrjob"), check=True)
    python = tmp_path / "mrjob" / "bin" / "python"
    subprocess.run((python, "-m", "pip", "install", "-q", "mrjob==0.7.4", "setuptools<81"), check=True)
    page = Path("docs/how-to/mrjob.md").read_text(encoding="utf-8")
    (tmp_path / "count_words.py").write_text(page.partition("```python\n")[2].partition("```")[0])
    (tmp_path / "words.txt").write_text("b a b\n")
    howdah("exec", "--name", protected, "--", "hadoop", "fs", "-put", f"{tmp_path}/words.txt", "/words.txt").ok()
    program = (str(python), f"{tmp_path}/count_words.py", "-r", "hadoop", "hdfs:///words.txt")
    said = howdah("exec", "--name", protected, "--", *program, env={"TMPDIR": str(tmp_path)}).ok()
    assert said.out == '"a"\t1\n"b"\t2\n'
    howdah("exec", "--name", protected, "--", "hadoop", "fs", "-rm", "/words.txt").ok()


@pytest.mark.promise("Encrypted spills and data on a shared file system work on a secured cluster", "how-to/secure")
@pytest.mark.parametrize("storage", ["hdfs", "posix"])
def test_encrypted_spills_are_read_back(howdah: Howdah, storage: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    where = ("--storage", "hdfs" if storage == "hdfs" else f"posix:{tmp_path}/data")
    spills = ("--conf", "mapreduce.job.encrypted-intermediate-data=true")
    arguments = ("--size", "smoke", "--accelerator", "sort", "--out", str(tmp_path / "runs"), "--no-report")
    howdah("run", "terasort", "--secure", "--protection", "privacy", *where, *spills, *arguments).ok()
    [run] = [read_run(place).run for place in (tmp_path / "runs").iterdir()]
    assert run.outcome.kind == "valid"
    assert any("encrypted" in caveat.text.lower() for caveat in run.caveats), "the stock shuffle served"


@pytest.mark.promise("A program may act for another user whom the owner lets in", "how-to/secure")
def test_who_acts_for_another_user_sorts_with_our_plugins(howdah: Howdah) -> None:
    owner, jar = process_user(), own_jar(ACCELERATOR_JAR)
    wishes = {
        "security.service.authorization.default.acl": "*",
        "yarn.scheduler.capacity.root.default.acl_submit_applications": "*",
        f"hadoop.proxyuser.{owner}.users": "nobody",
        f"hadoop.proxyuser.{owner}.hosts": "*",
    }
    given = [word for key, value in wishes.items() for word in ("--conf", f"{key}={value}")]
    howdah("up", "--name", "acting", "--secure", "--protection", "privacy", *given).ok()
    try:
        for words in ("-mkdir -p /user/nobody", "-chown nobody /user/nobody", "-chmod o+x /mr-history"):
            howdah("exec", "--name", "acting", "--", "hdfs", "dfs", *words.split()).ok()
        environment = {"HADOOP_PROXY_USER": "nobody", "HADOOP_CLASSPATH": str(jar)}

        keyed = dict(settings_for("sort")) | {"yarn.app.mapreduce.am.staging-dir": "/user"}

        def example(program: str, *words: str) -> Said:
            keys = "".join(f" -D '{key}={value}'" for key, value in keyed.items())
            jars = "$HADOOP_HOME/share/hadoop/mapreduce/hadoop-mapreduce-examples-3*.jar"
            line = f"exec hadoop jar {jars} {program} -libjars {jar}{keys} {' '.join(words)}"
            return howdah("exec", "--name", "acting", "--", "sh", "-c", line, env=environment).ok()

        example("teragen", "100000", "/user/nobody/in")
        said = example("terasort", "/user/nobody/in", "/user/nobody/out").err
        assert "Howdah Sort" in said
        assert "Howdah Shuffle" in said
        example("teravalidate", "/user/nobody/out", "/user/nobody/report")
        report = howdah("exec", "--name", "acting", "--", "hdfs", "dfs", "-cat", "/user/nobody/report/part-r-00000")
        assert report.ok().out.startswith("checksum\t")
        listed = howdah("exec", "--name", "acting", "--", "hdfs", "dfs", "-ls", "/user/nobody/out").ok().out
        assert {line.split()[2] for line in listed.splitlines()[1:]} == {"nobody"}
    finally:
        howdah("down", "--name", "acting")


@pytest.mark.promise("Map outputs are encrypted where that is asked for, and our shuffle serves", "how-to/secure")
def test_our_shuffle_serves_map_outputs_over_tls(howdah: Howdah, tmp_path: Path) -> None:
    encrypted = ("--secure", "--conf", "mapreduce.shuffle.ssl.enabled=true")
    arguments = ("--size", "smoke", "--accelerator", "sort", "--out", str(tmp_path), "--no-report")
    howdah("run", "terasort", *encrypted, *arguments).ok()
    [run] = [read_run(place).run for place in tmp_path.iterdir()]
    assert run.outcome.kind == "valid"
    assert not any("fallback" in caveat.text.lower() for caveat in run.caveats), run.caveats
