"""The site file, in which administrators describe their machines.

It is searched for at `--site FILE`, at HOWDAH_SITE, and at /etc/howdah/site.yaml, in this order. `sites/sample.yaml`
has every key with a comment; `site.schema.json` is its schema.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from howdah.errors import UsageError
from howdah.spec.document import Value, read_document
from howdah.spec.hosts import checked_network
from howdah.spec.jobs import JobWish, format_time, parse_time
from howdah.spec.slips import did_you_mean

VARIABLE = "HOWDAH_SITE"
USUAL_PLACE = Path("/etc/howdah/site.yaml")
_BATCH = ("slurm", "pbs")
_KEYS = ("batch", "network", "scratch", "disks", "java", "python", "modules", "shared", "partitions")
_OF_A_PARTITION = ("time", "nodes", "users")
_EXPANDED = re.compile(r"\$\{(\w+)\}")
_VARIABLES = ("USER", "JOB_ID")


@dataclass(frozen=True, slots=True)
class Partition:
    """The limits of a partition, or queue: seconds, hosts, and users; None if the file sets no limit."""

    seconds: int | None = None
    hosts: int | None = None
    users: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """A site file. A value is None if the file does not set it.

    `scratch` and `disks` may hold `${USER}` and `${JOB_ID}`. All hosts see the directories `shared`. Scripts and
    agents load the `modules`.
    """

    file: Path | None = None
    batch: str | None = None
    network: str | None = None
    scratch: str | None = None
    disks: tuple[str, ...] = ()
    java: str | None = None
    python: str | None = None
    modules: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    partitions: Mapping[str, Partition] = field(default_factory=dict)

    @property
    def loads(self) -> tuple[str, ...]:
        """The command of a shell that loads each of the modules."""
        return tuple(f"module load {shlex.quote(module)}" for module in self.modules)

    def check(self, wish: JobWish, user: str) -> None:
        """Raise UsageError if the site does not allow a job."""
        if wish.queue is None or not self.partitions:
            return
        if wish.queue not in self.partitions:
            hint = did_you_mean(wish.queue, self.partitions)
            raise UsageError(f"{self.file} names no partition {wish.queue!r}", hint=hint)
        limits = self.partitions[wish.queue]
        what = f"{self.file}: partition {wish.queue}"
        if limits.users is not None and user not in limits.users:
            raise UsageError(f"{what} is for {', '.join(limits.users)}, and you are {user}")
        if limits.seconds is not None and wish.seconds > limits.seconds:
            raise UsageError(f"{what} allows {format_time(limits.seconds)}, and {format_time(wish.seconds)} are wished")
        if limits.hosts is not None and wish.hosts > limits.hosts:
            raise UsageError(f"{what} allows {limits.hosts} hosts, and {wish.hosts} are wished")


def find_site(named: str | None) -> Site:
    """Return the site file `named`, or the one that is found; an empty Site if there is none. Raises UsageError."""
    if named is not None:
        return read_site(Path(named))
    if os.environ.get(VARIABLE):
        return read_site(Path(os.environ[VARIABLE]))
    return read_site(USUAL_PLACE) if USUAL_PLACE.exists() else Site()


def read_site(file: Path) -> Site:
    """Return the site file `file`. Raises UsageError with the line of a mistake."""
    given = read_document(file, "the site file").mapping(_KEYS)
    found = {name: _text(name, value) for name, value in given.items() if name not in ("partitions", *_LISTS)}
    lists = {name: tuple(_checked(name, one) for one in given[name].list()) for name in _LISTS if name in given}
    partitions = given["partitions"].mapping() if "partitions" in given else {}
    limits = {name: _partition(value) for name, value in partitions.items()}
    return Site(file, **found, **lists, partitions=limits)  # type: ignore[arg-type]


_LISTS = ("disks", "modules", "shared")


def _text(name: str, value: Value) -> str:
    text = _checked(name, value)
    if name == "batch" and text not in _BATCH:
        raise value.problem(f"batch is {text!r}", hint=did_you_mean(text, _BATCH))
    return checked_network(value) if name == "network" else text


def _checked(name: str, value: Value) -> str:
    text = value.text()
    if name in ("scratch", "disks", "java", "shared") and not text.startswith("/"):
        raise value.problem(f"{name} has {text!r}, which is no absolute path")
    for variable in _EXPANDED.findall(text):
        if name not in ("scratch", "disks") or variable not in _VARIABLES:
            raise value.problem(
                f"{name} has ${{{variable}}}",
                hint="scratch and disks may have ${USER} and ${JOB_ID}, and nothing else.",
            )
    return text


def _partition(value: Value) -> Partition:
    given = value.mapping(_OF_A_PARTITION)
    seconds = hosts = users = None
    if "time" in given:
        try:
            seconds = parse_time(given["time"].text())
        except UsageError as error:
            raise given["time"].problem(error.message, hint=error.hint) from None
    if "nodes" in given:
        text = given["nodes"].text()
        if not text.isdecimal() or not int(text):
            raise given["nodes"].problem(f"nodes is {text!r}, which is no number of hosts")
        hosts = int(text)
    if "users" in given:
        users = tuple(one.text() for one in given["users"].list())
    return Partition(seconds, hosts, users)


def expand(path: str, user: str, job: str) -> str:
    """Return a path of a site file with its variables replaced."""
    values = {"USER": user, "JOB_ID": job}
    return _EXPANDED.sub(lambda match: values[match[1]], path)
