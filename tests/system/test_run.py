"""`howdah run`: what it keeps, what its options do, and what is made of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from howdah.hadoop.history.job_history import parse_history
from howdah.host.agent.machine import disks_below
from tests.system.kept import Kept, check_schemas
from tests.system.running import Howdah, Said
from tests.system.test_other_clusters import SMOKE, only

pytestmark = pytest.mark.daemons

PHASES = ("gen", "sort", "validate")
ROLES = ("namenode", "resourcemanager", "historyserver", "datanode", "nodemanager")
UNITS = {
    "job_seconds": ("s", "measured"),
    "client_seconds": ("s", "measured"),
    "client_start_seconds": ("s", "derived"),
    "cpu_seconds": ("s", "derived"),
    "client_cpu_seconds": ("s", "measured"),
    "container_memory_seconds": ("MB s", "measured"),
    "container_vcore_seconds": ("vcore s", "measured"),
}


@pytest.fixture(scope="module")
def answer(howdah: Howdah, cluster: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Two runs on `alpha`, with options of all kinds."""
    meters = tmp_path_factory.mktemp("meters") / "meters.yaml"
    meters.write_text("meters: [{ kind: simulated, idle: 90, busy: 240, interval: 0.5, accuracy: 1% }]\nidle: 6\n")
    options = (
        "--meters",
        str(meters),
        "--repeat",
        "2",
        "--maps",
        "3",
        "--reduces",
        "2",
        "--conf",
        "mapreduce.task.io.sort.mb=16",
    )
    run = howdah("run", "terasort", "--size", "smoke", "--cluster", "alpha", "--label", "who=test", *options, "--json")
    said: dict[str, Any] = run.json()
    return said


@pytest.fixture(scope="module")
def kept(answer: dict[str, Any]) -> Kept:
    return Kept(Path(answer["runs"][1]["path"]))


def test_the_runs_are_valid(answer: dict[str, Any], kept: Kept) -> None:
    assert [one["run"]["outcome"]["kind"] for one in answer["runs"]] == ["valid", "valid"]
    assert len({one["run"]["trial"]["identity"] for one in answer["runs"]}) == 1
    run = kept.record("run.json")
    assert [(phase["name"], phase["kind"]) for phase in run["phases"]] == [
        ("gen", "prepare"), ("sort", "run"), ("validate", "verify"),
    ]  # fmt: skip
    assert {check["name"]: check["passed"] for check in run["checks"]} == dict.fromkeys(
        ["order", "checksum", "length", "counted", "settings", "clock", "hadoop"], True
    )
    assert (run["dataset"]["rows"], run["dataset"]["bytes"], run["dataset"]["files"]) == (100_000, 10_000_000, 3)
    assert run["command"][:3] == ["howdah", "run", "terasort"]


@pytest.mark.promise("Replicates agree in every line of `readback.json`", "reference/run-directory")
def test_the_settings_of_the_run_were_read_back(answer: dict[str, Any]) -> None:
    for one in answer["runs"]:
        kept = Kept(Path(one["path"]))
        held = kept.record("readback.json")["held"]
        assert held["sort/mapreduce.task.io.sort.mb"] == ["16"]
        assert held["daemons/dfs.namenode.rpc-address"] == ["HOST:PORT"]
        [check] = [check for check in one["run"]["checks"] if check["name"] == "settings"]
        assert check["passed"]
        assert "mapreduce.task.io.sort.mb" in check["detail"]
    first, second = (Kept(Path(one["path"])).record("readback.json") for one in answer["runs"][:2])
    assert first == second, "replicates agree in every line"


@pytest.mark.promise("Every file holds its JSON Schema", "reference/run-directory")
def test_every_file_holds_its_schema(answer: dict[str, Any]) -> None:
    for one in answer["runs"]:
        check_schemas(Kept(Path(one["path"])))


@pytest.mark.promise("A run keeps job histories, series, configuration and environment", "reference/run-directory")
def test_the_directory_is_complete(kept: Kept, cluster: dict[str, Any]) -> None:
    names = {str(file.relative_to(kept.path)) for file in kept.path.rglob("*") if file.is_file()}
    assert {"run.json", "environment.json", "samples.jsonl", "report.html"} <= names
    assert {f"conf/{name}-site.xml" for name in ("core", "hdfs", "yarn", "mapred")} <= names
    nodes = [f"{role}-node{number}" for role in ("datanode", "nodemanager") for number in (1, 2, 3)]
    effective = {f"conf/effective/{name}.json" for name in (*ROLES[:3], *nodes)}
    assert {name for name in names if name.startswith("conf/effective/")} == effective
    assert {name for name in names if name.startswith("logs/")} == {f"logs/{phase}-client.log" for phase in PHASES}
    for job in kept.jobs():
        assert {f"jobs/{job['id']}.jhist", f"jobs/{job['id']}_conf.xml"} <= names
    assert kept.record("environment.json")["before"]["hadoop"]["jars"]


