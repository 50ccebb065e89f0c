"""A request for a batch job, `slurm:nodes=4,time=2h,partition=short`, or an existing job, `slurm:job=123`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from howdah.errors import UsageError
from howdah.spec.slips import did_you_mean

NAME_PREFIX = "howdah-"
"""The prefix of the names of jobs that Howdah submits."""
_MOST_HOSTS = 1000
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_CLOCK = re.compile(r"(?:(\d{1,3})-)?(\d{1,3}):(\d\d)(?::(\d\d))?")
_WORD = re.compile(r"[A-Za-z0-9_.:&|*()\[\]@+/-]{1,200}")
_QUEUES = {"slurm": "partition", "pbs": "queue"}
_TEXTS = ("account", "qos", "reservation", "constraint")
_OF_HOSTS = ("scratch", "python", "java")


@dataclass(frozen=True, slots=True)
class JobWish:
    """A job to submit: a number of hosts for a number of seconds, in a `queue`, which Slurm calls a partition.

    `exclusive` hosts have no other job. None is the usual choice: exclusive in Slurm, and PBS's decision in PBS.
    """

    hosts: int
    seconds: int
    queue: str | None = None
    account: str | None = None
    qos: str | None = None
    reservation: str | None = None
    constraint: str | None = None
    exclusive: bool | None = None
    cpus: int | None = None
    """Processors of each host; None for all."""
    memory: str | None = None
    """Memory of each host, as Slurm writes it; None for all."""


@dataclass(frozen=True, slots=True)
class JobHosts:
    """The hosts of a job: of the requested job, of the running `job`, or, with neither, of the job around this process.

    Daemons keep their files in `scratch`. `python` is the interpreter, `java` the home of the Java. None stands for the
    site's value, or the usual one.
    """

    wish: JobWish | None = None
    job: str | None = None
    scratch: str | None = None
    python: str | None = None
    java: str | None = None


def parse_job(kind: str, text: str) -> JobHosts:
    """Return the hosts that the text after `slurm:` or `pbs:` asks for. Raises UsageError."""
    asked = f"--on {kind}:{text}"
    keys = ("nodes", "time", "job", "exclusive", "cpus", "memory", _QUEUES[kind], *_TEXTS, *_OF_HOSTS)
    given: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if key not in keys:
            raise UsageError(f"{asked}: a job has no {key!r}", hint=did_you_mean(key, keys))
        if not equals or not _WORD.fullmatch(value) or key in given:
            raise UsageError(f"{asked}: {part.strip()!r} is no KEY=VALUE, or is there twice")
        given[key] = value
    of_hosts = {key: given.pop(key) for key in _OF_HOSTS if key in given}
    for key in ("scratch", "java"):
        if not of_hosts.get(key, "/").startswith("/"):
            raise UsageError(f"{asked}: {key} is {of_hosts[key]!r}, which is no absolute path")
    if "job" in given:
        if len(given) > 1:
            raise UsageError(f"{asked}: a job that runs already has its nodes, time and all else")
        return JobHosts(None, given["job"], **of_hosts)
    return JobHosts(_wish(kind, asked, given) if given else None, None, **of_hosts)


def _wish(kind: str, asked: str, given: Mapping[str, str]) -> JobWish:
    if missing := [key for key in ("nodes", "time") if key not in given]:
        raise UsageError(
            f"{asked}: {' and '.join(missing)} must be said",
            hint=f"For example --on {kind}:nodes=4,time=2h; inside a job, --on {kind} takes the hosts of the job.",
        )
    if not given["nodes"].isdecimal() or not 1 <= int(given["nodes"][:6]) <= _MOST_HOSTS:
        raise UsageError(f"{asked}: nodes is {given['nodes']!r}, which is no number from 1 to {_MOST_HOSTS}")
    exclusive = given.get("exclusive")
    if exclusive not in ("yes", "no", None):
        raise UsageError(f"{asked}: exclusive is {exclusive!r}", hint="Write exclusive=yes or exclusive=no.")
    texts = {key: given.get(key) for key in _TEXTS}
    seconds = parse_time(given["time"])
    alone = None if exclusive is None else exclusive == "yes"
    cpus, memory = given.get("cpus"), given.get("memory")
    if cpus is not None and (not cpus.isdecimal() or not int(cpus)):
        raise UsageError(f"{asked}: cpus is {cpus!r}, which is no number of processors")
    if memory is not None and not re.fullmatch(r"\d+[KMGT]?", memory):
        raise UsageError(f"{asked}: memory is {memory!r}", hint="Write memory=64G: of each host.")
    queue = given.get(_QUEUES[kind])
    processors = None if cpus is None else int(cpus)
    return JobWish(int(given["nodes"]), seconds, queue, **texts, exclusive=alone, cpus=processors, memory=memory)


def parse_time(text: str) -> int:
    """Return the seconds of `2h`, `90m`, `1d`, `02:30:00` or `1-00:00:00`. Raises UsageError."""
    plain = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)(s|m|min|h|d)", text)
    clock = _CLOCK.fullmatch(text)
    seconds = 0
    if plain is not None:
        seconds = round(float(plain[1]) * _UNITS[plain[2]])
    elif clock is not None:
        days, hours, minutes, rest = (int(part or 0) for part in clock.groups())
        seconds = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    if seconds < 60:
        raise UsageError(f"time is {text!r}, which is no time of a minute or more", hint="Write 2h, 90m or 02:30:00.")
    return seconds


def format_time(seconds: float) -> str:
    """Return a time for people: `1 h 30 min`, `12 min`, `45 s`."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours} h {minutes} min" if hours and minutes else f"{hours} h" if hours else f"{minutes} min"
