"""Sending Hadoop and Howdah's jars to a host that does not see the files of this machine; each file once."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from howdah.errors import HostProblem
from howdah.hadoop.distribution.distribution import Distribution, sha256
from howdah.host import Host, operations
from howdah.host.over import over

Point = tuple[str, int]
"""Address and port."""

_CHUNK = 4 << 20
"""Bytes of one message. Other messages wait for the channel meanwhile."""
_BRANCHES = 2
"""Number of hosts that fetch from one host and share its card. A tree of a thousand hosts is ten steps deep."""
_OWN = "howdah"
"""Directory of Howdah's jars in the tree of a distribution on a host."""


def ship(host: Host, distribution: Distribution, store: str) -> Distribution:
    """Send the missing files of `distribution` to the `store` of `host`; return the distribution as it is there.

    Daemons and containers need the files on their class path; the others stay here. Raises HostProblem.
    """
    files = {path: (file, digest) for path, file, digest in _files(distribution)}
    digests = {path: digest for path, (_, digest) in files.items()}
    there = operations.stored(host, store, sorted(set(digests.values())))
    for digest, file in {digest: file for file, digest in files.values()}.items():
        if there[digest] >= 0:
            _send(host, store, digest, file, there[digest])
    listing = "".join(f"{path} {digest}\n" for path, digest in sorted(digests.items()))
    name = f"{distribution.version}-{hashlib.sha256(listing.encode()).hexdigest()[:16]}"
    return relocated(distribution, Path(operations.lay_tree(host, store, name, digests)))


def spread_files(
    hosts: Mapping[str, Host],
    distribution: Distribution,
    stores: Mapping[str, str],
    points: Mapping[str, Point],
    *,
    patience: float = 30.0,
) -> None:
    """Bring the files that `ship` would send into the stores of several hosts, through a tree of hosts. Each host
    fetches from a host before it, at that host's point, even while that host still fetches. The first host gets its
    missing files through its channel. Files that do not arrive are left to `ship`, for example behind a firewall, or if
    nothing came for `patience` seconds.

    Raises HostProblem if a host is lost.
    """
    files = {digest: file for _, file, digest in _files(distribution)}

    def missing(host: Host) -> dict[str, int]:
        there = operations.stored(host, stores[host.name], sorted(files))
        return {digest: offset for digest, offset in there.items() if offset >= 0}

    wanted = over(hosts, missing) if len(hosts) > 1 else {}
    # Whoever lacks least comes first, and may have all that the others need.
    tree = [hosts[name] for name in sorted(wanted, key=lambda name: len(wanted[name]))]
    parents = {host.name: tree[(number - 1) // _BRANCHES] for number, host in enumerate(tree) if number > 0}
    if not any(wanted.values()):
        return
    secret = secrets.token_hex(32)

    def serve(host: Host) -> None:
        address, port = points[host.name]
        with suppress(HostProblem):  # The port is taken; or the host was lost, which shows in a moment.
            operations.serve_files(host, stores[host.name], address, port, secret=secret, patience=patience)

    def end_serving(host: Host) -> None:
        with suppress(HostProblem):  # It was lost.
            operations.end_serving_files(host, *points[host.name])

    def fill(host: Host) -> None:
        store, parent = stores[host.name], parents.get(host.name)
        if parent is None:
            for digest, offset in wanted[host.name].items():
                _send(host, store, digest, files[digest], offset)
        elif wanted[host.name]:
            operations.fetch_files(
                host, store, list(wanted[host.name]), *points[parent.name], secret=secret, patience=patience
            )

    serving = {parent.name: parent for parent in parents.values()}
    try:
        over(serving, serve)
        over({host.name: host for host in tree}, fill)
    finally:
        over(serving, end_serving)


def relocated(distribution: Distribution, home: Path) -> Distribution:
    """Return `distribution` with its paths in the tree `home`, without tools."""

    def there(paths: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(home / path.relative_to(distribution.home) for path in paths)

    return replace(
        distribution,
        home=home,
        jars=there(distribution.jars),
        directories=there(distribution.directories),
        tool_jars=(),
        plugins=tuple(home / _OWN / jar.name for jar in distribution.plugins),
        beside=tuple(home / _OWN / jar.name for jar in distribution.beside),
    )


def _files(distribution: Distribution) -> list[tuple[str, Path, str]]:
    """Return the files to send: path in the tree, file here, and SHA-256, from the lock if it has one."""
    home, locked = distribution.home, distribution.locked or {}
    pages = [file for directory in distribution.directories for file in sorted(directory.rglob("*")) if file.is_file()]
    # Directories of web pages are those of jars, too, which are listed by themselves.
    own = dict.fromkeys((*distribution.jars, *(file for file in pages if file.suffix != ".jar")))
    found = [(str(file.relative_to(home)), file, _digest(file, home, locked)) for file in own]
    ours = (*distribution.plugins, *distribution.beside)
    return [*found, *((f"{_OWN}/{jar.name}", jar, sha256(jar)) for jar in ours)]


def _digest(file: Path, home: Path, locked: Mapping[str, str]) -> str:
    return locked.get(str(file.relative_to(home))) or sha256(file)


def _send(host: Host, store: str, digest: str, file: Path, offset: int) -> None:
    size = file.stat().st_size
    with file.open("rb") as content:
        content.seek(min(offset, size))
        while True:
            start = content.tell()
            chunk = content.read(_CHUNK)
            last = content.tell() >= size
            operations.put_file(host, store, digest, start, chunk, last=last)
            if last:
                return