@pytest.mark.promise("The configuration of each live daemon is kept", "reference/run-directory")
def test_effective_values_are_those_of_each_daemon(kept: Kept, cluster: dict[str, Any]) -> None:
    for node in cluster["plan"]["nodes"]:
        said = kept.record(f"conf/effective/datanode-{node['name']}.json")
        assert said["dfs.datanode.address"]["value"] == f"{node['address']}:{node['ports']['datanode_data']}"


@pytest.mark.promise("Every sample has its unit and quality", "reference/run-directory")
def test_samples_say_what_they_are(kept: Kept) -> None:
    for metric, (unit, quality) in UNITS.items():
        found = kept.samples(metric)
        assert sorted(sample["phase"] for sample in found) == sorted(PHASES), metric
        assert {(sample["unit"], sample["quality"]) for sample in found} == {(unit, quality)}, metric
        assert all(sample["value"] > 0 for sample in found), metric
    assert {sample["role"] for sample in kept.samples("daemon_cpu_seconds")} == set(ROLES)
    assert {sample["phase"] for sample in kept.samples("throughput")} == {"gen", "sort"}
    assert len(kept.samples("probe_cpu_seconds")) == 1
    found, disks = kept.samples("bound_disk_write"), disks_below(str(kept.path))
    assert [sample["role"] for sample in found] == (
        ["machine"] if disks is None else ["+".join(disks)] if disks else []
    )
    assert all(sample["value"] > 1e6 for sample in found)
    registered = {metric["name"] for metric in kept.record("run.json")["metrics"]}
    assert {sample["metric"] for sample in kept.lines("samples.jsonl")} <= registered


@pytest.mark.promise(
    "`cpu_seconds` counts every process of the cluster, containers that were killed included", "CHANGELOG"
)
def test_cpu_is_that_of_all_processes(kept: Kept) -> None:
    for phase in PHASES:
        [whole] = [sample["value"] for sample in kept.samples("cpu_seconds") if sample["phase"] == phase]
        parts = [
            sample["value"]
            for metric in ("daemon_cpu_seconds", "client_cpu_seconds")
            for sample in kept.samples(metric)
            if sample["phase"] == phase
        ]
        assert whole == pytest.approx(sum(parts), abs=0.011)
        hadoops = kept.job(phase)["counters"]["org.apache.hadoop.mapreduce.TaskCounter"]["CPU_MILLISECONDS"]
        assert whole > hadoops / 1000, "Hadoop's own number leaves out JVM start and the master"


@pytest.mark.promise("The series have every daemon and container, once a second", "reference/run-directory")
def test_series_have_every_role_and_its_node(kept: Kept) -> None:
    [file] = (file for file in (kept.path / "series").glob("*.jsonl") if not file.name.startswith("power-"))
    header, *points = kept.lines(f"series/{file.name}")
    assert set(header["kinds"]) == {"machine", "disk", "network", "process"}
    assert {point["kind"] for point in points} == set(header["kinds"])
    processes = [point for point in points if point["kind"] == "process"]
    nodes = {role: {point.get("node") for point in processes if point["role"] == role} for role in ROLES}
    assert all(nodes[role] == {None} for role in ROLES[:3])
    assert all(nodes[role] == {"node1", "node2", "node3"} for role in ROLES[3:])
    containers = [point for point in processes if point["role"] == "container"]
    assert {point["node"] for point in containers} <= {"node1", "node2", "node3"}
    assert any(point.get("container", "").startswith("container_") for point in containers)
    assert any(point["role"] == "client" for point in processes)
    about_host = [point for point in points if point["kind"] != "process"]
    assert not any("node" in point for point in about_host), "the kernel's counters are the host's, never a node's"
    times = [point["monotonic"] for point in points if point["kind"] == "machine"]
    assert len(times) > 10
    assert sorted(times) == times


