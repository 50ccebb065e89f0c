"""CPU time of processes as the kernel accounts it, children that have ended included."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, Iterable, List, Mapping, Sequence, Set

_TICK = os.sysconf("SC_CLK_TCK")
_POLL_SECONDS = 0.25
"""An application master stays for five seconds after its job (`MRAppMaster.shutDownJob`), and each look reads all of
/proc: twenty looks a second cost more than all that the probe does in these seconds."""


def cpu(pids: List[int], settle_seconds: float = 0.0, settled: Sequence[int] = ()) -> Dict[str, Any]:
    """CPU seconds of each process: itself and every child that it has waited for; dead ones are left out.

    Before reading, waits up to `settle_seconds` until the processes of `settled` have no descendants, because a child
    counts only once it was waited for. `unsettled` is how many descendants were still there.

    A process whose parent ended before it (a container that is killed) comes to the agent that started `pids`:
    `adopted` is the CPU seconds of those that this agent has waited for; those that still run are unsettled too.
    """
    deadline = time.monotonic() + settle_seconds
    table = _processes()
    while (left := _unsettled(table, pids, settled)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        table = _processes()
    starters = _starters(table, pids)
    # proc(5): ppid, utime, stime, cutime and cstime are fields 4 and 14 to 17; the split begins at field 3.
    return {
        "seconds": {pid: sum(table[pid][11:15]) / _TICK for pid in pids if pid in table},
        "adopted": sum(sum(table[pid][13:15]) for pid in starters if pid in table) / _TICK,
        "unsettled": left,
    }


def _unsettled(table: Mapping[int, Sequence[int]], pids: Sequence[int], settled: Sequence[int]) -> int:
    below: Dict[int, List[int]] = {}
    for pid, fields in table.items():
        below.setdefault(fields[1], []).append(pid)
    count = len(_descendants(below, settled))
    if not settled:
        return count
    known = {*pids, *_descendants(below, pids)}
    return count + len(_descendants(below, _starters(table, pids)) - known)


def _descendants(below: Mapping[int, List[int]], pids: Iterable[int]) -> Set[int]:
    found: Set[int] = set()
    waiting = list(pids)
    while waiting:
        fresh = [pid for pid in below.get(waiting.pop(), []) if pid not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _starters(table: Mapping[int, Sequence[int]], pids: Sequence[int]) -> Set[int]:
    """The agents that started `pids`; not init, which has what is not ours."""
    return {table[pid][1] for pid in pids if pid in table and table[pid][1] > 1}


def _processes() -> Dict[int, List[int]]:
    """Fields 3 to 17 of proc(5)'s stat, the state as 0, of every process. One file each: the kernel's own lists of
    children are one for every thread, of which a daemon has a hundred."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            # Bytes: the kernel cuts names at 15 of them, be it within a character.
            with open("/proc/{}/stat".format(name), "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
        except OSError:  # It has ended, or is another user's whom /proc hides.
            continue
        found[int(name)] = [0, *(int(field) for field in fields[1:15])]
    return found


OPERATIONS: Dict[str, Callable[..., Any]] = {"accounting.cpu": cpu}
