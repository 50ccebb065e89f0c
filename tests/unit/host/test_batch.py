"""What batch systems print, and what becomes of it; nobody is taken for something in silence."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howdah.errors import HostProblem
from howdah.host.batch import BATCH_SYSTEMS, batch_system_here, pbs, slurm, states
from howdah.host.batch.pbs import Pbs, parse_qstat, read_nodefile
from howdah.host.batch.slurm import Slurm
from howdah.spec.jobs import JobWish

_GOLDEN = Path(__file__).parents[2] / "golden" / "batch"
_LISTS = [line.split("\t")[:3] for line in (_GOLDEN / "hostlists.tsv").read_text().splitlines()]
_SLURM_CONF = "ClusterName=c\nSlurmctldHost=here\nNodeName=a\nPartitionName=p Nodes=ALL\n"

Say = Callable[..., None]


@pytest.fixture
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """Lets a command print a text, and end with a code; what it is given and asked is in a file of its name."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")

    def one(command: str, text: str, code: int = 0, error: str = "") -> None:
        (tmp_path / f"{command}.out").write_text(text)
        (tmp_path / f"{command}.err").write_text(error)
        file = place / command
        asked = f'echo "$*" >> {tmp_path}/{command}.asked'
        file.write_text(
            f"#!/bin/sh\n{asked}\ncat {tmp_path}/{command}.out\ncat {tmp_path}/{command}.err >&2\nexit {code}\n"
        )
        file.chmod(0o755)

    return one


def line(*, state: str = "RUNNING", left: str = "1:00:00", nodes: str = "2", reason: str = "None") -> str:
    """What `squeue` prints of job 7."""
    return f"7|{state}|{left}|{nodes}|N/A|n[1-2]|howdah-c|NO|{reason}\n"


def test_a_job_that_runs(says: Say) -> None:
    says("squeue", line(left="1-02:03:04"))
    seen = Slurm().look("7")
    assert seen is not None
    assert (seen.runs, seen.hosts, seen.name, seen.reason, seen.shared) == (True, 2, "howdah-c", None, False)
    assert seen.seconds_left == 26 * 3600 + 3 * 60 + 4


def test_a_job_that_waits_says_why_and_until_when(says: Say) -> None:
    says("squeue", "7|PENDING|2:00|4|2026-11-30T04:00:00||howdah-c|OK|(Nodes required are DOWN|DRAINED)\n")
    seen = Slurm().look("7")
    assert seen is not None
    assert (seen.runs, seen.expected, seen.seconds_left) == (False, "2026-11-30T04:00:00", None)
    assert seen.reason == "(Nodes required are DOWN|DRAINED)"


