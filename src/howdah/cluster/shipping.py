"""Sending Hadoop and our jars to a host that does not see the files of this machine; each file once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from howdah.hadoop.distribution.distribution import Distribution, sha256
from howdah.host import Host, operations

_CHUNK = 4 << 20
"""Bytes of one message: others wait for the channel meanwhile."""
_OWN = "howdah"
"""The directory of our jars in the tree of a distribution on a host."""


def ship(host: Host, distribution: Distribution, store: str) -> Distribution:
    """`distribution` as it is in the `store` of `host`, where it is sent as far as it is not there.

    Daemons and containers need what is on their class path; the rest stays here. Raises HostProblem.
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


def relocated(distribution: Distribution, home: Path) -> Distribution:
    """`distribution` with the paths that it has in the tree `home`, tools left out."""

    def there(paths: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(home / path.relative_to(distribution.home) for path in paths)

    return replace(
        distribution,
        home=home,
        jars=there(distribution.jars),
        directories=there(distribution.directories),
        tool_jars=(),
        plugins=tuple(home / _OWN / jar.name for jar in distribution.plugins),
    )


def _files(distribution: Distribution) -> list[tuple[str, Path, str]]:
    """What is sent: the path in the tree, the file here, and its SHA-256, from the lock where that has it."""
    home, locked = distribution.home, distribution.locked or {}
    pages = [file for directory in distribution.directories for file in sorted(directory.rglob("*")) if file.is_file()]
    # Directories of web pages are those of jars, too, which are listed by themselves.
    own = dict.fromkeys((*distribution.jars, *(file for file in pages if file.suffix != ".jar")))
    found = [(str(file.relative_to(home)), file, _digest(file, home, locked)) for file in own]
    return [*found, *((f"{_OWN}/{jar.name}", jar, sha256(jar)) for jar in distribution.plugins)]


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
