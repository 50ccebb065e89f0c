"""The protocol between commands and a live supervisor: one JSON line each way over a socket
(`ClusterDirectory.socket`).

```
{"do": "status"}              → the manifest
{"do": "memory"}              → {"ROLE-PLACE": …}: the bytes that each daemon has in memory
{"do": "down"}                → {}, and the cluster shuts down
{"do": "claim", "by": "…"}    → {"claimed_by": "…"}, or {"error": …}: who measures on the cluster now, until that
                                connection closes
{"do": "kill", "role": "…"}   → {}, and the daemon of that role on the last node is killed
{"do": "fault", "kind": "…", "host": "…"}   → {}, or {"error": …, "hint": …, "code": …}: see `howdah.cluster.faults`
{"do": "call_in", "host": "…", "program": "…", "invitation": "…"}   → {}, or {"error": …}: the agent of that host lets
                                another one call who has sent the invitation
{"do": "resize", "kind": "shrink", "hosts": ["…"], "seconds": 600}   → {"change": 1}, or {"error": …}: hosts begin to
                                leave, or (`grow`) to come
{"do": "resized", "change": 1}   → {"runs": …, "said": […]}, and {"error": …} where that has failed
{"do": "lease", "tag": "…"}   → {}; when this connection breaks before {"do": "release"} came,
                                every application with that tag is killed
```
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any

from howdah.cluster.faults import HostFault, read_fault
from howdah.cluster.state import ClusterDirectory, Manifest, short_name
from howdah.errors import ClusterProblem, HowdahError, UsageError


@dataclass(frozen=True, slots=True)
class Served:
    """The requests that other processes may make of a cluster, in threads of the server. All but `status`, `memory` and
    `resized` may raise HowdahError."""

    status: Callable[[], Manifest]
    memory: Callable[[], Mapping[str, int]]
    """Returns the bytes that each daemon has in memory, by role and place."""
    end: Callable[[], None]
    kill_applications: Callable[[str], None]
    """Kills every application with this tag."""
    kill_daemon: Callable[[str], None]
    """Kills the daemon of this role on the last node."""
    fault: Callable[[HostFault], None]
    call_in: Callable[[str, str, str], None]
    """Lets another agent of a host call with a program, who has sent the invitation."""
    resize: Callable[[str, Sequence[str], float], int]
    """Begins to let hosts leave or come, within so many seconds; returns the number of this change."""
    resized: Callable[[int], Mapping[str, Any]]
    """Returns the progress of a change."""
    is_changing: Callable[[], bool]
    """Returns whether a change is under way."""


class ControlServer:
    """The server of the control socket, in a thread of its own, while the context lasts."""

    def __init__(self, directory: ClusterDirectory, served: Served) -> None:
        self._directory = directory
        self._served = served
        self._claims: dict[int, str] = {}
        self._leases: set[int] = set()
        self._claiming = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)

    def __enter__(self) -> ControlServer:
        self._directory.socket.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            with short_name(self._directory.socket) as address:
                self._socket.bind(address)
        finally:
            os.umask(before)
        self._socket.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    @property
    def is_used(self) -> bool:
        """Whether a run is under way."""
        return bool(self._leases)

    @property
    def is_claimed(self) -> bool:
        """Whether somebody measures on the cluster, or still writes down the results."""
        return bool(self._claims)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._directory.socket.unlink(missing_ok=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        leased: str | None = None
        number = connection.fileno()
        with connection, connection.makefile("rw", encoding="utf-8") as stream:
            try:
                for line in stream:
                    request = json.loads(line)
                    if request["do"] == "lease":
                        leased = request["tag"]
                        self._leases.add(number)
                    elif request["do"] == "release":
                        leased = None
                        self._leases.discard(number)
                    stream.write(json.dumps(self._answer(request, number)) + "\n")
                    stream.flush()
            except (OSError, ValueError, LookupError):
                pass  # A broken connection or request: the lease, if any, is broken with it.
            self._leases.discard(number)
            with self._claiming:
                self._claims.pop(number, None)
        if leased is not None:
            self._served.kill_applications(leased)

    def _answer(self, request: dict[str, Any], connection: int) -> Mapping[str, Any]:
        served, do = self._served, request["do"]
        if do == "status":
            return asdict(served.status())
        if do == "memory":
            return served.memory()
        if do == "resized":
            return served.resized(request["change"])
        try:
            if do == "claim":
                return {"claimed_by": self._claim(connection, request["by"])}
            if do == "resize":
                return {"change": self._resize(request)}
            if do == "down":
                served.end()
            elif do == "kill":
                served.kill_daemon(request["role"])
            elif do == "fault":
                served.fault(read_fault(request))
            elif do == "call_in":
                served.call_in(request["host"], request["program"], request["invitation"])
        except HowdahError as error:
            return {"error": error.message, "hint": error.hint, "code": error.exit_code}
        return {}

    def _claim(self, connection: int, by: str) -> str:
        """Return who measures on the cluster now: `by`, unless somebody else does. Raises UsageError while hosts leave
        or come."""
        with self._claiming:
            if self._served.is_changing():
                raise UsageError("the hosts of this cluster are changing", hint="Wait until that is done.")
            if not self._claims:
                self._claims[connection] = by
            return next(iter(self._claims.values()))

    def _resize(self, request: Mapping[str, Any]) -> int:
        """Begin a change of hosts, and return its number. Raises UsageError while somebody measures."""
        with self._claiming:
            if self._claims:
                raise UsageError("somebody measures on this cluster: its hosts stay as they are meanwhile")
            return self._served.resize(request["kind"], request["hosts"], request["seconds"])


class ControlClient:
    """A connection to the supervisor of a cluster."""

    def __init__(self, directory: ClusterDirectory) -> None:
        """Connect to the supervisor. Raises ClusterProblem if nobody listens."""
        self._name = directory.name
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with short_name(directory.socket) as address:
                self._socket.connect(address)
        except OSError as error:
            self._socket.close()
            raise ClusterProblem(
                f"the cluster {directory.name!r} is not up: its supervisor does not answer ({error.strerror})",
                hint=f"`howdah up --name {directory.name}` starts it; its logs are in {directory.logs}.",
            ) from error
        self._stream = self._socket.makefile("rw", encoding="utf-8")

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Send one request and return the answer. Raises ClusterProblem if the supervisor is gone."""
        try:
            self._stream.write(json.dumps({"do": do, **arguments}) + "\n")
            self._stream.flush()
            answer: dict[str, Any] = json.loads(self._stream.readline())
        except (OSError, ValueError) as error:
            raise ClusterProblem(f"the supervisor of the cluster {self._name!r} is gone") from error
        return answer

    def close(self) -> None:
        """Close the connection, which breaks a lease that was not released."""
        with contextlib.suppress(OSError):  # What could not be sent to a supervisor that is gone is in its buffer.
            self._stream.close()
        self._socket.close()


def ask_fault(ask: Callable[..., Mapping[str, Any]], fault: HostFault) -> None:
    """Has a supervisor let something go wrong, which `ask` asks. Raises UsageError where there is nothing of that kind,
    and ClusterProblem where it cannot be done."""
    raise_problem(ask("fault", **asdict(fault)))


def raise_problem(answer: Mapping[str, Any]) -> None:
    """Raises the problem of an answer, if there is one: UsageError, or ClusterProblem."""
    if "error" in answer:
        kind = UsageError if answer["code"] == UsageError.exit_code else ClusterProblem
        raise kind(answer["error"], hint=answer["hint"])
