"""Every workload in its smallest size, on one cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from howdah.workload.registry import WORKLOADS
from tests.system.kept import Kept, check_schemas
from tests.system.running import Howdah

pytestmark = pytest.mark.daemons

BARE_WITH_PROBES = ("--cluster", "alpha", "--no-calibration", "--no-report", "--json")
BARE = (*BARE_WITH_PROBES, "--no-probes")


ACCELERATED = ("join", "secondarysort", "sort", "wordcount")
TASK = "org.apache.hadoop.mapreduce.TaskCounter"
SMOKES = [
    (name, accelerator)
    # TeraSort has a file of tests of its own. `run all` runs them one by one, in longer than a test may take.
    for name in sorted(name for name, one in WORKLOADS.items() if one.sizes and name != "terasort")
    for accelerator in ("none", "sort")
    if accelerator == "none" or name in (*ACCELERATED, "grep")
]


LONG = ("grep", "hs", "namenode", "sort", "spark-terasort")
"""Longer than others. What they do has tests of its own: contracts, golden files, other engines, `make soak`."""


def in_soak(name: str, accelerator: str) -> bool:
    """Whether the smoke run is long, or a variant of another one."""
    return name in LONG or (accelerator == "none" if name in ACCELERATED else accelerator == "sort")


@pytest.mark.promise("Every workload runs and is verified at the size `smoke`", "README")
@pytest.mark.parametrize(
    ("name", "accelerator"),
    [pytest.param(*one, marks=pytest.mark.soak(part="jobs")) if in_soak(*one) else one for one in SMOKES],
)
def test_smoke(howdah: Howdah, cluster: dict[str, Any], name: str, accelerator: str) -> None:
    answer = howdah("run", name, "--size", "smoke", "--accelerator", accelerator, *BARE_WITH_PROBES).json()
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
    assert one["run"]["trial"]["settings"].get("accelerator", "none") == accelerator
    for job in kept.jobs():
        check_plugins(job, one["run"], accelerator)
    if (name, accelerator) == ("wordcount", "sort"):
        # The combiner is known by its class file, which tasks find in the job's jar.
        assert any(job["counters"].get("Howdah Sort", {}).get("FOLDED", 0) for job in kept.jobs())


def check_plugins(job: dict[str, Any], run: dict[str, Any], accelerator: str) -> None:
    """All or nothing: where the sort served none of a job's records, the run says so."""
    counters = job["counters"]
    output = counters.get(TASK, {}).get("MAP_OUTPUT_RECORDS", 0) if job["reduces"] else 0
    used = counters.get("Howdah Sort", {}).get("RECORDS", 0)
    assert used in (output if accelerator == "sort" else 0, 0), job["id"]
    if accelerator == "sort" and output and not used:
        said = [caveat["text"] for caveat in run["caveats"] if caveat["about"] == job["phase"]]
        assert any(job["id"] in text for text in said)


@pytest.mark.promise("All engines of `wordcount` count the same words", "reference/workloads")
@pytest.mark.parametrize("engine", ["streaming", "spark"])
def test_other_engines_count_the_same_words(howdah: Howdah, cluster: dict[str, Any], engine: str) -> None:
    [one] = howdah("run", "wordcount", "--engine", engine, "--size", "1M", *BARE).json()["runs"]
    assert one["run"]["outcome"] == {"kind": "valid", "reason": None}
    counted = () if engine == "spark" else ("counted",)
    assert [check["name"] for check in one["run"]["checks"]] == ["counts", "total", *counted, "clock", "hadoop"]
    assert [s for s in one["samples"] if (s["phase"], s["metric"]) == ("count", "job_seconds")]


@pytest.mark.soak(part="storage")
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
