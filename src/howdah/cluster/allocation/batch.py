"""The hosts of a batch job: of the job that this process is in, of another running job, or of a job to submit."""

from __future__ import annotations

import json
import shlex
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from howdah.cluster.allocation.holding import Wait, patient
from howdah.cluster.allocation.listed import ListedAllocation
from howdah.cluster.request import Links
from howdah.cluster.state import cluster_directory
from howdah.errors import HostProblem, NoAnswer, UsageError
from howdah.hadoop.configuration.plan import Plan, Quarters
from howdah.host import Host, operations
from howdah.host.batch import BatchJob, BatchSystem, key_of
from howdah.host.over import over
from howdah.host.reception import Reception
from howdah.host.user import process_user
from howdah.spec.hosts import ListedHost, check_network
from howdah.spec.jobs import NAME_PREFIX, JobHosts, JobWish, parse_job
from howdah.spec.site import Site, expand, find_site

_FIRST_SECONDS, _SELDOM_SECONDS = 0.2, 5.0
"""Seconds between two looks at a waiting job, at first and in the end."""
_LOOK_SECONDS = 2.0
_NEVER = {"PartitionNodeLimit", "PartitionTimeLimit", "QOSMaxNodePerJobLimit", "QOSMaxWallDurationPerJobLimit"}
"""Reasons of Slurm for which a job waits until somebody changes the limits."""
_BUSY_SECONDS = 900.0
_SCRATCH, _PYTHON = "/tmp", "python3"
START_SECONDS = 60.0
"""Seconds for agents to call once their job runs. Python on a network file system may start slowly."""

T = TypeVar("T")

_SCRIPT = """\
#!/bin/{shell}
# A Hadoop cluster of Howdah. `howdah up` on {machine} has submitted this job, which ends with the cluster.
{modules}exec {command} <<'HOWDAH'
{invitation}
HOWDAH
"""
"""Script of a submitted job. It holds a secret; a batch system shows a script to its owner alone. `module` is a
function of login shells."""
_WITH_MODULES = 'exec 3>&1 >&2; exec bash -lc "$0" "$@"', ' && exec "$0" "$@" >&3 3>&-'
"""Words of shells, before and behind the names of modules, with which a command is run. The output of a profile of
a login shell does not become the command's."""


