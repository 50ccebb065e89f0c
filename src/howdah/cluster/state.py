"""The records of clusters on this machine: one directory per name, with a manifest and a lock.

```
HOWDAH_HOME/clusters/NAME/cluster.json   the manifest
                          lock           the supervisor (process and host), while it lives
                          conf/          HADOOP_CONF_DIR for clients; conf/nodes/nodeN for each node
                          logs/          one file per daemon; kept after `down`
                          work/          data of the daemons, unless --work-dir; removed by `down`
                          client/        temporary files of job clients, if daemons are elsewhere; removed by `down`
```

The supervisor listens at a socket in the private directory of its host, because many hosts may see this directory.
Other hosts keep the files of their daemons in a directory of their own (`Plan.quarters`).
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from howdah.errors import ClusterProblem, Elsewhere, UsageError
from howdah.hadoop.configuration.plan import Place, Plan, Quarters
from howdah.host.batch import has_ended
from howdah.store import LockFile, LockHolder, holder_of, howdah_home, private_directory, take_lock

GONE = ("down", "failed")
"""States in which nothing of a cluster is left."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class Daemon:
    """A started daemon: its role, its place, and its process."""

    role: str
    place: str
    host: str
    pid: int


@dataclass(frozen=True, slots=True)
class Lost:
    """A daemon that ended on its own: the exit code of its process, and its log on its host. `host` is None if the
    cluster has only one. `why` says how the host was lost with its daemon; None if only the daemon ended."""

    role: str
    place: str
    pid: int
    code: int
    log: str
    host: str | None = None
    why: str | None = None
    at: float | None = None
    """Time at which the loss was noticed, in seconds since 1970."""

    @property
    def sentence(self) -> str:
        """The loss as a sentence for people."""
        where = "" if self.host is None else f" on {self.host}"
        if self.why is not None:
            at = "" if self.at is None else time.strftime(" at %H:%M:%S", time.localtime(self.at))
            return f"{self.role} of {self.place}{where} was lost{at}: {self.why}"
        return (
            f"{self.role} of {self.place}{where} (process {self.pid}) ended with code {self.code}; its log: {self.log}"
        )

    def logged_in(self, directory: Path) -> Lost:
        """Return this loss with its log in `directory`, where a copy of the log is."""
        return replace(self, log=str(directory / Path(self.log).name))


class DaemonLost(ClusterProblem):
    """`lost` has ended on its own, and the cluster cannot work without it."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(lost.sentence)
        self.lost = lost


@dataclass(frozen=True, slots=True)
class Manifest:
    """The record of a cluster. `state` is `starting`, `up`, `ending`, `leftover` (not all of it could be removed),
    `failed` (it did not come up) or `down`. `supervisor` is the process ID of the supervisor, on `machine`."""

    name: str
    state: str
    machine: str
    supervisor: int
    started: float
    plan: Plan
    hadoop: Mapping[str, Any]
    jdk: Mapping[str, Any]
    sizing: Mapping[str, Any]
    defaults: Mapping[str, Any]
    allocation: Mapping[str, Any]
    daemons: tuple[Daemon, ...] = ()
    lost: tuple[Lost, ...] = ()
    """Daemons that ended on their own."""
    plugins: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each of Howdah's jars on the class paths, by path."""
    ends: float | None = None
    """Time at which a batch system takes the hosts away, in seconds since 1970, if known."""
    reserved: float = 0.0
    """Seconds before that time in which results are copied out of HDFS; 0 without copies."""
    taken: str | None = None
    """Reason why the batch system takes the hosts away, once that has begun."""
    disturbed: Mapping[str, str] = field(default_factory=dict)
    """Faults that last (`slow`, `cut`, `stop`), by host and what they affect."""
    spare: tuple[str, ...] = ()
    """Hosts of the allocation that the cluster does not use now."""