@pytest.mark.promise(
    "A run with a meter has energy everywhere it belongs, and says that it is simulated", "how-to/energy"
)
def test_energy(howdah: Howdah, kept: Kept) -> None:
    record = kept.record("energy.json")
    [meter] = record["meters"]
    assert (meter["quality"], meter["problem"], meter["readings"] > 20) == ("simulated", None, True)
    whole = {one["phase"]: one for one in record["stretches"]}[None]
    [total] = whole["totals"]
    seconds = whole["end"] - whole["start"]
    assert 90 * seconds < total["joules"] < 240 * seconds
    [energy] = [one for one in kept.samples("energy") if one["phase"] is None]
    assert (energy["value"], energy["quality"], energy["role"]) == (total["joules"], "simulated", "node")
    assert len(kept.samples("mean_power")) == len(kept.samples("energy"))
    assert record["idle"]["seconds"] == pytest.approx(6, abs=1)
    assert record["level"]["level"] == 0
    said = howdah("energy", str(kept.path)).out
    assert "Simulated, measured by nothing: " in said
    page = (kept.path / "report.html").read_text(encoding="utf-8")
    assert "Simulated, measured by nothing" in page
    assert "hosts, simulated" in page, "in the timeline"
    assert "energy@node" in page


@pytest.mark.promise("The job history is kept as Hadoop wrote it", "reference/run-directory")
def test_histories_are_as_hadoop_wrote_them(kept: Kept) -> None:
    for job in kept.jobs():
        parsed = parse_history((kept.path / "jobs" / f"{job['id']}.jhist").read_bytes())
        assert (parsed.id, parsed.state, parsed.finish) == (job["id"], "SUCCEEDED", job["finish"])
        assert job["application"]["memory_seconds"] > 0


@pytest.mark.promise("`howdah logs JOB` lists the logs of a job's containers, and shows them", "tutorial/first-cluster")
def test_logs_of_a_job_are_listed_and_shown(howdah: Howdah, kept: Kept) -> None:
    job = kept.job("gen")["id"]
    lines = howdah("logs", "--name", "alpha", job).ok().out.splitlines()
    containers = {line.split()[0] for line in lines if " syslog " in line}
    assert len(containers) >= 3, lines
    said = howdah("logs", "--name", "alpha", min(containers), "-n", "100000").ok().out
    assert f"syslog of {min(containers)} on node" in said
    assert "MRAppMaster" in said, "the first container is the master's"
    gone = howdah("logs", "--name", "alpha", "job_1_0001")
    assert (gone.code, "no node has logs of job_1_0001" in gone.err) == (2, True)


def test_options_take_effect(kept: Kept) -> None:
    def attempts(phase: str, kind: str) -> int:
        return sum(attempt["kind"] == kind for attempt in kept.job(phase)["attempts"])

    assert attempts("gen", "map") == 3
    assert attempts("sort", "reduce") == 2
    assert [kept.setting(phase, "mapreduce.task.io.sort.mb") for phase in PHASES] == ["16"] * 3


@pytest.mark.promise("Every run is kept in `~/.howdah/runs`, and `howdah runs` and `howdah show` list it", "README")
def test_show_and_runs(howdah: Howdah, answer: dict[str, Any], kept: Kept) -> None:
    name = kept.path.name
    assert name in howdah("show").ok().out, "the latest is shown"
    assert name in json.dumps(howdah("show", name, "--json").json())
    listed = howdah("runs", "--json").json()
    found = [one for one in listed if one["labels"] == {"who": "test"}]
    assert [one["path"] for one in found] == [one["path"] for one in answer["runs"]]
    assert {one["outcome"] for one in found} == {"valid"}
    assert name in howdah("runs").ok().out
    assert howdah("show", "no-such-run").code == 2


@pytest.mark.promise("`howdah report` writes HTML, Markdown or JSON, and replaces only its own pages", "README")
def test_reports(howdah: Howdah, answer: dict[str, Any], tmp_path: Path) -> None:
    assert Path(answer["report"]).read_text(encoding="utf-8").lstrip().startswith("<!")
    names = [Path(one["path"]).name for one in answer["runs"]]
    for ending in ("html", "md", "json"):
        target = tmp_path / f"report.{ending}"
        howdah("report", *names, "-o", str(target)).ok()
        howdah("report", *names, "-o", str(target)).ok()
        text = target.read_text(encoding="utf-8")
        assert all(name in text for name in names)
        assert target.suffix != ".json" or json.loads(text)
        target.write_text("mine\n")
        assert howdah("report", *names, "-o", str(target)).code == 2, "a file that is no page of Howdah stays"
        assert target.read_text(encoding="utf-8") == "mine\n"
    assert howdah("report", names[0], "-o", str(tmp_path / "report.pdf")).code == 2


