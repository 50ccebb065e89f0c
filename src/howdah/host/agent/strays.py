"""Killing the processes of a cluster that nothing else ends: after a killed agent, or all of a host at once."""

from __future__ import annotations

import os
import signal
import time

ROOT = "HOWDAH_ROOT"
"""Variable in the environment of every daemon, and so of its containers: the cluster's directory on the host."""

_END_SECONDS = 10.0


def end_strays(root: str) -> int:
    """Kill every process of this user with the cluster's directory `root` in its environment, again and again until
    none is left. Return how many there were at first. An agent does not have it.

    Raises TimeoutError if some survive.
    """
    setting = "{}={}".format(ROOT, root).encode()
    deadline = time.monotonic() + _END_SECONDS
    first = None
    while True:
        found = _having(setting)
        first = len(found) if first is None else first
        if not found:
            return first
        if time.monotonic() > deadline:
            raise TimeoutError("processes {} survive".format(", ".join(map(str, found))))
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        time.sleep(0.02)


def outer_pids(root: str, pids: list[int]) -> dict[int, int]:
    """Return this host's IDs of processes of a cluster's directory `root`, by their IDs `pids` in another process
    space. A simulated host has such a space of its own. Processes that this host does not see are left out."""
    found = {}
    for pid in _having("{}={}".format(ROOT, root).encode()):
        try:
            with open("/proc/{}/status".format(pid)) as status:
                spaces = [line.split()[1:] for line in status if line.startswith("NSpid:")]
        except OSError:  # It has just ended.
            continue
        if spaces and int(spaces[0][-1]) in pids:
            found[int(spaces[0][-1])] = pid
    return found


def _having(setting: bytes) -> list[int]:
    """Return the live processes with `setting` in the environment that they were started with."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/{}/environ".format(name), "rb") as environment:
                    if setting in environment.read().split(b"\0"):
                        found.append(int(name))
            except OSError:  # It is another user's, or has just ended. Of one that has ended there is nothing to read.
                pass
    return found
