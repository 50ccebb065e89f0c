"""The hosts of a Slurm job. Agents call this machine; all of them are one step of the job, for its accounting."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from howdah.cluster.allocation.batch import START_SECONDS, BatchAllocation, which_job
from howdah.cluster.allocation.holding import Open
from howdah.cluster.control import ControlClient
from howdah.cluster.request import Links
from howdah.cluster.state import cluster_directory
from howdah.errors import HostProblem
from howdah.host.batch import AgentStep, BatchJob
from howdah.host.batch.slurm import Slurm
from howdah.host.channel import Channel
from howdah.host.reception import PROGRAM, Expected, Reception

_CALL_SECONDS = 20.0


class SlurmAllocation(BatchAllocation):
    """See `howdah.cluster.allocation.Allocation`."""

    system = Slurm()
    _step: AgentStep | None = None

    def _reach(self, job: BatchJob) -> tuple[str, ...]:
        hosts = self.system.hosts(job.id)
        if not self._submitted:
            command = self.system.step(job.id, hosts, self._python, PROGRAM)
            self._reception = Reception()  # Last: whoever asks again, as Slurm was busy, has opened nothing.
            self._step = AgentStep("srun", command, json.dumps(self._invitation()).encode())
        return hosts

    def _open_there(self, name: str) -> Channel:
        assert self._reception is not None
        broken, said = (self._job_gone, str) if self._step is None else (self._step.broken, self._step.said)
        expected = Expected(self._reception, name, START_SECONDS, broken, said)
        return Channel(name, expected, silence=self._links.silence)

    def _end_agents(self) -> None:
        if self._step is not None:
            self._step.end()

    def _program(self, python: str) -> Sequence[str]:
        return self.system.whole_job(python, PROGRAM)


def slurm(argument: str | None, links: Links) -> SlurmAllocation:
    """Return the hosts of `--on slurm:ARGUMENT`. Raises UsageError and HostProblem."""
    return SlurmAllocation(*which_job(SlurmAllocation.system, argument, links))


def open_in_job(described: Mapping[str, Any]) -> Open:
    """Return a function that opens another channel to a host of a job by its name: the agent there has a second agent
    call."""

    def open_one(name: str) -> Channel:
        with closing(Reception()) as reception:
            with closing(ControlClient(cluster_directory(described["cluster"]))) as control:
                invitation = json.dumps(reception.invitation(name, network=described["network"]))
                answer = control.ask("call_in", host=name, program=PROGRAM, invitation=invitation)
            if "error" in answer:
                raise HostProblem(answer["error"])
            expected = Expected(reception, name, _CALL_SECONDS, lambda: None)
            return Channel(name, expected, silence=described["silence"])

    return open_one
