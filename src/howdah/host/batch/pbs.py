"""PBS, by its commands: OpenPBS, and systems with the same commands."""

from __future__ import annotations

import getpass
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from howdah.errors import HostProblem
from howdah.host.batch.states import BatchJob, answer_of, ask, failed, shown, unexpected
from howdah.spec.jobs import NAME_PREFIX, JobWish

OTHERS = "`--on hosts:node1,node2,…` takes the hosts as you name them."
_GONE_CODES = (153, 35)
"""Exit codes of `qstat` for a job that is unknown or has ended: PBSE_UNKJOBID modulo 256, and PBSE_HISTJOBID."""
_OVER_STATES = ("C", "F", "X")
_GONE_STATES = (*_OVER_STATES, "E")
_WORDS = {"Q": "queued", "H": "held", "W": "waiting", "R": "running", "S": "suspended", "T": "moving", "B": "begun"}
_FIELD = re.compile(r"(\S+) = ?(.*)")
_CLOCK = re.compile(r"(\d+):(\d\d):(\d\d)")


class Pbs:
    """See `howdah.host.batch.BatchSystem`. Agents come by ssh: `pbsdsh`, if there is one, gives its tasks no input."""

    kind = "pbs"

    def current(self) -> str | None:
        return os.environ.get("PBS_JOBID") or None

    def where(self) -> str:
        return ""  # A job's id has the server's name.

    def is_over(self, job: str) -> bool:
        return all(fields.get("job_state") in _OVER_STATES for _, fields in self._qstat(job))

    def look(self, job: str) -> BatchJob | None:
        return next((_job(number, fields) for number, fields in self._alive(job)), None)

    def hosts(self, job: str) -> tuple[str, ...]:
        file = os.environ.get("PBS_NODEFILE")
        for _, fields in self._alive(job):
            allotted = _hosts_of(fields)
            if job != self.current() or not file:
                return allotted
            try:
                named = read_nodefile(Path(file).read_text(encoding="utf-8", errors="replace"), file)
            except OSError as error:
                hint = "It is on the first host of a job alone."
                raise HostProblem(f"PBS_NODEFILE, {file}, cannot be read: {error.strerror}", hint=hint) from error
            if len(named) != len(allotted):
                raise HostProblem(
                    f"job {job} has the hosts {' '.join(allotted)}, and PBS_NODEFILE names {' '.join(named)}",
                    hint=OTHERS,
                )
            return named
        raise HostProblem(f"PBS knows no job {job}", hint="`qstat -u $USER` lists yours.")

    def submit(self, wish: JobWish, name: str, script: str, output: str) -> str:
        # Not every `qsub` has an option for it.
        first, _, rest = script.partition("\n")
        # Nor does every one read its input. Nobody else can read the file.
        with tempfile.NamedTemporaryFile("w", prefix="howdah-", suffix=".sh") as file:
            file.write(f"{first}\n#PBS -r n\n{rest}")
            file.flush()
            # What it says and its errors are one file: errors would have one of their own, where the user types.
            command = ("qsub", "-N", name, "-j", "oe", "-o", output, *options(wish), file.name)
            said = answer_of(command).strip()
        if not re.fullmatch(r"[\w.\[\]-]+", said):
            raise unexpected(command[:1], said)
        return said

    def cancel(self, job: str) -> None:
        code, _, err = ask(("qdel", job))
        if code != 0 and self.look(job) is not None:
            raise failed(("qdel", job), code, err)

    def own_jobs(self) -> Sequence[BatchJob]:
        own = f"{getpass.getuser()}@"
        found = [
            (number, fields)
            for number, fields in self._qstat()
            if fields.get("Job_Owner", "").startswith(own) and fields.get("Job_Name", "").startswith(NAME_PREFIX)
        ]
        return [_job(number, fields) for number, fields in found if fields.get("job_state") not in _GONE_STATES]

    def _alive(self, job: str) -> list[tuple[str, dict[str, str]]]:
        """Return a job that waits or runs."""
        return [one for one in self._qstat(job) if one[1].get("job_state") not in _GONE_STATES]

    def _qstat(self, *which: str) -> list[tuple[str, dict[str, str]]]:
        """Return jobs with their attributes."""
        command = ("qstat", "-f", *which)
        code, out, err = ask(command)
        if code in _GONE_CODES:
            return []
        if code != 0:
            raise failed(command, code, err)
        found = parse_qstat(out)
        if which and not found:
            raise unexpected(command, out)
        return found


