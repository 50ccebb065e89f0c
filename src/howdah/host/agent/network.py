"""Ports and names of this machine."""

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
from typing import Any, Callable, Dict, Tuple

_SIOCGIFADDR = 0x8915  # linux/sockios.h
_LISTEN = "0A"  # TCP_LISTEN in the kernel's tables (include/net/tcp_states.h)
_STRIDE = 1 << 16
_DEEP = 4 << 20
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33  # asm-generic/socket.h


def listening(pids: list[int] | None = None) -> list[dict[str, Any]]:
    """Return the TCP sockets that listen here, sorted by port: address, port, uid, and the pid of the owner.

    With `pids`, return only theirs (a process that has ended has none). Without, return all sockets; `pid` is None if
    the owner cannot be seen. A wildcard is `0.0.0.0` or `::`.
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
    """Return those of `ports` that are free at `address`, and at the wildcard, too, in their order.

    Both are checked because Hadoop's shuffle handler takes the wildcard whatever its address is. Nothing keeps a port
    free afterwards. Raises OSError if `address` is not one of this machine's.
    """
    return [port for port in ports if _can_listen(address, port) and _can_listen("", port)]


def identity() -> dict[str, Any]:
    """Return the identity of this host. `boot` and `network` distinguish it from every other host, whatever its names
    (a boot of a machine, a network namespace on it). `name` is its own name, `user` the user of this agent, `addresses`
    its IPv4 addresses by interface."""
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


_listening: Dict[Tuple[str, int], float] = {}
"""Until when this agent listens, by address and port (`listen`)."""
_LISTENING = threading.Lock()


def listen(address: str, port: int, seconds: float) -> None:
    """Accept connections at an address for so many seconds, in a thread of its own, so that others can try to reach it.
    If it does so already, do it for longer. Raises OSError if that is not possible."""
    key = (address, port)
    with _LISTENING:
        if key in _listening:
            _listening[key] = time.monotonic() + seconds
            return
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        server = socket.create_server(key, family=family)
        server.settimeout(0.2)
        _listening[key] = time.monotonic() + seconds

    def goes_on() -> bool:
        with _LISTENING:
            if time.monotonic() < _listening[key]:
                return True
            del _listening[key]
            server.close()
            return False

    def serve() -> None:
        while goes_on():
            try:
                server.accept()[0].close()
            except OSError:  # Nobody came.
                pass

    threading.Thread(target=serve, daemon=True).start()


def unreachable(targets: list[tuple[str, int]], timeout: float) -> list[tuple[str, int, str]]:
    """Return those of `targets`, addresses and ports, that cannot be reached from here within `timeout` seconds, and
    why."""
    found = []
    for address, port in targets:
        try:
            socket.create_connection((address, port), timeout).close()
        except OSError as error:
            found.append((address, port, str(error.strerror or error)))
    return found


def swallow(address: str, port: int, seconds: float) -> None:
    """Accept one connection at an address, and read everything from it, for so many seconds, in a thread of its own."""
    server = socket.create_server((address, port))
    _buffer(server, _SO_RCVBUFFORCE, socket.SO_RCVBUF, _DEEP)
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


def payload_rate(address: str, port: int, seconds: float, ahead: int) -> float:
    """Return the bits per second that TCP brings to a host that runs `swallow`. These are the bytes that the other
    kernel has acknowledged in the last two thirds of the time. In the first third, buffers and the bucket of a shaped
    card fill.

    `ahead` bytes are sent ahead, so that the card has work while this process waits for a processor. More than the
    queue of a shaped card holds would be dropped there, and acknowledged late.
    """
    block = bytes(_STRIDE)
    try:
        # Of this thread, which ends with its request: it sleeps nearly all the time, and is late for nothing else.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -15)
    except OSError:
        pass  # It is not root.
    with socket.create_connection((address, port), seconds) as connection:
        _buffer(connection, _SO_SNDBUFFORCE, socket.SO_SNDBUF, ahead)
        # What is in the buffer at the end is not sent any more, so that the card is free.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        start = time.monotonic()
        began, before = 0.0, 0
        while True:
            now, acknowledged = time.monotonic(), _acknowledged(connection)
            if now - start > seconds:
                return 8 * (acknowledged - before) / (now - began)
            if not began and now - start > seconds / 3:
                began, before = now, acknowledged
            connection.send(block)


def _acknowledged(connection: socket.socket) -> int:
    """Return the bytes of a connection that the other end has acknowledged: `tcpi_bytes_acked` of linux/tcp.h, at 120
    since Linux 4.1."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return int(struct.unpack_from("Q", info, 120)[0])


def _buffer(one: socket.socket, force: int, usual: int, size: int) -> None:
    """Give a socket a buffer of a size, beyond the system's limit if this is root."""
    try:
        one.setsockopt(socket.SOL_SOCKET, force, size)
    except OSError:
        one.setsockopt(socket.SOL_SOCKET, usual, size)


def resolve(name: str | None = None) -> dict[str, Any]:
    """Return the answer of this machine's resolver for `name` (its own host name if None).

    Without an answer, `addresses` is empty and `error` says why. `reverse` is the name of each address that has one;
    `seconds` is the time that this took.
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
    """Return the listening sockets in a /proc/net/tcp or tcp6: address, port, uid, inode."""
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
    """Return an address of the kernel's tables: words of 32 bits in the machine's byte order. IPv4 in IPv6 becomes
    IPv4."""
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
