"""The program that calls whoever waits for this host, and lets an agent speak over the connection.

A batch system runs this file on every host of a job, as `python3 -c`. Its input is one line of JSON. `addresses` and
`port` are those of the waiting side, and `certificate` is its certificate. `token` gives admission, and `program` is
for an interpreter to run.

The agent is a child with ordinary pipes. This process moves bytes between them and the connection, in one thread:
OpenSSL does not let two threads use one connection.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
from typing import Any, Dict

_CONNECT_SECONDS = 5.0
_TRY_SECONDS = 30.0
_CHUNK = 1 << 16
_AHEAD = 1 << 20
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU)
"""Signals that a batch system may send to a job that is to stop. The agent has something to do then, and needs its
line."""


def call(given: Dict[str, Any]) -> ssl.SSLSocket:
    """Return a connection to the waiting side, which knows now which host this is. Raises OSError if nobody is
    reached."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # The certificate is made for one cluster, and only that very one is believed.
    context.load_verify_locations(cadata=given["certificate"])
    deadline = time.monotonic() + _TRY_SECONDS
    while True:
        for address in given["addresses"]:
            try:
                with socket.create_connection((address, given["port"]), _CONNECT_SECONDS) as plain:
                    secure = context.wrap_socket(plain)  # It takes the connection over.
            except OSError as error:  # ssl.SSLError is one.
                problem = error
                continue
            # Only what the daemon of a batch system sets on each host can be trusted to be of this host.
            name = given.get("name") or os.environ.get("SLURMD_NODENAME") or socket.gethostname()
            hello = {"token": given["token"], "name": name, "calls_itself": socket.gethostname()}
            secure.sendall(json.dumps(hello).encode() + b"\n")
            return secure
        if time.monotonic() > deadline:
            raise OSError("{} does not answer at {}: {}".format(given["port"], given["addresses"], problem))
        time.sleep(0.2)


def pump(secure: ssl.SSLSocket, plain: socket.socket) -> None:
    """Move bytes both ways between a connection with TLS and a plain one, until either has ended; then end both."""
    secure.setblocking(False)
    plain.setblocking(False)
    inwards, outwards = bytearray(), bytearray()
    try:
        while True:
            reading = [one for one, waiting in ((secure, inwards), (plain, outwards)) if len(waiting) < _AHEAD]
            writing = [one for one, waiting in ((secure, outwards), (plain, inwards)) if waiting]
            readable, writable, _ = select.select(reading, writing, [])
            if secure in readable and not _take(secure, inwards):
                break
            if plain in readable and not _take(plain, outwards):
                break
            if secure in writable:
                _give(secure, outwards)
            if plain in writable:
                _give(plain, inwards)
    except OSError:
        pass  # One of them was cut.
    _finish(secure, outwards)
    _finish(plain, inwards)


def _take(source: socket.socket, into: bytearray) -> bool:
    """Read everything that is there, because TLS may hold back what `select` does not see; return False at the end."""
    while len(into) < _AHEAD:
        try:
            read = source.recv(_CHUNK)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            return True
        if not read:
            return False
        into += read
    return True


def _give(target: socket.socket, out: bytearray) -> None:
    try:
        del out[: target.send(out[:_CHUNK])]
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
        pass


def _finish(target: socket.socket, out: bytearray) -> None:
    """Send what is left, if possible, and close: the other end sees the end."""
    try:
        target.settimeout(2.0)
        target.sendall(out)
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    target.close()


def main() -> int:
    """Read who is to be called, and serve until the connection or the agent has ended."""
    given = json.loads(sys.stdin.readline())
    for number in _ENDING:  # Not SIG_IGN, which the agent would inherit.
        signal.signal(number, lambda *_: None)
    try:
        secure = call(given)
    except OSError as error:
        sys.stderr.write("howdah: {}: {}\n".format(socket.gethostname(), error))
        return 1
    ours, its = socket.socketpair()
    command = [sys.executable, "-I", "-u", "-c", given["program"]]
    agent = subprocess.Popen(command, stdin=its.fileno(), stdout=its.fileno(), start_new_session=True)
    its.close()
    pump(secure, ours)
    return agent.wait()


if __name__ == "__main__":
    sys.exit(main())