@pytest.mark.promise("`compare` says `not enough data` with too few runs on a side", "tutorial/first-cluster")
def test_one_against_one_is_not_enough(howdah: Howdah, answer: dict[str, Any]) -> None:
    first, second = (Path(one["path"]).name for one in answer["runs"])
    assert "Not enough data" in howdah("compare", first, second).ok().out
    assert "not enough data" in json.dumps(howdah("compare", first, second, "--json").json())


@pytest.mark.soak(part="jobs")
def test_a_reduce_may_have_more_input_than_heap(howdah: Howdah, tmp_path: Path) -> None:
    """With the tuned defaults and Hadoop's own shuffle, which may take a quarter more memory than it is told."""
    small = ("--without", "container-sizes", "--conf", "mapreduce.reduce.memory.mb=640")
    said = howdah(
        *("run", "terasort", "--size", "1500M", "--maps", "6", "--reduces", "1", *small),
        *("--no-calibration", "--out", str(tmp_path), "--json"),
        timeout=400,
    ).json()
    [one] = said["runs"]
    assert one["run"]["outcome"]["kind"] == "valid"
    assert not [caveat for caveat in one["run"]["caveats"] if "were run again" in caveat["text"]]


@pytest.mark.promise("A wrong option, value or file ends with 2 before anything is started", "reference/exit-codes")
def test_wrong_requests_start_nothing(howdah: Howdah, cluster: dict[str, Any]) -> None:
    before = len(howdah("runs", "--json").json())
    on_alpha = ("--cluster", "alpha")
    for arguments, meant in (
        (("run", "terrasort"), "Did you mean terasort"),
        (("run", "terasort", "--size", "1X", *on_alpha), "1X"),
        (("run", "terasort", "--size", "0", *on_alpha), "0"),
        (("run", "terasort", "--conf", "mapreduce.task.io.sort.bm=1", *on_alpha), "mapreduce.task.io.sort.mb"),
        (("run", "terasort", "--conf", "mapreduce.map.memory.mb=999999", *on_alpha), "mapreduce.map.memory.mb"),
        (("run", "terasort", "--size", "900T", *on_alpha), "free"),
        (("rnu",), "Did you mean run"),
    ):
        said = howdah(*arguments)
        assert (said.code, meant in said.err) == (2, True), f"{arguments}: {said.code} {said.err}"
    assert len(howdah("runs", "--json").json()) == before


@pytest.mark.promise("A run leaves no data on the cluster", "how-to/existing-cluster")
def test_nothing_of_a_run_stays_in_the_storage(on: Callable[..., Said], answer: dict[str, Any]) -> None:
    assert on("hdfs", "dfs", "-ls", "/howdah").ok().out == ""


@pytest.mark.promise("A number that could not be measured is absent, never 0", "README")
@pytest.mark.promise("No daemon of the cluster is started, stopped or restarted", "how-to/existing-cluster")
@pytest.mark.promise("Each measurement that is missing there is a caveat of the run", "how-to/existing-cluster")
def test_a_cluster_that_howdah_did_not_start(howdah: Howdah, cluster: dict[str, Any], tmp_path: Path) -> None:
    conf = tmp_path / "conf"
    conf.mkdir()
    for file in (howdah.home / "clusters" / "alpha" / "conf").glob("*.*"):
        shutil.copy(file, conf)
    kept = only(howdah(*SMOKE, "--cluster", f"conf:{conf}"))
    run = kept.record("run.json")
    about = {"kind": "conf", "conf": str(conf), "hadoop": {"version": "3.4.2"}, "nodes_running": 3}
    assert run["cluster"] == about
    metrics = {sample["metric"] for sample in kept.lines("samples.jsonl")}
    assert {"job_seconds", "client_cpu_seconds", "container_memory_seconds"} <= metrics
    assert not metrics & {"cpu_seconds", "daemon_cpu_seconds", "bound_disk_write"}, "missing is missing"
    caveats = [(caveat["about"], caveat["text"]) for caveat in run["caveats"]]
    assert any(about == "run" and "out of reach" in text for about, text in caveats)
    assert [about for about, text in caveats if "cpu_seconds is missing" in text] == ["gen", "sort", "validate"]
    [file] = (kept.path / "series").glob("*.jsonl")
    assert {point["role"] for point in kept.lines(f"series/{file.name}")[1:]} == {"machine", "client", "probe"}
    effective = {file.stem for file in (kept.path / "conf" / "effective").iterdir()}
    assert effective == {"namenode", "resourcemanager", "historyserver"}
    [status] = howdah("status", "--name", "alpha", "--json").json()
    assert status["daemons"] == cluster["daemons"], "nothing was restarted"
    assert status["lost"] == []
