"""Slurm, by its commands."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Mapping, Sequence

from howdah.errors import HostProblem
from howdah.host.batch.states import BatchJob, answer_of, ask, failed, unexpected
from howdah.spec.jobs import NAME_PREFIX, JobWish

# %A: of a job array, each job has a number of its own, which all commands take.
_FIELDS = ("%A", "%T", "%L", "%D", "%S", "%N", "%j", "%h", "%r")
_UNSET = (
    *("SLURM_MEM_PER_CPU", "SLURM_MEM_PER_GPU", "SLURM_MEM_PER_NODE", "SLURM_NTASKS", "SLURM_NPROCS"),
    *("SLURM_NTASKS_PER_NODE", "SLURM_CPUS_PER_TASK", "SLURM_TRES_PER_TASK", "SLURM_DISTRIBUTION", "SLURM_CPU_BIND"),
    *("SLURM_HINT", "SLURM_EXACT", "SLURM_EXCLUSIVE", "SLURM_THREADS_PER_CORE", "SLURM_NODELIST"),
    *("SRUN_CPUS_PER_TASK", "SLURM_NTASKS_PER_CORE", "SLURM_NTASKS_PER_SOCKET", "SLURM_NTASKS_PER_GPU"),
    *("SLURM_GPUS_PER_TASK", "SLURM_CPUS_PER_GPU", "SLURM_EXPORT_ENV"),
)
"""Variables with the request of a job, for its tasks. `srun` takes them for options, which contradict those of the
agents."""
_GRANTED = ("SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU")
"""Variables with the memory of a job. Agents get them by the names that `batch_grant` of the agent reads first."""
_MEMORY = re.compile(r"\bMinMemory(Node|CPU)=([\d.]+[KMGT]?)")
_UNITS = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2}
_UNKNOWN = "Invalid job id"
_WAITING = (
    "PENDING",
    "CONFIGURING",
    "REQUEUED",
    "REQUEUE_HOLD",
    "SPECIAL_EXIT",
    "SUSPENDED",
    "STOPPED",
    "RESV_DEL_HOLD",
)
_OVER = (
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"),
    *("REVOKED", "TIMEOUT"),
)
_LEFT = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)")
_NO_LIMIT = ("UNLIMITED", "NOT_SET", "INVALID", "N/A", "")


class Slurm:
    """See `howdah.host.batch.BatchSystem`. All agents of a job are one step of the job."""

    kind = "slurm"

    def current(self) -> str | None:
        return os.environ.get("SLURM_JOB_ID") or None

    def where(self) -> str:
        name = os.environ.get("SLURM_CLUSTER_NAME")
        if name:
            return name
        command = ("scontrol", "show", "config")
        match = re.search(r"^ClusterName\s*=\s*(\S+)$", answer_of(command), re.MULTILINE)
        if match is None:
            raise unexpected(command, "no ClusterName")
        return match[1]

    def is_over(self, job: str) -> bool:
        return all(seen.state in _OVER for seen, _ in self._squeue("-j", job))

    def look(self, job: str) -> BatchJob | None:
        return next((seen for seen, _ in self._alive(job)), None)

    def hosts(self, job: str) -> tuple[str, ...]:
        for seen, expression in self._alive(job):
            command = ("scontrol", "show", "hostnames", expression)
            names = tuple(answer_of(command).split())
            if len(names) != seen.hosts or len(set(names)) != len(names) or any(set("[],") & set(one) for one in names):
                raise HostProblem(
                    f"job {job} has {seen.hosts} nodes, and `{' '.join(command)}` names {len(names)}: "
                    f"{' '.join(names) or 'none'}",
                    hint="`--on hosts:node1,node2,…` takes the hosts as you name them.",
                )
            return names
        raise HostProblem(f"Slurm knows no job {job}", hint="`squeue -u $USER` lists yours.")

    def _alive(self, job: str) -> list[tuple[BatchJob, str]]:
        """Return a job that waits or runs, with its hosts as Slurm writes them. One job of an array has the number of
        the array, too, and `squeue` returns all jobs of the array."""
        found = [one for one in self._squeue("-j", job) if one[0].runs or one[0].state in _WAITING]
        return [one for one in found if one[0].id == job] or found

    def submit(self, wish: JobWish, name: str, script: str, output: str) -> str:
        command = ("sbatch", "--parsable", "--no-requeue", f"--job-name={name}", f"--output={output}", *options(wish))
        # One line, and with several clusters ID;CLUSTER.
        said = answer_of(command, given=script).strip().partition(";")[0]
        if not said.isdecimal():
            raise unexpected(command[:2], said)
        return said

    def cancel(self, job: str) -> None:
        code, _, err = ask(("scancel", job))
        if code != 0 and _UNKNOWN not in err:
            raise failed(("scancel", job), code, err)

    def own_jobs(self) -> Sequence[BatchJob]:
        found = (seen for seen, _ in self._squeue("-u", getpass.getuser(), states="PD,CF,R,S"))
        return [seen for seen in found if seen.name.startswith(NAME_PREFIX)]

    def step(self, job: str, hosts: Sequence[str], python: str, program: str) -> tuple[str, ...]:
        """Return the command that runs a Python program once on each of these hosts of a job. The program has
        everything that the job has there, and gets the standard input on each host."""
        of_job = (f"--jobid={job}", f"--nodelist={','.join(hosts)}")
        here = {name: os.environ.get(name, "") for name in _GRANTED}
        granted = here if job == self.current() else _memory_of(job)
        return self._step((*of_job, *_once_on_each(str(len(hosts)))), granted, python, program)

    def whole_job(self, python: str, program: str) -> tuple[str, ...]:
        """Return the same command for all hosts of the job whose script contains it."""
        granted = {name: f"${name}" for name in _GRANTED}
        return self._step(_once_on_each("$SLURM_JOB_NUM_NODES"), granted, python, program)

    def _step(self, where: Sequence[str], granted: Mapping[str, str], python: str, program: str) -> tuple[str, ...]:
        return (
            *("env", *(word for name in _UNSET for word in ("-u", name))),
            *(f"HOWDAH_{name}={value}" for name, value in granted.items()),
            "srun",
            *where,
            # Since 20.11, a step has what it uses for itself: the user's own steps would wait for its end.
            *(("--overlap",) if self._version() >= (20, 11) else ()),
            *("--cpu-bind=none", "--mem=0", "--input=all", "--job-name=howdah"),
            # A host that is lost is Howdah's to deal with: the others go on.
            *("--no-kill", "--kill-on-bad-exit=0", "--wait=0"),
            *(python, "-I", "-u", "-c", program),
        )

    def _version(self) -> tuple[int, int]:
        command = ("srun", "--version")
        said = answer_of(command)
        match = re.search(r"(\d+)\.(\d+)", said)
        if match is None:
            raise unexpected(command, said)
        return int(match[1]), int(match[2])

    def _squeue(self, *which: str, states: str = "all") -> list[tuple[BatchJob, str]]:
        """Return jobs, each with its hosts as Slurm writes them."""
        command = ("squeue", "--noheader", f"--states={states}", f"--format={'|'.join(_FIELDS)}", *which)
        code, out, err = ask(command)
        if code != 0 and _UNKNOWN in err:
            return []
        if code != 0:
            raise failed(command, code, err)
        found = []
        for line in out.splitlines():
            parts = line.strip().split("|", len(_FIELDS) - 1)
            if len(parts) != len(_FIELDS) or not parts[3].isdecimal():
                raise unexpected(command, out)
            found.append((_job(parts), parts[5]))
        return found


def _memory_of(job: str) -> Mapping[str, str]:
    """Return the memory of a job, in MB, by the variables that Slurm sets inside of it; "" for all memory of a host."""
    said = answer_of(("scontrol", "show", "job", "--oneliner", job))
    found = dict(_MEMORY.findall(said))
    return {name: _megabytes(found.get(key, "0")) for name, key in zip(_GRANTED, ("Node", "CPU"), strict=True)}


def _megabytes(text: str) -> str:
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "M")
    size = round(float(number) * _UNITS[unit])
    return str(size) if size else ""


def _once_on_each(hosts: str) -> tuple[str, ...]:
    return (f"--nodes={hosts}", f"--ntasks={hosts}", "--ntasks-per-node=1")


def _job(parts: Sequence[str]) -> BatchJob:
    number, state, left, count, start, _, name, shared, reason = parts
    runs = state == "RUNNING"
    return BatchJob(
        id=number,
        name=name,
        state=state,
        runs=runs,
        hosts=int(count),
        reason=None if runs or reason == "None" else reason,
        expected=None if runs or start in _NO_LIMIT else start,
        seconds_left=seconds_of(left) if runs else None,
        shared=shared != "NO",
    )


def seconds_of(text: str) -> float | None:
    """Return the seconds in a time as Slurm writes it: `1-02:03:04`, `02:03:04` or `03:04`; None if there is none.
    Raises HostProblem."""
    if text in _NO_LIMIT:
        return None
    match = _LEFT.fullmatch(text)
    if match is None:
        raise unexpected(("squeue", "--format=%L"), text)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def options(wish: JobWish) -> tuple[str, ...]:
    """Return the options of `sbatch` for a wish."""
    minutes = -(-wish.seconds // 60)  # Slurm counts whole minutes.
    named = {"partition": wish.queue, "account": wish.account, "qos": wish.qos}
    named |= {"reservation": wish.reservation, "constraint": wish.constraint}
    given = tuple(f"--{name}={value}" for name, value in named.items() if value is not None)
    exclusive = () if wish.exclusive is False else ("--exclusive",)
    # Whole hosts, and all of their memory: otherwise, a job has what is usual for one task.
    memory = () if wish.exclusive is False and wish.memory is None else (f"--mem={wish.memory or 0}",)
    cpus = () if wish.cpus is None else (f"--cpus-per-task={wish.cpus}",)
    own = (f"--nodes={wish.hosts}", "--ntasks-per-node=1", f"--time={minutes}", "--no-kill")
    return (*own, *given, *exclusive, *memory, *cpus)
