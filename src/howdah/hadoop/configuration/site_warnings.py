"""Warnings about settings in a configuration directory that look wrong, although Hadoop accepts them silently."""

from __future__ import annotations

import re
from pathlib import Path

from howdah.hadoop.configuration.site import Property, read_properties

PLACEHOLDER = re.compile(
    r"#[A-Za-z]\w*#"  # #MASTER#
    r"|%[A-Z][A-Z0-9_]*(?:::[^%\s]+)?%"  # %HOSTGROUP::master%, but not the %p-%t of a file's name
    r"|@[A-Z][A-Z0-9_]*@"  # @MASTER@, but not Hadoop's own @taskid@
    r"|[{]{2}\s*[a-z][\w.]*\s*[}]{2}"  # {{ master }}, but not YARN's own {{PWD}}
)
"""Pattern of the placeholders that a template has in place of values."""


def site_warnings(directory: Path) -> tuple[str, ...]:
    """Return a sentence about every key with different values and every placeholder in a value, with file and line.

    The values themselves are left out, since they may be passwords. Raises the errors of `read_properties`.
    """
    places: dict[str, list[tuple[str, Property]]] = {}
    for name, written in read_properties(directory).items():
        for one in written:
            places.setdefault(one.key, []).append((f"{name}, line {one.line}", one))
    return tuple(warning for key, found in places.items() for warning in _warnings(key, found))


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