def _hosts_of(fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts of a job, each once; none before the job runs."""
    parts = (part.partition("/")[0] for part in fields.get("exec_host", "").split("+"))
    return tuple(dict.fromkeys(part for part in parts if part))


def read_nodefile(text: str, file: str) -> tuple[str, ...]:
    """Return the hosts of a PBS_NODEFILE, which has a line for each slot. Raises HostProblem."""
    names = tuple(dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()))
    bad = [name for name in names if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name)]
    if bad or not names:
        raise HostProblem(f"{file} does not hold names of hosts: {shown(' '.join(bad)) or 'it is empty'}")
    return names


def parse_qstat(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the jobs of `qstat -f`, each with its attributes. Long values are wrapped; a continuation begins with a
    tab."""
    found: list[tuple[str, dict[str, str]]] = []
    last = ""
    for line in text.splitlines():
        field = _FIELD.fullmatch(line.strip())
        if line.startswith("Job Id:"):
            found.append((line.removeprefix("Job Id:").strip(), {}))
            last = ""
        elif found and field is not None and line[:1].isspace() and not (line.startswith("\t") and "=" not in line):
            last = field[1]
            found[-1][1][last] = field[2].strip()
        elif found and last and line.startswith("\t"):
            found[-1][1][last] += line.strip()
    return found


def _job(number: str, fields: Mapping[str, str]) -> BatchJob:
    state = fields.get("job_state", "")
    nodes = fields.get("Resource_List.nodect", "")
    if not nodes.isdecimal() or not state:
        raise unexpected(("qstat", "-f", number), " ".join(f"{key}={value}" for key, value in fields.items()))
    runs = state == "R"
    limit, used = (seconds_of(fields.get(name, "")) for name in ("Resource_List.walltime", "resources_used.walltime"))
    return BatchJob(
        id=number,
        name=fields.get("Job_Name", ""),
        state=_WORDS.get(state, state),
        runs=runs,
        # Several of what was asked for may be on one host.
        hosts=len(_hosts_of(fields)) or int(nodes),
        reason=None if runs else fields.get("comment"),
        expected=None if runs else fields.get("estimated.start_time"),
        seconds_left=limit - used if runs and limit is not None and used is not None else None,
    )


def seconds_of(text: str) -> float | None:
    """Return the seconds in a time as PBS writes it: `01:30:00`, or seconds; None if there is none."""
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        hours, minutes, seconds = map(int, clock.groups())
        return float((hours * 60 + minutes) * 60 + seconds)
    return float(text) if text.isdecimal() else None


def options(wish: JobWish) -> tuple[str, ...]:
    """Return the options of `qsub` for a wish. Raises HostProblem for wishes that PBS has no option for."""
    hours, rest = divmod(wish.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    processors = "" if wish.cpus is None else f":ppn={wish.cpus}"
    asked = f"nodes={wish.hosts}{processors},walltime={hours:02}:{minutes:02}:{seconds:02}"
    named = {"-q": wish.queue, "-A": wish.account}
    other = [
        name for name in ("qos", "reservation", "constraint", "exclusive", "memory") if getattr(wish, name) is not None
    ]
    if other:
        raise HostProblem(
            f"`qsub` has no option for {' and '.join(other)}",
            hint="Submit a script of your own: `howdah script pbs` writes one to begin with.",
        )
    return ("-l", asked, *(word for option, value in named.items() if value is not None for word in (option, value)))
