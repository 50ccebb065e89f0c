"""Clusters of another release, of the user's own distribution, and ones that Howdah did not start."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.system.kept import Kept, check_schemas
from tests.system.running import Howdah, Said, archives_of, below, processes_of

pytestmark = pytest.mark.daemons
SMOKE = ("run", "terasort", "--size", "smoke", "--maps", "1", "--reduces", "1", "--no-report", "--json")
ONE_JOB = ("run", "pi", "--size", "smoke", "--no-report", "--json")


def only(said: Said) -> Kept:
    [run] = said.json()["runs"]
    assert run["run"]["outcome"]["kind"] == "valid"
    kept = Kept(Path(run["path"]))
    check_schemas(kept)
    return kept


@pytest.fixture(scope="module")
def watched(howdah: Howdah) -> Iterator[dict[str, Any]]:
    """`watched`: one node of Hadoop 3.5.0, without one of the tuned defaults."""
    howdah("hadoop", "fetch", "3.5.0", timeout=500).ok()
    yield howdah("up", "--name", "watched", "--hadoop", "3.5.0", "--without", "large-blocks", "--json").json()
    howdah("down", "--name", "watched").ok()


GZIP = "mapreduce.map.output.compress.codec=org.apache.hadoop.io.compress.GzipCodec"
FETCHED = ("mapreduce.map.output.compress=true", GZIP, "howdah.shuffle.direct=false", "howdah.sort.memory.mb=1")


def settings(keys: tuple[str, ...]) -> list[str]:
    return ["--accelerator", "sort", *(option for key in keys for option in ("--conf", key))]


@pytest.mark.promise("TeraSort runs on Hadoop 3.5.0", "reference/hadoop")
@pytest.mark.promise("The same jar serves on Hadoop 3.5.0", "how-to/accelerate")
def test_the_watched_release_sorts(howdah: Howdah, watched: dict[str, Any]) -> None:
    managers = [daemon["pid"] for daemon in watched["daemons"] if daemon["role"] == "nodemanager"]
    archives: dict[str, set[str]] = {}
    with subprocess.Popen(
        [*howdah.command, *SMOKE, "--cluster", "watched", *settings(FETCHED)],
        env=howdah.environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        while running.poll() is None:
            for pid, command in below(managers).items():
                for main in ("YarnChild", "MRAppMaster"):
                    if main in command and command.split(" ", 1)[0].endswith("/java"):
                        archives.setdefault(main, set()).update(archives_of(pid))
            time.sleep(0.2)
        assert running.stdout is not None
        kept = only(Said((), running.returncode, running.stdout.read(), ""))
    for main in ("YarnChild", "MRAppMaster"):
        assert [Path(file).name.startswith("3.5.0-jdk") for file in archives[main]] == [True]
    hadoop = kept.record("environment.json")["before"]["hadoop"]
    assert hadoop["version"] == "3.5.0"
    assert hadoop["substitutes"]["hadoop-mapreduce-examples-3.4.2.jar"] == "3.4.2"
    assert kept.record("conf/effective/namenode.json")["dfs.blocksize"]["value"] == str(128 << 20)
    assert kept.setting("sort", "mapreduce.task.io.sort.factor") == "100", "the other tuned defaults are there"
    assert kept.record("run.json")["cluster"]["defaults"]["without"] == ["large-blocks"]
    check_served(kept, "HTTP", spills=True)


@pytest.mark.soak(part="hadoop-3.5")
@pytest.mark.usefixtures("watched")
def test_the_same_accelerator_reads_where_outputs_lie_on_the_watched_release(howdah: Howdah) -> None:
    check_served(only(howdah(*SMOKE, "--cluster", "watched", *settings(()))), "DIRECT", spills=False)


def check_served(kept: Kept, way: str, *, spills: bool) -> None:
    """All by the plugins, and map outputs in this way."""
    counters = kept.job("sort")["counters"]
    assert counters["Howdah Shuffle"][f"SEGMENTS_{way}"] == 1
    assert (counters["Howdah Sort"].get("SPILLS", 0) > 1) is spills
    reduced = counters["org.apache.hadoop.mapreduce.TaskCounter"]["REDUCE_INPUT_RECORDS"]
    assert counters["Howdah Sort"]["RECORDS"] == counters["Howdah Shuffle"]["RECORDS"] == reduced
    assert not counters["Howdah Sort"].get("FALLBACKS")
    assert not counters["Howdah Shuffle"].get("FALLBACKS")


@pytest.mark.soak(part="hadoop-3.5")
@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("workload", ["dfsio", "namenode"])
def test_programs_of_its_tests_jars_run(howdah: Howdah, workload: str) -> None:
    only(howdah("run", workload, "--size", "smoke", "--json", "--cluster", "watched", "--no-calibration"))


@pytest.fixture(scope="module")
def own_home(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Hadoop of the user's own: what an Apache release has, elsewhere."""
    home = tmp_path_factory.mktemp("own") / "hadoop-3.4.2"
    for part in ("bin", "etc", "libexec", "share"):
        shutil.copytree(howdah.home / "cache" / "hadoop" / "3.4.2" / part, home / part, symlinks=True)
    return home