class BatchAllocation(ListedAllocation):
    """See `howdah.cluster.allocation.Allocation`. A subclass knows how agents get to the hosts of a job."""

    system: BatchSystem
    _sleep = staticmethod(time.sleep)

    def __init__(self, asked: JobHosts, site: Site, links: Links, job: BatchJob | None) -> None:
        """`job` is a job that runs already; None to submit the job that was `asked` for."""
        self._asked = asked
        self._site = site
        self._links = links
        self._job = job
        self._submitted = job is None
        self._reception: Reception | None = None
        self._looking = threading.Lock()
        self._looked = 0.0
        self._gone: str | None = None
        kind, submitted = self.system.kind, self._submitted
        self._described: dict[str, Any] = {"kind": kind, "silence": links.silence, "submitted": submitted}
        super().__init__((), self._described, self._open_there)

    @property
    def usual_nodes(self) -> int:
        wish = self._asked.wish
        if wish is not None:
            return wish.hosts
        assert self._job is not None
        return self._job.hosts

    def acquire(self, name: str, nodes: int, home: Quarters, wait: Wait = patient) -> Plan:
        self._described["cluster"] = name
        if self._submitted:
            assert self._asked.wish is not None
            self._job = self._submit(name, home, self._asked.wish)
            self._described["job"] = self._job.id
        assert self._job is not None
        self._job = self._wait_for_hosts(self._job, wait)
        hosts = self._patiently(partial(self._reach, self._job), wait)
        self._listed = {host: self._listed_host(host) for host in hosts}
        self._names = hosts
        listed = [one.to_json() for one in self._listed.values()]
        self._described |= {
            "job": self._job.id,
            "key": self._patiently(partial(key_of, self.system, self._job.id), wait),
            "hosts": list(hosts),
            "listed": listed,
            "shared": self._job.shared,
            "network": self._network,
        }
        plan = super().acquire(name, nodes, home, wait)
        over(self._hosts, self._check_places)
        if self._reception is not None:
            self._reception.close()  # Nobody else is to come.
        return plan

    def _check_places(self, host: Host) -> None:
        """Raise HostProblem if a directory is not there. Creating it could fill another disk."""
        listed = self._listed[host.name]
        for place in (listed.scratch, *listed.disks):
            if not operations.is_writable(host, place):
                raise HostProblem(
                    f"no directory {place} that one can write to",
                    hint="`scratch` and `disks` of the site file, or scratch=DIR behind --on, say where data may be.",
                    host=host.name,
                )

    def seconds_left(self) -> float | None:
        job = None if self._job is None else self.system.look(self._job.id)
        return 0.0 if job is None else job.seconds_left

    def release(self) -> None:
        super().release()
        if self._reception is not None:  # Agents that nobody waits for end then.
            self._reception.close()
        self._end_agents()
        if self._submitted and self._job is not None:
            job, self._job = self._job, None
            self.system.cancel(job.id)

    @abstractmethod
    def _reach(self, job: BatchJob) -> tuple[str, ...]:
        """Make the hosts of a running job reachable, and return their names. Raises HostProblem."""

    @abstractmethod
    def _open_there(self, name: str) -> Host:
        """Open a channel to one host of the job. Raises HostProblem."""

    @abstractmethod
    def _end_agents(self) -> None:
        """Stop everything that `_reach` has started; may be called twice, and without `_reach`."""

    @abstractmethod
    def _program(self, python: str) -> Sequence[str]:
        """Return the command of a submitted job's script, which gets an invitation."""

    def _submit(self, name: str, home: Quarters, wish: JobWish) -> BatchJob:
        self._reception = Reception()
        command, invitation = self._program(self._python), json.dumps(self._invitation())
        modules = "".join(f"{load} || exit 1\n" for load in self._site.loads)
        shell = "bash -l" if modules else "sh"
        given = {"machine": home.machine, "command": _line(command), "invitation": invitation}
        script = _SCRIPT.format(shell=shell, modules=modules, **given)
        directory = cluster_directory(name).path
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)  # Not every command has made it.
        output = str(directory / "job.log")
        number = self.system.submit(wish, f"{NAME_PREFIX}{name}", script, output)
        return BatchJob(number, f"{NAME_PREFIX}{name}", "submitted", runs=False, hosts=wish.hosts)

    def _invitation(self) -> Any:
        assert self._reception is not None
        return self._reception.invitation(network=self._network)

    def _wait_for_hosts(self, job: BatchJob, wait: Wait) -> BatchJob:
        """Return the job once it runs. Raises HostProblem if the job ends before."""
        pause = _FIRST_SECONDS
        while not job.runs:
            if job.reason in _NEVER:
                raise HostProblem(
                    f"job {job.id} asks for more than its queue allows ({job.reason}), and would wait for ever",
                    hint=f"Ask for fewer nodes, less time or another partition behind --on {self.system.kind}:.",
                )
            why = [f"job {job.id} is {job.state.lower()}", job.reason, job.expected and f"expected at {job.expected}"]
            wait(", ".join(word for word in why if word))
            self._sleep(pause)
            pause = min(2 * pause, _SELDOM_SECONDS)
            seen = self._patiently(partial(self.system.look, job.id), wait)
            if seen is None:
                raise HostProblem(f"job {job.id} has ended before it ran. {self._log_hint()}")
            job = seen
        return job

    def _patiently(self, ask: Callable[[], T], wait: Wait) -> T:
        """Return the answer of the batch system. Asks again while the batch system is too busy to answer: the job may
        have waited for hours. Raises HostProblem."""
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return ask()
            except NoAnswer as problem:
                if time.monotonic() > deadline:
                    raise
                wait(problem.message)
                self._sleep(_SELDOM_SECONDS)

    def _listed_host(self, name: str) -> ListedHost:
        asked, site = self._asked, self._site
        assert self._job is not None
        user, job = process_user(), self._job.id
        return ListedHost(
            name,
            python=self._interpreter,
            scratch=asked.scratch or expand(site.scratch or _SCRATCH, user, job),
            java=asked.java or site.java,
            network=self._network,
            # What one asks for oneself is one place.
            disks=() if asked.scratch else tuple(expand(disk, user, job) for disk in site.disks),
        )

    @property
    def _network(self) -> str | None:
        return self._links.network or self._site.network

    @property
    def _python(self) -> str:
        return self._asked.python or self._site.python or _PYTHON

    @property
    def _interpreter(self) -> str:
        """The Python of agents that ssh starts, as a shell reads it."""
        if not self._site.modules:
            return self._python
        outer, end = _WITH_MODULES
        return f"sh -c {shlex.quote(outer)} {shlex.quote(' && '.join(self._site.loads) + end)} {self._python}"

    def _job_gone(self) -> str | None:
        """Return why no agent can come any more; None if agents may come. All hosts ask this, again and again."""
        with self._looking:
            if self._job is not None and time.monotonic() > self._looked + _LOOK_SECONDS:
                self._looked = time.monotonic()
                with suppress(HostProblem):  # The batch system is busy; agents may come all the same.
                    if self.system.look(self._job.id) is None:
                        self._gone = f"job {self._job.id} has ended. {self._log_hint()}"
            return self._gone

    def _log_hint(self) -> str:
        if not self._submitted:
            return "Its batch system says why."
        log = cluster_directory(self._described["cluster"]).path / "job.log"
        if log.exists():
            return f"Its output is in {log}."
        return f"It has written nothing to {log}: do its hosts see that directory?"


def _line(command: Sequence[str]) -> str:
    """Return a command as a line of a script. A word with `$` contains a variable of the shell."""
    return " ".join(word if "$" in word and "\n" not in word else shlex.quote(word) for word in command)


def which_job(system: BatchSystem, argument: str | None, links: Links) -> tuple[JobHosts, Site, Links, BatchJob | None]:
    """Return the job that `--on slurm:ARGUMENT` or `--on pbs:ARGUMENT` asks for, its site file and its links. Raises
    UsageError, and HostProblem if the batch system does not answer."""
    kind = system.kind
    asked = JobHosts() if argument is None else parse_job(kind, argument)
    if links.network is not None:
        check_network(links.network)
    site = find_site(links.site)
    if asked.wish is not None:
        site.check(asked.wish, process_user())
        return asked, site, links, None
    number = asked.job or system.current()
    if number is None:
        raise UsageError(
            f"--on {kind}: this is not inside a job",
            hint=f"Type it in one, or let Howdah submit one: --on {kind}:nodes=4,time=2h.",
        )
    job = system.look(number)
    if job is None:
        raise UsageError(f"--on {kind}: there is no job {number}, or it has ended")
    return asked, site, links, job