@pytest.mark.parametrize(
    "state", ["COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "COMPLETING"]
)
def test_a_job_that_has_ended_is_none(says: Say, state: str) -> None:
    says("squeue", line(state=state))
    assert Slurm().look("7") is None


def test_a_job_that_nobody_knows_is_none(says: Say) -> None:
    says("squeue", "", 1, "slurm_load_jobs error: Invalid job id specified\n")
    says("scancel", "", 1, "scancel: error: Kill job error on job id 7: Invalid job id specified\n")
    assert Slurm().look("7") is None
    Slurm().cancel("7")
    with pytest.raises(HostProblem, match="Slurm knows no job 7"):
        Slurm().hosts("7")


@pytest.mark.parametrize("text", ["UNLIMITED", "NOT_SET", "INVALID", "N/A"])
def test_no_limit_is_none(says: Say, text: str) -> None:
    says("squeue", line(left=text))
    seen = Slurm().look("7")
    assert seen is not None
    assert seen.seconds_left is None


@given(st.integers(0, 30), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_times_of_slurm_are_read(days: int, hours: int, minutes: int, seconds: int) -> None:
    whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    text = f"{minutes:02}:{seconds:02}"
    if days or hours:
        text = f"{hours:02}:{text}"
    if days:
        text = f"{days}-{text}"
    assert slurm.seconds_of(text) == whole


@pytest.mark.promise("A batch system that does not answer as expected is quoted", "reference/allocations")
@pytest.mark.parametrize("printed", ["7|RUNNING\n", "Welcome to the cluster!\n", line(nodes="many"), line(left="soon")])
def test_what_nobody_expected_is_quoted(says: Say, printed: str) -> None:
    says("squeue", printed)
    with pytest.raises(HostProblem, match="printed what Howdah cannot read: ") as caught:
        Slurm().look("7")
    assert printed.split("|", maxsplit=1)[0].strip()[:7] in str(caught.value) or "soon" in str(caught.value)


def test_a_command_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for system, command in ((Slurm(), "squeue"), (Pbs(), "qstat")):
        with pytest.raises(HostProblem, match=f"there is no `{command}` here") as caught:
            system.look("7")
        assert "login nodes" in str(caught.value)
    with pytest.raises(HostProblem, match="neither Slurm's"):
        batch_system_here()


def test_a_command_that_hangs_is_given_up(says: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "_COMMAND_SECONDS", 0.3)
    (tmp_path / "bin" / "squeue").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "bin" / "squeue").chmod(0o755)
    with pytest.raises(HostProblem, match=r"`squeue .*` has not answered within 0 s"):
        Slurm().look("7")


def test_a_command_that_fails_is_quoted(says: Say) -> None:
    says("sbatch", "", 1, "sbatch: error: Batch job submission failed: Invalid account\n")
    with pytest.raises(HostProblem, match=r"failed with code 1: sbatch: error: .*Invalid account"):
        Slurm().submit(JobWish(2, 600), "howdah-c", "#!/bin/sh\n", "/dev/null")
    says("sbatch", "Submitted batch job 7\n")
    with pytest.raises(HostProblem, match="cannot read: Submitted batch job 7"):
        Slurm().submit(JobWish(2, 600), "howdah-c", "#!/bin/sh\n", "/dev/null")


def test_what_is_wished_reaches_sbatch(says: Say, tmp_path: Path) -> None:
    says("sbatch", "7;cluster\n")
    wish = JobWish(4, 5430, "short", "p1", "high", "r", "ib&ssd", exclusive=False)
    assert Slurm().submit(wish, "howdah-c", "#!/bin/sh\n", "/tmp/o") == "7"
    assert (tmp_path / "sbatch.asked").read_text().split() == [
        *("--parsable", "--no-requeue", "--job-name=howdah-c", "--output=/tmp/o", "--nodes=4", "--ntasks-per-node=1"),
        *(
            "--time=91",
            "--no-kill",
            "--partition=short",
            "--account=p1",
            "--qos=high",
            "--reservation=r",
            "--constraint=ib&ssd",
        ),
    ]
    assert {"--exclusive", "--mem=0"} <= set(slurm.options(JobWish(1, 60)))
    part = slurm.options(JobWish(1, 60, exclusive=False, cpus=4, memory="8G"))
    assert {"--cpus-per-task=4", "--mem=8G"} <= set(part)
    assert "--exclusive" not in part


@pytest.mark.promise("Host lists are expanded by Slurm, and their number is checked", "reference/allocations")
@pytest.mark.skipif(shutil.which("scontrol") is None, reason="Slurm is not installed")
@pytest.mark.parametrize(("kind", "expression", "expanded"), _LISTS, ids=lambda text: text[:40])
def test_host_lists_of_others(
    says: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, expression: str, expanded: str
) -> None:
    (tmp_path / "slurm.conf").write_text(_SLURM_CONF)
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "slurm.conf"))
    hosts = tuple(expanded.split(",")) if kind == "slurm" else ("one",)
    says("squeue", f"7|RUNNING|1:00|{len(hosts)}|N/A|{expression}|howdah-c|NO|None\n")
    if kind == "slurm-bad" or "]n" in expression:  # Slurm itself does not take that, and ends with 0.
        with pytest.raises(HostProblem, match=f"job 7 has {len(hosts)} nodes"):
            Slurm().hosts("7")
    else:
        assert Slurm().hosts("7") == hosts


