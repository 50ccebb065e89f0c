"""CPU time of processes as the kernel accounts it, children that have ended included."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, Iterable, List, Sequence, Set

from .children import descendants

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
    left = _unsettled(pids, settled)
    while left and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        left = _unsettled(pids, settled)
    # proc(5): utime, stime, cutime and cstime are fields 14 to 17; the split begins at field 3.
    return {
        "seconds": {pid: sum(fields[11:15]) / _TICK for pid, fields in _stats(pids).items()},
        "adopted": sum(sum(fields[13:15]) for fields in _stats(_starters(pids)).values()) / _TICK,
        "unsettled": left,
    }


def _unsettled(pids: Sequence[int], settled: Sequence[int]) -> int:
    below = sum(len(descendants(pid)) for pid in settled)
    if not settled:
        return below
    known = {*pids, *(child for pid in pids for child in descendants(pid))}
    return below + len({child for pid in _starters(pids) for child in descendants(pid)} - known)


def _starters(pids: Sequence[int]) -> Set[int]:
    """The agents that started `pids`; not init, which has what is not ours."""
    return {fields[1] for fields in _stats(pids).values() if fields[1] > 1}


def _stats(pids: Iterable[int]) -> Dict[int, List[int]]:
    """Fields 3 to 17 of proc(5)'s stat, the state as 0, of the processes that are there."""
    found = {}
    for pid in pids:
        try:
            with open("/proc/{}/stat".format(pid)) as stat:
                fields = stat.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found[pid] = [0, *(int(field) for field in fields[1:15])]
    return found


OPERATIONS: Dict[str, Callable[..., Any]] = {"accounting.cpu": cpu}
