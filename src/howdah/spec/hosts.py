"""A written list of hosts: `hosts:a,b,c`, or a file with one host on each line, or YAML with details.

```yaml
scratch: /scratch           # for all hosts, like every key but `host` and `address`
network: 10.1.0.0/16
hosts:
  - { host: node1, roles: [masters] }
  - { host: node2, user: ann, port: 2222, python: /usr/bin/python3.9, disks: [/data1, /data2], rack: /r1 }
```
"""

from __future__ import annotations

import fnmatch
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from howdah.errors import UsageError
from howdah.spec.document import Value, parse_document
from howdah.spec.slips import did_you_mean

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}")
_RACK = re.compile(r"(/[A-Za-z0-9_.-]+)+")
_FILES = (".yaml", ".yml", ".txt")
"""Endings of file names. No host's name ends so."""
BRIDGES = ("docker", "virbr", "cni", "flannel", "veth", "br-", "podman")
"""Prefixes of the names of interfaces that no other host reaches."""
_ROLES = ("masters", "nodes")
_LISTS = ("roles", "disks")
_COMMON = ("user", "port", "python", "scratch", "java", "network", "rack", *_LISTS)
_OF_A_HOST = ("host", "address", *_COMMON)


@dataclass(frozen=True, slots=True)
class ListedHost:
    """A host as it was written. `name` is the name for ssh.

    `address` is on the network of the daemons, or is found by `network`. Daemons keep their files in `scratch`, and
    data too unless there are `disks`. `java` is the home of the Java to run. `rack` is the place in the network as
    Hadoop writes it. `roles` may run on the host.
    """

    name: str
    user: str | None = None
    port: int | None = None
    address: str | None = None
    python: str = "python3"
    scratch: str = "/tmp"
    java: str | None = None
    network: str | None = None
    rack: str | None = None
    roles: tuple[str, ...] = _ROLES
    disks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in _LISTS:
            object.__setattr__(self, name, tuple(getattr(self, name)))  # Lists, where they were written down.

    def to_json(self) -> dict[str, Any]:
        """Return plain values from which `ListedHost(**values)` makes the host again."""
        return asdict(self)


def read_hosts(argument: str) -> tuple[ListedHost, ...]:
    """Return the hosts of `--on hosts:ARGUMENT`: a file, or names with commas between them. Raises UsageError."""
    file = Path(argument)
    if _is_file(file):
        try:
            content = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{file} cannot be read: {error}") from error
        return parse_hosts(content, file)
    if "/" in argument or argument.endswith(_FILES):
        raise UsageError(f"--on hosts:{argument}: there is no such file", hint="It is looked for where you type.")
    return _without_repeats([_plain(word.strip(), "--on hosts") for word in argument.split(",")])


