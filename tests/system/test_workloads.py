"""Every workload in its smallest size, on one cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howdah.workload.registry import WORKLOADS
from tests.system.kept import Kept, check_schemas
from tests.system.running import Howdah

pytestmark = pytest.mark.daemons

BARE = ("--cluster", "alpha", "--no-calibration", "--no-probes", "--no-report", "--json")


# TeraSort has a file of tests of its own. `run all` does these one after the other, in longer than a test may take.
@pytest.mark.parametrize("name", sorted(name for name, one in WORKLOADS.items() if one.sizes and name != "terasort"))
def test_smoke(howdah: Howdah, cluster: dict[str, Any], name: str) -> None:
    answer = howdah("run", name, "--size", "smoke", "--cluster", "alpha", "--no-calibration", "--json").json()
    [one] = answer["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    assert all(check["passed"] for check in one["run"]["checks"])
    counted = any(check["name"] == "counted" for check in one["run"]["checks"])
    assert counted == (name in ("secondarysort", "sort", "wordcount")), "by the counters of the file system"
    phase, _, metric = WORKLOADS[name].primary.partition("/")
    assert [sample for sample in one["samples"] if (sample["phase"], sample["metric"]) == (phase, metric)]
    known = {metric["name"] for metric in one["run"]["metrics"]}
    assert {sample["metric"] for sample in one["samples"]} <= known
    kept = Kept(Path(one["path"]))
    check_schemas(kept)
    for done in one["run"]["phases"]:
        tags = kept.path / "conf" / "clients" / done["name"] / "mapred-site.xml"
        assert done["name"] in tags.read_text(), "each phase has its own client configuration"


@pytest.mark.parametrize("engine", ["streaming", "spark"])
def test_other_engines_count_the_same_words(howdah: Howdah, cluster: dict[str, Any], engine: str) -> None:
    [one] = howdah("run", "wordcount", "--engine", engine, "--size", "1M", *BARE).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    counted = () if engine == "spark" else ("counted",)
    assert [check["name"] for check in one["run"]["checks"]] == ["counts", "total", *counted, "clock", "hadoop"]
    assert [s for s in one["samples"] if (s["phase"], s["metric"]) == ("count", "job_seconds")]


@pytest.mark.parametrize("name", ["from", "to"])
def test_distcp_copies_between_hdfs_and_a_directory(howdah: Howdah, cluster: dict[str, Any], name: str) -> None:
    [one] = howdah("run", "distcp", f"--{name}", "file", "--files", "3", "--size", "3M", *BARE).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    assert [check["name"] for check in one["run"]["checks"]] == ["files", "checksums", "clock", "hadoop"]
    assert {"from": "stage", "to": "back"}[name] in [phase["name"] for phase in one["run"]["phases"]]
    assert list((howdah.home / "clusters/alpha/work/files/howdah").iterdir()) == [], "the run's data ends with it"


def test_they_leave_the_storage_as_it_was(howdah: Howdah, cluster: dict[str, Any]) -> None:
    assert howdah("exec", "--name", "alpha", "--", "hdfs", "dfs", "-ls", "/howdah").ok().out.strip() == ""
    said = howdah("exec", "--name", "alpha", "--", "hdfs", "dfsadmin", "-safemode", "get").ok().out
    assert "Safe mode is OFF" in said


def test_a_command_of_ones_own(howdah: Howdah, cluster: dict[str, Any]) -> None:
    def run(*own: str) -> Any:
        return howdah("run", "command", *own, *BARE)

    generate = "hadoop jar $HADOOP_HOME/share/hadoop/mapreduce/*examples-3*.jar teragen 1000 $HOWDAH_DIRECTORY/rows"
    count = "test $(hdfs dfs -cat $HOWDAH_DIRECTORY/rows/part* | wc -c) ="
    [one] = run("--run", generate, "--bytes", "100k", "--verify", f"{count} 100000").json()["runs"]
    assert one["run"]["outcome"]["kind"] == "valid"
    assert {(sample["phase"], sample["metric"]) for sample in one["samples"]} >= {
        *(("run", "client_seconds"), ("run", "job_seconds"), ("run", "throughput"), ("verify", "client_seconds")),
    }
    [job] = one["run"]["phases"][0]["jobs"]
    assert (Path(one["path"]) / "jobs" / f"{job}.jhist").is_file()
    wrong = run("--run", generate, "--verify", f"{count} 7")
    assert wrong.code == 3
    assert "ended with code 1" in wrong.err
    failing = run("--run", "echo no such thing; exit 4")
    assert failing.code == 1
    assert "run: the client ended with code 4" in failing.err
    assert "no such thing" in failing.err


def test_data_is_kept_and_used_again(howdah: Howdah, cluster: dict[str, Any]) -> None:
    def run() -> dict[str, Any]:
        said = howdah("run", "terasort", "--size", "smoke", "--data", "reuse", *BARE)
        one: dict[str, Any] = said.json()["runs"][0]["run"]
        assert one["outcome"]["kind"] == "valid"
        return one

    first, second = run(), run()
    assert [phase["name"] for phase in first["phases"]] == ["gen", "sort", "validate"]
    assert [phase["name"] for phase in second["phases"]] == ["sort", "validate"]
    assert (first["dataset"]["reused"], second["dataset"]["reused"]) == (False, True)
    assert {**first["dataset"], "reused": True} == second["dataset"]
    assert first["trial"]["identity"] == second["trial"]["identity"]
    howdah("exec", "--name", "alpha", "--", "hdfs", "dfs", "-rm", "-r", "-skipTrash", "/howdah/data").ok()
