"""The server of one channel: it takes requests, sends replies, exits of processes and stream records, then stops
everything.

Messages are plain dictionaries. A request is {"id", "operation", "arguments"}. The reply has the same "id" and either
"value" or "error" and "kind". Either side may send {"beat": True}, which says that it lives.

The agent sends {"exit": pid, "code", "cpu_seconds"} for every process that was started with `process.start`, and
{"stream": id, "records"} for streams. Records are a list as JSON, since execnet's own serialisation of as many
dictionaries costs several times as much.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from functools import partial
from typing import Any, Callable, Dict, List

from . import accounting, calibration, copies, files, machine, network, power, processes, sampler, store
from .children import Children
from .heartbeat import Heartbeat
from .strays import end_strays, outer_pids

_GLANCE_SECONDS = 0.2

_OPERATIONS: Dict[str, Callable[..., Any]] = {
    **accounting.OPERATIONS,
    **files.OPERATIONS,
    **machine.OPERATIONS,
    **processes.OPERATIONS,
    **network.OPERATIONS,
    **calibration.OPERATIONS,
    **store.OPERATIONS,
    **copies.OPERATIONS,
    "machine.end_strays": end_strays,
    "machine.outer_pids": outer_pids,
}


def serve(channel: Any, settings: Dict[str, Any]) -> None:
    """Run until the channel closes, for whatever reason; return when nothing that it started is left.

    `channel` has send(value), and iterating over it receives until the other side is gone (execnet's channel). In
    `settings`, `silence` is the number of seconds without a message after which the other side counts as gone; None for
    never.
    """
    # A Ctrl-C in the user's terminal is for Howdah, which then closes the channel; it must not reach the daemons.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if os.getsid(0) != os.getpid():
        os.setsid()
    agent = _Agent(channel)
    # A batch system that ends a job tells every process; this one is needed to the end, and ends with its channel. Not
    # SIG_IGN, which what it starts would inherit.
    signal.signal(signal.SIGTERM, lambda *_: agent.told_to_end.set())
    silence = settings["silence"]
    heartbeat = None if silence is None else Heartbeat(silence, agent.beat, agent.leave)
    try:
        for message in channel:
            if heartbeat is not None:
                heartbeat.heard()
            if "beat" not in message:
                agent.accept(message)
    finally:
        agent.end()


class _Agent:
    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self._claimed: Dict[str, str] = {}
        self.told_to_end = threading.Event()
        self._sending = threading.Lock()
        self._children = Children(self._exited)
        self._streams: Dict[int, threading.Event] = {}
        self._continuous: Dict[str, Callable[..., Any]] = {
            "sampler.run": sampler.run,
            "power.run": partial(power.run, program=self._children.run),
            "process.endings": self._endings,
        }

    def accept(self, message: Dict[str, Any]) -> None:
        """Start work on one request in a thread of its own: a slow request must not hold up the others."""
        threading.Thread(target=self._serve, args=(message,), daemon=True).start()

    def end(self) -> None:
        for stop in list(self._streams.values()):
            stop.set()
        self._children.end_all()
        for path, owner in list(self._claimed.items()):
            try:
                files.remove_claimed(path, owner)
            except OSError:
                pass  # Nobody is there to be told. Whoever claims it next removes it.

    def beat(self) -> None:
        """Tell the other side that this one lives."""
        self._send({"beat": True})

    def leave(self) -> None:
        """Stop everything, including this process: nobody listens any more, and nobody would notice."""
        self.end()
        os._exit(1)

    def _serve(self, message: Dict[str, Any]) -> None:
        try:
            self._send({"id": message["id"], "value": self._perform(message)})
        except Exception as error:  # every failure belongs to the caller, with its kind and text
            self._send({"id": message["id"], "error": str(error) or repr(error), "kind": type(error).__name__})

    def _perform(self, message: Dict[str, Any]) -> Any:
        name, arguments = message["operation"], message["arguments"]
        if name == "process.start":
            return self._children.start(**arguments)
        if name == "process.run":
            return self._children.run(**arguments)
        if name == "process.end_all":
            return self._children.end_all()
        if name == "process.signal":
            return self._children.signal(**arguments)
        if name == "process.call_in":
            return self._call_in(**arguments)
        if name == "process.leave_none":
            return self._leave_none(**arguments)
        if name == "stream.stop":
            stream = self._streams.get(arguments["stream"])
            return None if stream is None else stream.set()
        if name in self._continuous:
            return self._stream(message["id"], self._continuous[name], arguments)
        return _OPERATIONS[name](**arguments)

    def _endings(self, emit: Callable[[List[Dict[str, Any]]], None], stop: threading.Event) -> None:
        """Report when a batch system wants its host back: it signals every process a while before it kills the
        process."""
        while not stop.wait(_GLANCE_SECONDS):
            if self.told_to_end.is_set():
                emit([{"signal": "SIGTERM"}])
                return

    def _leave_none(self, path: str, owner: str) -> None:
        self._claimed[path] = owner

    def _call_in(self, program: str, invitation: str) -> int:
        """Have another agent call the sender of the invitation. The other agent stops with this one, if not before."""
        command = [sys.executable, "-I", "-c", program]
        return self._children.start(command, os.devnull, env=None, cwd=None, stdin=invitation.encode())

    def _stream(self, number: int, operation: Callable[..., Any], arguments: Dict[str, Any]) -> Any:
        stop = self._streams[number] = threading.Event()
        try:
            return operation(partial(self._emit, number), stop, **arguments)
        finally:
            del self._streams[number]

    def _emit(self, number: int, records: List[Dict[str, Any]]) -> None:
        self._send({"stream": number, "records": json.dumps(records)})

    def _exited(self, pid: int, code: int, cpu_seconds: float) -> None:
        self._send({"exit": pid, "code": code, "cpu_seconds": cpu_seconds})

    def _send(self, message: Dict[str, Any]) -> None:
        with self._sending:
            try:
                self._channel.send(message)
            except OSError:
                pass  # The channel is gone: serve() notices and ends everything.
