"""Clusters in jobs of a batch system: a real Slurm over simulated hosts, and the commands of PBS on it."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from howdah.store import read_run
from tests.contract.test_host import wait_for
from tests.meters.curve import joules
from tests.slurm import Slurm, slurm
from tests.system.batch import Batch, hadoop, script
from tests.system.running import Howdah, processes_of
from tools.moosefs import ADDRESS, moosefs, mount_command

pytestmark = [
    pytest.mark.daemons,
    pytest.mark.skipif(os.geteuid() != 0, reason="simulated hosts are made by root"),
]
_HOSTS = ("n1", "n2", "n3")


@pytest.fixture(scope="module")
def batch(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    with slurm(tmp_path_factory.mktemp("slurm"), _HOSTS, energy=True) as system:
        yield Batch(system, howdah, tmp_path_factory.mktemp("batch"))


@pytest.mark.promise("The script that Howdah prints runs TeraSort inside a job of Slurm", "tutorial/slurm")
@pytest.mark.promise("`--meters slurm` measures the hosts of a job by Slurm's accounting", "how-to/energy")
def test_terasort_validates_in_the_script_that_howdah_prints(batch: Batch) -> None:
    text = batch("script", "--nodes", "3", "--time", "10m").ok().out
    meters = batch.directory / "meters.yaml"
    meters.write_text("meters: [{kind: slurm, interval: 1}]\n")
    job = batch.submit(text.replace("--size 1G", f"--size smoke --meters {meters}"))
    assert batch.system.wait_for_state(job, "COMPLETED", "FAILED", seconds=300) == "COMPLETED", batch.output(job)
    run = batch.last_run()
    assert run.outcome.kind == "valid"
    assert run.cluster["security"] == "authentication"
    assert run.cluster["allocation"]["hosts"] == list(_HOSTS)
    # Another job would have other hosts, and the same trial.
    assert run.trial.settings["cluster"]["allocation"] == {"kind": "slurm"}
    [whole] = [one for one in batch.last_energy()["stretches"] if one["phase"] is None]
    assert len(whole["totals"]) == 1, whole["missing"]
    [total] = whole["totals"]
    assert (total["domain"], total["side"], len(total["hosts"])) == ("node", "dc", 3)
    truth = 3 * joules(whole["start"], whole["end"])
    assert total["joules"] == pytest.approx(truth, abs=2 * total["half_width"])
    assert total["half_width"] < 0.1 * truth
    assert batch.left() == []


@pytest.mark.promise("A job that is cancelled leaves nothing on its hosts", "how-to/batch")
def test_a_job_that_is_cancelled_leaves_nothing_and_closes_its_run(batch: Batch) -> None:
    job = batch.submit(script(*hadoop("howdah run terasort --size 5G --cluster c", name="c")), "-N3", "-t10")
    batch.wait_for_words(job, "gen   ")
    assert len(batch.left()) > 10
    batch.system.run("scancel", job)
    batch.wait_until_clean()
    batch.system.wait_for_state(job, "CANCELLED", seconds=20)
    wait_for(lambda: batch.last_run().outcome.kind == "aborted")


@pytest.mark.promise("Before its time is up, a job's cluster ends, and its run is closed", "how-to/batch")
def test_before_the_time_is_up_the_run_is_closed_and_the_cluster_ended(batch: Batch) -> None:
    began = time.monotonic()
    # A run that does nothing, so that other tests have the processors meanwhile.
    job = batch.submit(script(*hadoop("howdah run command --run 'sleep 900' --cluster w", name="w")), "-N3", "-t10")
    batch.wait_for_words(job, "run   ")
    # So much is left, at least, as is needed to see that there is less.
    minutes = math.ceil((time.monotonic() - began + 75) / 60)
    batch.system.run("scontrol", "update", f"JobId={job}", f"TimeLimit={minutes}")
    # The script ends as its last line has failed, which is before Slurm would end it.
    assert batch.system.wait_for_state(job, "FAILED", "TIMEOUT", "COMPLETED", seconds=60 * minutes) == "FAILED"
    said = batch.output(job)
    assert "howdah: the hosts are taken away: walltime: " in said
    outcome = batch.last_run().outcome
    assert (outcome.kind, outcome.reason.partition(" are left")[1]) == ("aborted", " are left")
    batch.wait_until_clean()
    manifest = json.loads((batch.howdah.home / "clusters" / "w" / "cluster.json").read_text())
    assert manifest["state"] == "down"


@pytest.mark.promise("`--on slurm:nodes=N,time=T` submits a job, and `down` ends it", "reference/allocations")
def test_a_cluster_from_outside(batch: Batch) -> None:
    said = batch("up", "--name", "far", "--on", "slurm:nodes=2,time=10m", "--insecure").ok().out
    assert "waiting: job " in said
    job = json.loads(batch("jobs", "--json").ok().out)[0]
    assert (job["name"], job["runs"], job["hosts"]) == ("howdah-far", True, 2)
    assert f"job {job['id']}" in batch("status", "--name", "far").ok().out
    assert "Found " in batch("exec", "--name", "far", "--", "hdfs", "dfs", "-ls", "/").ok().out
    batch("down", "--name", "far").ok()
    assert batch.left() == []
    batch.system.wait_for_state(job["id"], "CANCELLED", "COMPLETED", "FAILED", seconds=10)
    assert json.loads(batch("jobs", "--json").ok().out) == []


@pytest.mark.promise("When the login node's Howdah is killed, the job ends and leaves nothing", "how-to/batch")
def test_a_supervisor_that_is_killed_takes_its_job_with_it(batch: Batch) -> None:
    on = "slurm:nodes=2,time=10m,exclusive=no,cpus=1,memory=6G"
    manifest = batch("up", "--name", "dies", "--on", on, "--insecure", "--json").json()
    assert manifest["sizing"]["slots"] == 1, "what the job was granted, not what the host has"
    assert manifest["sizing"]["node_mib"] < 6 << 10
    os.kill(manifest["supervisor"], signal.SIGKILL)
    batch.wait_until_clean()
    batch.system.wait_for_state(manifest["allocation"]["job"], "FAILED", "COMPLETED", seconds=20)
    assert "was not up" in batch("down", "--name", "dies").ok().out


@pytest.mark.promise("While a job waits, the queue's own words are shown", "how-to/batch")
def test_a_job_that_waits_is_cancelled_when_nobody_wants_it_any_more(batch: Batch) -> None:
    batch.system.run("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=test")
    try:
        output = batch.directory / "waiting"
        with output.open("w") as out:
            waiting = subprocess.Popen(
                (*Howdah.command, "up", "--name", "waits", "--on", "slurm:nodes=3,time=10m"),
                env={**os.environ, **batch.environment},
                stdout=out,
            )
        deadline = time.monotonic() + 30
        while "DRAINED" not in output.read_text().upper() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert "job " in output.read_text()
        assert "is pending, " in output.read_text()
        assert [one["runs"] for one in json.loads(batch("jobs", "--json").ok().out)] == [False]
        waiting.kill()
        waiting.wait()
        deadline = time.monotonic() + 15
        while json.loads(batch("jobs", "--json").ok().out):
            assert time.monotonic() < deadline
            time.sleep(0.3)
    finally:
        batch.system.run("scontrol", "update", "NodeName=n3", "State=RESUME")


@pytest.mark.promise("A host that cannot be what the site says is refused", "reference/site")
def test_a_scratch_directory_that_is_not_there_is_refused(batch: Batch) -> None:
    said = batch("up", "--name", "no", "--on", "slurm:nodes=2,time=10m,scratch=/no/such/place", "--insecure")
    assert said.code == 1
    assert "[n1] no directory /no/such/place that one can write to" in said.err
    assert "[n2] no directory /no/such/place that one can write to" in said.err
    assert json.loads(batch("jobs", "--json").ok().out) == []
    assert batch.left() == []


@pytest.mark.promise("A job that is too short for a cluster is refused, with the numbers", "how-to/batch")
def test_a_job_without_enough_time_is_refused(batch: Batch) -> None:
    said = batch("up", "--name", "short", "--on", "slurm:nodes=2,time=1m", "--insecure")
    if said.code == 0:  # It was fast enough in the jobs before.
        batch("down", "--name", "short").ok()
    left = batch.howdah.home / "clusters" / "times.json"
    left.write_text(json.dumps({"start": [100.0], "stop": [20.0]}))
    said = batch("up", "--name", "short", "--on", "slurm:nodes=2,time=2m", "--insecure")
    left.unlink()
    assert said.code == 1
    assert "140 s are needed: 100 s to start, 40 s to stop" in said.err


@pytest.mark.soak(part="batch")
@pytest.mark.promise("The script for PBS runs TeraSort with the commands of PBS", "tutorial/pbs")
def test_terasort_validates_with_the_commands_of_pbs(batch: Batch) -> None:
    text = batch("script", "pbs", "--nodes", "3", "--time", "10m").ok().out
    job = batch.submit(text.replace("--size 1G", "--size smoke"), command="qsub")
    batch.system.wait_for_state(job, "COMPLETED", "FAILED", seconds=300)
    assert batch.last_run().outcome.kind == "valid"
    assert batch.last_run().cluster["allocation"]["kind"] == "pbs"
    assert batch.left() == []


@pytest.mark.soak(part="batch")
def test_a_job_of_pbs_that_is_deleted_leaves_nothing(batch: Batch) -> None:
    program = Howdah.command[0]
    lines = (f"{program} up --name p --on pbs --insecure", f"{program} run terasort --size 5G --cluster p")
    job = batch.submit(script('cd "$PBS_O_WORKDIR"', *lines), "-l", "nodes=3,walltime=00:10:00", command="qsub")
    deadline = time.monotonic() + 120
    while not any("Dproc_nodemanager" in one for one in batch.left()):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    batch.system.run("qdel", job)
    batch.wait_until_clean()


@pytest.mark.soak(part="batch")
def test_a_cluster_from_outside_with_pbs(batch: Batch) -> None:
    batch("up", "--name", "far", "--on", "pbs:nodes=2,time=10m", "--insecure").ok()
    record = batch("run", "terasort", "--size", "smoke", "--cluster", "far", "--json").json()
    assert record["runs"][0]["run"]["outcome"]["kind"] == "valid"
    batch("down", "--name", "far").ok()
    assert batch.left() == []
    assert json.loads(batch("jobs", "pbs", "--json").ok().out) == []


@pytest.mark.soak(part="batch")
def test_terasort_validates_inside_salloc_and_outside(batch: Batch) -> None:
    program = Howdah.command[0]
    lines = (f"{program} up --name s --on slurm", f"{program} run terasort --size smoke --cluster s")
    command = f"{'; '.join(lines)}; {program} down --name s"
    batch.system.run("salloc", "-N3", "-t10", "bash", "-c", command, timeout=300, environment=batch.environment)
    assert batch.last_run().outcome.kind == "valid"
    assert batch.left() == []
    batch("run", "terasort", "--size", "smoke", "--on", "slurm:nodes=3,time=10m").ok()
    assert batch.last_run().outcome.kind == "valid"
    assert batch.left() == []


@pytest.mark.soak(part="batch")
@pytest.mark.promise("A job that is preempted leaves nothing, and begins again as a new one", "how-to/batch")
def test_a_job_that_is_preempted_and_requeued_begins_again(batch: Batch) -> None:
    lines = script(*hadoop("howdah run terasort --size 5G --cluster q", name="q"))
    job = batch.submit(lines, "-N3", "-t20", "--exclusive", "--requeue")
    batch.wait_for_words(job, "gen   ")
    first = batch.last_run().id
    urgent = batch.submit("#!/bin/bash\nsleep 30\n", "-N3", "-t5", "-p", "urgent", "--exclusive")
    wait_for(lambda: batch.last_run().outcome.kind == "aborted")
    batch.wait_until_clean()
    batch.system.wait_for_state(urgent, "COMPLETED", seconds=120)
    # Slurm lets a job that it has requeued wait for two minutes; its output is that of the last time.
    batch.system.wait_for_state(job, "RUNNING", seconds=300)
    batch.wait_for_words(job, "gen   ")
    again = batch.last_run()
    assert again.id != first
    assert again.outcome.kind == "running"
    batch.system.run("scancel", job)
    batch.wait_until_clean()


@pytest.mark.soak(part="batch")
@pytest.mark.promise("A host that is drained in the middle ends its work", "how-to/batch")
def test_a_host_that_is_drained_in_the_middle_ends_its_work(batch: Batch) -> None:
    job = batch.submit(script(*hadoop("howdah run terasort --size smoke --cluster d", name="d")), "-N3", "-t10")
    batch.wait_for_words(job, "gen   ")
    batch.system.run("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
    try:
        assert batch.system.wait_for_state(job, "COMPLETED", "FAILED", seconds=300) == "COMPLETED", batch.output(job)
    finally:
        batch.system.run("scontrol", "update", "NodeName=n2", "State=RESUME")
    assert batch.last_run().outcome.kind == "valid"
    batch.wait_until_clean()


@pytest.mark.soak(part="batch")
@pytest.mark.promise("The scheduler's names of hosts need not be the hosts' own", "how-to/batch")
@pytest.mark.promise("A site file says which network, disks, Java and limits jobs have", "how-to/administrators")
def test_hosts_with_other_names_and_a_site_file_that_says_all_of_them(howdah: Howdah, tmp_path: Path) -> None:
    with slurm(tmp_path / "slurm", ("m1", "m2"), called="rack7-{}") as system:
        batch = Batch(system, howdah, tmp_path)
        network = next(iter(system.addresses.values())).rpartition(".")[0]
        disks = [tmp_path / name for name in ("disk1", "disk2")]
        for disk in disks:
            disk.mkdir()
        java = Path(shutil.which("java") or "").resolve().parents[1]
        with batch.site.open("a") as site:
            site.write(f"network: {network}.0/24\ndisks: {json.dumps(list(map(str, disks)))}\njava: {java}\n")
            site.write("partitions: { short: { time: 15m, nodes: 2 } }\n")
        job = batch.submit(script(*hadoop("howdah run terasort --size smoke --cluster r", name="r")), "-N2", "-t10")
        batch.wait_for_words(job, "gen   ")
        plan = json.loads((batch.howdah.home / "clusters" / "r" / "cluster.json").read_text())["plan"]
        assert all(node["address"].startswith(f"{network}.") for node in plan["nodes"])
        assert all(list(disk.rglob("current/VERSION")) for disk in disks), "each has blocks"
        assert batch.system.wait_for_state(job, "COMPLETED", "FAILED", seconds=300) == "COMPLETED", batch.output(job)
        run = batch.last_run()
        assert run.outcome.kind == "valid"
        assert run.cluster["allocation"]["hosts"] == ["rack7-m1", "rack7-m2"]
        assert run.cluster["jdk"]["home"] == str(java)
        batch.wait_until_clean()
        assert not [file for disk in disks for file in disk.rglob("*") if file.is_file()]
        refused = batch("up", "--on", "slurm:nodes=3,time=20m,partition=short")
        assert refused.code == 2
        assert "partition short allows 15 min, and 20 min are wished" in refused.err


@pytest.mark.soak(part="batch")
def test_two_jobs_of_one_user_share_hosts(batch: Batch) -> None:
    for name in ("a", "b"):
        batch("up", "--name", name, "--on", "slurm:nodes=2,time=10m,exclusive=no", "--insecure").ok()
    first, second = (json.loads((batch.howdah.home / "clusters" / name / "cluster.json").read_text()) for name in "ab")
    hosts = [{node["host"] for node in one["plan"]["nodes"]} for one in (first, second)]
    assert hosts[0] & hosts[1]
    batch("down", "--name", "a").ok()
    assert "Found " in batch("exec", "--name", "b", "--", "hdfs", "dfs", "-ls", "/").ok().out
    batch("down", "--name", "b").ok()
    assert batch.left() == []


_TERAGEN = "'hadoop jar $HADOOP_HOME/share/hadoop/mapreduce/hadoop-mapreduce-examples-3*.jar teragen 10000000 /rows'"


@pytest.mark.soak(part="batch")
@pytest.mark.promise("A job that is cancelled leaves nothing on its hosts", "how-to/batch")
@pytest.mark.parametrize("moment", ["agents", "daemons", "stage", "down"])
def test_a_job_may_be_cancelled_at_any_moment(batch: Batch, tmp_path: Path, moment: str) -> None:
    program, name = Howdah.command[0], f"at-{moment}"
    use = f"{program} exec --name {name} -- sh -c {_TERAGEN}\n{program} stage out --name {name} /rows {tmp_path}/rows"
    up = f"{program} up --name {name} --on slurm --insecure"
    down = f"echo now; {program} down --name {name}"
    job = batch.submit(script(up, *([use] if moment == "stage" else []), down), "-N3", "-t10")
    reached: dict[str, Callable[[], object]] = {
        "agents": lambda: processes_of(batch.scratch),
        "daemons": lambda: any("Dproc_namenode" in one for one in processes_of(batch.scratch)),
        "stage": lambda: [*tmp_path.glob("rows/*")],
        "down": lambda: "now" in batch.output(job),
    }
    wait_for(reached[moment], seconds=200)
    batch.system.run("scancel", job)
    batch.wait_until_clean()
    assert batch.system.wait_for_state(job, "CANCELLED", "COMPLETED", seconds=60)
    assert name not in batch("status").out
    assert batch("down", "--name", name).code == 0
    copied = [one.stat().st_size for one in tmp_path.glob("rows/part-*")]
    assert set(copied) <= {500_000_000}, "files with their own names are whole"


@pytest.mark.soak(part="batch")
def test_a_script_that_ends_without_down_leaves_nothing(batch: Batch) -> None:
    job = batch.submit(script(f"{Howdah.command[0]} up --name e --on slurm --insecure"), "-N3", "-t10")
    batch.system.wait_for_state(job, "COMPLETED", seconds=120)
    batch.wait_until_clean()


@pytest.mark.soak(part="batch")
def test_a_host_that_slurm_loses_in_a_run_is_named(batch: Batch) -> None:
    job = batch.submit(
        script(*hadoop("howdah run terasort --size 2G --cluster l", name="l")), "-N3", "-t10", "--no-kill"
    )
    batch.wait_for_words(job, "gen   ")
    batch.system.run("scontrol", "update", "NodeName=n3", "State=DOWN", "Reason=test")
    try:
        batch.system.wait_for_state(job, "COMPLETED", "FAILED", seconds=400)
    finally:
        batch.system.run("scontrol", "update", "NodeName=n3", "State=RESUME", check=False)  # It is back by itself.
    run = batch.last_run()
    assert "datanode of node3 on n3 was lost at " in json.dumps([caveat.text for caveat in run.caveats])
    assert "taken away" not in str(run.outcome.reason)
    # Everything on that host was killed at once: what it left goes with the next cluster there.
    assert [Path(one).name for one in batch.left()] == ["l-n3"]
    batch("up", "--name", "next", "--on", "slurm:nodes=3,time=10m", "--insecure").ok()
    batch("down", "--name", "next").ok()
    assert batch.left() == []


@pytest.mark.soak(part="batch")
@pytest.mark.promise("`--stage-out` copies from HDFS before the time is up", "how-to/batch")
@pytest.mark.parametrize("program", ["run", "exec"])
def test_results_are_copied_before_the_time_is_up(batch: Batch, program: str) -> None:
    """Also while a program that knows nothing of Howdah has all containers, and fails as they are taken from it."""
    target = batch.directory / f"results-{program}"
    up, run = hadoop("howdah run terasort --size 20G --cluster o", name="o")
    if program == "exec":
        examples = "$HADOOP_HOME/share/hadoop/mapreduce/hadoop-mapreduce-examples-3*.jar"
        run = f"{Howdah.command[0]} exec --name o -- sh -c 'hadoop jar {examples} pi 50 2000000000' || true"
        run += f"\n{Howdah.command[0]} down --name o\nexit 1"
    put = f"{Howdah.command[0]} exec --name o -- hadoop fs -put {__file__} /results/tests/batch.py"
    make = f"{Howdah.command[0]} exec --name o -- hadoop fs -mkdir -p /results/tests"
    wishes = f"--stage-out /results={target} --stage-out /nothing={target}-2"
    began = time.monotonic()
    job = batch.submit(script(f"{up} {wishes}", make, put, run), "-N3", "-t10")
    batch.wait_for_words(job, "gen   " if program == "run" else " map 0% ")
    minutes = math.ceil((time.monotonic() - began + 180) / 60)
    batch.system.run("scontrol", "update", f"JobId={job}", f"TimeLimit={minutes}")
    assert batch.system.wait_for_state(job, "FAILED", "TIMEOUT", "COMPLETED", seconds=60 * minutes) == "FAILED"
    assert "the batch system takes the hosts away in " in batch.output(job)
    if program == "run":
        assert batch.last_run().outcome.kind == "aborted"
    batch.wait_until_clean()
    assert (target / "tests" / "batch.py").read_bytes() == Path(__file__).read_bytes()
    said = (batch.howdah.home / "clusters" / "o" / "logs" / "stage-out.log").read_text()
    assert "verified by COMPOSITE-CRC32C" in said
    assert "there are no files in /nothing of HDFS" in said


_EXPERIMENT = """\
question: Does the sort buffer matter?
workload: { terasort: { size: 1M } }
cluster: { on: slurm }
baseline: { protection: none }
factors: { mapreduce.task.io.sort.mb: [16, 32] }
stop: { min: 3, max: 3 }
"""


@pytest.mark.soak(part="batch")
@pytest.mark.promise("In the next job, an experiment goes on with a whole block", "how-to/batch")
def test_an_experiment_goes_on_in_the_next_job(batch: Batch) -> None:
    (batch.directory / "one.yaml").write_text(_EXPERIMENT)
    place, program = batch.directory / "one", Howdah.command[0]
    first = batch.submit(
        script(f"{program} experiment run {batch.directory}/one.yaml --out {place}"), "-N2", "-t20", "--constraint=low"
    )

    def runs() -> list[Any]:
        found = [read_run(one).run for one in sorted((place / "runs").iterdir())] if (place / "runs").exists() else []
        return [one for one in found if one.outcome.kind == "valid"]

    deadline = time.monotonic() + 400
    while len(runs()) < 3:  # One whole block, and half of the second.
        assert time.monotonic() < deadline, batch.output(first)
        time.sleep(0.2)
    batch.system.run("scontrol", "update", f"JobId={first}", "TimeLimit=1")
    assert batch.system.wait_for_state(first, "FAILED", "TIMEOUT", "COMPLETED", seconds=200) != "COMPLETED"
    batch.wait_until_clean()
    cut = {one.id for one in runs()}
    second = batch.submit(script(f"{program} experiment resume {place}"), "-N2", "-t20", "--constraint=high")
    assert batch.system.wait_for_state(second, "COMPLETED", "FAILED", seconds=600) == "COMPLETED", batch.output(second)
    found = batch("experiment", "status", str(place), "--json").json()["parts"][0]
    assert (found["runs"], found["outcomes"], found["finished"]) == (6, {"valid": 6}, True)
    where: dict[str, list[Any]] = {}
    for one in runs():
        where.setdefault(one.labels["block"], []).append(one.cluster["allocation"]["hosts"])
    assert where["0"] == [["n1", "n2"]] * 2
    assert where["1"][-2:] == where["2"] == [["n2", "n3"]] * 2
    assert len(cut) == len(where["0"]) + len(where["1"]) - 2
    assert batch("experiment", "report", str(place)).ok().out, "outside of every job"


@contextmanager
def mooses(system: Slurm, root: Path) -> Iterator[Path]:
    """MooseFS, mounted on the hosts of the batch system at the place that is yielded."""
    with moosefs(root, 1, copies=1) as there, ExitStack() as mounted:
        for pid in system.servers():
            # The network of MooseFS, and the mounts of the host.
            outer = ("nsenter", "-t", str(there.hosts[0].pid), "-n", "nsenter", "-t", str(pid), "-m")
            command = (*outer, *mount_command(there.mount, ADDRESS))
            client = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            mounted.callback(client.wait)
            mounted.callback(client.kill)
            inside = ("nsenter", "-t", str(pid), "-m")
            deadline = time.monotonic() + 30
            while subprocess.run((*inside, "mountpoint", "-q", str(there.mount)), check=False).returncode != 0:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        assert there.plain(0, "chmod", "755", str(there.mount)).returncode == 0  # At first everybody may write there.
        yield there.mount


@pytest.mark.soak(part="batch")
@pytest.mark.promise(
    "A persistent cluster survives two jobs on different hosts of a shared file system", "how-to/persist"
)
def test_data_stay_on_a_shared_file_system_from_one_job_to_the_next(
    batch: Batch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with mooses(batch.system, tmp_path_factory.mktemp("moosefs")) as mount:
        kept = f"{mount}/kept"
        for name, constraint in (("one", "low"), ("two", "high")):
            where = f"slurm:nodes=2,time=10m,constraint={constraint}"
            batch("up", "--name", name, "--on", where, "--insecure", "--persist", kept).ok()
            text = batch("exec", "--name", name, "--", "hdfs", "dfs", "-ls", "/").ok().out
            assert ("/data" in text) == (name == "two")
            if name == "one":
                batch("exec", "--name", name, "--", "hadoop", "fs", "-put", __file__, "/data").ok()
            else:
                assert (
                    batch("exec", "--name", name, "--", "hadoop", "fs", "-cat", "/data").ok().out
                    == Path(__file__).read_text()
                )
                assert "is HEALTHY" in batch("exec", "--name", name, "--", "hdfs", "fsck", "/").ok().out
            plan = json.loads((batch.howdah.home / "clusters" / name / "cluster.json").read_text())["plan"]
            assert [node["host"] for node in plan["nodes"]] == (["n1", "n2"] if name == "one" else ["n2", "n3"])
            if name == "one":  # As a job that is killed: its lock is there yet, and its job is not.
                manifest = json.loads((batch.howdah.home / "clusters" / name / "cluster.json").read_text())
                os.kill(manifest["supervisor"], signal.SIGKILL)
                batch.wait_until_clean()
            batch("down", "--name", name)
    assert batch.left() == []
