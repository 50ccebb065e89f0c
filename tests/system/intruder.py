"""Somebody without a key, who tries every way into a cluster.

This file is also the program of that user, who cannot read it here: it goes to `python3 -c`, perhaps in the network of
another host, with a list of [kind, place, detail] on standard input.
"""

import json
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Ways = dict[str, tuple[tuple[str, Any, Any], str]]
"""By name, kind, place and detail of an attempt, and the refusal that it should get; an empty one is no answer."""
EVE = 47111
"""The number of that user, who has no account."""
_CALL = b"hrpc\x09\x00\x00"
"""What begins a call of Hadoop's RPC: the version of the protocol, and no authentication."""
_CALLS = ("_rpc", "_scheduler", "_tracker", "_admin", "_localizer", "_ipc")
_PAGES = {
    "namenode_web": ("/jmx", "/webhdfs/v1/?op=LISTSTATUS&user.name=root", "/fsck?ugi=root"),
    "resourcemanager_web": ("/cluster", "/ws/v1/cluster/apps?user.name=root"),
    "historyserver_web": ("/jobhistory", "/ws/v1/history/mapreduce/jobs"),
    "datanode_web": ("/jmx", "/conf"),
    "nodemanager_web": ("/node", "/ws/v1/node/containers"),
}


def ways(plan: Mapping[str, Any], *, secured: bool = True) -> "Ways":
    """By name, each way to the services of a cluster: kind, place, detail, and the refusal that a secured one has."""
    found: Ways = {}
    scheme = "https" if secured else "http"
    for place in (plan["masters"], *plan["nodes"]):
        for name, port in place["ports"].items():
            where, way = [place["address"], port], f"{name} of {place['name']}"
            if name.endswith(_CALLS):
                found[way] = ("send", where, _CALL.hex()), "SIMPLE authentication is not enabled"
            for page in _PAGES.get(name, ()):
                found[f"{way}: {page}"] = ("get", f"{scheme}://{where[0]}:{port}{page}", {}), "401"
            if name == "shuffle":
                output = "/mapOutput?job=job_1_1&reduce=0&map=attempt_1_1_m_000000_0"
                version = {"name": "mapreduce", "version": "1.0.0"}
                found[way] = ("get", f"http://{where[0]}:{port}{output}", version), "401"
            if name == "datanode_data":
                found[way] = ("send", where, _read_block().hex()), ""
    return found


def local_ways(*places: Path) -> "Ways":
    """By name, each way to files and sockets of the owner, for somebody on the same machine."""
    refusal = "Permission denied"
    return {str(one): (("connect" if one.is_socket() else "read", str(one), None), refusal) for one in places}


def intrude(found: "Ways", *prefix: str) -> dict[str, str]:
    """Try all ways as somebody else; return those that were not refused as they should be, with the answers.

    `prefix` are words before the command, which bring it to another host.
    """
    names, tried = list(found), [way for way, _ in found.values()]
    user = ("setpriv", f"--reuid={EVE}", f"--regid={EVE}", "--clear-groups")
    command = (*prefix, *user, "/usr/bin/python3", "-c", Path(__file__).read_text(encoding="utf-8"))
    done = subprocess.run(command, input=json.dumps(tried), capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    answers = dict(zip(names, json.loads(done.stdout), strict=True))
    return {
        name: answer
        for name, answer in answers.items()
        if (found[name][1] not in answer if found[name][1] else answer != "")
    }


def _read_block() -> bytes:
    """A request for a block as clients send it, without a token (`Sender.readBlock`, 3.4.2)."""

    def part(number: int, content: "int | bytes") -> bytes:
        if isinstance(content, int):
            return bytes([number << 3, content])
        return bytes([number << 3 | 2, len(content)]) + content

    block = part(1, b"BP-1") + part(2, 1) + part(3, 1)
    request = part(1, part(1, part(1, block)) + part(2, b"eve")) + part(2, 0) + part(3, 1)
    return b"\x00\x1c\x51" + bytes([len(request)]) + request


def _send(where: Sequence[Any], words: str) -> str:
    with socket.create_connection(tuple(where), timeout=20) as connection, suppress(ConnectionResetError):
        connection.sendall(bytes.fromhex(words))
        return connection.recv(2000).decode("latin-1")
    return ""


def _get(url: str, headers: dict[str, str]) -> str:
    context = ssl._create_unverified_context()
    try:
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=20, context=context) as answer:
            return str(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return str(error.code)


def _read(path: str, _: None) -> str:
    if Path(path).is_dir():
        return f"{len(list(Path(path).iterdir()))} entries"
    return f"{len(Path(path).read_bytes())} bytes"


def _connect(path: str, _: None) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
    return "connected"


def _attempt(kind: str, where: Any, detail: Any) -> str:
    kinds: dict[str, Callable[[Any, Any], str]] = {"send": _send, "get": _get, "read": _read, "connect": _connect}
    try:
        return kinds[kind](where, detail)
    except OSError as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    json.dump([_attempt(*one) for one in json.load(sys.stdin)], sys.stdout)
