"""Copies of store files from host to host: one host serves the files that others fetch, by TCP on the daemons' network.

A host that fetches proves that it knows the secret that both channels have brought. It answers a number that the server
has drawn with the number's HMAC. It then sends a SHA-256 per line, and gets the length and the content. A server that
has not got the file yet waits for it, so that files flow through a tree of hosts. The secret never travels, and content
that was changed on the way does not have its SHA-256.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import socket
import struct
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import store as kept

_NUMBER = 32
_LENGTH = struct.Struct(">q")
_STRIDE = 1 << 20
_POLL_SECONDS = 0.05
_ABSENT = -1
_HEX = frozenset("0123456789abcdef")

_serving: Dict[Tuple[str, int], socket.socket] = {}


def serve(store: str, address: str, port: int, secret: str, patience: float) -> None:
    """Serve the files of `store` at an address until `end_serving`, from separate threads. The server waits up to
    `patience` seconds for a missing file. Raises OSError if nobody can listen at the address."""
    server = socket.create_server((address, port), backlog=64)
    _serving[address, port] = server

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:  # It was closed.
                return
            threading.Thread(target=_answer, args=(connection, store, secret, patience), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def end_serving(address: str, port: int) -> None:
    """Stop serving at the address; files that are being sent are sent to their end."""
    server = _serving.pop((address, port), None)
    if server is not None:
        try:
            server.shutdown(socket.SHUT_RDWR)  # Closing alone does not wake whoever accepts.
        except OSError:
            pass
        server.close()


def fetch(store: str, digests: List[str], address: str, port: int, secret: str, patience: float) -> Optional[str]:
    """Fetch these files into `store` from the server at the address. Returns why some did not come, or None. Nothing
    was sent for `patience` seconds, the other end went away, or it does not have the secret."""
    try:
        with socket.create_connection((address, port), patience) as connection:
            connection.settimeout(patience)
            connection.sendall(_proof(secret, _exactly(connection, _NUMBER)))
            for digest in digests:
                _fetch_one(connection, store, digest)
    except (OSError, ValueError) as error:
        return str(error) or repr(error)
    return None


def _fetch_one(connection: socket.socket, store: str, digest: str) -> None:
    connection.sendall(digest.encode() + b"\n")
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length == _ABSENT:
        raise ValueError("{} is not there either".format(digest))
    offset = 0
    while True:
        content = _exactly(connection, min(_STRIDE, length - offset))
        last = offset + len(content) == length
        kept.put(store, digest, offset, content, last)
        offset += len(content)
        if last:
            return


def _answer(connection: socket.socket, store: str, secret: str, patience: float) -> None:
    with connection:
        connection.settimeout(patience)
        try:
            number = secrets.token_bytes(_NUMBER)
            connection.sendall(number)
            if not hmac.compare_digest(_exactly(connection, _NUMBER), _proof(secret, number)):
                return
            asked = connection.makefile("rb")
            for line in iter(lambda: asked.readline(100), b""):
                _send(connection, store, line.decode("ascii").strip(), patience)
        except (OSError, ValueError):
            pass  # The other end has gone, and tells its owner.


def _send(connection: socket.socket, store: str, digest: str, patience: float) -> None:
    if len(digest) != 64 or not _HEX.issuperset(digest):
        raise ValueError("not a SHA-256")
    deadline = time.monotonic() + patience
    while kept.have(store, [digest])[digest] >= 0:
        if time.monotonic() > deadline:
            connection.sendall(_LENGTH.pack(_ABSENT))
            return
        time.sleep(_POLL_SECONDS)
    with open(kept.path_of(store, digest), "rb") as content:
        connection.sendall(_LENGTH.pack(os.fstat(content.fileno()).st_size))
        connection.sendfile(content)


def _proof(secret: str, number: bytes) -> bytes:
    return hmac.new(secret.encode(), number, hashlib.sha256).digest()


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = connection.recv(min(count, _STRIDE))
        if not part:
            raise ValueError("the other end has closed the connection")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


OPERATIONS: Dict[str, Callable[..., Any]] = {
    "copies.serve": serve,
    "copies.end_serving": end_serving,
    "copies.fetch": fetch,
}