@pytest.mark.promise("A Hadoop of your own is used as it is", "reference/hadoop")
@pytest.mark.promise("`--defaults stock` leaves out all of them", "reference/tuned-defaults")
def test_an_own_distribution_with_stock_defaults(howdah: Howdah, own_home: Path) -> None:
    kept = only(howdah(*ONE_JOB, "--hadoop-home", str(own_home), "--defaults", "stock"))
    run = kept.record("run.json")
    assert (run["cluster"]["hadoop"]["home"], run["cluster"]["hadoop"]["source"]) == (str(own_home), "home")
    assert (run["cluster"]["nodes"], run["cluster"]["defaults"]["kind"]) == (1, "stock")
    for key, value in (("dfs.blocksize", str(128 << 20)), ("dfs.namenode.handler.count", "10")):
        said = kept.record("conf/effective/namenode.json")[key]
        assert (said["value"], said["source"]) == (value, "hdfs-default.xml")
    stock = {
        "mapreduce.task.io.sort.mb": "100",
        "mapreduce.task.io.sort.factor": "10",
        "mapreduce.map.memory.mb": "-1",
        "mapreduce.job.reduce.slowstart.completedmaps": "0.05",
        "mapreduce.reduce.memory.mb": "-1",
    }
    assert {key: kept.setting("pi", key) for key in stock} == stock
    assert b"-XX:" not in kept.configuration("pi"), "no JVM flags of ours, no class archive"
    jars = kept.record("environment.json")["before"]["hadoop"]["jars"]
    assert jars["share/hadoop/common/hadoop-common-3.4.2.jar"]
    assert [line for line in processes_of(howdah.home) if str(own_home) in line] == [], "the cluster ended with the run"
    left = {path.name for path in (howdah.home / "clusters").iterdir()}
    assert not any(name.startswith("run-") for name in left)


@pytest.mark.parametrize("missing", [".", "share/hadoop", "share/hadoop/hdfs"])
def test_what_is_no_distribution_is_refused(howdah: Howdah, own_home: Path, tmp_path: Path, missing: str) -> None:
    home = tmp_path / "hadoop"
    shutil.copytree(own_home, home, copy_function=os.link, symlinks=True)
    shutil.rmtree(home / missing)
    said = howdah("up", "--name", "wrong", "--hadoop-home", str(home))
    assert said.code == 2
    assert str(home) in said.err
    assert not (howdah.home / "clusters" / "wrong").exists()


def test_a_directory_that_is_no_configuration_is_refused(howdah: Howdah, tmp_path: Path) -> None:
    said = howdah(*SMOKE, "--cluster", f"conf:{tmp_path}")
    assert said.code == 2
    assert "core-site.xml" in said.err
