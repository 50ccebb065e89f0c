"""The hosts of a PBS job, reached by ssh: `pbsdsh` gives its tasks no input, and some versions of PBS have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from howdah.cluster.allocation.batch import START_SECONDS, BatchAllocation, which_job
from howdah.cluster.allocation.listed import open_described
from howdah.cluster.request import Links
from howdah.errors import HostProblem
from howdah.host import Host
from howdah.host.batch import BatchJob
from howdah.host.batch.pbs import OTHERS, Pbs, read_nodefile
from howdah.host.channel import Channel
from howdah.host.reception import PROGRAM, Expected

_LEASH = "the job"
"""The agent that a submitted job runs on its first host: the job ends with this agent."""


class PbsAllocation(BatchAllocation):
    """See `howdah.cluster.allocation.Allocation`."""

    system = Pbs()
    _leash: Channel | None = None

    @property
    def leash(self) -> Host | None:
        return self._leash

    def _reach(self, job: BatchJob) -> tuple[str, ...]:
        if not self._submitted:
            return self.system.hosts(job.id)
        assert self._reception is not None
        expected = Expected(self._reception, _LEASH, START_SECONDS, self._job_gone)
        self._leash = Channel(_LEASH, expected, silence=self._links.silence)
        return self._named(self._leash, job)

    def _named(self, first: Host, job: BatchJob) -> tuple[str, ...]:
        """Return the hosts of a job, which its first host knows."""
        said = first.run(("sh", "-c", 'cat "$PBS_NODEFILE"'), timeout=START_SECONDS)
        if said.code != 0:
            raise HostProblem(f"the file with the hosts of job {job.id} cannot be read: {said.stderr.decode().strip()}")
        named = read_nodefile(said.stdout.decode(errors="replace"), "PBS_NODEFILE")
        if len(named) != job.hosts:
            words = f"job {job.id} has {job.hosts} hosts, and PBS_NODEFILE names {' '.join(named)}"
            raise HostProblem(words, hint=OTHERS)
        return named

    def _open_there(self, name: str) -> Host:
        return open_described(self._described)(name)

    def _end_agents(self) -> None:
        if self._leash is not None:
            self._leash.close()

    def _invitation(self) -> Mapping[str, Any]:
        assert self._reception is not None
        return self._reception.invitation(_LEASH, network=self._network)

    def _program(self, python: str) -> Sequence[str]:
        return (python, "-I", "-u", "-c", PROGRAM)


def pbs(argument: str | None, links: Links) -> PbsAllocation:
    """Return the hosts of `--on pbs:ARGUMENT`. Raises UsageError and HostProblem."""
    return PbsAllocation(*which_job(PbsAllocation.system, argument, links))
