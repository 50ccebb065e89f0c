"""Jobs that fail, jobs that could never run, and output that is not sorted."""

from __future__ import annotations

import pytest

from tests.faults.conftest import Home, one_message

pytestmark = pytest.mark.daemons

_RUN = ("run", "terasort", "--size", "smoke", "--cluster", "shared", "--maps", "1", "--no-probes", "--no-calibration")


@pytest.mark.promise("A job that could never be scheduled is refused before it is submitted", "issue 2")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mapreduce.map.memory.mb", "1000000"),
        ("mapreduce.reduce.memory.mb", "1000000"),
        ("yarn.app.mapreduce.am.resource.mb", "1000000"),
        ("mapreduce.map.cpu.vcores", "1000"),
    ],
)
def test_a_job_that_could_never_be_scheduled(cluster: Home, key: str, value: str) -> None:
    ended = cluster.howdah(*_RUN, "--conf", f"{key}={value}")
    assert ended.code == 2, ended.said
    assert f"{key} is {value}" in one_message(ended)
    assert not cluster.runs


@pytest.mark.promise("A job that fails ends with 1; its logs are kept and named", "reference/exit-codes")
def test_tasks_that_die(cluster: Home) -> None:
    pairs = ("mapreduce.map.java.opts=-Xmx8m", "mapreduce.map.maxattempts=2")
    options = [option for pair in pairs for option in ("--conf", pair)]
    ended = cluster.howdah(*_RUN, *options)
    assert ended.code == 1, ended.said
    message = one_message(ended)
    assert message.startswith("gen failed: application_")
    assert "attempt_" in message
    assert "java.lang.OutOfMemoryError: Java heap space" in message
    record = cluster.run_record()
    assert record["outcome"]["kind"] == "failed"
    assert record["outcome"]["reason"].splitlines()[0] == message.splitlines()[0]
    (run,) = cluster.runs
    assert str(run) in message, "the message does not say where the logs are"
    kept = list((run / "logs/containers").glob("container_*/*"))
    assert any("OutOfMemoryError" in log.read_text() for log in kept), "the container's own words were not kept"
    application = message.split()[2].removeprefix("application_")
    assert all(application in log.parent.name for log in kept), "logs of other runs were kept"
    assert (run / "logs/gen-client.log").stat().st_size > 0
    assert not (run / "samples.jsonl").exists()


def test_a_task_whose_jvm_cannot_start(cluster: Home) -> None:
    pairs = ("mapreduce.map.java.opts=-Xmx1m", "mapreduce.map.maxattempts=1")
    ended = cluster.howdah(*_RUN, *(option for pair in pairs for option in ("--conf", pair)))
    assert ended.code == 1, ended.said
    assert "Too small maximum heap" in one_message(ended), "the JVM's own words are missing"


@pytest.mark.promise("A setting that did not take effect makes the run invalid", "reference/experiment")
def test_a_setting_that_a_program_overrides(cluster: Home) -> None:
    options = ("--size", "smoke", "--cluster", "shared", "--no-probes", "--no-calibration")
    ended = cluster.howdah("run", "pi", *options, "--conf", "mapreduce.job.reduces=3")
    assert ended.code == 3, ended.said
    assert "settings: mapreduce.job.reduces was to be 3 and is 1" in one_message(ended)
    (run,) = cluster.runs
    assert not (run / "samples.jsonl").exists()


@pytest.mark.promise("A TeraSort's output is validated, and its checksum is compared with the input's", "README")
@pytest.mark.promise("A run that does not validate has no numbers and exits with 3", "README")
def test_output_that_is_not_sorted(cluster: Home) -> None:
    reverse = (
        "mapreduce.job.output.key.comparator.class=org.apache.hadoop.mapreduce.lib.partition.KeyFieldBasedComparator",
        "mapreduce.partition.keycomparator.options=-r",
    )
    ended = cluster.howdah(*_RUN, *(option for pair in reverse for option in ("--conf", pair)))
    assert ended.code == 3, ended.said
    message = one_message(ended)
    assert message.startswith("the run is invalid and has no samples: order: ")
    assert "misorder in part-r-" in message
    (run,) = cluster.runs
    record = cluster.run_record()
    assert record["outcome"]["kind"] == "invalid"
    assert [check["name"] for check in record["checks"] if not check["passed"]] == ["order"]
    assert not (run / "samples.jsonl").exists()
    assert "invalid" in (run / "report.html").read_text()