def _is_file(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # Many names with commas between them are too long for that of a file.
        return False


def parse_hosts(content: str, file: Path) -> tuple[ListedHost, ...]:
    """Return the hosts of a file's content, in their order. Raises UsageError with the line of a mistake."""
    lines = [line.partition("#")[0].strip() for line in content.splitlines()]
    if not any(lines):
        raise UsageError(f"{file} names no host")
    if not any(":" in line or line.startswith(("-", "{", "[")) for line in lines):
        numbered = ((number, line) for number, line in enumerate(lines, start=1) if line)
        return _without_repeats([_plain(line, f"{file}, line {number}") for number, line in numbered])
    given = parse_document(content, "a list of hosts", file).mapping(("hosts", *_COMMON))
    if "hosts" not in given:
        raise UsageError(f"{file} has no `hosts`")
    common = {name: value for name, value in given.items() if name != "hosts"}
    found = _without_repeats([_detailed(value, common) for value in given["hosts"].list()])
    _check_together(found, file)
    return found


def _check_together(hosts: Sequence[ListedHost], file: Path) -> None:
    """Raise UsageError if hosts that are right by themselves make no cluster."""
    for role in _ROLES:
        if not any(role in host.roles for host in hosts):
            raise UsageError(f"{file}: no host may have the {role}", hint=f"Let `roles` of one host name {role}.")
    depths = {0 if host.rack is None else host.rack.count("/") for host in hosts}
    if len(depths) > 1:
        raise UsageError(
            f"{file}: racks have several depths", hint="Hadoop wants a rack for every host, each like /row1/rack2."
        )


def check_network(text: str) -> None:
    """Raise UsageError unless `text` is a range of addresses, or can be an interface's name or a pattern of it."""
    try:
        if "/" in text:
            ipaddress.IPv4Network(text, strict=False)
    except ValueError as error:
        raise UsageError(f"network {text}: {error}", hint="Write 10.1.0.0/16, ib0 or eth*.") from None


def checked_network(value: Value) -> str:
    """Return the network in a document. Raises UsageError with its line for any other text."""
    text = value.text()
    try:
        check_network(text)
    except UsageError as error:
        raise value.problem(error.message, hint=error.hint) from None
    return text


def is_on_network(network: str, interface: str, address: str) -> bool:
    """Return whether an interface with this address is on a network that `check_network` accepts."""
    if "/" in network:
        return ipaddress.IPv4Address(address) in ipaddress.IPv4Network(network, strict=False)
    return fnmatch.fnmatchcase(interface, network)


def _plain(word: str, place: str) -> ListedHost:
    """Return a host written as one word: its name, or USER@NAME."""
    user, at, name = word.rpartition("@")
    if not _NAME.fullmatch(name) or (at and not _NAME.fullmatch(user)):
        raise UsageError(f"{place}: not a host: {word!r}", hint="Write one name on each line, or USER@NAME.")
    return ListedHost(name, user or None)


def _detailed(value: Value, common: Mapping[str, Value]) -> ListedHost:
    if value.is_text():
        own: dict[str, Value] = {}
        made = _plain(value.text(), value.place or "--on hosts")
    else:
        own = value.mapping(_OF_A_HOST)
        if "host" not in own:
            raise value.problem("a host has no `host`")
        made = _plain(own["host"].text(), own["host"].place or "--on hosts")
    fields: dict[str, Any] = {"name": made.name, **({} if made.user is None else {"user": made.user})}
    for name, one in {**common, **own}.items():
        if name != "host":
            fields.setdefault(name, _checked(name, one))
    return ListedHost(**fields)


def _checked(name: str, value: Value) -> str | int | tuple[str, ...]:
    if name in _LISTS:
        return _checked_list(name, value)
    text = value.text()
    if name == "port":
        if not text.isdecimal() or not 0 < int(text) < 65536:
            raise value.problem(f"port is {text!r}, which is no port")
        return int(text)
    if name == "address" and not _ADDRESS.fullmatch(text):
        raise value.problem(f"address is {text!r}, which is no IPv4 address")
    if name in ("scratch", "java") and not text.startswith("/"):
        raise value.problem(f"{name} is {text!r}, which is no absolute path")
    if name == "rack" and not _RACK.fullmatch(text):
        raise value.problem(f"rack is {text!r}, which is no rack", hint="Write it like a path: /row1/rack2.")
    return checked_network(value) if name == "network" else text


def _checked_list(name: str, value: Value) -> tuple[str, ...]:
    found = tuple(one.text() for one in value.list())
    for one in found:
        if found.count(one) > 1:
            raise value.problem(f"{name} has {one} twice")
        if name == "disks" and not one.startswith("/"):
            raise value.problem(f"disks has {one!r}, which is no absolute path")
        if name == "roles" and one not in _ROLES:
            raise value.problem(f"roles has {one!r}", hint=did_you_mean(one, _ROLES))
    if name == "roles" and not found:
        raise value.problem("roles is empty", hint="Leave the host out, or let it have masters, nodes or both.")
    return found


def _without_repeats(hosts: Iterable[ListedHost]) -> tuple[ListedHost, ...]:
    found: dict[str, ListedHost] = {}
    for host in hosts:
        if host.name in found:
            raise UsageError(f"the host {host.name} is there twice", hint="Name each host once; --nodes says how many.")
        found[host.name] = host
    return tuple(found.values())
