"""Functions for commands: start, find and stop clusters of this machine."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
from collections.abc import Callable
from enum import Enum
from typing import Any

from howdah import errors
from howdah.cluster.control import ControlClient
from howdah.cluster.ownership import remove_data
from howdah.cluster.request import ClusterRequest
from howdah.cluster.state import GONE, ClusterDirectory, Manifest, cluster_directory, known_clusters
from howdah.errors import ClusterProblem, HowdahError, UsageError
from howdah.host.batch import BATCH_SYSTEMS
from howdah.host.supervise import Detached, signal_quietly

_DOWN_SECONDS = 15.0
_QUEUED_SECONDS = 80.0
"""Seconds for two commands of a batch system that hang (`_COMMAND_SECONDS` each): one asks, one cancels the job."""
_TAKEN_SECONDS = 60.0
_POLL_SECONDS = 0.05


class StartedCluster:
    """A cluster whose supervisor is a child of this process. It stops with this process unless `detach` is called."""

    def __init__(self, request: ClusterRequest) -> None:
        """Start the supervisor. `wait_until_up` waits for the cluster."""
        self.directory = cluster_directory(request.name)
        in_job = request.allocation.partition(":")[0] in BATCH_SYSTEMS
        self._patience = _QUEUED_SECONDS if in_job else _DOWN_SECONDS
        self.directory.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # -P: no module of the directory that somebody happens to be in.
        self._supervisor = Detached(
            [sys.executable, "-P", "-m", "howdah.cluster.supervision.supervisor", request.name],
            self.directory.path / "supervisor.log",
        )
        self._supervisor.to.write(request.to_json().encode() + b"\n")
        self._supervisor.to.flush()

    def wait_until_up(
        self, announce: Callable[[str], None], waiting: Callable[[str], None] = lambda _: None
    ) -> Manifest:
        """Return the manifest when the cluster is healthy. `announce` gets each step, `waiting` the reason why hosts
        are not there yet.

        Raises:
            HowdahError: the cluster did not come up. The class is that of the supervisor's error; nothing is left
                running.
        """
        for line in self._supervisor.said:
            event = json.loads(line)
            if event["event"] == "step":
                announce(event["step"])
            elif event["event"] == "waiting":
                waiting(event["why"])
            elif event["event"] == "up":
                manifest = self.directory.read()
                if manifest is None:
                    raise ClusterProblem(f"the manifest of {self.directory.name!r} vanished while it came up")
                return manifest
            elif event["event"] == "failed":
                self._supervisor.wait(_DOWN_SECONDS)
                raise _revive(event, self.directory)
        code = self._supervisor.wait(_DOWN_SECONDS)
        raise ClusterProblem(
            f"the supervisor of {self.directory.name!r} ended with code {code} before the cluster was up",
            hint=f"Its log: {self.directory.path / 'supervisor.log'}",
        )

    def detach(self) -> None:
        """Let the cluster outlive this process."""
        self._supervisor.to.write(b"detach\n")
        self._supervisor.to.flush()

    def end(self) -> None:
        """Stop the cluster and wait for it, however long the removal of its data takes."""
        self._supervisor.to.close()
        while self._supervisor.wait(self._patience) is None:
            if not _is_ending(self.directory):
                signal_quietly(self._supervisor.pid, signal.SIGKILL)
                return

    def forget(self) -> None:
        """Remove the cluster's directory, including its logs; for clusters that were made for one run, which keeps its
        own copies. If data elsewhere could not be removed, the directory stays for `howdah down`."""
        manifest = self.directory.read()
        if not self.directory.is_held() and (manifest is None or manifest.state in GONE):
            shutil.rmtree(self.directory.path, ignore_errors=True)


def find_cluster(name: str) -> Manifest:
    """Return the manifest of the cluster called `name`, which must be up. Raises ClusterProblem if it is not, and
    UsageError for an invalid name."""
    directory = cluster_directory(name)
    directory.refuse_elsewhere()
    if not directory.is_held():
        others = [other.name for other in known_clusters() if other.is_held() and other.elsewhere() is None]
        raise ClusterProblem(
            f"no cluster called {name!r} is up",
            hint=f"Up now: {', '.join(others)}." if others else "`howdah up` starts one.",
        )
    manifest = directory.read()
    if manifest is None or manifest.state != "up":
        raise ClusterProblem(f"the cluster {name!r} is {'starting' if manifest is None else manifest.state}")
    return manifest


def wait_until_taken(name: str) -> None:
    """Wait until a cluster is down whose hosts a batch system takes away; return at once for another cluster, and some
    time after the hosts are gone."""
    directory, began = cluster_directory(name), time.time()
    while (manifest := directory.read()) is not None and manifest.taken is not None and directory.is_held():
        if time.time() > max(began, manifest.ends or 0.0) + _TAKEN_SECONDS:
            return
        time.sleep(_POLL_SECONDS)


class Ended(Enum):
    """The result of `take_down`: a cluster that was up, leftovers of a cluster whose supervisor had died, or
    nothing."""

    UP = "up"
    LEFTOVERS = "leftovers"
    NOTHING = "nothing"


def take_down(name: str) -> Ended:
    """Stop the cluster called `name`, or remove the leftovers of a dead one. Returns when nothing of the cluster runs.

    Raises:
        ClusterProblem: its supervisor does not stop.
        HostProblem: the leftovers of a dead cluster cannot be removed, or the cluster belongs to another host.
    """
    directory = cluster_directory(name)
    directory.refuse_elsewhere()
    if not directory.path.is_dir():
        return Ended.NOTHING
    lock = directory.lock()
    if lock is not None:
        with lock:  # So that no other command brings one up meanwhile.
            manifest = directory.read()
            if manifest is None or manifest.state in GONE:
                return Ended.NOTHING
            directory.mark("ending")
            remove_data(manifest)
            for own in (directory.conf, directory.client):
                shutil.rmtree(own, ignore_errors=True)
            directory.socket.unlink(missing_ok=True)
            directory.mark("down")
        return Ended.LEFTOVERS
    wait_until_taken(name)  # It ends by itself, once results are copied out of HDFS.
    holder = directory.holder()
    if holder is not None and not holder.is_here:  # Since a moment ago.
        directory.refuse_elsewhere()
    try:
        control = ControlClient(directory)
        control.ask("down")
        control.close()
    except ClusterProblem:
        if holder is not None:  # It is still starting, or does not listen: the signal asks for the same.
            signal_quietly(holder.pid, signal.SIGTERM)
    # The supervisor gives up the lock with its last words, a moment before it is gone.
    deadline = time.monotonic() + _DOWN_SECONDS
    while directory.is_held() or (holder is not None and holder.may_live):
        if time.monotonic() > deadline and not _is_ending(directory):
            raise ClusterProblem(
                f"the supervisor of {name!r} did not end within {_DOWN_SECONDS:.0f} s",
                hint="" if holder is None else f"kill -9 {holder.pid} ends it and everything it started.",
            )
        time.sleep(_POLL_SECONDS)
    manifest = directory.read()
    if manifest is not None and manifest.state not in GONE:
        raise ClusterProblem(
            f"{name!r} has ended, but not all of its data could be removed",
            hint=f"{directory.path / 'supervisor.log'} says why; `howdah down --name {name}` tries again.",
        )
    return Ended.UP


def forget(name: str) -> bool:
    """Forget a cluster of a host that is gone, with its data in HOWDAH_HOME; return whether there was one. Raises
    UsageError if the cluster belongs to this host. Nobody can know whether a cluster of another host lives."""
    directory = cluster_directory(name)
    manifest = directory.read()
    if not directory.is_held() and (manifest is None or manifest.state in GONE):
        return False
    if directory.elsewhere() is None:
        raise UsageError(f"the cluster {name!r} is of this host", hint=f"`howdah down --name {name}` ends it.")
    (directory.path / "lock").unlink(missing_ok=True)
    for mine in (directory.conf, directory.client, *directory.path.glob("work*")):
        shutil.rmtree(mine, ignore_errors=True)
    directory.mark("down")
    return True


def _is_ending(directory: ClusterDirectory) -> bool:
    """Return whether the supervisor is about to remove the cluster's data, which may take long."""
    manifest = directory.read()
    return manifest is not None and manifest.state == "ending"


def _revive(event: dict[str, Any], directory: ClusterDirectory) -> HowdahError:
    kind = getattr(errors, event["kind"], ClusterProblem)
    if not (isinstance(kind, type) and issubclass(kind, HowdahError)):
        kind = ClusterProblem
    hint = event["hint"]
    if kind is not UsageError and hint is None:
        hint = f"Logs are kept in {directory.logs}."
    error: HowdahError = kind(event["message"], hint=hint)
    return error
