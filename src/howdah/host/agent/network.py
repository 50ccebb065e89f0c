"""Ports and names as this machine has them."""

from __future__ import annotations

import errno
import fcntl
import ipaddress
import os
import pwd
import socket
import struct
import sys
import threading
import time
from typing import Any, Callable

_SIOCGIFADDR = 0x8915  # linux/sockios.h
_LISTEN = "0A"  # TCP_LISTEN in the kernel's tables (include/net/tcp_states.h)
_STRIDE = 1 << 18


def listening(pids: list[int] | None = None) -> list[dict[str, Any]]:
    """The TCP sockets that listen here, sorted by port: address, port, uid, and the pid that holds it.

    With `pids`, only theirs (a process that has ended has none); without, all of them, where `pid` is None if the owner
    cannot be seen. A wildcard is `0.0.0.0` or `::`.
    """
    sockets = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            with open(table) as source:
                sockets += parse_sockets(source.read())
        except FileNotFoundError:
            pass  # A kernel without IPv6.
    owners: dict[int, int] = {}
    for pid in _pids() if pids is None else pids:
        for inode in _inodes(pid):
            owners.setdefault(inode, pid)
    found = []
    for entry in sockets:
        pid_or_none = owners.get(entry.pop("inode"))
        if pid_or_none is not None or pids is None:
            found.append({**entry, "pid": pid_or_none})
    return sorted(found, key=lambda entry: (entry["port"], entry["address"]))


def free_ports(address: str, ports: list[int]) -> list[int]:
    """Those of `ports` that can be listened on, at `address` and at the wildcard too, in their order.

    Both are asked for because Hadoop's shuffle handler takes the wildcard whatever its address is. Nothing keeps a port
    free afterwards. Raises OSError when `address` is not one of this machine's.
    """
    return [port for port in ports if _can_listen(address, port) and _can_listen("", port)]


def identity() -> dict[str, Any]:
    """Which host this is: `boot` and `network` tell it from every other one, whatever its names (a boot of a machine,
    a network namespace on it); `name` is its own, `user` whose agent this is, `addresses` its IPv4 addresses by
    interface."""
    with open("/proc/sys/kernel/random/boot_id") as source:
        boot = source.read().strip()
    return {
        "boot": boot,
        "network": os.readlink("/proc/self/ns/net"),
        "name": socket.gethostname(),
        "user": pwd.getpwuid(os.getuid()).pw_name,
        "addresses": _addresses(),
    }


def _addresses() -> dict[str, str]:
    found = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(asking.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue  # It has none.
            found[name] = socket.inet_ntoa(answer[20:24])
    return found


def listen(address: str, port: int, seconds: float) -> None:
    """Takes connections at an address for so many seconds, from a thread of its own, so that others can try to reach
    it. Raises OSError where that cannot be."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = socket.create_server((address, port), family=family)
    server.settimeout(0.2)

    def serve() -> None:
        deadline = time.monotonic() + seconds
        with server:
            while time.monotonic() < deadline:
                try:
                    server.accept()[0].close()
                except OSError:  # Nobody came.
                    pass

    threading.Thread(target=serve, daemon=True).start()


def unreachable(targets: list[tuple[str, int]], timeout: float) -> list[tuple[str, int, str]]:
    """Those of `targets`, addresses and ports, that cannot be reached from here within `timeout` seconds, and why."""
    found = []
    for address, port in targets:
        try:
            socket.create_connection((address, port), timeout).close()
        except OSError as error:
            found.append((address, port, str(error.strerror or error)))
    return found


def swallow(address: str, port: int, seconds: float) -> None:
    """Takes one connection at an address, and all that comes by it, for so many seconds, from a thread of its own."""
    server = socket.create_server((address, port))
    server.settimeout(seconds)

    def serve() -> None:
        try:
            with server:  # Closed at once: somebody may want to listen here again.
                connection, _ = server.accept()
            with connection:
                connection.settimeout(seconds)
                while connection.recv(_STRIDE):
                    pass
        except OSError:
            pass  # Nobody came, or nothing more.

    threading.Thread(target=serve, daemon=True).start()


def payload_rate(address: str, port: int, seconds: float) -> float:
    """Bits a second that TCP brings to who swallows there. The first third of the time is not counted, in which buffers
    and the bucket of a shaped card fill."""
    block, sent, began = bytes(_STRIDE), 0, 0.0
    with socket.create_connection((address, port), seconds) as connection:
        start = time.monotonic()
        # So much that the card has work while this process waits for a processor, and so little that it soon is full:
        # what was sent and has not arrived is then as much at the end as at the beginning.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        while True:
            now = time.monotonic()
            if now - start > seconds:
                return 8 * sent / (now - began)
            if not began and now - start > seconds / 3:
                began, sent = now, 0
            sent += connection.send(block)


def resolve(name: str | None = None) -> dict[str, Any]:
    """What this machine's resolver says of `name` (its own host name if None).

    `addresses` is empty and `error` says why when it has no answer; `reverse` is the name of each address that has
    one; `seconds` is what it took.
    """
    asked = socket.gethostname() if name is None else name
    start = time.monotonic()
    answer: dict[str, Any] = {"name": asked, "addresses": [], "reverse": {}}
    try:
        found = socket.getaddrinfo(asked, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        answer["error"] = str(error)
        found = []
    for *_, where in found:
        address = str(where[0])
        if address not in answer["addresses"]:
            answer["addresses"].append(address)
            try:
                answer["reverse"][address] = socket.getnameinfo(where, socket.NI_NAMEREQD)[0]
            except OSError:
                pass
    answer["seconds"] = time.monotonic() - start
    return answer


def parse_sockets(text: str, byteorder: str = sys.byteorder) -> list[dict[str, Any]]:
    """The listening sockets in a /proc/net/tcp or tcp6: address, port, uid, inode."""
    sockets = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 9 and fields[3] == _LISTEN:
            address, port = fields[1].split(":")
            sockets.append(
                {
                    "address": parse_address(address, byteorder),
                    "port": int(port, 16),
                    "uid": int(fields[7]),
                    "inode": int(fields[9]),
                }
            )
    return sockets


def parse_address(text: str, byteorder: str = sys.byteorder) -> str:
    """An address of the kernel's tables: words of 32 bits in the machine's byte order. IPv4 in IPv6 becomes IPv4."""
    words = bytes.fromhex(text)
    if byteorder == "little":
        words = b"".join(words[start : start + 4][::-1] for start in range(0, len(words), 4))
    address = ipaddress.ip_address(words)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def _can_listen(address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as candidate:
        # As the JVM does: connections that linger after their listener closed do not count.
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((address, port))
            candidate.listen(1)
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise OSError(error.errno, "cannot listen on {}:{}: {}".format(address, port, error.strerror)) from error
        return True


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _inodes(pid: int) -> list[int]:
    inodes = []
    directory = "/proc/{}/fd".format(pid)
    try:
        for name in os.listdir(directory):
            try:
                target = os.readlink(directory + "/" + name)
            except FileNotFoundError:
                continue  # Closed meanwhile.
            if target.startswith("socket:["):
                inodes.append(int(target[8:-1]))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        pass
    return inodes


OPERATIONS: dict[str, Callable[..., Any]] = {
    "network.listening": listening,
    "network.free_ports": free_ports,
    "network.identity": identity,
    "network.listen": listen,
    "network.unreachable": unreachable,
    "network.payload_rate": payload_rate,
    "network.resolve": resolve,
    "network.swallow": swallow,
}
