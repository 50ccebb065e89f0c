"""Facts about running processes: their command lines, memory, JDK, and whether Hadoop's native code is loaded."""

from __future__ import annotations

import os
from typing import Any, Dict, List

from .machine import read_text

_SAID = {"JAVA_VERSION": "version", "IMPLEMENTOR": "vendor"}
"""Lines of a JDK's `release` file, and the facts that they are."""


def command_lines(pids: list[int]) -> list[list[str]]:
    """Return the words that each process was started with; none for processes that have ended."""
    return [(read_text("/proc/{}/cmdline".format(pid)) or "").split("\0")[:-1] for pid in pids]


def resident_memory(pids: list[int]) -> dict[str, int]:
    """Return the bytes that each process has in memory, by its number; processes that have ended are missing."""
    found = {}
    for pid in pids:
        pages = (read_text("/proc/{}/statm".format(pid)) or "").split()[1:2]
        if pages and pages != ["0"]:
            found[str(pid)] = int(pages[0]) * os.sysconf("SC_PAGE_SIZE")
    return found


def jvm(pids: List[int], proc: str = "/proc") -> Dict[str, Any]:
    """Return `version` and `vendor` of the JDK of the first of these processes that lives and may be looked into, None
    if unknown, and `hadoop_native`, whether any of them has loaded libhadoop. Empty if there is none."""
    found: Dict[str, Any] = {}
    for pid in pids:
        place = os.path.join(proc, str(pid))
        try:
            program = os.readlink(os.path.join(place, "exe"))
            with open(os.path.join(place, "maps"), encoding="utf-8", errors="replace") as maps:
                native = any("/libhadoop.so" in line for line in maps)
        except OSError:
            continue
        found = found or {**_release(os.path.dirname(os.path.dirname(program))), "hadoop_native": False}
        found["hadoop_native"] = found["hadoop_native"] or native
    return found


def _release(home: str) -> Dict[str, Any]:
    found: Dict[str, Any] = dict.fromkeys(_SAID.values())
    try:
        with open(os.path.join(home, "release"), encoding="utf-8", errors="replace") as release:
            for line in release:
                name, _, value = line.strip().partition("=")
                if name in _SAID:
                    found[_SAID[name]] = value.strip('"')
    except OSError:
        pass
    return found


OPERATIONS = {
    "machine.command_lines": command_lines,
    "machine.resident_memory": resident_memory,
    "machine.jvm": jvm,
}
