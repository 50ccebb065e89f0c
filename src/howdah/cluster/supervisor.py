"""The supervisor: one process per cluster that owns its channels. When it ends, for whatever reason, the daemons end.

It is started by `howdah up` or `howdah run` (`client.py`) and converses with it over its standard streams: the first
line on standard input is the ClusterRequest, events go out as JSON lines. The end of its standard input ends the
cluster, unless the line `detach` came first. Other commands reach it through a socket (`control.py`).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from howdah.cluster.assembly import Assembly
from howdah.cluster.control import ControlServer
from howdah.cluster.daemons import Running
from howdah.cluster.request import ClusterRequest
from howdah.cluster.state import ClusterDirectory, Lost, Manifest, cluster_directory
from howdah.errors import ClusterProblem, HowdahError, UsageError
from howdah.host.supervise import adopt_orphans, end_descendants

_WATCH_SECONDS = 0.5


class Supervisor:
    """Brings one cluster up, watches it, and brings it down."""

    def __init__(self, request: ClusterRequest, directory: ClusterDirectory, say: Callable[..., None]) -> None:
        self._request = request
        self._directory = directory
        self._say = say
        self._ending = threading.Event()
        self._changing = threading.Lock()
        self._manifest: Manifest | None = None

    def end(self) -> None:
        """Asks for the end; may be called from any thread, any number of times."""
        self._ending.set()

    def run(self) -> None:
        """Up, until asked to end, down. Raises HowdahError when the cluster did not come up; nothing is left then."""
        assembly = Assembly(self._request, self._directory)
        end = "failed"
        try:
            manifest = assembly.bring_up(self._announce, self._check_wanted)
            self._save(manifest)
            applications, daemon, fault = assembly.kill_applications, assembly.kill_daemon, assembly.fault
            with ControlServer(self._directory, self._status, self.end, applications, daemon, fault):
                self._say("up", conf=str(self._directory.conf))
                self._watch(assembly)
            end = "down"
        finally:
            self._mark("ending")
            try:
                assembly.take_down()
            except HowdahError:
                end = "leftover"
                raise
            finally:
                self._mark(end)

    def _mark(self, state: str) -> None:
        manifest = self._directory.read()
        if manifest is not None and manifest.supervisor == os.getpid():  # Not that of one before, which has died.
            with contextlib.suppress(OSError):  # The disk may be full, of what is removed now.
                self._directory.mark(state)

    def _announce(self, step: str) -> None:
        self._say("step", step=step)

    def _check_wanted(self) -> None:
        if self._ending.is_set():
            raise ClusterProblem("stopped before it was up")

    def _watch(self, assembly: Assembly) -> None:
        reported: set[tuple[str, int]] = set()
        while not self._ending.wait(_WATCH_SECONDS):
            for running, code in assembly.ended():
                key = (running.daemon.host, running.daemon.pid)
                if key not in reported:
                    reported.add(key)
                    self._note(self._lost(running, code))

    def _lost(self, running: Running, code: int) -> Lost:
        assert self._manifest is not None
        daemon, several = running.daemon, len(self._manifest.plan.quarters) > 1
        host, why = daemon.host if several else None, running.process.lost_with
        return Lost(daemon.role, daemon.place, daemon.pid, code, running.log, host, why, time.time())

    def _note(self, lost: Lost) -> None:
        with self._changing:
            assert self._manifest is not None
            try:
                self._save(replace(self._manifest, lost=(*self._manifest.lost, lost)))
            except OSError as error:  # A full disk, say. The cluster goes on, and knows it while it does.
                sys.stderr.write(f"{lost.sentence}; the manifest could not be written: {error}\n")

    def _save(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._directory.write(manifest)

    def _status(self) -> Manifest:
        assert self._manifest is not None
        return self._manifest


def main() -> int:
    """Entry of the supervisor process; its only argument is the cluster's name."""
    adopt_orphans()
    saying = threading.Lock()

    def say(event: str, **facts: Any) -> None:
        # Whoever started the cluster may have gone; the cluster may well outlive it.
        with saying, contextlib.suppress(OSError):
            sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
            sys.stdout.flush()

    request = ClusterRequest.from_json(sys.stdin.readline())
    directory = cluster_directory(request.name)
    try:
        directory.refuse_elsewhere()
        lock = directory.lock()
        if lock is None:
            raise UsageError(
                f"a cluster called {request.name!r} is already up or being started",
                hint=f"`howdah down --name {request.name}` ends it; --name OTHER makes another one beside it.",
            )
    except HowdahError as error:
        return _refuse(say, error)
    supervisor = Supervisor(request, directory, say)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: supervisor.end())
    threading.Thread(target=_follow_starter, args=(supervisor,), daemon=True).start()
    try:
        supervisor.run()
    except HowdahError as error:
        return _refuse(say, error)
    finally:
        end_descendants(5.0)
        lock.release()
    say("down")
    return 0


def _refuse(say: Callable[..., None], error: HowdahError) -> int:
    # Whoever started it may not listen any more.
    sys.stderr.write(f"{error.message}\n")
    say("failed", kind=type(error).__name__, message=error.message, hint=error.hint)
    return error.exit_code


def _follow_starter(supervisor: Supervisor) -> None:
    for line in sys.stdin:
        if line.strip() == "detach":
            return
    supervisor.end()


if __name__ == "__main__":
    sys.exit(main())
