"""Hosts of a batch job, from a batch system by hand: what it says while a job waits, and when it is too busy."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from howdah.cluster.allocation.batch import BatchAllocation, which_job
from howdah.cluster.allocation.pbs import PbsAllocation
from howdah.cluster.request import Links
from howdah.errors import HostProblem, NoAnswer, UsageError
from howdah.hadoop.configuration.plan import Quarters
from howdah.host import Host
from howdah.host.batch import BatchJob
from howdah.host.launch.ssh import SshLauncher
from howdah.spec.jobs import JobHosts, JobWish
from howdah.spec.site import Site

WAITS = BatchJob("7", "howdah-c", "PENDING", runs=False, hosts=2, reason="Resources", expected="2026-11-30T15:00:00")
RUNS = BatchJob("7", "howdah-c", "RUNNING", runs=True, hosts=2, seconds_left=600.0)


class System:
    """A batch system that answers one after the other, and then the same again."""

    kind = "slurm"

    def __init__(self, *answers: BatchJob | HostProblem | None) -> None:
        self._answers = list(answers)

    def current(self) -> str | None:
        return None

    def look(self, job: str) -> BatchJob | None:
        assert job == "7"
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, HostProblem):
            raise answer
        return answer


class Allocation(BatchAllocation):
    system: Any = System(None)

    def _reach(self, job: BatchJob) -> tuple[str, ...]:
        return ()

    def _open_there(self, name: str) -> Host:
        raise AssertionError(name)

    def _end_agents(self) -> None:
        """There are none."""

    def _program(self, python: str) -> Sequence[str]:
        return (python,)


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def made(slept: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Allocation]:
    monkeypatch.setenv("HOWDAH_HOME", str(tmp_path))

    def make(*answers: BatchJob | HostProblem | None) -> Allocation:
        one = Allocation(JobHosts(JobWish(2, 600)), Site(), Links(), None)
        one.system = System(*answers)
        one._sleep = slept.append  # type: ignore[assignment]
        one._described["cluster"] = "c"
        return one

    return make


def test_a_waiting_job_says_why_and_when(made: Callable[..., Allocation]) -> None:
    said: list[str] = []
    assert made(WAITS, RUNS)._wait_for_hosts(WAITS, said.append) == RUNS
    assert said[0] == "job 7 is pending, Resources, expected at 2026-11-30T15:00:00"


@pytest.mark.promise("A job that its queue can never run is refused", "how-to/batch")
def test_a_job_that_can_never_run_is_an_error(made: Callable[..., Allocation]) -> None:
    never = replace(WAITS, reason="PartitionTimeLimit")
    words = r"job 7 asks for more than its queue allows \(PartitionTimeLimit\), and would wait for ever"
    with pytest.raises(HostProblem, match=words):
        made(never)._wait_for_hosts(WAITS, lambda _: None)


def test_looks_at_a_waiting_job_become_rare(made: Callable[..., Allocation], slept: list[float]) -> None:
    made(*[WAITS] * 20, RUNS)._wait_for_hosts(WAITS, lambda _: None)
    assert slept[:3] == [0.2, 0.4, 0.8]
    assert max(slept) == 5.0


def test_a_job_that_ends_while_it_waits_is_an_error_that_names_its_output(
    made: Callable[..., Allocation], tmp_path: Path
) -> None:
    with pytest.raises(HostProblem, match=r"job 7 has ended before it ran. It has written nothing to \S+/job.log"):
        made(None)._wait_for_hosts(WAITS, lambda _: None)
    log = tmp_path / "clusters" / "c" / "job.log"
    log.parent.mkdir(parents=True)
    log.write_text("no python3")
    with pytest.raises(HostProblem, match=f"Its output is in {log}"):
        made(None)._wait_for_hosts(WAITS, lambda _: None)


def test_a_batch_system_that_is_too_busy_is_asked_again(made: Callable[..., Allocation], slept: list[float]) -> None:
    said: list[str] = []
    assert made(NoAnswer("squeue hangs"), RUNS)._wait_for_hosts(WAITS, said.append) == RUNS
    assert said[-1] == "squeue hangs"
    assert slept[-1] == 5.0


def test_agents_do_not_come_from_a_job_that_has_ended(made: Callable[..., Allocation]) -> None:
    one = made(None)
    one._job = RUNS
    assert "job 7 has ended" in (one._job_gone() or "")
    busy = made(NoAnswer("squeue hangs"))
    busy._job = RUNS
    assert busy._job_gone() is None, "they may come all the same"


def test_without_a_job_the_error_says_how_to_get_one() -> None:
    with pytest.raises(UsageError, match="this is not inside a job") as raised:
        which_job(cast("Any", System(None)), None, Links())
    assert "--on slurm:nodes=4,time=2h" in str(raised.value.hint)
    with pytest.raises(UsageError, match="there is no job 7, or it has ended"):
        which_job(cast("Any", System(None)), "job=7", Links())


@pytest.mark.promise("It is an error if a job has another number of hosts than it says", "reference/allocations")
@pytest.mark.parametrize(("names", "right"), [("n1\nn1\nn2\n", True), ("n1\nn1\n", False), ("n1\nn2\nn3\n", False)])
def test_the_hosts_of_a_submitted_job_of_pbs_are_as_many_as_it_has(names: str, right: bool) -> None:
    one = PbsAllocation(JobHosts(JobWish(2, 600)), Site(), Links(), None)
    leash = SimpleNamespace(run=lambda *_, **__: SimpleNamespace(code=0, stdout=names.encode(), stderr=b""))
    if right:
        assert one._named(cast("Host", leash), RUNS) == ("n1", "n2")
        return
    with pytest.raises(HostProblem, match="job 7 has 2 hosts, and PBS_NODEFILE names n1") as raised:
        one._named(cast("Host", leash), RUNS)
    assert "--on hosts:node1,node2" in str(raised.value.hint)


@pytest.mark.promise("Agents and submitted jobs load the modules of the site", "reference/site")
def test_what_ssh_starts_loads_the_modules_and_says_nothing_else(
    made: Callable[..., Allocation], tmp_path: Path
) -> None:
    """A login shell of bash has `module`, and its profile says something that is not the agent's."""
    profile = 'echo Welcome\nmodule() { echo "Loading $2"; export LOADED="${LOADED:-}<$2>"; [ "$2" != none ]; }\n'
    (tmp_path / ".bash_profile").write_text(profile)

    def run_with(*modules: str) -> subprocess.CompletedProcess[str]:
        one = made(RUNS)
        one._job, one._site = RUNS, Site(modules=modules)
        python = one._listed_host("n1").python
        command = SshLauncher("n1", python=python).command("import os; print(input(), os.environ.get('LOADED'))")[-1]
        environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
        return subprocess.run(
            ["sh", "-c", command], env=environment, input="heard\n", capture_output=True, text=True, check=False
        )

    assert run_with().stdout == "heard None\n"
    assert run_with("java/17", "it's").stdout == "heard <java/17><it's>\n"
    failed = run_with("none")
    assert (failed.stdout, failed.returncode) == ("", 1)


@pytest.mark.parametrize(("modules", "first", "loads"), [((), "#!/bin/sh", 0), (("java/17",), "#!/bin/bash -l", 1)])
def test_the_script_of_a_submitted_job_loads_the_modules(
    made: Callable[..., Allocation], tmp_path: Path, modules: tuple[str, ...], first: str, loads: int
) -> None:
    one = made(WAITS)
    scripts: list[str] = []

    def submit(wish: JobWish, name: str, script: str, output: str) -> str:
        scripts.append(script)
        return "7"

    one._site = Site(modules=modules)
    one.system.submit = submit
    one._submit("c", Quarters("vm", str(tmp_path), "", "", ""), JobWish(2, 600))
    assert one._reception is not None
    one._reception.close()
    assert scripts[0].startswith(f"{first}\n")
    assert scripts[0].count("\nmodule load java/17 || exit 1\nexec ") == loads
