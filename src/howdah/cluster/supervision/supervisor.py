"""The supervisor: one process per cluster, which owns its channels. When this process ends, for whatever reason, the
daemons stop.

`howdah up` or `howdah run` starts the supervisor (`client.py`) and talks to it over its standard streams. The first
line on standard input is the ClusterRequest; events go out as JSON lines. The end of standard input stops the cluster,
unless the line `detach` came first. Other commands reach the supervisor through a socket (`control.py`).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from howdah.cluster.control import ControlServer, Served
from howdah.cluster.deployment.assembly import Assembly
from howdah.cluster.deployment.daemons import Running
from howdah.cluster.faults import HostFault
from howdah.cluster.request import ClusterRequest
from howdah.cluster.state import ClusterDirectory, Lost, Manifest, cluster_directory
from howdah.cluster.supervision.resizer import Resizer
from howdah.cluster.supervision.stageout import StageOut
from howdah.cluster.walltime import Walltime, expected, expected_copy, needed_to_stop, remember
from howdah.errors import ClusterProblem, HowdahError, UsageError
from howdah.hadoop.configuration.plan import Plan
from howdah.host.batch import BATCH_SYSTEMS
from howdah.host.supervise import adopt_orphans, end_descendants

_WATCH_SECONDS = 0.5
_GLANCE_SECONDS = 0.1
_CHANGED_SECONDS = 5.0
_CANCELLED_SECONDS = 5.0
"""Seconds for runs to close after a job was cancelled. Slurm kills the job after half a minute; daemons are stopping
already."""


class Supervisor:
    """The life of one cluster: bring it up, watch it, bring it down."""

    def __init__(self, request: ClusterRequest, directory: ClusterDirectory, say: Callable[..., None]) -> None:
        self._request = request
        self._directory = directory
        self._say = say
        self._ending = threading.Event()
        self._changing = threading.Lock()
        self._manifest: Manifest | None = None
        self._in_job = request.allocation.partition(":")[0] in BATCH_SYSTEMS
        self._came = 0.0
        self._was_signalled = False

    def end(self) -> None:
        """Ask for the end of the cluster; may be called from any thread, any number of times."""
        self._ending.set()

    def signalled(self) -> None:
        """Ask for the end of the cluster after a signal: this is how a batch job is stopped."""
        self._was_signalled = True
        self._ending.set()

    def run(self) -> None:
        """Bring the cluster up, wait until asked to stop, and bring it down. Raises HowdahError if the cluster did not
        come up; nothing is left then."""
        assembly = Assembly(self._request, self._directory)
        end = "failed"
        try:
            began = time.monotonic()
            manifest = assembly.bring_up(self._announce, self._check_wanted, self._wait_for_hosts)
            # Whoever works on the cluster from now on is to know it.
            reserved = expected_copy(0) * len(self._request.copies) if self._in_job else 0.0
            self._save(replace(manifest, reserved=reserved))
            if self._in_job:
                remember("start", time.monotonic() - max(began, self._came))
            resizer = Resizer(assembly.resizing(self._settle, self._check_goes_on))
            applications, daemon = assembly.kill_applications, assembly.kill_daemon
            fault = partial(self._disturb, assembly)
            changes = (assembly.call_in, resizer.begin, resizer.seen, resizer.is_busy)
            memory = assembly.resident_memory
            served = Served(self._status, memory, self.end, applications, daemon, fault, *changes)
            with ControlServer(self._directory, served) as control:
                self._say("up", conf=str(self._directory.conf))
                self._watch(assembly, control)
                self._ending.set()
                with self._changing, contextlib.suppress(OSError):  # Who waits for the end is to see that it has begun.
                    self._save(replace(self._status(), state="ending"))
                resizer.finish()
            end = "down"
        finally:
            self._mark("ending")
            began = time.monotonic()
            try:
                assembly.take_down()
                if self._in_job and end == "down":
                    remember("stop", time.monotonic() - began)
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

    def _wait_for_hosts(self, why: str) -> None:
        self._check_wanted()
        self._came = time.monotonic()
        self._say("waiting", why=why)

    def _watch(self, assembly: Assembly, control: ControlServer) -> None:
        reported: set[tuple[str, int]] = set()
        endings = assembly.endings() if self._in_job else None
        walltime = None if endings is None else Walltime(endings.seconds_left)
        staging = StageOut(self._request.name, self._request.copies, assembly.length, self._directory.staged)
        while not self._ending.wait(_WATCH_SECONDS):
            left = None if walltime is None else walltime.left
            self._note_end(left, staging.seconds)
            if endings is not None and endings.is_taken():
                self._let_go(control, "the batch system has ended the job", _CANCELLED_SECONDS)
                return
            if left is not None and left <= needed_to_stop() + staging.seconds:
                self._leave(assembly, control, staging, left, lambda: endings is not None and endings.is_taken())
                return
            for running, code in assembly.ended():
                key = (running.daemon.host, running.daemon.pid)
                if key not in reported:
                    reported.add(key)
                    self._note(self._lost(running, code))
        if self._in_job and self._was_signalled:
            self._let_go(control, "the batch system has ended the job", _CANCELLED_SECONDS)

    def _note_end(self, left: float | None, reserved: float) -> None:
        """Record when the hosts are taken away, and the seconds before it for copies, if this has changed."""
        assert self._manifest is not None
        ends, known = None if left is None else time.time() + left, self._manifest.ends
        moved = (ends is None) != (known is None) or (ends and known and abs(ends - known) > _CHANGED_SECONDS)
        if moved or abs(reserved - self._manifest.reserved) > _CHANGED_SECONDS:
            with self._changing, contextlib.suppress(OSError):  # A full disk, say.
                self._save(replace(self._manifest, ends=ends, reserved=reserved))

    def _leave(
        self,
        assembly: Assembly,
        control: ControlServer,
        staging: StageOut,
        left: float,
        is_taken: Callable[[], bool],
    ) -> None:
        """Let runs close, and copy the requested data out of HDFS, in the seconds that are `left`."""
        last = time.monotonic() + left - needed_to_stop() / 2

        def must_stop() -> bool:
            return self._ending.is_set() or is_taken() or time.monotonic() > last

        seconds = left - expected("stop") - staging.seconds
        self._let_go(control, f"walltime: {max(left, 0.0):.0f} s are left", seconds)
        if self._request.copies:
            with contextlib.suppress(HowdahError):  # Copies need containers, and may have some all the same.
                assembly.kill_applications()
            while control.is_claimed and not must_stop():  # The script copies something itself.
                time.sleep(_GLANCE_SECONDS)
        staging.run(must_stop)

    def _let_go(self, control: ControlServer, why: str, seconds: float) -> None:
        """Notify runs that the hosts are taken away, and let the runs close within `seconds`."""
        assert self._manifest is not None
        with self._changing, contextlib.suppress(OSError):  # A full disk: who asks is told all the same.
            self._save(replace(self._manifest, taken=why))
        deadline = time.monotonic() + seconds
        while (control.is_used or (self._request.copies and control.is_claimed)) and time.monotonic() < deadline:
            time.sleep(_GLANCE_SECONDS)

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

    def _disturb(self, assembly: Assembly, fault: HostFault) -> None:
        """Inject a fault, and write it down while it lasts. Raises what `Assembly.fault` raises."""
        assembly.fault(fault)
        with self._changing, contextlib.suppress(OSError):  # A full disk, say.
            self._save(replace(self._status(), disturbed=fault.changed(self._status().disturbed)))

    def _settle(self, plan: Plan, running: Sequence[Running]) -> None:
        """Write down which hosts and daemons the cluster has now. Forget the lost daemons of other hosts."""
        with self._changing:
            before, places = self._status(), {place.name for place in plan.places}
            lost = tuple(one for one in before.lost if one.place in places)
            hosts = (*before.spare, *before.plan.quarters)
            spare = tuple(name for name in hosts if name not in plan.quarters)
            daemons = tuple(one.daemon for one in running)
            larger = {name: slots for name, slots in before.sizing.get("larger", {}).items() if name in places}
            sizing = {**before.sizing, "nodes": len(plan.nodes), **({"larger": larger} if larger else {})}
            if not larger:
                sizing.pop("larger", None)
            try:
                self._save(replace(before, plan=plan, daemons=daemons, lost=lost, spare=spare, sizing=sizing))
            except OSError as error:
                raise ClusterProblem(f"the manifest could not be written: {error}") from error

    def _check_goes_on(self) -> None:
        """Raises ClusterProblem once the end was asked for."""
        if self._ending.is_set():
            raise ClusterProblem("the cluster is stopped")

    def _save(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._directory.write(manifest)

    def _status(self) -> Manifest:
        """The manifest, once the cluster is up."""
        assert self._manifest is not None
        return self._manifest


def main() -> int:
    """Run the supervisor process; its only argument is the cluster's name."""
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
                hint=f"`howdah down --name {request.name}` stops it; --name OTHER starts another one.",
            )
    except HowdahError as error:
        return _refuse(say, error)
    supervisor = Supervisor(request, directory, say)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: supervisor.signalled())
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
