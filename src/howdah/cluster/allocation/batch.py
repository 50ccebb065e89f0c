"""The hosts of a batch job: of the one that this process is in, of another that runs, or of one that is submitted."""

from __future__ import annotations

import json
import shlex
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from howdah.cluster.allocation.holding import Open, Wait, patient
from howdah.cluster.allocation.listed import ListedAllocation
from howdah.cluster.control import ControlClient
from howdah.cluster.request import Links
from howdah.cluster.state import cluster_directory
from howdah.errors import HostProblem, UsageError
from howdah.hadoop.configuration.plan import Plan, Quarters
from howdah.host import Host
from howdah.host.batch import BATCH_SYSTEMS, BatchSystem, Job, Step
from howdah.host.channel import Channel
from howdah.host.reception import PROGRAM, Expected, Reception
from howdah.spec.hosts import ListedHost, check_network
from howdah.spec.jobs import NAME_PREFIX, JobHosts, JobWish, parse_job

_POLL_SECONDS = 2.0
_START_SECONDS = 60.0
"""For agents to call once their job runs: Python on a network's file system may take long."""
_CALL_SECONDS = 20.0

_SCRIPT = """\
#!/bin/sh
# A Hadoop cluster of Howdah. `howdah up` on {machine} has submitted this job, which ends with the cluster.
exec {command} <<'HOWDAH'
{invitation}
HOWDAH
"""
"""What a submitted job runs. It holds a secret; a batch system shows a script to its owner alone."""


class BatchAllocation(ListedAllocation):
    """See `howdah.cluster.allocation.Allocation`. Agents call this machine by themselves: all of them are one step of
    the job, which the batch system accounts for, and ends."""

    def __init__(self, system: BatchSystem, asked: JobHosts, links: Links, job: Job | None) -> None:
        """`job` is the one that runs already, None to submit what is `asked`."""
        self._system = system
        self._asked = asked
        self._links = links
        self._job = job
        self._submitted = job is None
        self._step: Step | None = None
        self._reception: Reception | None = None
        self._looking = threading.Lock()
        self._looked = 0.0
        self._gone: str | None = None
        self._described: dict[str, Any] = {"kind": system.kind, "silence": links.silence, "submitted": self._submitted}
        super().__init__((), self._described, self._open_called)

    @property
    def usual_nodes(self) -> int:
        wish = self._asked.wish
        if wish is not None:
            return wish.hosts
        assert self._job is not None
        return self._job.hosts

    def acquire(self, name: str, nodes: int, home: Quarters, wait: Wait = patient) -> Plan:
        self._reception = Reception()
        if self._submitted:
            assert self._asked.wish is not None
            self._job = self._submit(name, home, self._asked.wish)
            self._described["job"] = self._job.id
        assert self._job is not None
        self._job = self._wait_for_hosts(self._job, wait)
        hosts = self._system.hosts(self._job.id)
        self._listed = {host: self._listed_host(host) for host in hosts}
        self._names = hosts
        self._described |= {"job": self._job.id, "cluster": name, "hosts": list(hosts)}
        left = self._job.seconds_left
        self._described["ends"] = None if left is None else time.time() + left
        if not self._submitted:
            command = self._system.step(self._job.id, hosts, self._asked.python, PROGRAM)
            self._step = Step(command, json.dumps(self._reception.invitation()).encode())
        return super().acquire(name, nodes, home, wait)

    def seconds_left(self) -> float | None:
        job = None if self._job is None else self._system.look(self._job.id)
        return 0.0 if job is None else job.seconds_left

    def release(self) -> None:
        super().release()
        if self._reception is not None:
            self._reception.close()
        if self._step is not None:
            self._step.end()
        if self._submitted and self._job is not None:
            self._system.cancel(self._job.id)

    def _submit(self, name: str, home: Quarters, wish: JobWish) -> Job:
        assert self._reception is not None
        command = self._system.whole_job(self._asked.python, PROGRAM)
        invitation = json.dumps(self._reception.invitation())
        script = _SCRIPT.format(machine=home.machine, command=shell_line(command), invitation=invitation)
        output = str(cluster_directory(name).path / "job.log")
        number = self._system.submit(wish, f"{NAME_PREFIX}{name}", script, output)
        return Job(number, f"{NAME_PREFIX}{name}", "submitted", runs=False, hosts=wish.hosts)

    def _wait_for_hosts(self, job: Job, wait: Wait) -> Job:
        """The job, once it runs. Raises HostProblem when it ends before."""
        while not job.runs:
            why = [f"job {job.id} is {job.state.lower()}", job.reason, job.expected and f"expected at {job.expected}"]
            wait(", ".join(word for word in why if word))
            time.sleep(_POLL_SECONDS if job.state != "submitted" else 0.2)
            seen = self._system.look(job.id)
            if seen is None:
                raise HostProblem(f"job {job.id} has ended before it ran", hint=self._log_hint())
            job = seen
        return job

    def _listed_host(self, name: str) -> ListedHost:
        asked, network = self._asked, self._links.network
        return ListedHost(name, python=asked.python, scratch=asked.scratch, java=asked.java, network=network)

    def _open_called(self, name: str) -> Host:
        assert self._reception is not None
        expected = Expected(self._reception, name, _START_SECONDS, self._broken)
        return Channel(name, expected, silence=self._links.silence, leaves_nothing=True)

    def _broken(self) -> str | None:
        """Why no agent can come any more."""
        if self._step is not None:
            return self._step.broken()
        with self._looking:  # All hosts ask, again and again.
            if self._job is not None and time.monotonic() > self._looked + _POLL_SECONDS:
                self._looked = time.monotonic()
                if self._system.look(self._job.id) is None:
                    self._gone = f"job {self._job.id} has ended. {self._log_hint()}"
            return self._gone

    def _log_hint(self) -> str:
        if not self._submitted:
            return "Its batch system says why."
        return f"What it said is in {cluster_directory(self._described['cluster']).path}/job.log."


def shell_line(command: Sequence[str]) -> str:
    """A command for a shell; words that begin with `$` are its variables."""
    return " ".join(word if "$" in word and "\n" not in word else shlex.quote(word) for word in command)


def batch(kind: str, argument: str | None, links: Links) -> BatchAllocation:
    """The hosts of `--on slurm` and of `--on pbs`. Raises UsageError, and HostProblem where the batch system does not
    answer."""
    asked = JobHosts() if argument is None else parse_job(kind, argument)
    if links.network is not None:
        check_network(links.network)
    system = BATCH_SYSTEMS[kind]
    if asked.wish is not None:
        return BatchAllocation(system, asked, links, None)
    number = asked.job or system.current()
    if number is None:
        raise UsageError(
            f"--on {kind}: this is not inside a job",
            hint=f"Type it in one, or let Howdah submit one: --on {kind}:nodes=4,time=2h.",
        )
    job = system.look(number)
    if job is None:
        raise UsageError(f"--on {kind}: there is no job {number}, or it has ended")
    return BatchAllocation(system, asked, links, job)


def open_in_job(described: Mapping[str, Any]) -> Open:
    """What opens another channel to a host of a job by its name: the agent that is there lets a second one call."""

    def open_one(name: str) -> Channel:
        with closing(Reception()) as reception:
            control = ControlClient(cluster_directory(described["cluster"]))
            with closing(control):
                invitation = json.dumps(reception.invitation(name))
                answer = control.ask("call_in", host=name, program=PROGRAM, invitation=invitation)
            if "error" in answer:
                raise HostProblem(answer["error"])
            return Channel(name, Expected(reception, name, _CALL_SECONDS, lambda: None), silence=described["silence"])

    return open_one
