"""A web server in this process that gives exactly the bytes a test wants, and remembers what it was asked."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

GOLDEN = Path(__file__).parents[3] / "golden/hadoop/3.4.2"


@dataclass(frozen=True)
class Request:
    """`path` is decoded; `query` has the last value of each parameter."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class FakeServer:
    """`answer` is the bytes of a whole HTTP answer, or makes them; the connection is closed behind them."""

    answer: bytes | Callable[[Request], bytes]
    address: str = ""
    requests: list[Request] = field(default_factory=list)


@contextmanager
def serving(answer: bytes | Callable[[Request], bytes]) -> Iterator[FakeServer]:
    fake = FakeServer(answer)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            method, target, _ = self.rfile.readline().decode().split()
            headers = {}
            while line := self.rfile.readline().decode().strip():
                name, _, value = line.partition(": ")
                headers[name.lower()] = value
            parts = urlsplit(target)
            query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            request = Request(method, unquote(parts.path), query, headers, body)
            fake.requests.append(request)
            self.wfile.write(fake.answer if isinstance(fake.answer, bytes) else fake.answer(request))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        fake.address = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()


def response(body: bytes, status: int = 200, length: int | None = None, **headers: str) -> bytes:
    """An answer that announces `length` bytes, by default those it has."""
    head = [f"HTTP/1.1 {status} Something", f"Content-Length: {len(body) if length is None else length}"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*head, "", ""]).encode() + body


def json_response(value: Any, status: int = 200) -> bytes:
    return response(json.dumps(value).encode(), status)


def remote(name: str, message: str, status: int) -> bytes:
    """What Hadoop's web servers answer when an exception was thrown."""
    return json_response({"RemoteException": {"exception": name, "javaClassName": "x", "message": message}}, status)


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def free_port() -> int:
    """A port on which nobody listens."""
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        return int(server.server_address[1])
