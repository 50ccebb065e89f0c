"""Whether settings took effect, and what tells runs apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from howdah.engine.evidence.readback import ReadBack, check_settings, distinguishing, read_back
from howdah.errors import Untrusted
from howdah.hadoop.interfaces.effective import Setting


def held(**jobs: str) -> ReadBack:
    daemons = {"dfs.namenode.handler.count": frozenset({Setting("20", "hdfs-site.xml")})}
    return ReadBack(daemons, {"sort": {key.replace("_", "."): frozenset({Setting(jobs[key], None)}) for key in jobs}})


@pytest.mark.promise("A setting that did not take effect makes the run invalid", "reference/experiment")
@pytest.mark.parametrize(
    ("asked", "passed", "detail"),
    [
        ({"mapreduce.job.reduces": "2"}, True, "read back as they were asked: mapreduce.job.reduces"),
        ({"mapreduce.job.reduces": "3"}, False, "mapreduce.job.reduces was to be 3 and is 2"),
        ({"dfs.namenode.handler.count": "10"}, False, "dfs.namenode.handler.count was to be 10 and is 20"),
        ({"mapreduce.job.reduces": "2", "spark.cores": "1"}, True, "read back as they were asked: mapreduce.job."),
    ],
)
def test_settings_that_took_effect_or_did_not(asked: dict[str, str], passed: bool, detail: str) -> None:
    check = check_settings(asked, held(mapreduce_job_reduces="2"), ["sort"])
    assert check is not None
    assert check.passed is passed
    assert check.detail.startswith(detail)


@pytest.mark.parametrize(("measured", "passed"), [("sort", True), ("gen", False), ("other", True)])
def test_a_setting_has_to_show_in_the_measured_phase(measured: str, passed: bool) -> None:
    one, none = ({"mapreduce.task.io.sort.mb": frozenset({Setting(value, None)})} for value in ("2", "100"))
    held = ReadBack({}, {"gen": none, "sort": one})
    check = check_settings({"mapreduce.task.io.sort.mb": "2"}, held, [measured])
    assert check is not None
    assert check.passed is passed


def test_a_setting_may_show_in_any_of_several_measured_phases() -> None:
    one, none = ({"mapreduce.task.io.sort.mb": frozenset({Setting(value, None)})} for value in ("2", "100"))
    held = ReadBack({}, {"gen-1": none, "sort-1": one, "sort-2": one})
    asked = {"mapreduce.task.io.sort.mb": "2"}
    assert check_settings(asked, held, ["sort-1", "sort-2"]) == check_settings(asked, held, ["sort-2"])
    right, wrong = check_settings(asked, held, ["sort-1", "sort-2"]), check_settings(asked, held, ["gen-1"])
    assert right is not None
    assert wrong is not None
    assert (right.passed, wrong.passed) == (True, False)


def test_what_the_job_client_computes_may_be_as_asked_in_any_phase() -> None:
    phases = {
        name: {"mapreduce.job.maps": frozenset({Setting(value, None)})} for name, value in (("gen", "4"), ("sort", "2"))
    }
    check = check_settings({"mapreduce.job.maps": "4"}, ReadBack({}, phases), ["sort"])
    assert check is not None
    assert check.passed


def test_what_the_job_client_computes_without_a_generator_is_no_contradiction() -> None:
    """Its data was made in the client, or is that of an earlier run."""
    count = {"mapreduce.job.maps": frozenset({Setting("10", None)})}
    assert check_settings({"mapreduce.job.maps": "2"}, ReadBack({}, {"count": count}), ["count"]) is None


def test_a_program_of_maps_alone_has_no_reduces_to_be_set() -> None:
    sort, join = ({"mapreduce.job.reduces": frozenset({Setting(value, None)})} for value in ("4", "0"))
    check = check_settings({"mapreduce.job.reduces": "4"}, ReadBack({}, {"sort": sort, "join": join}), ["join"])
    assert check is not None
    assert check.passed


def test_nothing_is_said_of_what_was_not_read_back() -> None:
    assert check_settings({}, held(mapreduce_job_reduces="2"), ["sort"]) is None
    assert check_settings({"mapreduce.job.reduces": "2"}, ReadBack({}, {}), ["sort"]) is None


def test_values_that_only_name_the_run_are_alike() -> None:
    def of(run: str, port: int, job: str, time: str) -> dict[str, list[str]]:
        sort = {
            "mapreduce.output.fileoutputformat.outputdir": f"hdfs://127.77.0.{port % 9}:{port}/howdah/{run}/output",
            "yarn.nodemanager.local-dirs": f"/home/{run}/node1,/home/{run}/node2",
            "mapreduce.job.dir": f"/staging/job_{job}",
            "mapreduce.job.cache.files.timestamps": time,
            "mapreduce.shuffle.port": str(port),
            "yarn.app.mapreduce.am.webapp.port-range": f"{port}-{port + 19}",
            "dfs.blocksize": "134217728",
        }
        settings = {key: frozenset({Setting(value, "programmatically")}) for key, value in sort.items()}
        return distinguishing(ReadBack({}, {"sort": settings}), {f"/home/{run}": "CLUSTER", run: "RUN"})

    first = of("20260101-terasort-aa", 20000, "1795281287389_0002", "1795281287389")
    assert first == of("20260102-terasort-bb", 31000, "1795299999999_0007", "1795299999999")
    assert first["sort/mapreduce.output.fileoutputformat.outputdir"] == ["hdfs://HOST:PORT/howdah/RUN/output"]
    assert first["sort/dfs.blocksize"] == ["134217728"]


def test_flags_of_daemons_tell_runs_apart_by_role() -> None:
    lines = frozenset(("-Xmx64m", f"-Djava.io.tmpdir=/home/a/{node}/tmp") for node in ("node1", "node2"))
    found = distinguishing(ReadBack({}, {}, {"datanode": lines}), {"/home/a": "CLUSTER"})
    assert found == {
        "daemons/jvm.datanode": [f"-Xmx64m -Djava.io.tmpdir=CLUSTER/{node}/tmp" for node in ("node1", "node2")]
    }


def test_defaults_do_not_tell_runs_apart() -> None:
    settings = {
        "a.default": frozenset({Setting("1", "hdfs-default.xml")}),
        "rpc.engine.some.Class": frozenset({Setting("x", "programmatically")}),
        "a.set": frozenset({Setting("2", "yarn-site.xml"), Setting("1", "yarn-default.xml")}),
    }
    assert distinguishing(ReadBack(settings, {}), {}) == {"daemons/a.set": ["2"]}


def test_is_read_from_the_run_directory(tmp_path: Path) -> None:
    for directory in ("conf/effective", "jobs"):
        (tmp_path / directory).mkdir(parents=True)
    for role, value in (("namenode", "1"), ("datanode-node1", "2")):
        record = {"a.b": {"value": value, "source": "core-site.xml"}}
        (tmp_path / f"conf/effective/{role}.json").write_text(json.dumps(record))
    (tmp_path / "jobs/job_1_1.json").write_text('{"phase": "sort"}')
    conf = tmp_path / "jobs/job_1_1_conf.xml"
    conf.write_text("<configuration><property><name>c</name><value>3</value></property></configuration>")
    found = read_back(tmp_path)
    assert {one.value for one in found.daemons["a.b"]} == {"1", "2"}
    assert found.jobs == {"sort": {"c": frozenset({Setting("3", None)})}}
    conf.write_text("<configuration>")
    with pytest.raises(Untrusted):
        read_back(tmp_path)