@pytest.mark.parametrize("names", ["n1", "n1\nn1", "n1\nn2\nn3", "n[1-2]\nn3", ""])
def test_names_that_are_not_as_many_as_hosts_are_refused(says: Say, names: str) -> None:
    says("squeue", line())
    says("scontrol", f"{names}\n")
    with pytest.raises(HostProblem, match="job 7 has 2 nodes, and `scontrol show hostnames ") as caught:
        Slurm().hosts("7")
    assert "--on hosts:node1,node2" in str(caught.value)


def test_older_ones_do_not_know_overlap(says: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    says("srun", "slurm 20.02.7\n")
    assert "--overlap" not in Slurm().step("7", ("n1",), "python3", "pass")
    says("srun", "slurm-wlm 22.05.8\n")
    assert "--overlap" in Slurm().step("7", ("n1", "n2"), "python3", "pass")
    monkeypatch.setenv("SLURM_MEM_PER_NODE", "8192")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    asked = Slurm().step("7", ("n1", "n2"), "python3", "pass")
    assert "HOWDAH_SLURM_MEM_PER_NODE=8192" in asked, "srun is not to see it, and the agents are"
    assert "HOWDAH_SLURM_MEM_PER_NODE=$SLURM_MEM_PER_NODE" in Slurm().whole_job("python3", "pass")
    # From outside of it, Slurm tells its memory.
    for said, variables in (
        ("JobId=8 MinCPUsNode=1 MinMemoryNode=4G MinTmpDiskNode=0", ("4096", "")),
        ("JobId=8 MinMemoryCPU=1500M Features=", ("", "1500")),
        ("JobId=8 MinMemoryNode=0 Features=", ("", "")),
    ):
        says("scontrol", said + "\n")
        asked = Slurm().step("8", ("n1", "n2"), "python3", "pass")
        assert f"HOWDAH_SLURM_MEM_PER_NODE={variables[0]}" in asked
        assert f"HOWDAH_SLURM_MEM_PER_CPU={variables[1]}" in asked
    monkeypatch.delenv("SLURM_JOB_ID")
    says("srun", "what?\n")
    with pytest.raises(HostProblem, match="cannot read: what"):
        Slurm().step("7", ("n1",), "python3", "pass")


def test_qstat_wraps_long_values() -> None:
    jobs = dict(parse_qstat((_GOLDEN / "qstat-openpbs.txt").read_text()))
    assert list(jobs) == ["12.head", "13.head", "14.head"]
    assert jobs["12.head"]["exec_host"].endswith("+i15n14-with-a-long-name-that-makes-a-line-wrapped/0*16")
    assert jobs["12.head"]["Resource_List.walltime"] == "02:00:00"
    assert jobs["13.head"]["comment"] == "Not Running: Insufficient amount of resource: ncpus"


def test_jobs_of_pbs(says: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PBS_JOBID", raising=False)
    monkeypatch.setenv("LOGNAME", "ann")
    says("qstat", (_GOLDEN / "qstat-openpbs.txt").read_text())
    running, queued = Pbs().own_jobs()
    assert (running.runs, running.hosts, running.seconds_left) == (True, 3, 7200 - 630)
    assert (queued.runs, queued.state, queued.expected) == (False, "queued", "Mon Nov 30 04:00:00 2026")
    assert queued.reason == "Not Running: Insufficient amount of resource: ncpus"
    assert Pbs().hosts("12.head") == ("i15n12", "i15n13", "i15n14-with-a-long-name-that-makes-a-line-wrapped")


def test_several_chunks_on_one_host_are_one_host(says: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PBS_JOBID", raising=False)
    says("qstat", (_GOLDEN / "qstat-openpbs.txt").read_text().replace("nodect = 3", "nodect = 6"))
    seen = Pbs().look("12.head")
    assert seen is not None
    assert seen.hosts == 3


def test_jobs_of_others_are_not_looked_at(says: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    text = (_GOLDEN / "qstat-openpbs.txt").read_text()
    says("qstat", f"{text}Job Id: 15.head\n    Job_Name = strange\n    Job_Owner = bob@head\n")
    assert len(Pbs().own_jobs()) == 2


@pytest.mark.parametrize("code", [153, 35])
def test_a_job_that_pbs_does_not_know_is_none(says: Say, code: int) -> None:
    says("qstat", "", code, "qstat: Unknown Job Id 7.head\n")
    says("qdel", "", code, "qdel: Unknown Job Id 7.head\n")
    assert Pbs().look("7.head") is None
    Pbs().cancel("7.head")


@pytest.mark.promise("A PBS_NODEFILE names each host once, however many slots it has", "reference/allocations")
def test_a_file_of_nodes(says: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "nodes"
    file.write_text("gpu-1-7\n" * 4 + "gpu-2-8.cluster.org\n" * 4 + "\n")
    job = "Job Id: 7.head\n    job_state = R\n    Resource_List.nodect = 2\n    exec_host = {}\n"
    says("qstat", job.format("gpu-1-7/0*4+gpu-2-8/0*4"))
    monkeypatch.setenv("PBS_JOBID", "7.head")
    monkeypatch.setenv("PBS_NODEFILE", str(file))
    assert Pbs().hosts("7.head") == ("gpu-1-7", "gpu-2-8.cluster.org")
    says("qstat", job.format("gpu-1-7/0*4+gpu-2-8/0*4+gpu-2-9/0*4"))
    with pytest.raises(
        HostProblem, match="has the hosts gpu-1-7 gpu-2-8 gpu-2-9, and PBS_NODEFILE names gpu-1-7 gpu-2"
    ):
        Pbs().hosts("7.head")
    file.unlink()
    with pytest.raises(HostProblem, match="cannot be read: No such file") as caught:
        Pbs().hosts("7.head")
    assert "first host" in str(caught.value)


@pytest.mark.parametrize("text", ["", "\n\n", "<html>\n", "node1 slots=4\n", "-oProxyCommand=x\n"])
def test_a_file_that_holds_no_names_is_refused(text: str) -> None:
    with pytest.raises(HostProblem, match="does not hold names of hosts"):
        read_nodefile(text, "PBS_NODEFILE")


def test_what_pbs_has_no_option_for_is_refused() -> None:
    assert pbs.options(JobWish(3, 3661, "q", "p")) == ("-l", "nodes=3,walltime=01:01:01", "-q", "q", "-A", "p")
    with pytest.raises(HostProblem, match="`qsub` has no option for qos and exclusive"):
        pbs.options(JobWish(3, 60, qos="high", exclusive=True))


def test_the_script_is_given_to_qsub_in_a_file_that_is_gone(says: Say, tmp_path: Path) -> None:
    says("qsub", "7.head\n")
    command = tmp_path / "bin" / "qsub"
    command.write_text(
        f'#!/bin/sh\nfor last; do :; done\necho "$*" > {tmp_path}/asked; stat -c %a "$last"; '
        f'cp "$last" {tmp_path}/given; echo 7.head\n'
    )
    with pytest.raises(HostProblem, match=r"cannot read: 600 7\.head"):
        Pbs().submit(JobWish(2, 60), "howdah-c", "#!/bin/sh\ntrue\n", "/tmp/o")
    assert (tmp_path / "given").read_text() == "#!/bin/sh\n#PBS -r n\ntrue\n"
    assert "-j oe -o /tmp/o" in (tmp_path / "asked").read_text()


def test_which_job_one_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLURM_JOB_ID", "PBS_JOBID"):
        monkeypatch.delenv(name, raising=False)
    assert {kind: system.current() for kind, system in BATCH_SYSTEMS.items()} == {"slurm": None, "pbs": None}
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    assert BATCH_SYSTEMS["slurm"].current() == "7"
