"""The queueing disciplines of network interfaces, as `tc qdisc show` asks the kernel for them (rtnetlink(7))."""

from __future__ import annotations

import hashlib
import socket
import struct
from typing import Iterator

_GET, _NEW, _DONE, _ERROR = 38, 36, 3, 2  # RTM_GETQDISC, RTM_NEWQDISC, NLMSG_DONE, NLMSG_ERROR
_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP
_KIND, _OPTIONS = 1, 2  # TCA_KIND, TCA_OPTIONS
_HEADER, _ABOUT, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=BBHiIII"), struct.Struct("=HH")
_SHAPING = ("tbf", "netem", "cake", "fq")
_NETEM_BYTES, _NETEM_SEED = 24, 14  # struct tc_netem_qopt; TCA_NETEM_PRNG_SEED, which the kernel draws.
_SECONDS = 5.0


def disciplines() -> dict[str, list[str]] | None:
    """Return the kinds by interface, sorted, each once. Kinds with a rate or a delay of their own have a digest of it:
    two that differ limit differently. Rates of classes (htb, hfsc) are not seen. None if the kernel does not answer."""
    found: dict[str, set[str]] = {}
    try:
        names = dict(socket.if_nameindex())
        for index, words in _dump():
            if index in names:
                found.setdefault(names[index], set()).add(words)
    except (OSError, struct.error):
        return None
    return {name: sorted(kinds) for name, kinds in found.items()}


def parse(messages: bytes) -> tuple[list[tuple[int, str]], bool]:
    """Return the disciplines in an answer, by the interface's index, and whether the answer was the last. Raises
    OSError for a refusal, struct.error for an answer that is cut off."""
    found: list[tuple[int, str]] = []
    at = 0
    while at + _HEADER.size <= len(messages):
        length, kind, *_ = _HEADER.unpack_from(messages, at)
        if kind == _DONE:
            return found, True
        if kind == _ERROR:
            raise OSError("the kernel refused to tell its queueing disciplines")
        if kind == _NEW:
            about = at + _HEADER.size
            _, _, _, index, *_ = _ABOUT.unpack_from(messages, about)
            attributes = dict(_attributes(messages[about + _ABOUT.size : at + length]))
            found.append((index, _words(attributes)))
        at += (max(length, _HEADER.size) + 3) & ~3
    return found, False


def _dump() -> Iterator[tuple[int, str]]:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.settimeout(_SECONDS)
        size = _HEADER.size + _ABOUT.size
        kernel.send(_HEADER.pack(size, _GET, _DUMP, 1, 0) + _ABOUT.pack(0, 0, 0, 0, 0, 0, 0))
        last = False
        while not last:
            found, last = parse(kernel.recv(1 << 20))
            for one in found:
                yield one


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + _ATTRIBUTE.size <= len(content):
        length, kind = _ATTRIBUTE.unpack_from(content, at)
        yield kind, content[at + _ATTRIBUTE.size : at + length]
        at += (max(length, _ATTRIBUTE.size) + 3) & ~3


def _words(attributes: dict[int, bytes]) -> str:
    kind = attributes.get(_KIND, b"").rstrip(b"\0").decode(errors="replace")
    if kind not in _SHAPING:
        return kind
    options = attributes.get(_OPTIONS, b"")
    if kind == "netem":
        others = _attributes(options[_NETEM_BYTES:])
        options = options[:_NETEM_BYTES] + b"".join(value for number, value in others if number != _NETEM_SEED)
    return "{} {}".format(kind, hashlib.sha256(options).hexdigest()[:8])
