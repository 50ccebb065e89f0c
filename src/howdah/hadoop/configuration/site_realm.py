"""A realm that a site has already: krb5.conf and keytabs in a directory, as an administrator gives them to a user."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from howdah.errors import UsageError
from howdah.hadoop.configuration.security import KEYTABS, KRB5_CONF

_VERSION = b"\x05\x02"
_DEFAULT = re.compile(r"^\s*default_realm\s*=\s*(\S+)\s*$", re.MULTILINE)
_PAGE = "docs/how-to/secure.md#a-realm-that-your-site-has says what is in such a directory, and how it is made."


@dataclass(frozen=True, slots=True)
class SiteRealm:
    """A realm by its `name`, with the content of krb5.conf and of each keytab, by file name."""

    name: str
    files: Mapping[str, bytes]

    def check(self, wanted: Mapping[str, Sequence[str]]) -> None:
        """Raise UsageError if a keytab lacks the key of a principal that the cluster needs. `wanted` are principals
        without their realm, by keytab."""
        for keytab, names in wanted.items():
            found = set(principals_in(self.files[f"{keytab}.keytab"]))
            lacking = [f"{name}@{self.name}" for name in names if f"{name}@{self.name}" not in found]
            if lacking:
                there = ", ".join(sorted(found)) or "no key"
                raise UsageError(f"{keytab}.keytab has no key of {', '.join(lacking)}: it has {there}", hint=_PAGE)


def read_site_realm(directory: Path) -> SiteRealm:
    """Return the realm in `directory`. Raises UsageError if something is missing, or is no keytab."""
    if not directory.is_dir():
        raise UsageError(f"--realm {directory}: there is no such directory", hint=_PAGE)
    files = {}
    for name in (KRB5_CONF, *KEYTABS):
        try:
            files[name] = (directory / name).read_bytes()
        except OSError as error:
            raise UsageError(f"--realm {directory}: {name} cannot be read: {error.strerror}", hint=_PAGE) from error
    match = _DEFAULT.search(files[KRB5_CONF].decode(errors="replace"))
    if match is None:
        raise UsageError(f"--realm {directory}: {KRB5_CONF} names no default_realm")
    for name in KEYTABS:
        try:
            list(principals_in(files[name]))
        except ValueError as error:
            raise UsageError(f"--realm {directory}: {name} is no keytab: {error}") from error
    return SiteRealm(match[1], files)


def check_keytab(file: Path, principal: str) -> None:
    """Raise UsageError if `file` is no keytab that this user can read, or has no key of `principal`. A principal
    without a realm has the default realm, whichever that is."""
    try:
        found = sorted(set(principals_in(file.read_bytes())))
    except OSError as error:
        raise UsageError(f"the keytab {file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{file} is no keytab: {error}") from error
    names = found if "@" in principal else [one.partition("@")[0] for one in found]
    if principal not in names:
        there = ", ".join(found) or "no key"
        raise UsageError(f"the keytab {file} has no key of {principal}", hint=f"It has {there}.")


def principals_in(keytab: bytes) -> Iterator[str]:
    """Yield the principal of each key in a keytab, as NAME@REALM. Raises ValueError for other content.

    The format is that of MIT Kerberos, version 2 (doc/formats/keytab_file_format of krb5 1.20).
    """
    if not keytab.startswith(_VERSION):
        raise ValueError(f"it begins with {keytab[:2]!r}")
    at = len(_VERSION)
    try:
        while at < len(keytab):
            (size,) = struct.unpack_from(">i", keytab, at)
            at += 4
            if size > 0:  # Negative is a hole of that size.
                if at + size > len(keytab):
                    raise ValueError("it is cut off")
                yield _principal(keytab, at)
            at += abs(size)
    except struct.error as error:
        raise ValueError("it is cut off") from error


def _principal(keytab: bytes, at: int) -> str:
    (count,) = struct.unpack_from(">H", keytab, at)
    at += 2
    parts = []
    for _ in range(count + 1):  # The realm comes first.
        (length,) = struct.unpack_from(">H", keytab, at)
        parts.append(keytab[at + 2 : at + 2 + length].decode(errors="replace"))
        at += 2 + length
    return f"{'/'.join(parts[1:])}@{parts[0]}"
