"""Things that tests leave on a machine.

They are temporary files, processes, mounts, loop devices, control groups, network cards and namespaces.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

_OURS = re.compile(
    r"howdah.*|parent.*|srcDir.*|hadoop|hadoop-.*|pytest-.*|Jetty_.*|jetty-.*|spark-.*|blockmgr-.*|jna-.*|libleveldbjni.*|"
    r"junit.*|surefire.*|liblz4-java.*|snappy-.*|yarn-.*|nm-.*"
)
"""Names that Howdah's tests, Hadoop and their libraries give to files in the system's temporary directory."""

_PLACE_OF_NAMESPACES = "/run/netns"
"""`ip netns add` mounts it when it makes a machine's first network namespace, and leaves it for the next ones."""

PATIENCE_SECONDS = 30.0
"""A supervisor that was asked to stop does so within seconds."""


def look() -> Mapping[str, frozenset[str]]:
    """Return everything that exists now, by kind."""
    return {
        "temporary file": frozenset(
            one.name for one in Path(tempfile.gettempdir()).iterdir() if _OURS.fullmatch(one.name)
        ),
        "process": frozenset(_processes()),
        "mount": frozenset(_mounts()) - {_PLACE_OF_NAMESPACES},
        "loop device": frozenset(_lines("losetup", "--noheadings", "--output", "NAME")),
        "control group": frozenset(str(group) for group in Path("/sys/fs/cgroup").glob("*/howdah-sim*")),
        "network card": frozenset(card.name for card in Path("/sys/class/net").iterdir()),
        "network namespace": frozenset(line.split()[0] for line in _lines("ip", "netns", "list")),
    }


def since(before: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Yield a sentence about each new thing that does not disappear within `PATIENCE_SECONDS`."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(found - before[kind] for kind, found in look().items()) and time.monotonic() < deadline:
        time.sleep(1)
    for kind, found in look().items():
        for one in sorted(found - before[kind]):
            yield f"left behind: {kind} {one}"


def _mounts() -> Iterator[str]:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        yield line.split()[4]


def _processes() -> Iterator[str]:
    """Yield the JVMs and the processes with Howdah's modules, with their process ids."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0].endswith(b"java") or any(one.startswith(b"howdah.") for one in words):
                yield f"{entry.name} {b' '.join(words[:4]).decode(errors='replace')[:120]}"


def _lines(*command: str) -> list[str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return [line for line in done.stdout.splitlines() if line.strip()]
