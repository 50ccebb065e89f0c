"""The channel to a host: an execnet gateway over which the agent is sent and then serves.

A launcher (`host/launch`) starts the interpreter. execnet frames the messages and notices when its process ends. A link
that was cut cannot be noticed this way; it shows by silence (`agent/heartbeat.py`).
"""

from __future__ import annotations

import itertools
import json
import platform
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import execnet
from execnet import gateway_bootstrap, gateway_io

from howdah.errors import HostProblem
from howdah.host.agent.heartbeat import Heartbeat
from howdah.host.launch import Launcher
from howdah.host.launch.line import Line
from howdah.host.launch.process import ProcessLauncher
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
    importlib.import_module("howdah_agent.main").serve(channel, channel.receive())
"""

_OPEN_SECONDS = 60.0
"""Seconds for the interpreter to start: Python on a network file system may take long."""
_ANSWER_SECONDS = 600.0
_LONG_SECONDS = 6 * 3600.0
_LONG = ("files.remove", "files.remove_claimed", "files.claim")
"""Operations that may take long: a directory may have millions of files."""


def open_local(name: str) -> Channel:
    """Open a channel to this machine, by a child process with this interpreter. Raises HostProblem."""
    return Channel(name, ProcessLauncher())


@contextmanager
def this_host() -> Iterator[Host]:
    """Yield this machine under its own name, while the context lasts. Raises HostProblem."""
    host = open_local(platform.node())
    try:
        yield host
    finally:
        host.close()


class Channel:
    """A Host behind an execnet gateway; `howdah.host.protocol.Host` describes its methods."""

    def __init__(self, name: str, launcher: Launcher, *, silence: float | None = None) -> None:
        """With `silence`, each end counts the other as lost after so many seconds without a message. The agent then
        stops everything that it has started. Raises HostProblem."""
        self.name = name
        self.lost: str | None = None
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._replies: dict[int, _Reply] = {}
        self._processes: dict[int, _Watched] = {}
        self._early_exits: dict[int, Mapping[str, Any]] = {}
        self._closed = False
        self._group = execnet.Group()
        self._launcher = launcher
        self._heartbeat: Heartbeat | None = None
        self._line, self._channel = self._open({"silence": silence})
        if silence is not None:
            why = f"the host was lost: it has said nothing for {silence:g} s"
            self._heartbeat = Heartbeat(silence, self._beat, lambda: self._give_up(why))

    def _open(self, settings: Mapping[str, Any]) -> tuple[Line, Any]:
        """Return the line to an agent that serves, and the channel in the line."""
        spec = execnet.XSpec("popen//python=python3//execmodel=thread")
        self._group.allocate_id(spec)
        try:
            line = self._launcher.connect(gateway_io.popen_bootstrapline)
        except OSError as error:
            raise HostProblem(f"cannot start the agent: {error.strerror}", host=self.name) from error
        timer = threading.Timer(_OPEN_SECONDS, line.kill)
        timer.daemon = True
        timer.start()
        try:
            # As `makegateway` does it, with a line of our own.
            gateway = gateway_bootstrap.bootstrap(line, spec)
            gateway.spec = spec
            self._group._register(gateway)
            channel = gateway.remote_exec(_BOOTSTRAP)
            channel.send(_agent_sources())
            channel.send(dict(settings))
            channel.setcallback(self._receive, endmarker=_GONE)
        except (OSError, EOFError, AssertionError, execnet.HostNotFound) as error:
            in_time, said = timer.is_alive(), line.said()
            line.done()
            raise self._not_opened(said, in_time=in_time) from error
        finally:
            timer.cancel()
        return line, channel

    def _not_opened(self, said: str, *, in_time: bool) -> HostProblem:
        what, hint = self._launcher.explain(said)
        if not in_time:
            what = f"no interpreter within {_OPEN_SECONDS:.0f} s"
        return HostProblem(f"cannot start the agent: {what}", host=self.name, hint=hint)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        limit = _LONG_SECONDS if operation in _LONG else _ANSWER_SECONDS
        return self._request(operation, arguments, None).value(self.name, limit)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> Completed:
        arguments = {
            "argv": list(argv),
            "timeout": timeout,
            "env": None if env is None else dict(env),
            "cwd": cwd,
            "stdin": stdin,
        }
        return Completed(**self._request("process.run", arguments, None).value(self.name, timeout + _ANSWER_SECONDS))

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
            early, lost = self._early_exits.pop(pid, None), self.lost
        if early is not None:
            process.ended(early)
        elif lost is not None:  # Between the answer and now: nobody else knows of this process.
            process.lost(lost)
        return process

    def stream(self, operation: str, sink: Callable[[dict[str, Any]], None], /, **arguments: Any) -> _Streaming:
        return _Streaming(self, self._request(operation, arguments, sink))

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._heartbeat is not None:
                self._heartbeat.stop()
            with suppress(OSError):  # The other end is gone already.
                self._channel.close()
            # The agent ends its children within ten seconds, mostly at once; then its interpreter goes.
            self._group.terminate(timeout=12.0)
            self._line.done()

    def _request(
        self, operation: str, arguments: Mapping[str, Any], sink: Callable[[dict[str, Any]], None] | None
    ) -> _Reply:
        number = next(self._numbers)
        reply = _Reply(number, operation, sink)
        with self._lock:
            # Under one lock with the loss: a request is either failed by it or sees it, whatever execnet reports when.
            if self.lost is not None:
                raise HostProblem(f"{operation}: {self.lost}", host=self.name)
            self._replies[number] = reply
        try:
            self._channel.send({"id": number, "operation": operation, "arguments": dict(arguments)})
        except OSError as error:
            raise HostProblem(f"{operation}: {self.lost or 'the channel is closed'}", host=self.name) from error
        return reply

    def _beat(self) -> None:
        with suppress(OSError):  # The channel is gone, which shows elsewhere.
            self._channel.send({"beat": True})

    def _give_up(self, why: str) -> None:
        """Give up a silent host: notify all who wait, and kill the process that brings the messages."""
        self._end(why)
        self._line.kill()

    def _end(self, why: str) -> None:
        with self._lock:
            self.lost = self.lost or why
            waiting, self._replies = list(self._replies.values()), {}
            processes, self._processes = list(self._processes.values()), {}
        for reply in waiting:
            reply.fail(self.lost)
        for process in processes:
            process.lost(self.lost)

    def _receive(self, message: Any) -> None:
        if self._heartbeat is not None:
            self._heartbeat.heard()
        if message is _GONE:
            if self._heartbeat is not None:
                self._heartbeat.stop()
            said = "" if self._closed else self._line.said()
            gone = f"the host was lost: its agent has gone{f' ({said.splitlines()[-1]})' if said else ''}"
            self._end("the channel was closed" if self._closed else gone)
        elif "beat" in message:
            pass
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
                reply = self._replies.pop(message["id"], None)
            if reply is not None:  # Otherwise nobody waits for it any more.
                reply.settle(message)


class _Reply:
    """The answer to come of an operation; `sink` gets the records of a stream meanwhile."""

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

    def value(self, host: str, limit: float | None = None) -> Any:
        """Return the answer. Without `limit`, wait for ever, which is for streams alone. Raises HostProblem."""
        if not self._done.wait(limit):
            raise HostProblem(f"{self._operation}: no answer within {limit:.0f} s", host=host)
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
        self.lost_with: str | None = None

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

    def lost(self, why: str | None) -> None:
        # Its agent kills it: for everyone here it has ended by SIGKILL.
        if self._code is None:
            self.lost_with = why
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
