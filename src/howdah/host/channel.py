"""The channel to a host: an execnet gateway over which the agent is sent and then serves.

execnet brings the interpreter up through its launcher (a local process here; `ssh` and a batch system's starter take
the same form), frames the messages, and notices when either side is gone.
"""

from __future__ import annotations

import itertools
import json
import platform
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import execnet

from howdah.errors import HostProblem
from howdah.host.protocol import Completed, Host

_AGENT = Path(__file__).parent / "agent"
_PACKAGE = "howdah_agent"
_GONE = object()

# Runs on the host: makes a package out of the sources that come as the first message, and serves with it.
_BOOTSTRAP = """
import importlib.abc, importlib.util, sys

class Sources(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    def __init__(self, sources):
        self.sources = sources
    def find_spec(self, name, path=None, target=None):
        if name in self.sources:
            return importlib.util.spec_from_loader(name, self, is_package=self.is_package(name))
    def is_package(self, name):
        return "." not in name
    def get_source(self, name):
        return self.sources[name]

if __name__ == "__channelexec__":
    sys.meta_path.insert(0, Sources(channel.receive()))
    importlib.import_module("howdah_agent.main").serve(channel)
"""


def open_local(name: str) -> Channel:
    """A channel to this machine, by a child process with this interpreter. Raises HostProblem."""
    # -P: no module of the directory that somebody happens to be in.
    return Channel(name, f"popen//python={shlex.quote(sys.executable)} -P")


@contextmanager
def this_host() -> Iterator[Host]:
    """This machine under its own name, while the context lasts. Raises HostProblem."""
    host = open_local(platform.node())
    try:
        yield host
    finally:
        host.close()


class Channel:
    """A Host behind an execnet gateway; see `howdah.host.protocol.Host` for what its methods do."""

    def __init__(self, name: str, launcher: str) -> None:
        """`launcher` is an execnet specification: `popen//python=…`, `ssh=…//python=…`."""
        self.name = name
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._replies: dict[int, _Reply] = {}
        self._processes: dict[int, _Watched] = {}
        self._early_exits: dict[int, Mapping[str, Any]] = {}
        self._lost = False
        self._closed = False
        self._group = execnet.Group()
        try:
            gateway = self._group.makegateway(launcher)
            self._channel = gateway.remote_exec(_BOOTSTRAP)
            self._channel.send(_agent_sources())
            self._channel.setcallback(self._receive, endmarker=_GONE)
        except (OSError, EOFError, execnet.HostNotFound) as error:
            raise HostProblem(f"cannot start the agent: {error}", host=name) from error

    def call(self, operation: str, /, **arguments: Any) -> Any:
        return self._request(operation, arguments, None).value(self.name)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        return Completed(
            **self.call(
                "process.run",
                argv=list(argv),
                timeout=timeout,
                env=None if env is None else dict(env),
                cwd=cwd,
                stdin=stdin,
            )
        )

    def start(
        self,
        argv: Sequence[str],
        *,
        output: str,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> _Watched:
        pid = self.call(
            "process.start", argv=list(argv), output=output, env=None if env is None else dict(env), cwd=cwd
        )
        with self._lock:
            process = self._processes[pid] = _Watched(pid, self)
            early = self._early_exits.pop(pid, None)
        if early is not None:
            process.ended(early)
        return process

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /, **arguments: Any) -> _Streaming:
        return _Streaming(self, self._request(operation, arguments, sink))

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._channel.close()
            # The agent ends its children within ten seconds, mostly at once; then its interpreter goes.
            self._group.terminate(timeout=12.0)

    def _request(
        self, operation: str, arguments: Mapping[str, Any], sink: Callable[[dict[str, Any]], None] | None
    ) -> _Reply:
        number = next(self._numbers)
        reply = _Reply(number, operation, sink)
        with self._lock:
            # Under one lock with the loss: a request is either failed by it or sees it, whatever execnet reports when.
            if self._lost:
                raise HostProblem(f"{operation}: the channel was lost", host=self.name)
            self._replies[number] = reply
        try:
            self._channel.send({"id": number, "operation": operation, "arguments": dict(arguments)})
        except OSError as error:
            raise HostProblem(f"the channel is closed ({operation})", host=self.name) from error
        return reply

    def _receive(self, message: Any) -> None:
        if message is _GONE:
            with self._lock:
                self._lost = True
                waiting, self._replies = list(self._replies.values()), {}
                processes = list(self._processes.values())
            for reply in waiting:
                reply.fail("the channel was lost")
            for process in processes:
                process.lost()
        elif "exit" in message:
            with self._lock:
                ended = self._processes.pop(message["exit"], None)
                if ended is None:
                    self._early_exits[message["exit"]] = message
                else:
                    ended.ended(message)
        elif "stream" in message:
            for record in json.loads(message["records"]):
                self._replies[message["stream"]].record(record)
        else:
            with self._lock:
                reply = self._replies.pop(message["id"])
            reply.settle(message)


class _Reply:
    """What an operation will answer; `sink` gets the records of a stream meanwhile."""

    def __init__(self, number: int, operation: str, sink: Callable[[dict[str, Any]], None] | None) -> None:
        self.number = number
        self._operation = operation
        self._sink = sink
        self._done = threading.Event()
        self._message: Mapping[str, Any] = {}
        self._broken: Exception | None = None

    def record(self, record: dict[str, Any]) -> None:
        if self._sink is None or self._broken is not None:
            return
        try:
            self._sink(record)
        except Exception as error:  # A full disk, say: whoever stops the stream hears of it; the channel goes on.
            self._broken = error

    def settle(self, message: Mapping[str, Any]) -> None:
        self._message = message
        self._done.set()

    def fail(self, reason: str) -> None:
        if not self._done.is_set():
            self.settle({"error": reason, "kind": "ChannelLost"})

    def value(self, host: str) -> Any:
        self._done.wait()
        if self._broken is not None:
            raise HostProblem(f"{self._operation}: a record could not be kept: {self._broken}", host=host)
        if "error" in self._message:
            raise HostProblem(f"{self._operation}: {self._message['error']}", host=host)
        return self._message["value"]


class _Watched:
    """A process that the agent watches."""

    def __init__(self, pid: int, channel: Channel) -> None:
        self.pid = pid
        self.cpu_seconds: float | None = None
        self.ended_at: tuple[float, float] | None = None
        self._channel = channel
        self._done = threading.Event()
        self._code: int | None = None

    def poll(self) -> int | None:
        return self._code

    def wait(self, timeout: float) -> int | None:
        self._done.wait(timeout)
        return self._code

    def signal(self, number: int) -> None:
        self._channel.call("process.signal", pid=self.pid, number=int(number))

    def ended(self, message: Mapping[str, Any]) -> None:
        self.cpu_seconds = message["cpu_seconds"]
        self.ended_at = (time.time(), time.monotonic())
        self._code = message["code"]
        self._done.set()

    def lost(self) -> None:
        # Its agent kills it: for everyone here it has ended by SIGKILL.
        if self._code is None:
            self._code = -9
        self._done.set()


class _Streaming:
    """A running stream."""

    def __init__(self, channel: Channel, reply: _Reply) -> None:
        self._channel = channel
        self._reply = reply

    def stop(self) -> Any:
        self._channel.call("stream.stop", stream=self._reply.number)
        return self._reply.value(self._channel.name)


def _agent_sources() -> dict[str, str]:
    sources = {f"{_PACKAGE}.{file.stem}": file.read_text(encoding="utf-8") for file in _AGENT.glob("*.py")}
    sources[_PACKAGE] = sources.pop(f"{_PACKAGE}.__init__")
    return sources