@dataclass(frozen=True, slots=True)
class ClusterDirectory:
    """The directory of the cluster called `name`."""

    name: str
    path: Path

    @property
    def conf(self) -> Path:
        return self.path / "conf"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def client(self) -> Path:
        return self.path / "client"

    @property
    def staged(self) -> Path:
        """The log of the copies that were made before the hosts were taken away."""
        return self.logs / "stage-out.log"

    @property
    def socket(self) -> Path:
        """The socket at which the supervisor on this host listens."""
        key = hashlib.sha256(str(self.path.resolve()).encode()).hexdigest()[:16]
        return private_directory() / f"{self.name}-{key}"

    def lock(self) -> LockFile | None:
        """Take the lock of this name and return it. Returns None if its supervisor lives, or is on another host. Raises
        HostProblem if the lock cannot be created."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return take_lock(self.path / "lock")

    def holder(self) -> LockHolder | None:
        """Return the supervisor of this name: one that lives, or one on another host."""
        return holder_of(self.path / "lock")

    def elsewhere(self) -> str | None:
        """Return the other host on which a cluster of this name was started and has not been stopped, if there is one.
        Several hosts may share one HOWDAH_HOME."""
        holder, manifest = self.holder(), self.read()
        if holder is not None and not holder.is_here and manifest is not None and _has_ended(manifest):
            (self.path / "lock").unlink(missing_ok=True)
            self.mark("down")
            return None
        if holder is not None:
            return None if holder.is_here else holder.host
        host = None if manifest is None or manifest.state in GONE else manifest.machine
        return None if host == platform.node() else host

    def refuse_elsewhere(self) -> None:
        """Raise Elsewhere if a cluster of this name belongs to another host."""
        host = self.elsewhere()
        if host is not None:
            hint = (
                f"`ssh {host}` would take this command there, if `ssh -o BatchMode=yes {host} true` worked and Howdah "
                f"had the same path. If there is no such host any more, `howdah down --name {self.name} --forget` "
                "forgets it."
            )
            if (holder := self.holder()) is not None:
                hint += f" If that is an old name of this machine, `kill {holder.pid}` ends it."
            raise Elsewhere(
                f"the cluster {self.name!r} was started on {host}, and this is {platform.node()}",
                hint=hint,
                place=host,
            )

    def is_held(self) -> bool:
        """Return whether a supervisor of this name lives, or is on another host."""
        return self.holder() is not None

    def write(self, manifest: Manifest) -> None:
        """Replace the whole manifest."""
        fresh = self.path / ".cluster.json.new"
        fresh.write_text(json.dumps(asdict(manifest), indent=1) + "\n", encoding="utf-8")
        fresh.replace(self.path / "cluster.json")

    def read(self) -> Manifest | None:
        """Return the manifest; None if it does not exist or cannot be read."""
        try:
            record = json.loads((self.path / "cluster.json").read_text(encoding="utf-8"))
            return _decode(_renewed(record, self))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def mark(self, state: str) -> None:
        """Set the state in the manifest, if there is a manifest."""
        manifest = self.read()
        if manifest is not None:
            self.write(replace(manifest, state=state))


def _has_ended(manifest: Manifest) -> bool:
    """Return whether the supervisor of a cluster was in a batch job that is known to have ended."""
    allocation = manifest.allocation
    if "job" not in allocation or allocation["submitted"]:
        return False
    return has_ended(allocation["key"])


def check_name(name: str, what: str) -> None:
    """Raise UsageError if `name` is not valid for a `what`, such as a cluster."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"not a {what} name: {name!r}", hint="Up to 40 lower-case letters, digits and hyphens, a letter first."
        )


def cluster_directory(name: str) -> ClusterDirectory:
    """Return the directory of a cluster, which need not exist. Raises UsageError for an invalid name."""
    check_name(name, "cluster")
    return ClusterDirectory(name, howdah_home() / "clusters" / name)


def known_clusters() -> Iterator[ClusterDirectory]:
    """Yield the directory of every cluster that left one on this machine, by name."""
    root = howdah_home() / "clusters"
    if root.is_dir():
        for path in sorted(root.iterdir()):
            if (path / "cluster.json").exists() or (path / "lock").exists():
                yield ClusterDirectory(path.name, path)


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner may read."""
    path.touch(mode=0o600)
    path.write_bytes(content)


@contextmanager
def short_name(path: Path) -> Iterator[str]:
    """Yield a name for `path` that fits a socket address (108 bytes), even in a deep directory. It is valid in the
    context.

    Raises FileNotFoundError if the directory does not exist.
    """
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


def _renewed(record: Mapping[str, Any], directory: ClusterDirectory) -> Mapping[str, Any]:
    """Return a manifest of Howdah 1.0 or earlier, whose clusters had one host, in the present format."""
    plan = dict(record["plan"])
    if "quarters" in plan:
        return record
    plan.pop("mounted", None)
    host = plan["masters"]["host"]
    own = Quarters(host, plan.pop("directory"), str(directory.conf), str(directory.logs), str(howdah_home() / "cache"))
    return {**record, "machine": host, "plan": {**plan, "quarters": {host: asdict(own)}}}


def _decode(record: Mapping[str, Any]) -> Manifest:
    plan = record["plan"]
    return Manifest(
        **{
            **record,
            "plan": Plan(
                **{
                    **plan,
                    "quarters": {host: Quarters(**one) for host, one in plan["quarters"].items()},
                    "masters": Place(**plan["masters"]),
                    "nodes": tuple(Place(**node) for node in plan["nodes"]),
                    "application_ports": tuple(plan["application_ports"]),
                    "application_web_ports": tuple(plan["application_web_ports"]),
                    "persist": plan.get("persist"),
                    "job": plan.get("job"),
                    "mount_types": tuple(plan.get("mount_types", ())),
                }
            ),
            "daemons": tuple(Daemon(**daemon) for daemon in record["daemons"]),
            "lost": tuple(Lost(**one) for one in record["lost"]),
            "spare": tuple(record.get("spare", ())),
        }
    )
