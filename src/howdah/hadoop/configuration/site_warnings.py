"""Warnings about settings in a configuration directory that look wrong, although Hadoop accepts them silently."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from howdah.hadoop.configuration.site import Property, read_properties

PLACEHOLDER = re.compile(
    r"#[A-Za-z]\w*#"  # #MASTER#
    r"|%[A-Z][A-Z0-9_]*(?:::[^%\s]+)?%"  # %HOSTGROUP::master%, but not the %p-%t of a file's name
    r"|@[A-Z][A-Z0-9_]*@"  # @MASTER@, but not Hadoop's own @taskid@
    r"|[{]{2}\s*[a-z][\w.]*\s*[}]{2}"  # {{ master }}, but not YARN's own {{PWD}}
)
"""Pattern of the placeholders that a template has in place of values."""
_REFERENCE = re.compile(r"[$][{]([a-z]\w*)([.][\w.-]+)[}]")
_KNOWN = frozenset(
    "adl dfs env file fs ftp ha hadoop hdfs httpfs io ipc java jobhistory map mapred mapreduce net nfs os rpc s3native "
    "security ssl sun tfile user yarn zk zlib".split()
)
"""First words of references to keys that Hadoop itself or Java sets."""


def site_warnings(directory: Path, given: Collection[str] = ()) -> tuple[str, ...]:
    """Return a sentence about every key with different values, every placeholder in a value, and every reference to a
    key that nobody sets, with file and line. Jobs have the keys `given` as well.

    The values themselves are left out, since they may be passwords. Raises the errors of `read_properties`.
    """
    places: dict[str, list[tuple[str, Property]]] = {}
    for name, written in read_properties(directory).items():
        for one in written:
            places.setdefault(one.key, []).append((f"{name}, line {one.line}", one))
    found = [warning for key, written in places.items() for warning in _warnings(key, written)]
    return (*found, *_unset(places, given))


def _unset(places: Mapping[str, Sequence[tuple[str, Property]]], given: Collection[str]) -> Iterator[str]:
    """Yield a sentence about each reference to a key that nobody sets, such as ${hdp.version} of Ambari's files: its
    scripts set it for programs that they start."""
    users: dict[str, list[str]] = {}
    for key, found in places.items():
        for place, one in found:
            for first, rest in _REFERENCE.findall(one.value):
                if first not in _KNOWN and first + rest not in {*places, *given}:
                    users.setdefault(first + rest, []).append(f"{key} ({place})")
    for name, of in users.items():
        more = f" and {len(of) - 1} more" if len(of) > 1 else ""
        yield f"{of[0]}{more}: nothing sets ${{{name}}}, and shells fail at it. Set it: --conf {name}=VALUE."


def _warnings(key: str, found: list[tuple[str, Property]]) -> list[str]:
    """Return the sentences about one key. `found` are its places, in the order in which Hadoop reads them."""
    warnings = []
    if len({one.value.strip() for _, one in found}) > 1:
        used = next((place for place, one in found if one.final), found[-1][0])
        places = "; ".join(place for place, _ in found)
        warnings.append(f"{key} has different values at {places}. Hadoop uses the one at {used}.")
    for place, one in found:
        for placeholder in dict.fromkeys(PLACEHOLDER.findall(one.value)):
            warnings.append(f"{place}: {key} has the placeholder {placeholder}: nobody has put a value in its place.")
    return warnings
